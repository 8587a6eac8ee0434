/** What each command costs in requests, with remembered names and without; and what keeps that honest. */
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/wire.ts";
import { done, type Ecm, type Result, readJson, refused, startSandbox, temporaryFolder } from "../kit.ts";

/** A clock of the commands' own that a test sets forward, by seconds. */
function settableClock(ahead = 0): Clock & { advance(seconds: number): void } {
  const advance = (seconds: number) => {
    ahead += seconds;
  };
  return { now: () => Date.now() + ahead * 1000, sleep: () => Promise.resolve(), advance };
}

/** An account with Ada, and what runs commands and counts the requests that the service has seen of each. */
async function account() {
  const service = await startSandbox();
  const { ecm, sandbox } = service;
  for (const line of ["lists create Newsletter", "structure field add City", "structure tag add vip"])
    await done(ecm(line));
  const ada = "--key ada@example.com --set City=Paris --tag vip --list Newsletter";
  const { _id: id } = await readJson(ecm, `contact create ${ada}`);
  const run: (...command: Parameters<Ecm>) => Promise<Result & { requests: number }> = async (...command) => {
    const since = sandbox.admin.requests({ limit: 1 }).at(-1)?.n;
    const result = await ecm(...command);
    return { ...result, requests: sandbox.admin.requests({ since }).length };
  };
  /** What a command costs. */
  const cost = async (line: string, clock?: Clock) => (await run(line, { clock })).requests;
  /** What others do, who remember nothing. */
  const others = async (...lines: string[]) => {
    const env = { ECM_CACHE_DIR: await temporaryFolder() };
    for (const line of lines) await done(ecm(line, { env }));
  };
  return { ...service, id, run, cost, others };
}

describe("a command costs", () => {
  it("what the table says, with remembered names and without", async () => {
    const { run, id, ecm, sandbox } = await account();
    sandbox.admin.seed({ campaigns: [{ name: "Spring sale", status: "sent" }] });
    /** `every-command.test.ts` has those that need no names. {turn}: 0 without remembered names, then 1. */
    const table: [line: string, remembered: number, otherwise: number][] = [
      [`contact get ${id} --json`, 1, 1],
      [`contact get ${id} -o table`, 1, 3],
      ["contact get ada@example.com --json", 2, 3],
      ["contact get ada@example.com -o table", 2, 4],
      ["contact search --json", 1, 2],
      ["contact search -o table", 1, 3],
      ["contact search --text ada --json", 1, 2],
      ["contact create --key new-{turn}@example.com --list Newsletter", 1, 3],
      ["contact mutate ada@example.com --set City=City{turn} --add-list Newsletter", 2, 4],
      ["contact mutate ada@example.com --set City=City1 --add-list Newsletter", 1, 3],
      ["contact move new-{turn}@example.com moved-{turn}@example.com --yes", 6, 8],
      ["contact dossier ada@example.com", 5, 5],
      ["lists list", 1, 2],
      ["campaigns get 'Spring sale'", 2, 2],
      ["reports campaign 'Spring sale' --period week", 3, 3],
    ];
    const counted: unknown[] = [];
    for (const [line] of table) {
      const env = { ECM_CACHE_DIR: await temporaryFolder() };
      const without = await run(line.replaceAll("{turn}", "0"), { env });
      await ecm("contact search -o table");
      const remembered = await run(line.replaceAll("{turn}", "1"));
      counted.push([line, without.code, remembered.code, remembered.requests, without.requests]);
    }
    expect(counted).toEqual(table.map(([line, remembered, without]) => [line, 0, 0, remembered, without]));
  });

  it("nothing for a bad local file, flag or folder", async () => {
    const { ecm, sandbox } = await startSandbox();
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
      `api POST /api/x --output-file ${folder}/no/such/file.csv`,
    ])
      await refused(ecm(line), 2);
    for (const state of [bad, join(bad, "state")]) {
      const importing = ecm("import -", { stdin: "Email\na@example.com\n", env: { ECM_STATE_DIR: state } });
      await refused(importing, 2, /^error: Cannot write to the run folder .*\nhint: .*ECM_STATE_DIR/m);
    }
    expect(sandbox.admin.requests()).toEqual([]);
  });
});

describe("remembered names", () => {
  const get = "contact get ada@example.com --json";
  const table = "contact search -o table";

  it("count for 10 minutes in a read, and for 60 seconds in a write", async () => {
    const { cost } = await account();
    const clock = settableClock();
    const change = (city: string) => `contact mutate ada@example.com --set City=${city}`;
    expect(await cost(get, clock)).toBe(2);
    clock.advance(59);
    expect(await cost(change("Oslo"), clock)).toBe(2);
    clock.advance(10);
    expect(await cost(change("Rome"), clock)).toBe(3);
    clock.advance(590);
    expect(await cost(get, clock)).toBe(2);
    clock.advance(20);
    expect(await cost(get, clock)).toBe(3);
  });

  it.each(["lists list", "lists list --all"])("count from the request of `%s` too", async (listing) => {
    const { cost } = await account();
    const clock = settableClock(700);
    const change = (flag: string) => `contact mutate ada@example.com ${flag} Newsletter`;
    expect(await cost(listing, clock)).toBe(2);
    clock.advance(59);
    expect(await cost(change("--remove-list"), clock)).toBe(2);
    clock.advance(2);
    expect(await cost(change("--add-list"), clock)).toBe(4);
  });

  it("do not count for a clock that was set back", async () => {
    const { cost } = await account();
    expect(await cost(get, settableClock(-3600))).toBe(3);
  });

  it("are looked up freshly before a name is an error, and once more only when something is new", async () => {
    const { ecm, others } = await account();
    await ecm(table);
    await others("lists create Leads", "structure field add Town", "structure tag add gold");
    await done(ecm("contact mutate ada@example.com --add-list Leads --add-tag gold --set Town=Oslo"));
    expect(await done(ecm("contact get ada@example.com -o tsv"))).toContain("Leads");
    await refused(ecm("contact mutate ada@example.com --add-tag golden"), 5, '"gold"');
  });

  it("never show an id or leave out a field where what they tell is too old", async () => {
    const { ecm, cost, others, id } = await account();
    await ecm(`contact get ${id} -o tsv`);
    const change = `contact mutate ${id} --add-list Leads --set Town=Oslo`;
    await others("lists create Leads", "structure field add Town", change);
    for (const line of [`contact get ${id} -o tsv`, "contact search -o tsv"])
      expect(await done(ecm(line))).toMatch(/Town[\s\S]*Leads/);
    expect(await cost(`contact get ${id} -o tsv`)).toBe(1);
  });

  it("are looked up again when the service refuses an id, and the request is sent once more", async () => {
    const { run, ecm, others, sandbox } = await account();
    await ecm(table);
    await others("lists delete Newsletter --yes", "lists create Newsletter");
    // Refused, structures, lists, sent again.
    const create = "contact create --key bob@example.com --list Newsletter";
    expect(await run(create)).toMatchObject({ code: 0, requests: 4 });
    // A refusal that no outdated name explains is not.
    const stdin = JSON.stringify({ key: "no address", contactStructureId: sandbox.structureId });
    expect(await run("contact create --data -", { stdin })).toMatchObject({ code: 1, requests: 1 });
  });

  it("are looked up again where a condition finds nobody: nobody refuses an outdated id there", async () => {
    const { cost, ecm, env, others, id } = await account();
    await ecm(`contact mutate ${id} --add-list Newsletter`);
    await ecm(table);
    expect(await cost("contact search --list Newsletter -o id")).toBe(1);
    await others(
      "lists delete Newsletter --yes",
      "lists create Newsletter",
      "structure tag remove vip --yes",
      "structure tag add vip",
      "structure field remove City --yes",
      "structure field add City",
      `contact mutate ${id} --add-list Newsletter --add-tag vip --set City=Paris`,
    );
    for (const condition of [
      "--list Newsletter",
      "--list Newsletter --count",
      "--filter 'LIST_ID EQ Newsletter'",
      "--tag vip",
      `--where '"Newsletter" in lists && "vip" in tags && City == "Paris"'`,
    ]) {
      // The names as they were, each time.
      const outdated = { ECM_CACHE_DIR: join(await temporaryFolder(), "cache") };
      await cp(env.ECM_CACHE_DIR!, outdated.ECM_CACHE_DIR, { recursive: true });
      const found = await done(ecm(`contact search ${condition} -o id`, { env: outdated }));
      expect(found, condition).toBe(condition.includes("--count") ? "1\n" : `${id}\n`);
    }
  });

  it("are dropped by a write that changes structures or lists, by ecm api too", async () => {
    const { cost, ecm, sandbox } = await account();
    for (const write of [
      "lists rename Newsletter News",
      "structure tag rename vip gold",
      `api POST /api/contact-structure/${sandbox.structureId}/lists -f name=Leads`,
    ]) {
      await ecm(table);
      expect(await cost(table)).toBe(1);
      await done(ecm(write));
      expect(await cost(table)).toBe(3);
    }
  });

  it("belong to one key, and hold labels and names alone", async () => {
    const { cost, ecm, env } = await account();
    await ecm(table);
    const names = join(env.ECM_CACHE_DIR!, "names");
    const [name] = await readdir(names);
    const file = join(names, name!);
    const text = await readFile(file, "utf8");
    expect(text).toContain("Newsletter");
    for (const word of ["ada@example.com", env.ECM_API_KEY!, "totalContacts"])
      expect(text).not.toContain(word);
    const anothers = text.replace(/"key":"[0-9a-f]+"/, '"key":"another"');
    for (const other of [anothers, '{"structures":["Default"],"lists":["Newsletter"]}']) {
      await writeFile(file, other);
      expect(await cost(table)).toBe(3);
    }
  });
});
