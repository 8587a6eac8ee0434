/**
 * What each command costs in requests, with names that earlier
 * commands saw and without; and what keeps that honest.
 */
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Clock } from "../../src/wire.ts";
import { temporaryFolder } from "../support/ecm.ts";
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
      const elsewhere = { env: { ECM_CACHE_DIR: await temporaryFolder() } };
      const without = await run(line.replaceAll("{turn}", "0"), elsewhere);
      await ecm("contact search -o table");
      const remembered = await run(line.replaceAll("{turn}", "1"));
      counted.push([line, without.code, remembered.code, remembered.requests, without.requests]);
    }
    expect(counted).toEqual(table.map(([line, remembered, without]) => [line, 0, 0, remembered, without]));
  });

  it.each([
    ["nothing", ""],
    ["a byte that is zero", "Email\na\0@b.co\n"],
    ["HTML", "<html><body><table>"],
    ["half a workbook", "PK\x03\x04and no more"],
    ["half an archive", "\x1f\x8b\x08and no more"],
    ["JSON without a member", "[{}]"],
  ])("nothing for a file that holds %s", async (_what, text) => {
    const service = await startSandbox();
    expect((await service.ecm("lists create News")).code).toBe(0);
    const cost = counter(service);
    const file = join(await temporaryFolder(), "people.csv");
    await writeFile(file, Buffer.from(text, "latin1"));
    for (const line of [
      `import ${file}`,
      `import ${file} --dry-run --list News`,
      `lists sync News ${file}`,
      `contact mutate --keys ${file} --set 'First Name=A'`,
      `contact unsubscribe --keys ${file} --yes`,
      `contact delete --keys ${file} --yes`,
    ]) {
      const { code, requests, stderr } = await cost(line);
      expect({ line, code, requests }).toEqual({ line, code: 2, requests: 0 });
      expect(stderr).toContain("people.csv");
    }
  });

  it("nothing for a file that is cut off inside a quote", async () => {
    const { run } = await account();
    const file = join(await temporaryFolder(), "cut.csv");
    await writeFile(file, 'Email,City\na@example.com,"New York"\nb@example.com,"Los');
    for (const line of [`import ${file}`, `lists sync L ${file}`, `contact delete --yes --keys ${file}`]) {
      const { code, requests, stderr } = await run(line);
      expect({ line, code, requests }).toEqual({ line, code: 2, requests: 0 });
      expect(stderr).toContain(":3: a quote opens here");
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

describe("remembered names", () => {
  it("count for 10 minutes in a read, and for 60 seconds in a write", async () => {
    const { run } = await account();
    const clock = settableClock();
    const get = ["contact", "get", "ada@example.com", "--json"];
    const mutate = (city: string) => ["contact", "mutate", "ada@example.com", "--set", `City=${city}`];
    expect((await run(get, { clock })).requests).toBe(2);
    clock.advance(59);
    expect((await run(mutate("Oslo"), { clock })).requests).toBe(2);
    clock.advance(10);
    expect((await run(mutate("Rome"), { clock })).requests).toBe(3);
    clock.advance(590);
    expect((await run(get, { clock })).requests).toBe(2);
    clock.advance(20);
    expect((await run(get, { clock })).requests).toBe(3);
  });

  it("count from the request of a listing of lists too", async () => {
    const { run } = await account();
    const clock = settableClock();
    const move = (change: string) => ["contact", "mutate", "ada@example.com", change, "Newsletter"];
    for (const listing of ["lists list", "lists list --all"]) {
      clock.advance(700);
      expect((await run(listing, { clock })).requests).toBe(2);
      clock.advance(59);
      expect((await run(move("--remove-list"), { clock })).requests).toBe(2);
      clock.advance(2);
      expect((await run(move("--add-list"), { clock })).requests).toBe(4);
    }
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
    const elsewhere = { env: { ECM_CACHE_DIR: await temporaryFolder() } };
    await ecm("lists create Leads", elsewhere);
    await ecm("structure field add Town", elsewhere);
    await ecm("structure tag add gold", elsewhere);
    const args = ["--add-list", "Leads", "--add-tag", "gold", "--set", "Town=Oslo"];
    const mutated = await run(["contact", "mutate", "ada@example.com", ...args]);
    expect(mutated).toMatchObject({ code: 0, stderr: expect.not.stringContaining("error") });
    const result = await run("contact get ada@example.com -o tsv");
    expect(result.stdout).toContain("Leads");
    const wrong = await run("contact mutate ada@example.com --add-tag golden");
    expect(wrong).toMatchObject({ code: 5, stderr: expect.stringContaining('"gold"') });
  });

  it("never show an id or leave out a field where what they tell is too old", async () => {
    const { run, ecm, id } = await account();
    await ecm(["contact", "get", id, "-o", "tsv"]);
    const elsewhere = { env: { ECM_CACHE_DIR: await temporaryFolder() } };
    await ecm("lists create Leads", elsewhere);
    await ecm("structure field add Town", elsewhere);
    await ecm(["contact", "mutate", id, "--add-list", "Leads", "--set", "Town=Oslo"], elsewhere);
    for (const args of [["get", id], ["search"]]) {
      const { stdout } = await run(["contact", ...args, "-o", "tsv"]);
      expect(stdout).toContain("Town");
      expect(stdout).toContain("Leads");
    }
    expect((await run(["contact", "get", id, "-o", "tsv"])).requests).toBe(1);
  });

  it("are looked up again when the service refuses an id, and the request is sent once more", async () => {
    const { run, ecm } = await account();
    const elsewhere = { env: { ECM_CACHE_DIR: await temporaryFolder() } };
    await ecm("contact search -o table");
    await ecm("lists delete Newsletter --yes", elsewhere);
    await ecm("lists create Newsletter", elsewhere);
    const [{ _id: structureId }] = JSON.parse((await ecm("structure list --json", elsewhere)).stdout);
    const create = ["contact", "create", "--key", "bob@example.com", "--list", "Newsletter"];
    // Refused, structures, lists, sent again.
    expect(await run(create)).toMatchObject({ code: 0, requests: 4 });
    // A refusal that no outdated name explains is not.
    const body = join(await temporaryFolder(), "body.json");
    await writeFile(body, JSON.stringify({ key: "no address", contactStructureId: structureId }));
    expect(await run(["contact", "create", "--data", body])).toMatchObject({ code: 1, requests: 1 });
  });

  it("are looked up again where a condition finds nobody: nobody refuses an outdated id there", async () => {
    const { run, ecm, id } = await account();
    const elsewhere = { env: { ECM_CACHE_DIR: await temporaryFolder() } };
    await ecm(["contact", "mutate", id, "--add-list", "Newsletter"]);
    await ecm("contact search -o table");
    expect((await run("contact search --list Newsletter -o id")).requests).toBe(1);
    for (const condition of [
      ["--list", "Newsletter"],
      ["--list", "Newsletter", "--count"],
      ["--filter", "LIST_ID EQ Newsletter"],
      ["--tag", "vip"],
      ["--where", '"Newsletter" in lists && "vip" in tags && City == "Paris"'],
    ]) {
      await ecm("contact search -o table");
      await ecm("lists delete Newsletter --yes", elsewhere);
      await ecm("lists create Newsletter", elsewhere);
      await ecm("structure tag remove vip --yes", elsewhere);
      await ecm("structure tag add vip", elsewhere);
      await ecm("structure field remove City --yes", elsewhere);
      await ecm("structure field add City", elsewhere);
      const change = ["--add-list", "Newsletter", "--add-tag", "vip", "--set", "City=Paris"];
      await ecm(["contact", "mutate", id, ...change], elsewhere);
      const found = await ecm(["contact", "search", ...condition, "-o", "id"]);
      expect(found.stdout, condition.join(" ")).toBe(condition.includes("--count") ? "1\n" : `${id}\n`);
    }
  });

  it("are dropped by a write that changes structures or lists, by ecm api too", async () => {
    const { run, ecm } = await account();
    const structure = (JSON.parse((await ecm("structure get --json")).stdout) as { _id: string })._id;
    const path = `/api/contact-structure/${structure}/lists`;
    for (const write of [
      ["lists", "rename", "Newsletter", "News"],
      ["structure", "tag", "rename", "vip", "gold"],
      ["api", "POST", path, "-f", "name=Leads"],
    ]) {
      await ecm("contact search -o table");
      expect((await run("contact search -o table")).requests).toBe(1);
      expect((await ecm(write)).code).toBe(0);
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
