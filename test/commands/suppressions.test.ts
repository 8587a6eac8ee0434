import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, json, plainStructure, startSandbox, startService, temporaryHome } from "../kit.ts";
import { done, type Ecm, ecmWith, ends, readJson, refused, temporaryFolder } from "../support/ecm.ts";

/** An account that nobody can reach. */
async function home() {
  const account = { ECM_BASE_URL: "http://127.0.0.1:9", ECM_API_KEY: "ecm_us_none" };
  const env: Record<string, string> = { ...(await temporaryHome()), ...account };
  return { env, ecm: ecmWith(env) };
}

/** An account whose keys are no addresses. */
const accountOfNumbers = () =>
  startService((_request, response) => json(response, 200, [{ ...plainStructure, keyType: "text" }]));

async function listFile(env: Record<string, string>): Promise<string> {
  const folder = join(env.ECM_STATE_DIR!, "suppressions");
  const [name, ...others] = (await readdir(folder)).filter((each) => each.endsWith(".txt"));
  expect(others).toEqual([]);
  return join(folder, name!);
}

/** The exit codes of these commands, one after the other. */
async function codes(ecm: Ecm, ...lines: string[]): Promise<number[]> {
  const all: number[] = [];
  for (const line of lines) all.push((await ecm(line)).code);
  return all;
}

describe("ecm suppressions", () => {
  it("keeps keyed hashes and no address, without a request", async () => {
    const { env, ecm } = await home();
    const both = ecm("suppressions add Ada@Example.com bob@example.org --json");
    const { stdout } = await ends(both, 0, "Added 2 keys to the suppression list");
    const entries = JSON.parse(stdout) as { hash: string; addedAt: string }[];
    expect(entries).toHaveLength(2);
    const file = await listFile(env);
    const text = await readFile(file, "utf8");
    expect(text).not.toMatch(/example|@/i);
    for (const { hash } of entries) expect(text).toContain(hash);
    expect(await readJson(ecm, "suppressions list")).toEqual(entries);
    const again = await ends(ecm("suppressions add ada@example.com --json"), 0, "already on it: 1");
    expect(JSON.parse(again.stdout)).toEqual([entries[0]]);
  });

  it("hashes with a key of its own in each file: two lists of one person share nothing", async () => {
    const [one, other] = [await home(), await home()];
    const readHash = ({ ecm }: typeof one) => done(ecm("suppressions add ada@example.com -o id"));
    expect(await readHash(one)).not.toBe(await readHash(other));
  });

  it("exits 0 when all keys are suppressed, 1 when not, and removes once it is confirmed", async () => {
    const { ecm } = await home();
    const check = "suppressions check a@example.com";
    expect(await codes(ecm, check, "suppressions add a@example.com", check)).toEqual([1, 0, 0]);
    const { code, stdout } = await ecm(`${check} b@example.com -o ndjson`);
    const one = (key: string, suppressed: boolean) => `${JSON.stringify({ key, suppressed })}\n`;
    expect([code, stdout]).toEqual([1, one("a@example.com", true) + one("b@example.com", false)]);
    await done(ecm("suppressions add b@example.com"));
    const remove = "suppressions remove a@example.com --yes";
    expect((await ecm(remove)).stderr).toContain("Removed 1 key from the suppression list");
    const other = "suppressions check b@example.com";
    expect(await codes(ecm, check, other, remove)).toEqual([1, 0, 5]);
    expect(await codes(ecm, "suppressions add a@example.com", check)).toEqual([0, 0]);
  });

  it.each(["jörg@bücher.de", "a..b@example.com"])("takes %j typed and in a file alike", async (key) => {
    const file = await inputFile(`eve@example.com\n${key}\n`, "keys.txt");
    for (const words of [`eve@example.com ${key}`, `--keys ${file}`]) {
      const { ecm } = await home();
      await done(ecm(`suppressions add ${words}`));
      await done(ecm(`suppressions check ${key}`));
    }
  });

  it("takes keys that are no addresses where the account's keys are none, typed and in a file", async () => {
    const file = await inputFile("customer 4711\n", "keys.txt");
    for (const words of [["customer 4711"], ["--keys", file]]) {
      const { ecm } = await accountOfNumbers();
      await done(ecm(["suppressions", "add", ...words]));
      await done(ecm(["suppressions", "check", " customer 4711\u00a0"]));
      expect((await ecm("suppressions check 'Customer 4711'")).code).toBe(1);
    }
  });

  const noKeys = ["customer 4711", "ada@exa mple.com", "a@example.com, b@example.com", "n/a", "6".repeat(24)];
  it.each(noKeys)("takes %j neither typed nor in a file", async (key) => {
    const { ecm } = await home();
    const file = await inputFile(`Email\neve@example.com\n"${key}"\n`, "keys.txt");
    await refused(ecm(["suppressions", "add", "bob@example.com", key]), 2);
    await ends(ecm(`suppressions add --keys ${file}`), 3, `${file}:3: `);
    expect(await readJson(ecm, "suppressions list")).toHaveLength(1);
  });

  it("is one list per account, and one shared file where ECM_SUPPRESSIONS names it", async () => {
    const { ecm } = await home();
    await ecm("suppressions add a@example.com");
    const other = { env: { ECM_BASE_URL: "http://127.0.0.1:10" } };
    expect((await ecm("suppressions check a@example.com", other)).code).toBe(1);
    const shared = { env: { ECM_SUPPRESSIONS: join(await temporaryFolder(), "shared.txt") } };
    await ecm("suppressions add b@example.com", shared);
    const anotherMachine = await home();
    await done(anotherMachine.ecm("suppressions check b@example.com", shared));
  });

  it("is one list for the three loopback names of a port, and others for other addresses", async () => {
    const { ecm } = await home();
    const check = async (ECM_BASE_URL: string) =>
      (await ecm("suppressions check a@example.com", { env: { ECM_BASE_URL } })).code;
    await ecm("suppressions add a@example.com", { env: { ECM_BASE_URL: "http://localhost:9/" } });
    for (const same of ["http://127.0.0.1:9", "http://[::1]:9", "http://LOCALHOST:9"])
      expect(await check(same)).toBe(0);
    for (const other of ["http://localhost:90", "http://127.0.0.2:9", "https://localhost.example.com:9"])
      expect(await check(other)).toBe(1);
  });

  it("refuses a list that is named and not there", async () => {
    const { ecm } = await home();
    const missing = { env: { ECM_SUPPRESSIONS: join(await temporaryFolder(), "gone.txt") } };
    const said = await refused(ecm("suppressions check a@example.com --json", missing), 1);
    expect(JSON.parse(said).error).toMatchObject({ type: "SuppressionsError" });
  });
});

describe("ecm contact create and the suppression list", () => {
  it("refuses a suppressed key with exit 6, before anything is sent, unless told to", async () => {
    const { ecm } = await startSandbox();
    await ecm("suppressions add ada@example.com");
    for (const flags of ["--key Ada@Example.com", "--key ada@example.com --dry-run"]) {
      const said = await refused(ecm(`contact create ${flags} --json`), 6);
      expect(JSON.parse(said).error).toMatchObject({ type: "SuppressedError", applied: "no" });
    }
    const stdin = JSON.stringify({ key: "ada@example.com", contactStructureId: "x" });
    await refused(ecm("contact create --data -", { stdin }), 6);
    await done(ecm("contact create --key bob@example.com"));
    await done(ecm("contact create --key ada@example.com --include-suppressed"));
  });

  it.each([
    ["cut off", (text: string) => text.slice(0, -91)],
    ["emptied", () => ""],
    ["replaced by something else", () => "ada@example.com\n"],
    ["gone", undefined],
  ])("creates nobody, by any command, while the list is %s, but who is told to", async (_what, change) => {
    const { ecm, env: own } = await startSandbox({ contents: { lists: ["News"] } });
    await ecm("suppressions add ada@example.com bob@example.com");
    const file = change ? await listFile(own) : join(await temporaryFolder(), "gone.txt");
    if (change) await writeFile(file, change(await readFile(file, "utf8")));
    const env = { ECM_SUPPRESSIONS: file };
    const people = await inputFile("Email\neve@example.com\n");
    for (const line of [
      "contact create --key eve@example.com",
      `import ${people}`,
      `lists sync News ${people} --create`,
      ...(change ? ["suppressions add eve@example.com"] : []),
    ])
      await refused(ecm(line, { env }), 1, file, /\nhint: (Restore|Check) .*Nobody is created until/);
    expect(await done(ecm("contact search --count"))).toBe("0\n");
    await done(ecm(`import ${people} --include-suppressed`, { env }));
  });

  const spellings = [
    ...["jörg@bücher.de", "JÖRG@BÜCHER.DE", "jo\u0308rg@bu\u0308cher.de", "jörg@xn--bcher-kva.de"],
    ...["jörg@bücher.de.", "mailto:jörg@bücher.de", "Jörg B <jörg@xn--bcher-kva.de>", " jörg＠bücher。de "],
  ];
  it("takes every spelling of a key for the same person, whichever was added", async () => {
    const { ecm } = await startSandbox();
    for (const added of spellings) {
      await done(ecm(["suppressions", "add", added]));
      await done(ecm(["suppressions", "check", ...spellings]));
      await done(ecm(["suppressions", "remove", spellings[3]!, "--yes"]));
      expect((await ecm(["suppressions", "check", added])).code).toBe(1);
    }
    await done(ecm(["suppressions", "add", spellings[1]!]));
    for (const key of spellings) {
      await refused(ecm(["contact", "create", "--key", key]), 6);
      const stdin = JSON.stringify({ key, contactStructureId: "x" });
      await refused(ecm("contact create --data -", { stdin }), 6);
    }
  });

  it("creates, finds and changes a contact under any spelling of its key", async () => {
    const { ecm } = await startSandbox();
    const created = await readJson(ecm, "contact create --key mailto:Ada@bücher.de.");
    expect(created.key).toBe("Ada@xn--bcher-kva.de");
    for (const key of ["ada@bücher.de", "Ada L <ada@xn--bcher-kva.de>"]) {
      await done(ecm(["contact", "get", key]));
      await done(ecm(["contact", "mutate", key, "--set", `Last Name=${key}`]));
      expect(await done(ecm(["contact", "search", "--key", key, "-o", "id"]))).toMatch(/^[0-9a-f]{24}\n$/);
      await refused(ecm(["contact", "create", "--key", key]), 6);
    }
  });
});

it("a table that marks only some of its rows does not say who is meant", async () => {
  const rows = "ada@example.com,yes\nbob@example.com,no\ncarl@exa mple.com,no\n";
  const file = await inputFile(`Email,Unsubscribed\n${rows}`, "crm.csv");
  const { ecm } = await home();
  const add = `suppressions add --keys ${file}`;
  await refused(ecm(add), 2, "marks 1 of 3 rows as not subscribed", "--marked-rows to suppress those alone");
  expect(await done(ecm("suppressions list -o id"))).toBe("");
  await refused(ecm("suppressions add ada@example.com --marked-rows"), 2, "given with --keys");
  const checks = ["suppressions check ada@example.com", "suppressions check bob@example.com"];
  for (const [flag, ended] of [
    ["--marked-rows", [0, 0, 1]],
    ["--all-rows", [3, 0, 0]],
  ] as const)
    expect(await codes((await home()).ecm, `${add} ${flag}`, ...checks)).toEqual(ended);
});

it("needs an account, since each has a list of its own, and its help says so", async () => {
  const ecm = ecmWith(await temporaryHome());
  for (const line of ["list", "add a@example.com", "check a@example.com", "remove a@example.com --yes"]) {
    await refused(ecm(`suppressions ${line}`), 4);
    expect(await done(ecm(`suppressions ${line} --help`)), line).toMatch(/^ +4 +no account/m);
  }
});
