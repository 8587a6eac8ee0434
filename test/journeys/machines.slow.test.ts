/**
 * What docs/containers.md promises: a machine that is lost, two
 * machines on one account, and a shared state folder.
 */
import { copyFile, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { interruptedError } from "../../src/errors.ts";
import { inputFile, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { findRepeatedWrites, type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

const rows = 30;
/** Of these, how many the account does not know at first. */
const unknown = 20;
const flags = ["--list", "Newsletter", "--tag", "VIP", "--create-missing", "--json"];

/** An account in which each third person of the file is known already, under an older name. */
async function account() {
  const proxy = await startRecordingProxy();
  const existingRows = manyRows(rows, () => "Older")
    .split("\n")
    .filter((_line, index) => index % 3 === 0)
    .join("\n");
  const seeded = await proxy.ecm(["import", await inputFile(existingRows), "--json"], {
    env: await temporaryHome(),
  });
  expect(seeded.code, seeded.stderr).toBe(0);
  proxy.writes.length = 0;
  return { proxy, path: await inputFile(manyRows(rows)) };
}

/** Runs the import until this many writes arrived; the last of them is carried out, and its answer lost. */
async function stopAfter(proxy: RecordingProxy, path: string, writes: number) {
  const interruption = new AbortController();
  let requestCount = 0;
  proxy.onRequest = ({ when, path: where }) => {
    if (when === "before" || !/^\/api\/contact(\/[^/]+\/mutate)?$/.test(where)) return undefined;
    if (++requestCount < writes) return undefined;
    interruption.abort(interruptedError("SIGINT"));
    return "drop";
  };
  const stopped = await proxy.ecm(["import", path, ...flags], { signal: interruption.signal });
  proxy.onRequest = () => undefined;
  expect(stopped.code, stopped.stderr).toBe(130);
  return parseSummary(stopped);
}

const createdOnce = (proxy: RecordingProxy) =>
  proxy.writes.filter(({ kind, status }) => kind === "create" && status < 300).map(({ what }) => what);

describe("the state folder is lost in the middle of an import", () => {
  it.each([1, 22])(
    "after %i writes: the same end, nobody twice, and what was done is left alone",
    async (writes) => {
      const undisturbed = await account();
      expect((await undisturbed.proxy.ecm(["import", undisturbed.path, ...flags])).code).toBe(0);

      const { proxy, path } = await account();
      const stopped = await stopAfter(proxy, path, writes);
      expect(stopped.rows.pending).toBeGreaterThan(0);
      for (const folder of ["ECM_STATE_DIR", "ECM_CACHE_DIR"]) {
        await rm(proxy.env[folder]!, { recursive: true, force: true });
      }
      const before = createdOnce(proxy).length;
      const again = await proxy.ecm(["import", path, ...flags]);
      expect(again.code, again.stderr).toBe(0);
      const summary = parseSummary(again);
      expect(summary.run).not.toBe(stopped.run);
      expect(summary.rows).toMatchObject({ read: rows, created: unknown - before, rejected: 0, pending: 0 });
      expect(summary.rows.created + summary.rows.updated + summary.rows.unchanged).toBe(rows);
      expect(findRepeatedWrites(proxy.writes, "create")).toEqual([]);
      expect(findRepeatedWrites(proxy.writes, "mutate")).toEqual([]);
      expect(await readContacts(proxy)).toEqual(
        copyIds(await readContacts(undisturbed.proxy), await readContacts(proxy)),
      );
    },
  );

  it("takes the suppressions with it, unless they are in a file of their own", async () => {
    const { ecm, env } = await startSandbox();
    const ECM_SUPPRESSIONS = join(await temporaryFolder(), "suppressions.txt");
    const path = await inputFile("Email\ngone@example.com\nada@example.com\n");
    expect((await ecm("suppressions add gone@example.com")).code).toBe(0);
    const [own] = (await readdir(join(env.ECM_STATE_DIR!, "suppressions"))).filter((name) =>
      /txt$/.test(name),
    );
    await copyFile(join(env.ECM_STATE_DIR!, "suppressions", own!), ECM_SUPPRESSIONS);
    await rm(env.ECM_STATE_DIR!, { recursive: true });
    const dry = ["import", path, "--dry-run", "--json"];
    expect(parseSummary(await ecm(dry)).rows).toMatchObject({ created: 2 });
    const summary = parseSummary(await ecm(dry, { env: { ECM_SUPPRESSIONS } }));
    expect(summary).toMatchObject({ rows: { created: 1, skipped: 1 }, consent: { suppressed: 1 } });
    // A volume that is not mounted: nobody is created, rather than everybody.
    await rename(ECM_SUPPRESSIONS, `${ECM_SUPPRESSIONS}.elsewhere`);
    const unmounted = await ecm(["import", path, "--json"], { env: { ECM_SUPPRESSIONS } });
    expect(unmounted.code).toBe(1);
    expect(unmounted.stderr).toContain(ECM_SUPPRESSIONS);
  });
});

describe("two machines on one account", () => {
  it("import the same file at the same time: nobody twice, and the counts of both are true", async () => {
    const { proxy, path } = await account();
    // The service lets two lists have one name: who creates them at the same moment gets two.
    expect((await proxy.ecm("lists create Newsletter")).code).toBe(0);
    const machines = await Promise.all([temporaryHome(), temporaryHome()]);
    const results = await Promise.all(machines.map((env) => proxy.ecm(["import", path, ...flags], { env })));
    for (const result of results) expect(result.code, result.stderr).toBe(0);
    const [one, two] = results.map((result) => parseSummary(result).rows);
    expect(one!.created + two!.created).toBe(unknown);
    expect(findRepeatedWrites(proxy.writes, "create")).toEqual([]);
    for (const each of [one!, two!]) {
      expect(each).toMatchObject({ read: rows, rejected: 0, skipped: 0, pending: 0 });
      expect(each.created + each.updated + each.unchanged).toBe(rows);
    }
    const contacts = await readContacts(proxy);
    expect(contacts.size).toBe(rows);
    for (let index = 0; index < rows; index++) {
      const contact = contacts.get(`p${index}@example.com`)!;
      expect(contact.fields).toEqual({ "First Name": `First ${index}` });
      expect(contact.lists).toHaveLength(1);
      expect(contact.tags).toHaveLength(1);
    }
  });

  it("go on with what the other left: the second does the rest, the first finds nothing to do", async () => {
    const { proxy, path } = await account();
    const second = await temporaryHome();
    await stopAfter(proxy, path, 10);
    expect((await proxy.ecm(["import", path, ...flags], { env: second })).code).toBe(0);
    const written = proxy.writes.length;
    const first = await proxy.ecm(["import", path, ...flags]);
    expect(first.code, first.stderr).toBe(0);
    expect(parseSummary(first).rows).toMatchObject({ read: rows, rejected: 0, pending: 0 });
    expect(findRepeatedWrites(proxy.writes, "create")).toEqual([]);
    // At most the one whose answer was lost is asked about with a write, which the service refuses.
    expect(proxy.writes.slice(written).filter(({ status }) => status < 300)).toEqual([]);
  });
});

describe("a state folder on a shared volume", () => {
  it("keeps a second machine out of a run that another one works on, without a request", async () => {
    const { proxy, path } = await account();
    const locks = join(proxy.env.ECM_STATE_DIR!, "locks");
    let lease: { name: string; text: string } | undefined;
    proxy.beforeRequest = async (where) => {
      if (lease || where !== "/api/contact") return;
      const [name] = await readdir(locks);
      lease = { name: name!, text: await readFile(join(locks, name!), "utf8") };
    };
    const stopped = await stopAfter(proxy, path, 10);
    // As the other machine's lease lies there while it works.
    const [holder, ...rest] = lease!.text.split("\n");
    const elsewhere = JSON.stringify({
      ...JSON.parse(holder!),
      host: "worker-a",
      pid: 12,
      space: "another machine",
    });
    const file = join(locks, lease!.name);
    await writeFile(file, [elsewhere, ...rest].join("\n"));
    await utimes(file, new Date(), new Date());

    const arrived = proxy.writes.length;
    const refused = await proxy.ecm(["import", path, ...flags]);
    expect(refused.code).toBe(6);
    expect(parseSummary(refused)).toMatchObject({
      status: "stopped",
      stoppedBy: "lock",
      rows: { created: 0 },
    });
    expect(refused.stderr).toContain("in use by process 12 on worker-a since ");
    expect(proxy.writes).toHaveLength(arrived);

    // Another file is another run: it is not kept out.
    const other = await inputFile("Email\nsomeone@example.com\n");
    expect((await proxy.ecm(["import", other, "--json"])).code).toBe(0);

    await rm(file);
    const resumed = parseSummary(await proxy.ecm(["import", path, ...flags]));
    expect(resumed).toMatchObject({
      run: stopped.run,
      status: "completed",
      rows: { created: unknown, updated: rows - unknown },
    });
  });
});

type Contacts = Awaited<ReturnType<typeof readContacts>>;

/** Two accounts give their lists and tags ids of their own: those of the other, where there are as many. */
function copyIds(contacts: Contacts, other: Contacts): Contacts {
  const [{ lists, tags }] = [...other.values()] as [Contacts extends Map<string, infer C> ? C : never];
  return new Map(
    [...contacts].map(([key, each]) => [
      key,
      { ...each, lists: lists.slice(0, each.lists.length), tags: tags.slice(0, each.tags.length) },
    ]),
  );
}
