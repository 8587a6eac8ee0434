/** docs/containers.md: a machine that is lost, two machines on one account, a shared state folder. */
import { copyFile, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { interruptedError } from "../../src/errors.ts";
import { done, ends, inputFile, manyRows, parseSummary, temporaryFolder, temporaryHome } from "../kit.ts";
import { startSandbox } from "../support/sandbox.ts";
import { expectNoRepeats, expectStopped, readComparable } from "./ends.ts";
import { beforeFirst, startRecordingProxy } from "./recording-proxy.ts";

const rows = 30;
/** Of these, how many the account does not know at first. */
const unknown = 20;
const flags = ["--list", "Newsletter", "--tag", "VIP", "--create-missing", "--json"];

/** An account in which each third person of the file is known already, under an older name. */
async function account() {
  const proxy = await startRecordingProxy();
  const known = Array.from({ length: rows - unknown }, (_, index) => ({
    key: `p${index * 3 + 2}@example.com`,
    fields: { "First Name": "Older" },
  }));
  proxy.sandbox.admin.seed({ contacts: known });
  const path = await inputFile(manyRows(rows));
  const importRows = (options?: Parameters<typeof proxy.ecm>[1]) =>
    proxy.ecm(["import", path, ...flags], options);
  return { proxy, importRows };
}

type Account = Awaited<ReturnType<typeof account>>;

/** Runs the import until this many writes arrived; the last of them is carried out, and its answer lost. */
async function stopAfter({ proxy, importRows }: Account, writes: number) {
  const interruption = new AbortController();
  let requestCount = 0;
  proxy.onRequest = ({ when, path: where }) => {
    if (when === "before" || !/^\/api\/contact(\/[^/]+\/mutate)?$/.test(where)) return undefined;
    if (++requestCount < writes) return undefined;
    interruption.abort(interruptedError("SIGINT"));
    return "drop";
  };
  const stopped = await importRows({ signal: interruption.signal });
  proxy.onRequest = () => undefined;
  return expectStopped(stopped, 130, "signal");
}

/** Every row was settled, nobody was created or changed twice, and everybody is as the file says. */
async function expectSettled({ rows: counts }: Summary, { proxy }: Account): Promise<void> {
  expect(counts).toMatchObject({ read: rows, rejected: 0, skipped: 0, pending: 0 });
  expect(counts.created + counts.updated + counts.unchanged).toBe(rows);
  expectNoRepeats(proxy);
  const contacts = await readComparable(proxy);
  expect(contacts.size).toBe(rows);
  for (const [key, contact] of contacts) {
    const fields = { "First Name": key.replace(/^p(\d+)@.*/, "First $1") };
    expect(contact).toMatchObject({ fields, lists: ["list"], tags: ["tag"] });
  }
}

describe("the state folder is lost in the middle of an import", () => {
  it.each([1, 22])("after %i writes: the same end, nobody twice, what was done stays", async (writes) => {
    const made = await account();
    const { proxy, importRows } = made;
    const stopped = await stopAfter(made, writes);
    expect(stopped.rows.pending).toBeGreaterThan(0);
    for (const folder of ["ECM_STATE_DIR", "ECM_CACHE_DIR"])
      await rm(proxy.env[folder]!, { recursive: true, force: true });
    const before = proxy.writes.filter(({ kind, status }) => kind === "create" && status < 300).length;
    const again: Summary = JSON.parse(await done(importRows()));
    expect(again.run).not.toBe(stopped.run);
    expect(again.rows.created).toBe(unknown - before);
    await expectSettled(again, made);
  });

  it("takes the suppressions with it, unless they are in a file of their own", async () => {
    const { ecm, env } = await startSandbox();
    const ECM_SUPPRESSIONS = join(await temporaryFolder(), "suppressions.txt");
    const path = await inputFile("Email\ngone@example.com\nada@example.com\n");
    await done(ecm("suppressions add gone@example.com"));
    const folder = join(env.ECM_STATE_DIR!, "suppressions");
    const own = (await readdir(folder)).find((name) => /txt$/.test(name))!;
    await copyFile(join(folder, own), ECM_SUPPRESSIONS);
    await rm(env.ECM_STATE_DIR!, { recursive: true });
    const dry = ["import", path, "--dry-run", "--json"];
    expect(parseSummary(await ecm(dry)).rows).toMatchObject({ created: 2 });
    const summary = parseSummary(await ecm(dry, { env: { ECM_SUPPRESSIONS } }));
    expect(summary).toMatchObject({ rows: { created: 1, skipped: 1 }, consent: { suppressed: 1 } });
    // A volume that is not mounted: nobody is created, rather than everybody.
    await rename(ECM_SUPPRESSIONS, `${ECM_SUPPRESSIONS}.elsewhere`);
    await ends(ecm(["import", path, "--json"], { env: { ECM_SUPPRESSIONS } }), 1, ECM_SUPPRESSIONS);
  });
});

describe("two machines on one account", () => {
  it("import the same file at the same time: nobody twice, and the counts of both are true", async () => {
    const made = await account();
    // The service lets two lists have one name: who creates them at the same moment gets two.
    await done(made.proxy.ecm("lists create Newsletter"));
    const machines = await Promise.all([temporaryHome(), temporaryHome()]);
    const results = await Promise.all(machines.map((env) => done(made.importRows({ env }))));
    const [one, two] = results.map((each): Summary => JSON.parse(each)) as [Summary, Summary];
    expect(one.rows.created + two.rows.created).toBe(unknown);
    for (const each of [one, two]) await expectSettled(each, made);
  });

  it("go on with what the other left: the second does the rest, the first finds nothing to do", async () => {
    const made = await account();
    const { proxy, importRows } = made;
    await stopAfter(made, 10);
    await done(importRows({ env: await temporaryHome() }));
    const written = proxy.writes.length;
    await expectSettled(JSON.parse(await done(importRows())), made);
    // At most the one whose answer was lost is asked about with a write, which the service refuses.
    expect(proxy.writes.slice(written).filter(({ status }) => status < 300)).toEqual([]);
  });
});

it("a state folder on a shared volume keeps a second machine out of a run that another one works on, without a request", async () => {
  const made = await account();
  const { proxy, importRows } = made;
  const locks = join(proxy.env.ECM_STATE_DIR!, "locks");
  let [file, lease] = ["", ""];
  const readLease = async () => {
    file = join(locks, (await readdir(locks))[0]!);
    lease = await readFile(file, "utf8");
  };
  beforeFirst(proxy, (path) => path === "/api/contact", readLease);
  const stopped = await stopAfter(made, 10);
  // As the other machine's lease lies there while it works.
  const [holder, ...rest] = lease.split("\n");
  const other = { ...JSON.parse(holder!), host: "worker-a", pid: 12, space: "another machine" };
  await writeFile(file, [JSON.stringify(other), ...rest].join("\n"));
  await utimes(file, new Date(), new Date());

  const arrived = proxy.writes.length;
  const refused = await ends(importRows(), 6, "in use by process 12 on worker-a since ");
  expect(expectStopped(refused, 6, "lock").rows.created).toBe(0);
  expect(proxy.writes).toHaveLength(arrived);

  // Another file is another run: it is not kept out.
  await done(proxy.ecm(["import", await inputFile("Email\nsomeone@example.com\n")]));

  await rm(file);
  expect(parseSummary(await importRows())).toMatchObject({
    run: stopped.run,
    status: "completed",
    rows: { created: unknown, updated: rows - unknown },
  });
});
