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
import { call, inputFile, manyRows, parseSummary, readContacts, summaryOf } from "./kit.ts";

const count = 10;
const keys = Array.from({ length: count }, (_, index) => `p${index}@example.com`);
const last = keys.at(-1)!;

interface Scene {
  service: RunningSandbox;
  /** Runs a command in an hour of `requests`; `meanwhile` happens when it is used up for the first time. */
  runWaiting(args: string[], meanwhile: () => Promise<void>, requests?: number): Promise<Result>;
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
    async runWaiting(args, meanwhile, requests = 9) {
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
      const result = await service.ecm(args, { clock });
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
  const creating: Record<string, (path: string) => string[]> = {
    "an import": (path) => ["import", path],
    "an import, one request at a time": (path) => ["import", path, "--concurrency", "1"],
    "an import with a plan": (path) => ["import", path, "--plan", `${path}.plan`],
    "an import that creates only": (path) => ["import", path, "--mode", "create"],
    "lists sync --create": (path) => ["lists", "sync", "All", path, "--create"],
    "lists sync --create with a plan": (path) => [
      ...["lists", "sync", "All", path, "--create", "--plan", `${path}.plan`],
    ],
  };

  it.each(Object.entries(creating))("is not created by %s", async (_name, argsFor) => {
    const { service, runWaiting } = await startScene({ isEmpty: true });
    const args = argsFor(await inputFile(manyRows(count)));
    const result = await runWaiting([...args, "--json"], async () => {
      expect((await service.ecm(`suppressions add ${last}`)).code).toBe(0);
    });
    expect([...(await readContacts(service)).keys()]).not.toContain(last);
    expect(parseSummary(result)).toMatchObject({
      rows: { created: count - 1, skipped: 1, pending: 0 },
      consent: { suppressed: 1 },
    });
  });

  it("is created all the same with --include-suppressed", async () => {
    const { service, runWaiting } = await startScene({ isEmpty: true });
    const args = ["import", await inputFile(manyRows(count)), "--include-suppressed", "--json"];
    const result = await runWaiting(args, async () => {
      await service.ecm(`suppressions add ${last}`);
    });
    expect(parseSummary(result).rows).toMatchObject({ created: count, skipped: 0 });
  });

  it("is not created by the run that is resumed", async () => {
    const { service } = await startScene({ isEmpty: true });
    const args = ["import", await inputFile(manyRows(count)), "--json"];
    const stopped = await service.ecm([...args, "--max-requests", "6", "--concurrency", "1"]);
    expect(stopped.code).toBe(7);
    await service.ecm(`suppressions add ${last}`);
    const resumed = await service.ecm(["runs", "resume", parseSummary(stopped).run!, "--json"]);
    expect([...(await readContacts(service)).keys()]).not.toContain(last);
    expect(parseSummary(resumed)).toMatchObject({
      rows: { created: count - 1, skipped: 1 },
      consent: { suppressed: 1 },
    });
  });

  it("is not created again by the undo of a deletion", async () => {
    const { service, runWaiting } = await startScene();
    const { run } = await summaryOf(service.ecm, "contact delete --list All --yes");
    const undone = await runWaiting(["runs", "undo", run!, "--json", "--concurrency", "1"], async () => {
      await service.ecm(`suppressions add ${last}`);
    });
    expect([...(await readContacts(service)).keys()]).not.toContain(last);
    expect(parseSummary(undone).rows).toMatchObject({ created: count - 1, skipped: 1 });
  });

  it("is not created when a failing service is waited for", async () => {
    const { service, runWaiting } = await startScene({ isEmpty: true });
    service.sandbox.admin.faults(["503:POST:/api/contact:first=1"]);
    const args = ["import", await inputFile(manyRows(count)), "--concurrency", "1", "--json"];
    const result = await runWaiting(
      args,
      async () => {
        await service.ecm(`suppressions add ${last}`);
      },
      1000,
    );
    expect([...(await readContacts(service)).keys()]).not.toContain(last);
    expect(parseSummary(result).rows).toMatchObject({ created: count - 1, skipped: 1 });
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
      const args = ["import", await inputFile(manyRows(count)), "--concurrency", "1", "--json"];
      const { rows } = parseSummary(await proxy.ecm(args, { env }));
      expect(rows).toMatchObject({ created, skipped: count - created, pending: 0 });
      expect(sent).toBe(1);
    },
  );

  it("is not created although no time passes: others are written first", async () => {
    const proxy = await startRecordingProxy();
    proxy.beforeRequest = async (path) => {
      if (path !== "/api/contact" || proxy.writes.length > 0) return;
      await proxy.ecm(`suppressions add ${last}`);
    };
    const args = ["import", await inputFile(manyRows(count)), "--concurrency", "1", "--json"];
    const result = await proxy.ecm(args);
    expect(proxy.writes.map(({ what }) => what)).not.toContain(last);
    expect(parseSummary(result).rows).toMatchObject({ created: count - 1, skipped: 1 });
  });
});

describe("a person who is erased while a run waits", () => {
  it.each([
    ["an import", ["import"]],
    ["lists sync --create", ["lists", "sync", "All"]],
  ])("is not created afterwards by %s: or else the erasure is refused", async (_name, words) => {
    const { service, runWaiting } = await startScene({ isEmpty: true });
    const create = words[0] === "lists" ? ["--create"] : [];
    const args = [...words, await inputFile(manyRows(count)), ...create, "--concurrency", "1", "--json"];
    let erased: Result | undefined;
    await runWaiting(args, async () => {
      erased = await service.ecm(`contact erase ${last} --yes`);
    });
    if (erased!.code === 0) expect([...(await readContacts(service)).keys()]).not.toContain(last);
    else expect(erased!.code, erased!.stderr).toBe(6);
  });
});

describe("runs undo --delete-created", () => {
  const left: Record<string, (service: RunningSandbox) => Promise<void>> = {
    unsubscribed: async (service) => unsubscribe(service, last),
    bounced: async ({ sandbox }) => void sandbox.admin.events({ key: last, type: "email-bounced" }),
    complained: async ({ sandbox }) => void sandbox.admin.events({ key: last, type: "complained" }),
    "was changed": async (service) => {
      await service.ecm(`contact mutate ${last} --add-list Trial`);
    },
  };
  const undoArguments = (run: string) => [
    ...["runs", "undo", run, "--delete-created", "--yes", "--concurrency", "1", "--json"],
  ];

  it.each(Object.entries(left))("keeps who %s before it begins", async (_name, leave) => {
    const { service } = await startScene({ isEmpty: true });
    const { run } = await summaryOf(service.ecm, `import ${await inputFile(manyRows(count))}`);
    await leave(service);
    const undone = await service.ecm(undoArguments(run!));
    expect([...(await readContacts(service)).keys()]).toEqual([last]);
    expect(parseSummary(undone)).toMatchObject({
      rows: { deleted: count - 1, rejected: 1 },
      codes: { rejected: { changed_since: 1 } },
    });
  });

  it.each(Object.entries(left))(
    "keeps who %s between its look at the contact and the deletion",
    async (_name, leave) => {
      const { service, runWaiting } = await startScene({ isEmpty: true });
      const file = await inputFile(`Email,First Name\n${last},Last\n`);
      const { run } = await summaryOf(service.ecm, `import ${file}`);
      // The structure, the contact; then the hour is used up.
      const undone = await runWaiting(undoArguments(run!), () => leave(service), 2);
      expect([...(await readContacts(service)).keys()]).toEqual([last]);
      expect(parseSummary(undone)).toMatchObject({ rows: { deleted: 0, rejected: 1 } });
    },
  );
});

describe("values that others set while a run waits", () => {
  const setting: Record<string, (path: string) => string[]> = {
    "an import": (path) => ["import", path],
    "an import with a plan": (path) => ["import", path, "--plan", `${path}.plan`],
    "an import with few requests at once": (path) => ["import", path, "--concurrency", "1"],
    "mutate --all": () => ["contact", "mutate", "--all", "--set", "First Name=New", "--yes"],
    "mutate of a list": () => ["contact", "mutate", "--list", "All", "--set", "First Name=New"],
    "mutate of names": () => ["contact", "mutate", ...keys, "--set", "First Name=New"],
    "mutate --keys": (path) => ["contact", "mutate", "--keys", path, "--set", "First Name=New"],
  };
  const file = () => inputFile(manyRows(count, () => "New"));
  /** By the value that each had before the run, or was given by others. */
  const valuesAfterUndo = (theirs: string[]) =>
    Object.fromEntries(keys.map((key) => [key, theirs.includes(key) ? "Theirs" : "Old"]));

  it.each(Object.entries(setting))("are what the undo of %s puts back", async (_name, argsFor) => {
    const { service, runWaiting } = await startScene();
    let theirs: string[] = [];
    const changed = await runWaiting([...argsFor(await file()), "--json"], async () => {
      theirs = await othersSetActive(service, "Old", "Theirs");
    });
    expect(theirs).not.toEqual([]);
    expect(parseSummary(changed)).toMatchObject({ rows: { updated: count, pending: 0 } });
    expect(new Set(Object.values(await valuesIn(service)))).toEqual(new Set(["New"]));
    const undone = await service.ecm(["runs", "undo", parseSummary(changed).run!, "--json"]);
    expect(undone.code, undone.stderr).toBe(0);
    expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs));
  });

  it.each(Object.entries(setting))(
    "are left alone by the undo of %s where they are the run's own",
    async (_name, argsFor) => {
      const { service, runWaiting } = await startScene();
      let theirs: string[] = [];
      const changed = await runWaiting([...argsFor(await file()), "--json"], async () => {
        theirs = await othersSet(service, "Old", "New");
      });
      const { updated, unchanged } = parseSummary(changed).rows;
      expect([updated, unchanged]).toEqual([count - theirs.length, theirs.length]);
      await service.ecm(["runs", "undo", parseSummary(changed).run!]);
      const expectedLists = Object.fromEntries(
        keys.map((key) => [key, theirs.includes(key) ? "New" : "Old"]),
      );
      expect(await valuesIn(service)).toEqual(expectedLists);
    },
  );

  const choosing: Record<string, string[]> = {
    "a change": ["mutate", "--where", 'First_Name == "Old"', "--set", "First Name=New"],
    "a change of names": ["mutate", ...keys, "--where", 'First_Name == "Old"', "--set", "First Name=New"],
    "an unsubscription": ["unsubscribe", "--where", 'First_Name == "Old"', "--yes"],
    "a deletion": ["delete", "--where", 'First_Name == "Old"', "--yes"],
    "a deletion of names": ["delete", ...keys, "--where", 'First_Name == "Old"', "--yes"],
  };
  it.each(Object.entries(choosing))(
    "end the selection of %s: who is chosen no more is left alone",
    async (_name, words) => {
      const { service, runWaiting } = await startScene();
      let theirs: string[] = [];
      const changed = await runWaiting(["contact", ...words, "--json"], async () => {
        theirs = await othersSetActive(service, "Old", "Theirs");
      });
      expect(theirs).not.toEqual([]);
      expect(parseSummary(changed)).toMatchObject({
        rows: { skipped: theirs.length, pending: 0 },
        codes: { skipped: { changed: theirs.length } },
      });
      const values = await valuesIn(service);
      for (const key of theirs) expect([key, values[key]]).toEqual([key, "Theirs"]);
      const status = ["--status", "active", "--where", 'First_Name == "Theirs"', "--count"];
      const active = await service.ecm(["contact", "search", ...status]);
      expect(active.stdout.trim()).toBe(String(theirs.length));
    },
  );

  it("are left alone by an undo, and what it cannot put back is said", async () => {
    const { service, runWaiting } = await startScene();
    const { run } = await summaryOf(service.ecm, `import ${await file()}`);
    let theirs: string[] = [];
    const undone = await runWaiting(["runs", "undo", run!, "--json"], async () => {
      theirs = await othersSet(service, "New", "Theirs");
    });
    expect(theirs).not.toEqual([]);
    expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs));
    expect(undone.code).toBe(3);
    expect(parseSummary(undone).rows).toMatchObject({
      updated: count - theirs.length,
      rejected: theirs.length,
    });
  });

  it("are what the undo puts back of a run that was stopped and resumed after a while", async () => {
    const { service } = await startScene();
    const args = ["contact", "mutate", "--all", "--set", "First Name=New", "--yes", "--json"];
    const stopped = await service.ecm([...args, "--max-requests", "6", "--concurrency", "1"]);
    expect(stopped.code).toBe(7);
    const theirs = await othersSet(service, "Old", "Theirs");
    const { run } = parseSummary(await service.ecm(["runs", "resume", parseSummary(stopped).run!, "--json"]));
    await service.ecm(`runs undo ${run}`);
    expect(await valuesIn(service)).toEqual(valuesAfterUndo(theirs));
  });
});

describe("who leaves a list, or comes into it, while lists sync waits", () => {
  it("is counted as others have made it, and so is not put back by the undo", async () => {
    const { service, runWaiting } = await startScene();
    const keep = await inputFile("p0@example.com\n", "keys.txt");
    const args = ["lists", "sync", "All", keep, "--max-remove", "100%", "--concurrency", "1", "--json"];
    const synced = await runWaiting(args, async () => {
      await service.ecm(`contact mutate ${last} --remove-list All`);
    });
    expect(parseSummary(synced).members).toEqual({ added: 0, removed: count - 2 });
    await service.ecm(["runs", "undo", parseSummary(synced).run!]);
    const people = await readContacts(service);
    const members = keys.filter((key) => people.get(key)!.lists.length > 0);
    expect(members).toEqual(keys.filter((key) => key !== last));
  });
});

it("who unsubscribes while a run waits is counted as inactive", async () => {
  const { service, runWaiting } = await startScene();
  const path = await inputFile(manyRows(count, () => "New"));
  const result = await runWaiting(["import", path, "--json"], async () => {
    for (const key of (await holders(service, "Old")).map((each) => each.key))
      await unsubscribe(service, key);
  });
  const inactive = await call<unknown[]>(service, "GET", "/api/contact").then(
    (all) =>
      (all as { status: { primary: string } }[]).filter(({ status }) => status.primary === "Inactive").length,
  );
  expect(inactive).toBeGreaterThan(0);
  expect(parseSummary(result)).toMatchObject({ rows: { updated: count }, consent: { inactive } });
});
