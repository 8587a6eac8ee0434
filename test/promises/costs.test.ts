/**
 * What each command costs in requests, with names that earlier
 * commands saw and without; and what keeps that honest.
 */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/wire.ts";
import { done, temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

/** A clock of the commands' own that a test sets forward. */
function settableClock(): Clock & { advance(seconds: number): void } {
  let ahead = 0;
  return {
    now: () => Date.now() + ahead,
    sleep: () => Promise.resolve(),
    advance(seconds) {
      ahead += seconds * 1000;
    },
  };
}

/** Runs commands and counts the requests that the service has seen of each. */
function counter({ ecm, sandbox }: RunningSandbox) {
  const count = () => sandbox.admin.requests({ limit: 100_000 }).length;
  return async (args: string | string[], options: Parameters<typeof ecm>[1] = {}) => {
    const before = count();
    const result = await ecm(args, options);
    return { ...result, requests: count() - before };
  };
}

async function account() {
  const service = await startSandbox();
  const { ecm } = service;
  await ecm("lists create Newsletter");
  await ecm("structure field add City");
  await ecm("structure tag add vip");
  const made = await ecm(
    "contact create --key ada@example.com --set City=Paris --tag vip --list Newsletter --json",
  );
  const { _id: id } = JSON.parse(made.stdout) as { _id: string };
  return { ...service, id, run: counter(service) };
}

describe("a command costs", () => {
  it("what the table says, with remembered names and without", async () => {
    const { run, id, ecm, sandbox } = await account();
    sandbox.admin.seed({
      campaigns: [{ name: "Spring sale", status: "sent" }],
      domains: [{ domain: "example.com" }],
    });
    const [{ _id: campaignId }] = JSON.parse((await ecm("campaigns list --json")).stdout);
    /** {turn}: 0 without remembered names, then 1. */
    const table: [line: string, remembered: number, otherwise: number][] = [
      [`contact get ${id} --json`, 1, 1],
      [`contact get ${id} -o table`, 1, 3],
      ["contact get ada@example.com --json", 2, 3],
      ["contact get ada@example.com -o table", 2, 4],
      ["contact search --json", 1, 2],
      ["contact search -o table", 1, 3],
      ["contact search --text ada --json", 1, 2],
      ["events --json", 1, 1],
      ["contact create --key new-{turn}@example.com --list Newsletter", 1, 3],
      ["contact mutate ada@example.com --set City=City{turn} --add-list Newsletter", 2, 4],
      ["contact mutate ada@example.com --set City=City1 --add-list Newsletter", 1, 3],
      ["contact move new-{turn}@example.com moved-{turn}@example.com --yes", 6, 8],
      ["contact dossier ada@example.com", 5, 5],
      ["lists list", 1, 2],
      ["campaigns list", 1, 1],
      [`campaigns get ${campaignId}`, 1, 1],
      ["campaigns get 'Spring sale'", 2, 2],
      ["templates list", 1, 1],
      ["domains list", 1, 1],
      ["domains get example.com", 1, 1],
      ["reports", 2, 2],
      ["reports histogram --event email-sent", 1, 1],
      [`reports campaign ${campaignId}`, 1, 1],
      ["reports campaign 'Spring sale' --period week", 3, 3],
    ];
    const counted: unknown[] = [];
    for (const [line] of table) {
      const without = await run(line.replaceAll("{turn}", "0"), await elsewhere());
      await ecm("contact search -o table");
      const remembered = await run(line.replaceAll("{turn}", "1"));
      counted.push([line, without.code, remembered.code, remembered.requests, without.requests]);
    }
    expect(counted).toEqual(table.map(([line, remembered, without]) => [line, 0, 0, remembered, without]));
  });

  it.each([
    ["nothing", "", "people.csv"],
    ["a byte that is zero", "Email\na\0@b.co\n", "people.csv"],
    ["HTML", "<html><body><table>", "people.csv"],
    ["half a workbook", "PK\x03\x04and no more", "people.csv"],
    ["half an archive", "\x1f\x8b\x08and no more", "people.csv"],
    ["JSON without a member", "[{}]", "people.csv"],
    ["half a quote", 'Email,City\na@example.com,"New York"\nb@example.com,"Los', ":3: a quote opens here"],
  ])("nothing for a file that holds %s", async (_what, text, message) => {
    const { run } = await account();
    const file = join(await temporaryFolder(), "people.csv");
    await writeFile(file, Buffer.from(text, "latin1"));
    for (const line of [
      `import ${file}`,
      `import ${file} --dry-run --list Newsletter`,
      `lists sync Newsletter ${file}`,
      `contact mutate --keys ${file} --set 'First Name=A'`,
      `contact unsubscribe --keys ${file} --yes`,
      `contact delete --keys ${file} --yes`,
    ]) {
      const { code, requests, stderr } = await run(line);
      expect({ line, code, requests }).toEqual({ line, code: 2, requests: 0 });
      expect(stderr).toContain(message);
    }
  });

  it("nothing for a bad local file, flag or folder", async () => {
    const { run } = await account();
    const folder = await temporaryFolder();
    const bad = join(folder, "bad.json");
    await writeFile(bad, "{");
    for (const line of [
      `contact create --data ${bad}`,
      `contact create --data ${folder}/missing.json`,
      "contact mutate ada@example.com --set City",
      "contact search --where 'City =='",
      `contact get ada@example.com --output-file ${folder}/no/such/file.csv`,
      `import ${folder}/missing.csv`,
      `contact search --keys ${folder}/missing.txt`,
      `export --keys ${folder}`,
      `import ${bad} --max-rejects many`,
      `import ${bad} --mapping ${folder}/missing.yaml`,
      `export --output-file ${folder}/no/such/file.csv`,
    ]) {
      const { code, requests, stderr } = await run(line);
      expect({ line, code, requests, stderr }).toEqual({ line, code: 2, requests: 0, stderr });
    }
  });
});

/** For commands of somebody else, who remembers nothing. */
const elsewhere = async () => ({ env: { ECM_CACHE_DIR: await temporaryFolder() } });

describe("remembered names", () => {
  it("count for 10 minutes in a read, and for 60 seconds in a write", async () => {
    const { run } = await account();
    const clock = settableClock();
    const get = async () => (await run("contact get ada@example.com --json", { clock })).requests;
    const mutate = async (city: string) =>
      (await run(`contact mutate ada@example.com --set City=${city}`, { clock })).requests;
    expect(await get()).toBe(2);
    clock.advance(59);
    expect(await mutate("Oslo")).toBe(2);
    clock.advance(10);
    expect(await mutate("Rome")).toBe(3);
    clock.advance(590);
    expect(await get()).toBe(2);
    clock.advance(20);
    expect(await get()).toBe(3);
  });

  it.each(["lists list", "lists list --all"])("count from the request of `%s` too", async (listing) => {
    const { run } = await account();
    const clock = settableClock();
    const move = async (change: string) =>
      (await run(`contact mutate ada@example.com ${change} Newsletter`, { clock })).requests;
    clock.advance(700);
    expect((await run(listing, { clock })).requests).toBe(2);
    clock.advance(59);
    expect(await move("--remove-list")).toBe(2);
    clock.advance(2);
    expect(await move("--add-list")).toBe(4);
  });

  it("do not count for a clock that was set back", async () => {
    const { run } = await account();
    const clock = settableClock();
    clock.advance(-3600);
    expect((await run("contact get ada@example.com --json", { clock })).requests).toBe(3);
  });

  it("are looked up freshly before a name is an error, and once more only when something is new", async () => {
    const { run, ecm } = await account();
    await ecm("contact search -o table");
    const others = await elsewhere();
    for (const line of ["lists create Leads", "structure field add Town", "structure tag add gold"])
      await done(ecm(line, others));
    const mutated = await run(
      "contact mutate ada@example.com --add-list Leads --add-tag gold --set Town=Oslo",
    );
    expect(mutated).toMatchObject({ code: 0, stderr: expect.not.stringContaining("error") });
    expect(await done(ecm("contact get ada@example.com -o tsv"))).toContain("Leads");
    const wrong = await run("contact mutate ada@example.com --add-tag golden");
    expect(wrong).toMatchObject({ code: 5, stderr: expect.stringContaining('"gold"') });
  });

  it("never show an id or leave out a field where what they tell is too old", async () => {
    const { run, ecm, id } = await account();
    await ecm(`contact get ${id} -o tsv`);
    const others = await elsewhere();
    for (const line of [
      "lists create Leads",
      "structure field add Town",
      `contact mutate ${id} --add-list Leads --set Town=Oslo`,
    ])
      await done(ecm(line, others));
    for (const line of [`contact get ${id} -o tsv`, "contact search -o tsv"]) {
      const { stdout } = await run(line);
      expect(stdout).toContain("Town");
      expect(stdout).toContain("Leads");
    }
    expect((await run(`contact get ${id} -o tsv`)).requests).toBe(1);
  });

  it("are looked up again when the service refuses an id, and the request is sent once more", async () => {
    const { run, ecm, sandbox } = await account();
    await ecm("contact search -o table");
    const others = await elsewhere();
    for (const line of ["lists delete Newsletter --yes", "lists create Newsletter"])
      await done(ecm(line, others));
    // Refused, structures, lists, sent again.
    const create = "contact create --key bob@example.com --list Newsletter";
    expect(await run(create)).toMatchObject({ code: 0, requests: 4 });
    // A refusal that no outdated name explains is not.
    const stdin = JSON.stringify({ key: "no address", contactStructureId: sandbox.structureId });
    expect(await run("contact create --data -", { stdin })).toMatchObject({ code: 1, requests: 1 });
  });

  it("are looked up again where a condition finds nobody: nobody refuses an outdated id there", async () => {
    const { run, ecm, id } = await account();
    const others = await elsewhere();
    await ecm(`contact mutate ${id} --add-list Newsletter`);
    await ecm("contact search -o table");
    expect((await run("contact search --list Newsletter -o id")).requests).toBe(1);
    for (const condition of [
      "--list Newsletter",
      "--list Newsletter --count",
      "--filter 'LIST_ID EQ Newsletter'",
      "--tag vip",
      `--where '"Newsletter" in lists && "vip" in tags && City == "Paris"'`,
    ]) {
      await ecm("contact search -o table");
      for (const line of [
        "lists delete Newsletter --yes",
        "lists create Newsletter",
        "structure tag remove vip --yes",
        "structure tag add vip",
        "structure field remove City --yes",
        "structure field add City",
        `contact mutate ${id} --add-list Newsletter --add-tag vip --set City=Paris`,
      ])
        await done(ecm(line, others));
      const found = await ecm(`contact search ${condition} -o id`);
      expect(found.stdout, condition).toBe(condition.includes("--count") ? "1\n" : `${id}\n`);
    }
  });

  it("are dropped by a write that changes structures or lists, by ecm api too", async () => {
    const { run, ecm, sandbox } = await account();
    for (const write of [
      "lists rename Newsletter News",
      "structure tag rename vip gold",
      `api POST /api/contact-structure/${sandbox.structureId}/lists -f name=Leads`,
    ]) {
      await ecm("contact search -o table");
      expect((await run("contact search -o table")).requests).toBe(1);
      await done(ecm(write));
      expect((await run("contact search -o table")).requests).toBe(3);
    }
  });

  it("belong to one key, hold labels and names alone, and are their owner's", async () => {
    const { run, ecm, env } = await account();
    await ecm("contact search -o table");
    const names = join(env.ECM_CACHE_DIR!, "names");
    const [file] = await readdir(names);
    expect((await stat(join(names, file!))).mode & 0o777).toBe(0o600);
    const text = await readFile(join(names, file!), "utf8");
    expect(text).toContain("Newsletter");
    expect(text).not.toContain("ada@example.com");
    expect(text).not.toContain(env.ECM_API_KEY!);
    expect(text).not.toContain("totalContacts");
    await writeFile(join(names, file!), text.replace(/"key":"[0-9a-f]+"/, '"key":"another"'));
    expect((await run("contact search -o table")).requests).toBe(3);
    await writeFile(join(names, file!), '{"structures":["Default"],"lists":["Newsletter"]}');
    expect((await run("contact search -o table")).requests).toBe(3);
  });
});
