/** A person's whole work with an account, under every variant of the service, in pairs, and many at once. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { openStore, type Store } from "../../src/sandbox/store/index.ts";
import { inputFile, startSandbox, temporaryFolder } from "../kit.ts";
import { testClock } from "../sandbox/account.ts";
import { readPeople } from "./stories/account.ts";
import { show as showPeople } from "./stories/checks.ts";

type Variants = Record<string, string>;

/** Longer than any `search-lag` of these tests. */
const settlingSeconds = 60;

/** What must be the same whatever the service decides where its documents are silent, but for what was said. */
interface Journey {
  /** Of every step, what it wrote on stderr: to find out why one differs. */
  output: string;
  /** Of each step its exit code, and the counts of rows or the output. */
  steps: Record<string, unknown>;
  /** A line for each, with labels and names in place of ids. */
  contacts: string;
  /** Of every import that had nothing to do. */
  writesOfRepeats: number[];
}

/** @param isFurnished has fields, tags and their ids from the start: for a service that does not show tags */
async function runJourney(
  variants: Variants,
  { isFurnished = false }: { isFurnished?: boolean } = {},
): Promise<Journey> {
  const clock = testClock();
  const service = await startSandbox({
    variants,
    clock,
    hourlyLimit: 1_000_000,
    monthlyLimit: 1_000_000,
    contents: isFurnished ? { fields: ["City"], tags: ["vip", "trial"] } : undefined,
  });
  const tagIds = await readTagIds(service.folder);
  const tag = (label: string) => (isFurnished ? tagIds.get(label)! : label);
  const steps: Journey["steps"] = {};
  const writesOfRepeats: number[] = [];
  let output = "";
  const ecm = async (name: string, line: string) => {
    const result = await service.ecm(line, { clock });
    steps[name] = { code: result.code };
    output += `$ ecm ${line}\n${result.stderr}`;
    clock.pass(settlingSeconds);
    return result.stdout;
  };
  const bulk = async (name: string, line: string): Promise<Summary> => {
    const stdout = await ecm(name, `${line} --yes --json`);
    const summary: Summary = stdout === "" ? {} : JSON.parse(stdout);
    Object.assign(steps[name] as object, { rows: summary.rows, stoppedBy: summary.stoppedBy });
    return summary;
  };
  const repeat = async (name: string, line: string) => {
    const { requests } = await bulk(name, `${line} --fresh`);
    writesOfRepeats.push((requests?.create ?? 0) + (requests?.mutate ?? 0));
  };
  const show = async (name: string, line: string) => {
    const stdout = await ecm(name, line);
    Object.assign(steps[name] as object, { output: stdout.split("\n").filter(Boolean).sort() });
  };

  if (!isFurnished) {
    await ecm("add a field", "structure field add City");
    await ecm("add tags", "structure tag add vip trial");
  }
  for (const name of ["News", "Offers", "Events"]) await ecm(`create ${name}`, `lists create ${name}`);

  const rows = Array.from({ length: 14 }, (_, number) => {
    const lists = number % 2 ? "News" : '"News,Offers"';
    return `p${number}@example.com,First ${number},Oslo,${lists},${number % 3 ? "" : tag("vip")}\n`;
  });
  const changed = rows.map((row, number) => (number < 4 ? row.replace("Oslo", "Bergen") : row));
  const more = Array.from({ length: 3 }, (_, number) => `n${number}@example.com,New ${number},Oslo,News,\n`);
  const importing = async (table: string[]) => {
    const file = await inputFile(`Email,First Name,City,Lists,Tags\n${table.join("")}`);
    return `import ${file} --map Lists=lists --map Tags=tags`;
  };
  const first = await importing(rows);
  await bulk("import", first);
  await repeat("import again", first);
  const second = await importing([...changed, ...more]);
  const run = await bulk("import changes", second);
  await repeat("import changes again", second);

  const people = "p1@example.com\np5@example.com\nn1@example.com\nnobody@example.com\n";
  const keys = await inputFile(people, "k.txt");
  await bulk("mutate", `contact mutate --keys ${keys} --add-tag ${tag("trial")} --set City=Rome`);
  const members = await inputFile("p0@example.com\np1@example.com\np9@example.com\n", "members.txt");
  await bulk("sync", `lists sync Offers ${members} --max-remove 100%`);
  await repeat("sync again", `lists sync Offers ${members}`);

  await show("search a list", "contact search --list News --all --columns key -o tsv");
  const two = "--key p1@example.com --key p2@example.com";
  await show("search keys", `contact search ${two} --columns key -o tsv`);
  const exporting = `export --list Offers --tag ${tag("vip")} --status active --columns key -o tsv`;
  await show("export", exporting);

  await bulk("undo", `runs undo ${run.run ?? "last"}`);
  const single = "single@example.com";
  await ecm("create", `contact create --key ${single} --set City=Oslo --list News --tag ${tag("vip")}`);
  const change = `contact mutate ${single} --set City=Bergen --add-list Events --remove-tag ${tag("vip")}`;
  await ecm("mutate one", change);
  await ecm("mutate one again", change);
  await show("get", `contact get ${single} --columns key,City,lists,tags,status -o tsv`);
  if (!isFurnished) {
    const folder = join(await temporaryFolder(), "clone");
    await ecm("clone", `sandbox clone --contacts --data ${folder} --yes`);
    Object.assign(steps.clone as object, { contacts: (await readStore(folder, readPeople)).size });
  }
  await ecm("unsubscribe one", `contact unsubscribe ${single} --yes`);
  await bulk("unsubscribe", `contact unsubscribe --keys ${keys}`);
  await show("search a status", "contact search --status inactive --all --columns key,status -o tsv");
  await bulk("unsubscribe again", `contact unsubscribe --keys ${keys} --fresh`);
  await show("search where", `contact search --where 'status == "inactive" && City != ""' --count`);
  if (!isFurnished) {
    await ecm("rename a field", "structure field rename City Town");
    await ecm("remove a tag", "structure tag remove trial --yes");
  }
  const contacts = showPeople(await readStore(service.folder, readPeople));
  return { output, steps, writesOfRepeats, contacts };
}

async function readStore<Value>(folder: string, read: (store: Store) => Value): Promise<Value> {
  const store = await openStore(folder, Date.now());
  try {
    return read(store);
  } finally {
    store.database.close();
  }
}

const readTagIds = (folder: string): Promise<Map<string, string>> =>
  readStore(folder, ({ structures }) => {
    const tags = structures.all().flatMap((structure) => structure.tags);
    return new Map(tags.map(({ _id, label }) => [label, _id]));
  });

/** Every step, what the account holds in the end, and the writes of what had nothing to do are the same. */
function expectSame({ output, ...journey }: Journey, { output: _said, ...plain }: Journey): void {
  expect(journey, output).toEqual(plain);
}

describe("the same journey", () => {
  let plain: Journey;

  it("goes well under the documents alone", async () => {
    plain = await runJourney({});
    expect(plain.writesOfRepeats).toEqual([0, 0, 0]);
    expect(plain.steps).toMatchObject({
      import: { code: 0, rows: { created: 14 } },
      "import changes": { code: 0, rows: { created: 3, updated: 4, unchanged: 10 } },
      sync: { code: 0, rows: { updated: 8, unchanged: 1 } },
      clone: { contacts: 18 },
    });
  });

  const many = { keys: "first", page: "cap:3", lists: "array", "mutate-elements": "id" };
  it.each<Variants>([
    { ...many, "mutate-answer": "empty", noop: "NoChangesError", "hourly-headers": "missing" },
    { keys: "refused", lists: "array" },
    { keys: "first", "mutate-elements": "object" },
    { "max-keys": "1", "mutate-answer": "other" },
    { "max-keys": "4", "mutate-elements": "id" },
    { "max-keys": "7", "hourly-headers": "missing" },
    { page: "cap:3", "mutate-answer": "empty" },
    { page: "refuse:3", noop: "NoChangesError" },
    { page: "cap:10" },
    { page: "refuse:30", keys: "refused", "max-keys": "20" },
    { "search-lag": "1000" },
    { "search-lag": "30000", lists: "array", "mutate-elements": "id" },
    { source: "specified" },
  ])("comes to the same end, step by step, under %j", async (variants) => {
    expectSame(await runJourney(variants), plain);
  });
});

describe("the same journey in an account that has its structure", () => {
  let plain: Journey;

  it("goes well under the documents alone", async () => {
    plain = await runJourney({}, { isFurnished: true });
    const bergen = expect.stringContaining("single@example.com\tBergen");
    expect(plain.steps).toMatchObject({
      import: { code: 0, rows: { created: 14 } },
      export: { code: 0, output: expect.arrayContaining(["p0@example.com"]) },
      get: { code: 0, output: expect.arrayContaining([bergen]) },
      "unsubscribe one": { code: 0 },
      unsubscribe: { rows: { updated: 3, rejected: 1 } },
      "unsubscribe again": { rows: { updated: 0, unchanged: 3 } },
      "search where": { output: ["4"] },
    });
  });

  it.each<Variants>([
    {},
    { keys: "first", lists: "array" },
    { "max-keys": "4", "mutate-elements": "id", "mutate-answer": "empty" },
    { page: "cap:3" },
    { "search-lag": "30000" },
  ])("comes to the same end where the service is what the specification shows, with %j", async (variants) => {
    expectSame(await runJourney({ ...variants, literal: "yes" }, { isFurnished: true }), plain);
  });
});
