import { expect, it } from "vitest";
import { beforeFirst, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { askingOf, call, done, inputFile, manyRows, readContacts, startAccount } from "../kit.ts";

const count = 10;
const keys = Array.from({ length: count }, (_, index) => `p${index}@example.com`);
const last = keys.at(-1)!;
const peopleFile = () => inputFile(manyRows(count));

interface Held {
  _id: string;
  key: string;
  fields: { _id: string; value: string }[];
  status: { primary: string };
}

/** Everybody is in the list All with the first name Old, unless nobody is there. */
async function startScene({ isEmpty = false } = {}) {
  // Time stands still but for waits: no pause is over before somebody waits for it.
  let time = Date.now();
  const now = () => time;
  const idle = { now, sleep: () => Promise.reject(new Error("nobody waits here")) };
  const contacts = keys.map((key) => ({ key, fields: { "First Name": "Old" }, lists: ["All"] }));
  const contents = { lists: ["All", "Trial"], contacts: isEmpty ? [] : contacts };
  const account = await startAccount({ clock: idle, contents });
  const { service, run } = account;
  const { admin } = service.sandbox;
  const everybody = () => call<Held[]>(service, "GET", "/api/contact");
  const isActive = ({ status }: Held) => status.primary.toLowerCase() === "active";
  return {
    ...account,
    everybody,
    isActive,
    /** Runs a command in an hour of `requests`; `meanwhile` happens when it is used up for the first time. */
    async runWaiting(command: string, meanwhile: () => Promise<unknown>, requests = 9) {
      let acted: Promise<void> | undefined;
      const clock = {
        now,
        async sleep(milliseconds: number, signal?: AbortSignal) {
          signal?.throwIfAborted();
          acted ??= (async () => {
            // Others do not spend what the run waits for.
            admin.limits({ hourly: 1000, used: 0 });
            await meanwhile();
            admin.limits({ hourly: 1000, used: 0 });
          })();
          await acted;
          time += milliseconds;
          await new Promise((resolve) => setImmediate(resolve));
        },
      };
      admin.limits({ hourly: requests, used: 0 });
      const result = await run(command, { clock });
      expect(acted, `the run did not wait: ${result.stderr}`).toBeDefined();
      return result;
    },
    /**
     * Somebody else gives everybody who has the one value, or so many of them, the other.
     * @returns the keys of the active ones
     */
    async othersSet(from: string, to: string, most = count): Promise<string[]> {
      const set: Held[] = [];
      for (const contact of await everybody()) {
        const field = contact.fields.find(({ value }) => value === from);
        if (!field || set.length === most) continue;
        const updateFields = [{ _id: field._id, value: to }];
        await call(service, "PUT", `/api/contact/${contact._id}/mutate`, { updateFields });
        set.push(contact);
      }
      expect(set).not.toEqual([]);
      return set.filter(isActive).map(({ key }) => key);
    },
    async unsubscribe(...left: string[]): Promise<void> {
      const status = { primary: "Inactive", secondary: "Unsubscribe" };
      for (const { _id, key } of await everybody())
        if (left.includes(key)) await call(service, "PATCH", `/api/contact/${_id}`, { status });
    },
    async values(): Promise<Record<string, string | undefined>> {
      const contacts = await readContacts(service);
      return Object.fromEntries([...contacts].map(([key, { fields }]) => [key, fields["First Name"]]));
    },
  };
}
type Scene = Awaited<ReturnType<typeof startScene>>;

const suppress = `suppressions add ${last}`;
const rows = { created: count - 1, skipped: 1, pending: 0 };

it.each([
  ["an import", "import FILE"],
  ["an import, one request at a time", "import FILE --concurrency 1"],
  ["an import with a plan", "import FILE --plan FILE.plan"],
  ["an import that creates only", "import FILE --mode create"],
  ["lists sync --create", "lists sync All FILE --create"],
  ["lists sync --create with a plan", "lists sync All FILE --create --plan FILE.plan"],
])("who is suppressed while a run waits is not created by %s", async (_name, command) => {
  const scene = await startScene({ isEmpty: true });
  const meanwhile = () => done(scene.ecm(suppress));
  const result = await scene.runWaiting(command.replaceAll("FILE", await peopleFile()), meanwhile);
  expect(await scene.keys()).not.toContain(last);
  expect(result).toMatchObject({ rows, consent: { suppressed: 1 } });
});

it("who is suppressed while a run waits is created all the same with --include-suppressed", async () => {
  const { ecm, runWaiting } = await startScene({ isEmpty: true });
  const command = `import ${await peopleFile()} --include-suppressed`;
  const result = await runWaiting(command, () => done(ecm(suppress)));
  expect(result.rows).toMatchObject({ created: count, skipped: 0 });
});

it("who is suppressed while a run waits is not created by the run that is resumed", async () => {
  const scene = await startScene({ isEmpty: true });
  const stopped = await scene.run(`import ${await peopleFile()} --max-requests 6 --concurrency 1`);
  expect(stopped.code).toBe(7);
  await scene.ecm(suppress);
  const resumed = await scene.run(`runs resume ${stopped.run}`);
  expect(await scene.keys()).not.toContain(last);
  expect(resumed).toMatchObject({ rows, consent: { suppressed: 1 } });
});

it("who is suppressed while a run waits is not created again by the undo of a deletion", async () => {
  const scene = await startScene();
  const deleted = await scene.run("contact delete --list All --yes");
  const undo = `runs undo ${deleted.run} --concurrency 1`;
  const undone = await scene.runWaiting(undo, () => scene.ecm(suppress));
  expect(await scene.keys()).not.toContain(last);
  expect(undone.rows).toMatchObject(rows);
});

it("who is suppressed while a run waits is not created when a failing service is waited for", async () => {
  const scene = await startScene({ isEmpty: true });
  scene.sandbox.admin.faults(["503:POST:/api/contact:first=1"]);
  const command = `import ${await peopleFile()} --concurrency 1`;
  const result = await scene.runWaiting(command, () => scene.ecm(suppress), 1000);
  expect(await scene.keys()).not.toContain(last);
  expect(result.rows).toMatchObject(rows);
});

it("who is suppressed while a run waits is not created although no time passes: others are written first", async () => {
  const proxy = await startRecordingProxy();
  const isCreate = (path: string) => path === "/api/contact";
  beforeFirst(proxy, isCreate, () => proxy.ecm(suppress));
  const result = await askingOf(proxy).importing(manyRows(count), "--concurrency 1");
  expect(proxy.writes.map(({ what }) => what)).not.toContain(last);
  expect(result.rows).toMatchObject(rows);
});

const undo = (run: string | null) => `runs undo ${run} --delete-created --yes --concurrency 1`;
const leaving: [what: string, leave: (scene: Scene, key: string) => unknown][] = [
  ["unsubscribed", ({ unsubscribe }, key) => unsubscribe(key)],
  ["bounced", ({ sandbox }, key) => sandbox.admin.events({ key, type: "email-bounced" })],
  ["complained", ({ sandbox }, key) => sandbox.admin.events({ key, type: "complained" })],
  ["was changed", ({ ecm }, key) => ecm(`contact mutate ${key} --add-list Trial`)],
];

it("runs undo --delete-created keeps who left or was changed before it begins", async () => {
  const scene = await startScene({ isEmpty: true });
  const imported = await scene.importing(manyRows(count));
  for (const [at, [, leave]] of leaving.entries()) await leave(scene, keys[at]!);
  expect(await scene.run(undo(imported.run))).toMatchObject({
    rows: { deleted: count - 4, rejected: 4 },
    codes: { rejected: { changed_since: 4 } },
  });
  expect(await scene.keys()).toEqual(keys.slice(0, 4));
});

it.each(leaving)("--delete-created keeps who %s between the look and the deletion", async (_what, leave) => {
  const scene = await startScene({ isEmpty: true });
  const imported = await scene.importing(`Email,First Name\n${last},Last\n`);
  // The structure, the contact; then the hour is used up.
  const undone = await scene.runWaiting(undo(imported.run), async () => leave(scene, last), 2);
  expect(await scene.keys()).toEqual([last]);
  expect(undone.rows).toMatchObject({ deleted: 0, rejected: 1 });
});

const change = "contact mutate --set 'First Name=New'";
/** By the value that each had before the run, or was given by others. */
const valuesAfterUndo = (theirs: string[]) =>
  Object.fromEntries(keys.map((key) => [key, theirs.includes(key) ? "Theirs" : "Old"]));

it.each([
  ["an import", "import FILE"],
  ["an import with a plan", "import FILE --plan FILE.plan"],
  ["an import with few requests at once", "import FILE --concurrency 1"],
  ["mutate --all", `${change} --all --yes`],
  ["mutate of a list", `${change} --list All`],
  ["mutate of names", `${change} ${keys.join(" ")}`],
  ["mutate --keys", `${change} --keys FILE`],
])("others' values are what the undo of %s puts back; the run's own stay", async (_name, command) => {
  const scene = await startScene();
  const file = await inputFile(manyRows(count, () => "New"));
  let theirs: string[] = [];
  let same: string[] = [];
  const changed = await scene.runWaiting(command.replaceAll("FILE", file), async () => {
    theirs = await scene.othersSet("Old", "Theirs", 1);
    same = await scene.othersSet("Old", "New");
  });
  const [updated, unchanged] = [count - same.length, same.length];
  expect(changed.rows).toMatchObject({ updated, unchanged, pending: 0 });
  expect(new Set(Object.values(await scene.values()))).toEqual(new Set(["New"]));
  const undone = await scene.run(`runs undo ${changed.run}`);
  expect(undone.code, undone.stderr).toBe(0);
  const values = { ...valuesAfterUndo(theirs), ...Object.fromEntries(same.map((key) => [key, "New"])) };
  expect(await scene.values()).toEqual(values);
});

const old = `--where 'First_Name == "Old"'`;
it.each([
  ["a change", `${change} ${old}`],
  ["a change of names", `${change} ${keys.join(" ")} ${old}`],
  ["an unsubscription", `contact unsubscribe ${old} --yes`],
  ["a deletion", `contact delete ${old} --yes`],
  ["a deletion of names", `contact delete ${keys.join(" ")} ${old} --yes`],
])("others' values end the selection of %s: who is chosen no more stays", async (_name, command) => {
  const { runWaiting, othersSet, everybody, isActive } = await startScene();
  let theirs: string[] = [];
  const changed = await runWaiting(command, async () => {
    theirs = await othersSet("Old", "Theirs");
  });
  expect(theirs).not.toEqual([]);
  const rows = { skipped: theirs.length, pending: 0 };
  expect(changed).toMatchObject({ rows, codes: { skipped: { changed: theirs.length } } });
  const left = (await everybody()).filter(
    (each) => isActive(each) && each.fields.some(({ value }) => value === "Theirs"),
  );
  expect(left.map(({ key }) => key)).toEqual(theirs);
});

it("values that others set while a run waits are left alone by an undo, and what it cannot put back is said", async () => {
  const { importing, runWaiting, othersSet, values } = await startScene();
  const { run } = await importing(manyRows(count, () => "New"));
  let theirs: string[] = [];
  const undone = await runWaiting(`runs undo ${run}`, async () => {
    theirs = await othersSet("New", "Theirs");
  });
  expect(await values()).toEqual(valuesAfterUndo(theirs));
  const [updated, rejected] = [count - theirs.length, theirs.length];
  expect(undone).toMatchObject({ code: 3, rows: { updated, rejected } });
});

it("values that others set while a run waits are what the undo puts back of a run that was stopped and resumed after a while", async () => {
  const { ecm, run, othersSet, values } = await startScene();
  const stopped = await run(`${change} --all --yes --max-requests 6 --concurrency 1`);
  expect(stopped.code).toBe(7);
  const theirs = await othersSet("Old", "Theirs");
  await ecm(`runs resume ${stopped.run}`);
  await ecm(`runs undo ${stopped.run}`);
  expect(await values()).toEqual(valuesAfterUndo(theirs));
});

it("who leaves a list while lists sync waits is counted as others have made it, and so is not put back by the undo", async () => {
  const { ecm, runWaiting, service } = await startScene();
  const keep = await inputFile("p0@example.com\n", "keys.txt");
  const sync = `lists sync All ${keep} --max-remove 100% --concurrency 1`;
  const synced = await runWaiting(sync, () => ecm(`contact mutate ${last} --remove-list All`));
  expect(synced.members).toEqual({ added: 0, removed: count - 2 });
  await ecm(`runs undo ${synced.run}`);
  const people = await readContacts(service);
  const members = keys.filter((key) => people.get(key)!.lists.length > 0);
  expect(members).toEqual(keys.filter((key) => key !== last));
});

it("who unsubscribes while a run waits is counted as inactive", async () => {
  const { runWaiting, everybody, isActive, unsubscribe, values } = await startScene();
  const result = await runWaiting(`import ${await inputFile(manyRows(count, () => "New"))}`, async () => {
    const now = await values();
    await unsubscribe(...keys.filter((key) => now[key] === "Old"));
  });
  const inactive = (await everybody()).filter((each) => !isActive(each)).length;
  expect(inactive).toBeGreaterThan(0);
  expect(result).toMatchObject({ rows: { updated: count }, consent: { inactive } });
});
