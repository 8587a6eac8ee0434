/** Plans: who and what, in input order, the same as what is done. */
import { readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import type { PlanLine } from "../../src/bulk/plan/plan-line.ts";
import { interruptedError } from "../../src/errors.ts";
import { contactLines, inputFile, startAccount, startHttpServer } from "../kit.ts";
import { ecmWith, refused, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { testKey } from "../support/test-send.ts";

async function account() {
  const contacts = [
    { key: "ada@example.com", fields: { City: "Oslo" } },
    { key: "bob@example.com", fields: { City: "Bergen" } },
  ];
  const service = await startAccount({ contents: { tags: ["VIP"], lists: ["Customers"], contacts } });
  const plan = join(await temporaryFolder(), "plan.ndjson");
  const lines = async (text?: string) => contactLines(text ?? (await readFile(plan, "utf8")));
  return { ...service, plan, lines };
}

/** A line of a plan, without its message and id. */
function outline({ line, key, action, code, changes }: PlanLine): string {
  const changed = changes.map(({ what, name, before, after }) => `${what} ${name} ${before} → ${after}`);
  return [`${line} ${action} ${code ?? key}`, ...changed].join(", ");
}

const people = `Email,City,tags
ada@example.com,Bergen,VIP
nonsense,Oslo,
carl@example.com,Rome,VIP
bob@example.com,Bergen,
carl@example.com,Paris,
`;
const anId = expect.stringMatching(/^[0-9a-f]{24}$/);
const at80 = { terminalColumns: 80, env: { NO_COLOR: "1" } };

it("--plan has a line for each row, in input order, with what changes before and after, by names", async () => {
  const { run, plan, lines } = await account();
  const command = `import ${await inputFile(people)} --list Customers --dry-run`;
  const bare = await run(command);
  expect(await run(`${command} --plan ${plan}`)).toEqual({ ...bare, stderr: expect.any(String) });
  const found = await lines();
  expect(found.map(outline)).toEqual([
    "2 update ada@example.com, field City Oslo → Bergen, list Customers false → true, tag VIP false → true",
    "3 reject key_syntax",
    "4 create carl@example.com, field City null → Paris, list Customers false → true, tag VIP false → true",
    "5 update bob@example.com, list Customers false → true",
    "6 skip duplicate",
  ]);
  expect(found.slice(0, 3)).toMatchObject([
    { contactId: anId, message: null },
    { key: "nonsense", message: expect.any(String) },
    { contactId: null, message: null },
  ]);
  expect(found[4]?.message).toBe("the contact is on line 4 too");
});

it("--plan is the same with and without --dry-run, and costs no request more", async () => {
  const { ecm, run, plan, lines } = await account();
  const command = `import ${await inputFile(people)} --list Customers`;
  const dry = await run(`${command} --plan ${plan} --dry-run`);
  const before = await lines();
  const real = await run(`${command} --plan ${plan}`);
  expect(await lines()).toEqual(before);
  expect(real.requests.total).toBe(dry.estimate.requests);
  const again = await ecm(`${command} --fresh --plan -`);
  const actions = (await lines(again.stdout)).map(({ action }) => action);
  expect(actions.join(" ")).toBe("unchanged reject unchanged unchanged skip");
});

it("--plan is what runs show --changes says afterwards, with what the run made, without a request", async () => {
  const { ecm, plan, lines, sandbox } = await account();
  await ecm(`import ${await inputFile(people)} --list 'Spring fair' --create-missing --plan ${plan}`);
  const planned = (await lines()).filter(({ action }) => action === "create" || action === "update");
  const before = sandbox.admin.requests().length;
  const done = await lines((await ecm("runs show last --changes")).stdout);
  expect(sandbox.admin.requests()).toHaveLength(before);
  expect(outline(done[0]!)).toContain("list Spring fair false → true");
  expect(done).toEqual(planned.map((line) => ({ ...line, contactId: anId })));
  const output = await ecm("runs show last --changes", { ...at80, terminalColumns: 100 });
  const ofAda = "  ~ ada@example.com   City  Oslo → Bergen   + list Spring fair   + tag VIP\n";
  expect(output.stdout).toContain(ofAda);
});

it("--plan speaks of selections, deletions and members that go without a line", async () => {
  const { ecm, plan, lines } = await account();
  await ecm(`contact delete --where 'City == "Oslo"' --dry-run --plan ${plan}`);
  expect((await lines()).map(outline)).toEqual(["null delete ada@example.com"]);
  await ecm("contact mutate --all -y --add-list Customers");
  const sync = `lists sync Customers ${await inputFile("Email\nada@example.com\n")} --plan ${plan}`;
  await refused(ecm(`${sync} --dry-run`), 2, "This would remove 1 of the 2 members");
  const planned = ["2 unchanged ada@example.com", "null update bob@example.com, list Customers true → false"];
  expect((await lines()).map(outline)).toEqual(planned);
  expect((await ecm(sync)).code).toBe(2);
  await ecm(`${sync} --max-remove 1`);
  expect((await lines()).map(outline)).toEqual(planned);
});

it("--plan appears whole or not at all", async () => {
  const path = await inputFile(people);
  const folder = dirname(path);
  const before = await readdir(folder);
  const home = await temporaryHome();
  const runs = join(home.ECM_STATE_DIR!, "runs");
  let meanwhile: string[] = [];
  const interruption = new AbortController();
  const { baseUrl } = await startHttpServer(() => {
    meanwhile = readdirSync(folder);
    interruption.abort(interruptedError());
  });
  const ecm = ecmWith({ ...home, ECM_BASE_URL: baseUrl, ECM_API_KEY: testKey });
  const plan = join(folder, "plan.ndjson");
  const { code } = await ecm(`import ${path} --plan ${plan}`, { signal: interruption.signal });
  expect(code).toBe(130);
  expect(meanwhile).not.toContain("plan.ndjson");
  expect([await readdir(folder), await readdir(runs)]).toEqual([before, []]);
});

it("--plan shows the first changes of a dry run at a terminal", async () => {
  const { ecm } = await account();
  const command = `import ${await inputFile(people)} --create-missing --dry-run`;
  const output = await ecm(`${command} --show 1`, at80);
  for (const text of [
    "  ~ ada@example.com  City  Oslo → Bergen   + tag VIP\n",
    "  Column  →  Field        First value\n",
    "  City       City         Bergen\n",
    "1 more: --show 2, or --plan plan.ndjson",
  ])
    expect(output.stderr).toContain(text);
  expect((await ecm(`${command} --show 0`, at80)).stderr).not.toContain("~ ada");
});

it("--plan shows what is ignored last, and only so much of it", async () => {
  const { ecm } = await account();
  const names = Array.from({ length: 8 }, (_, index) => `Own ${index}`).join();
  const path = await inputFile(`${names},Empty,Email,City\n${"x,".repeat(8)},a@b.co,Rome\n`);
  const { stderr } = await ecm(`import ${path} --ignore-unmapped --dry-run`, at80);
  const output = stderr.match(/ {2}(City|Own \d|…) .*(?=\n)/g);
  expect(output?.slice(0, 3)).toEqual([
    "  City       City         Rome",
    "  Own 0      – ignored    x",
    "  Own 1      – ignored    x",
  ]);
  expect(output?.slice(5, 7)).toEqual(["  Own 4      – ignored    x", "  … 3 more columns ignored"]);
});
