/**
 * What others do while a run waits for the hour: nobody is written on the strength of what was decided before
 * the wait. The clock of the test jumps over the wait, and lets others act in it.
 */
import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { type Result, temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, inputFile, manyRows, readContacts, summaryOf } from "./kit.ts";

const count = 10;
const keys = Array.from({ length: count }, (_, index) => `p${index}@example.com`);
const last = keys.at(-1)!;

interface Scene {
  service: RunningSandbox;
  /** Runs a command in an hour of `requests`; `meanwhile` happens when it is used up for the first time. */
  runWaiting(
    command: string,
    meanwhile: () => Promise<unknown>,
    requests?: number,
  ): ReturnType<typeof summaryOf>;
  keys(): Promise<string[]>;
}

/** Everybody is in the list All with the first name Old, unless nobody is there. */
async function startScene({ isEmpty = false } = {}): Promise<Scene> {
  let skipped = 0;
  const now = () => Date.now() + skipped;
  const idle = { now, sleep: () => Promise.reject(new Error("nobody waits here")) };
  const contacts = keys.map((key) => ({ key, fields: { "First Name": "Old" }, lists: ["All"] }));
  const service = await startSandbox({
    clock: idle,
    contents: { lists: ["All", "Trial"], contacts: isEmpty ? [] : contacts },
  });
  const { admin } = service.sandbox;
  return {
    service,
    keys: async () => [...(await readContacts(service)).keys()],
    async runWaiting(command, meanwhile, requests = 9) {
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
          skipped += milliseconds;
          await new Promise((resolve) => setImmediate(resolve));
        },
      };
      admin.limits({ hourly: requests, used: 0 });
      const result = await summaryOf(service.ecm, command, { clock });
      expect(acted, `the run did not wait: ${result.stderr}`).toBeDefined();
      return result;
    },
  };
}

interface Held {
  _id: string;
  key: string;
  fields: { _id: string; value: string }[];
}

const holders = async (service: RunningSandbox, value: string) =>
  (await call<Held[]>(service, "GET", "/api/contact")).filter(({ fields }) =>
    fields.some((field) => field.value === value),
  );

/** Somebody else gives everybody who has the one value the other. @returns their keys */
async function othersSet(service: RunningSandbox, from: string, to: string): Promise<string[]> {
  const found = await holders(service, from);
  for (const { _id, fields } of found) {
    const { _id: field } = fields.find(({ value }) => value === from)!;
    await call(service, "PUT", `/api/contact/${_id}/mutate`, { updateFields: [{ _id: field, value: to }] });
  }
  return found.map(({ key }) => key);
}

async function valuesIn(service: RunningSandbox): Promise<Record<string, string | undefined>> {
  const contacts = await readContacts(service);
  return Object.fromEntries([...contacts].map(([key, { fields }]) => [key, fields["First Name"]]));
}

async function readId(service: RunningSandbox, key: string): Promise<string> {
  const all = await call<Held[]>(service, "GET", "/api/contact");
  return all.find((each) => each.key === key)!._id;
}

async function unsubscribe(service: RunningSandbox, key: string): Promise<void> {
  const status = { primary: "Inactive", secondary: "Unsubscribe" };
  await call(service, "PATCH", `/api/contact/${await readId(service, key)}`, { status });
}

/** The same; whom the run has unsubscribed by then still has the value. @returns the keys of the active ones */
async function othersSetActive(service: RunningSandbox, from: string, to: string): Promise<string[]> {
  const keys = await othersSet(service, from, to);
  const found = await service.ecm("contact search --status active --all -o id");
  const active = found.stdout.split("\n");
  const isActive = await Promise.all(keys.map(async (key) => active.includes(await readId(service, key))));
  return keys.filter((_, index) => isActive[index]);
}

describe("a person who is suppressed while a run waits", () => {
  const suppress = `suppressions add ${last}`;
  const file = () => inputFile(manyRows(count));
  const rows = { created: count - 1, skipped: 1, pending: 0 };

  it.each([
    ["an import", "import FILE"],
    ["an import, one request at a time", "import FILE --concurrency 1"],
    ["an import with a plan", "import FILE --plan FILE.plan"],
    ["an import that creates only", "import FILE --mode create"],
    ["lists sync --create", "lists sync All FILE --create"],
    ["lists sync --create with a plan", "lists sync All FILE --create --plan FILE.plan"],
  ])("is not created by %s", async (_name, command) => {
    const { service, runWaiting, keys } = await startScene({ isEmpty: true });
    const result = await runWaiting(command.replaceAll("FILE", await file()), async () => {
      expect((await service.ecm(suppress)).code).toBe(0);
    });
    expect(await keys()).not.toContain(last);
    expect(result).toMatchObject({ rows, consent: { suppressed: 1 } });
  });

  it("is created all the same with --include-suppressed", async () => {
    const { service, runWaiting } = await startScene({ isEmpty: true });
    const command = `import ${await file()} --include-suppressed`;
    const result = await runWaiting(command, () => service.ecm(suppress));
    expect(result.rows).toMatchObject({ created: count, skipped: 0 });
  });

  it("is not created by the run that is resumed", async () => {
    const { service, keys } = await startScene({ isEmpty: true });
    const command = `import ${await file()} --max-requests 6 --concurrency 1`;
    const stopped = await summaryOf(service.ecm, command);
    expect(stopped.code).toBe(7);
    await service.ecm(suppress);
    const resumed = await summaryOf(service.ecm, `runs resume ${stopped.run}`);
    expect(await keys()).not.toContain(last);
    expect(resumed).toMatchObject({ rows, consent: { suppressed: 1 } });
  });

  it("is not created again by the undo of a deletion", async () => {
    const { service, runWaiting, keys } = await startScene();
    const { run } = await summaryOf(service.ecm, "contact delete --list All --yes");
    const undone = await runWaiting(`runs undo ${run} --concurrency 1`, () => service.ecm(suppress));
    expect(await keys()).not.toContain(last);
    expect(undone.rows).toMatchObject(rows);
  });

  it("is not created when a failing service is waited for", async () => {
    const { service, runWaiting, keys } = await startScene({ isEmpty: true });
    service.sandbox.admin.faults(["503:POST:/api/contact:first=1"]);
    const command = `import ${await file()} --concurrency 1`;
    const result = await runWaiting(command, () => service.ecm(suppress), 1000);
    expect(await keys()).not.toContain(last);
    expect(result.rows).toMatchObject(rows);
  });

  it.each([
    { when: "before", created: count - 1 },
    { when: "after", created: count },
  ] as const)(
    "is looked for, and not sent again, where a create was lost $when the service had it",
    async ({ when, created }) => {
      const proxy = await startRecordingProxy();
      const list = join(await temporaryFolder(), "suppressions.txt");
      const env = { ECM_SUPPRESSIONS: list };
      await proxy.ecm("suppressions add somebody@example.org", { env });
      const before = await readFile(list, "utf8");
      await proxy.ecm(`suppressions add ${last}`, { env });
      const after = await readFile(list, "utf8");
      await writeFile(list, before);
      let sent = 0;
      proxy.onRequest = (moment) => {
        if (moment.path !== "/api/contact" || !moment.body.includes(`"${last}"`)) return undefined;
        if (moment.when === "before") sent++;
        if (sent > 1 || moment.when !== when) return undefined;
        writeFileSync(list, after);
        return "drop";
      };
      const imported = await summaryOf(proxy.ecm, `import ${await file()} --concurrency 1`, { env });
      expect(imported.rows).toMatchObject({ created, skipped: count - created, pending: 0 });
      expect(sent).toBe(1);
    },
  );

  it("is not created although no time passes: others are written first", async () => {
    const proxy = await startRecordingProxy();
    proxy.beforeRequest = async (path) => {
      if (path !== "/api/contact" || proxy.writes.length > 0) return;
      await proxy.ecm(suppress);
    };
    const result = await summaryOf(proxy.ecm, `import ${await file()} --concurrency 1`);
    expect(proxy.writes.map(({ what }) => what)).not.toContain(last);
    expect(result.rows).toMatchObject(rows);
  });
});

it.each([
  ["an import", "import FILE"],
  ["lists sync --create", "lists sync All FILE --create"],
])(
  "a person who is erased while %s waits is not created afterwards: or else the erasure is refused",
  async (_name, command) => {
    const { service, runWaiting, keys } = await startScene({ isEmpty: true });
    let erased: Result | undefined;
    const file = await inputFile(manyRows(count));
    await runWaiting(`${command.replace("FILE", file)} --concurrency 1`, async () => {
      erased = await service.ecm(`contact erase ${last} --yes`);
    });
    if (erased!.code === 0) expect(await keys()).not.toContain(last);
    else expect(erased!.code, erased!.stderr).toBe(6);
  },
);

describe("runs undo --delete-created", () => {
  const left: Record<string, (service: RunningSandbox) => Promise<void>> = {
    unsubscribed: async (service) => unsubscribe(service, last),
    bounced: async ({ sandbox }) => void sandbox.admin.events({ key: last, type: "email-bounced" }),
    complained: async ({ sandbox }) => void sandbox.admin.events({ key: last, type: "complained" }),
    "was changed": async (service) => {
      await service.ecm(`contact mutate ${last} --add-list Trial`);
    },
  };
  const undo = (run: string | null) => `runs undo ${run} --delete-created --yes --concurrency 1`;

  it.each(Object.entries(left))("keeps who %s before it begins", async (_name, leave) => {
    const { service, keys } = await startScene({ isEmpty: true });
    const { run } = await summaryOf(service.ecm, `import ${await inputFile(manyRows(count))}`);
    await leave(service);
    const undone = await summaryOf(service.ecm, undo(run));
    expect(await keys()).toEqual([last]);
    expect(undone).toMatchObject({
      rows: { deleted: count - 1, rejected: 1 },
      codes: { rejected: { changed_since: 1 } },
    });
  });

  it.each(Object.entries(left))(
    "keeps who %s between its look at the contact and the deletion",
    async (_name, leave) => {
      const { service, runWaiting, keys } = await startScene({ isEmpty: true });
      const file = await inputFile(`Email,First Name\n${last},Last\n`);
      const { run } = await summaryOf(service.ecm, `import ${file}`);
      // The structure, the contact; then the hour is used up.
      const undone = await runWaiting(undo(run), () => leave(service), 2);
      expect(await keys()).toEqual([last]);
      expect(undone.rows).toMatchObject({ deleted: 0, rejected: 1 });
    },
  );
});

describe("values that others set while a run waits", () => {
  const change = "contact mutate --set 'First Name=New'";
  const setting = [
    ["an import", "import FILE"],
    ["an import with a plan", "import FILE --plan FILE.plan"],
    ["an import with few requests at once", "import FILE --concurrency 1"],
    ["mutate --all", `${change} --all --yes`],
    ["mutate of a list", `${change} --list All`],
    ["mutate of names", `${change} ${keys.join(" ")}`],
    ["mutate --keys", `${change} --keys FILE`],
  ] as const;
  const withFile = async (command: string) =>
    command.replaceAll("FILE", await inputFile(manyRows(count, () => "New")));
  /** By the value that each had before the run, or was given by others. */
  const valuesAfterUndo = (theirs: string[], their = "Theirs") =>
    Object.fromEntries(keys.map((key) => [key, theirs.includes(key) ? their : "Old"]));

  it.each(setting)("are what the undo of %s puts back", async (_name, command) => {
    const { service, runWaiting } = await startScene();
    let theirs: string[] = [];
    const changed = await runWaiting(await withFile(command), async () => {
      theirs = await othersSetActive(service, "Old", "Theirs");
    });
    expect(theirs).not.toEqual([]);
    expect(changed.rows).toMatchObject({ updated: count, pending: 0 });
    expect(new Set(Object.values(await valuesIn(service)))).toEqual(new Set(["New"]));
    const undone = await summaryOf(service.ecm, `runs undo ${changed.run}`);
    expect(undone.code, undone.stderr).toBe(0);
    expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs));
  });

  it.each(setting)(
    "are left alone by the undo of %s where they are the run's own",
    async (_name, command) => {
      const { service, runWaiting } = await startScene();
      let theirs: string[] = [];
      const changed = await runWaiting(await withFile(command), async () => {
        theirs = await othersSet(service, "Old", "New");
      });
      expect(changed.rows).toMatchObject({ updated: count - theirs.length, unchanged: theirs.length });
      await service.ecm(`runs undo ${changed.run}`);
      expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs, "New"));
    },
  );

  const old = `--where 'First_Name == "Old"'`;
  it.each([
    ["a change", `${change} ${old}`],
    ["a change of names", `${change} ${keys.join(" ")} ${old}`],
    ["an unsubscription", `contact unsubscribe ${old} --yes`],
    ["a deletion", `contact delete ${old} --yes`],
    ["a deletion of names", `contact delete ${keys.join(" ")} ${old} --yes`],
  ])("end the selection of %s: who is chosen no more is left alone", async (_name, command) => {
    const { service, runWaiting } = await startScene();
    let theirs: string[] = [];
    const changed = await runWaiting(command, async () => {
      theirs = await othersSetActive(service, "Old", "Theirs");
    });
    expect(theirs).not.toEqual([]);
    expect(changed).toMatchObject({
      rows: { skipped: theirs.length, pending: 0 },
      codes: { skipped: { changed: theirs.length } },
    });
    const values = await valuesIn(service);
    for (const key of theirs) expect([key, values[key]]).toEqual([key, "Theirs"]);
    const active = await service.ecm(
      `contact search --status active --where 'First_Name == "Theirs"' --count`,
    );
    expect(active.stdout.trim()).toBe(String(theirs.length));
  });

  it("are left alone by an undo, and what it cannot put back is said", async () => {
    const { service, runWaiting } = await startScene();
    const { run } = await summaryOf(service.ecm, await withFile("import FILE"));
    let theirs: string[] = [];
    const undone = await runWaiting(`runs undo ${run}`, async () => {
      theirs = await othersSet(service, "New", "Theirs");
    });
    expect(theirs).not.toEqual([]);
    expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs));
    const [updated, rejected] = [count - theirs.length, theirs.length];
    expect(undone).toMatchObject({ code: 3, rows: { updated, rejected } });
  });

  it("are what the undo puts back of a run that was stopped and resumed after a while", async () => {
    const { service } = await startScene();
    const limited = `${change} --all --yes --max-requests 6 --concurrency 1`;
    const { code, run } = await summaryOf(service.ecm, limited);
    expect(code).toBe(7);
    const theirs = await othersSet(service, "Old", "Theirs");
    await service.ecm(`runs resume ${run}`);
    await service.ecm(`runs undo ${run}`);
    expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs));
  });
});

it("who leaves a list while lists sync waits is counted as others have made it, and so is not put back by the undo", async () => {
  const { service, runWaiting } = await startScene();
  const keep = await inputFile("p0@example.com\n", "keys.txt");
  const sync = `lists sync All ${keep} --max-remove 100% --concurrency 1`;
  const synced = await runWaiting(sync, () => service.ecm(`contact mutate ${last} --remove-list All`));
  expect(synced.members).toEqual({ added: 0, removed: count - 2 });
  await service.ecm(`runs undo ${synced.run}`);
  const people = await readContacts(service);
  const members = keys.filter((key) => people.get(key)!.lists.length > 0);
  expect(members).toEqual(keys.filter((key) => key !== last));
});

it("who unsubscribes while a run waits is counted as inactive", async () => {
  const { service, runWaiting } = await startScene();
  const result = await runWaiting(`import ${await inputFile(manyRows(count, () => "New"))}`, async () => {
    for (const { key } of await holders(service, "Old")) await unsubscribe(service, key);
  });
  const all = await call<{ status: { primary: string } }[]>(service, "GET", "/api/contact");
  const inactive = all.filter(({ status }) => status.primary === "Inactive").length;
  expect(inactive).toBeGreaterThan(0);
  expect(result).toMatchObject({ rows: { updated: count }, consent: { inactive } });
});
