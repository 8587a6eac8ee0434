/**
 * What others do to a contact between a plan and its write, by what the plan does: a run that has planned one
 * contact stops, others change it, and the run is resumed.
 */
import { describe, expect, it } from "vitest";
import { findStatus, toIdSet } from "../../src/api/contacts.ts";
import type { Contact } from "../../src/wire.ts";
import { call, inputFile, parseSummary } from "../bulk/kit.ts";
import { makePlanFile } from "../bulk/plan-kit.ts";
import { toWords } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const ada = "ada@example.com";
const bob = "bob@example.com";

const start = () =>
  startSandbox({
    contents: {
      fields: ["City"],
      lists: ["Customers", "News"],
      tags: ["VIP"],
      contacts: [
        { key: ada, fields: { City: "Oslo" }, lists: ["Customers"], tags: ["VIP"] },
        { key: "eve@example.com", lists: ["Customers"] },
      ],
    },
  });

/** What others do to the contact. */
const events: Record<string, (service: RunningSandbox, key: string) => Promise<void>> = {
  nothing: async () => undefined,
  "its value changes": ({ ecm }, key) => done(ecm(["contact", "mutate", key, "--set", "City=Lima"])),
  "it joins a list": ({ ecm }, key) => done(ecm(["contact", "mutate", key, "--add-list", "News"])),
  "it leaves its list": ({ ecm }, key) => done(ecm(["contact", "mutate", key, "--remove-list", "Customers"])),
  "it unsubscribes": ({ ecm }, key) => done(ecm(["contact", "unsubscribe", key, "--yes"])),
  "it is suppressed": ({ ecm }, key) => done(ecm(["suppressions", "add", key])),
  "it is deleted": (service, key) => remove(service, key),
  "it is deleted and made anew": async (service, key) => {
    await remove(service, key);
    await create(service, key);
  },
  "it is as wanted": ({ ecm }, key) => done(ecm(["contact", "mutate", key, "--set", "City=Rome"])),
};

async function done(result: Promise<{ code: number; stderr: string }>): Promise<void> {
  const { code, stderr } = await result;
  if (code !== 0 && !stderr.includes("not found")) expect({ code, stderr }).toMatchObject({ code: 0 });
}

const remove = ({ ecm }: RunningSandbox, key: string) => done(ecm(["contact", "delete", key, "--yes"]));
const create = ({ ecm }: RunningSandbox, key: string) =>
  done(ecm(["contact", "create", "--key", key, "--set", "City=Bonn", "--list", "Customers"]));

interface Kind {
  /** Before the run. @returns its words */
  words(service: RunningSandbox): Promise<string[]>;
  key?: string;
  /** Requests from its plan's end to its first write. */
  looks?: number;
  /** The contact is not there when it is planned. */
  isAbsent?: true;
}

const rome = () => inputFile(`Email,City\n${ada},Rome\n`);
const keys = () => inputFile(`${ada}\n`, "keys.txt");
const imported = async (...flags: string[]) => ["import", await rome(), "--list", "Customers", ...flags];
/** Undoes what this has done. */
const undoing = async ({ ecm }: RunningSandbox, words: string[], ...flags: string[]) => {
  await done(ecm([...words, "--yes"]));
  return ["runs", "undo", "last", ...flags];
};
const applying = async (service: RunningSandbox, words: string[]) => [
  "apply",
  (await makePlanFile(service, words)).file,
];

const kinds: Record<string, Kind> = {
  "an import": { words: () => imported() },
  "an import of somebody new": {
    words: async () => ["import", await inputFile(`Email,City\n${bob},Rome\n`)],
    key: bob,
    isAbsent: true,
  },
  "an import that updates": { words: () => imported("--mode", "update") },
  "an edit": { words: async () => ["contact", "mutate", "--keys", await keys(), "--set", "City=Rome"] },
  "an edit of a selection": {
    words: async () => toWords("contact mutate --list Customers --tag VIP --set City=Rome"),
  },
  "an unsubscription": { words: async () => ["contact", "unsubscribe", "--keys", await keys()], looks: 1 },
  "a deletion": { words: async () => ["contact", "delete", "--keys", await keys()], looks: 1 },
  "a sync": {
    words: async () =>
      toWords(`lists sync Customers ${await inputFile("Email\neve@example.com\n")} --max-remove 100%`),
  },
  "an undo of a change": { words: async (service) => undoing(service, await imported()), looks: 1 },
  "an undo of a creation": {
    words: async (service) =>
      undoing(service, ["import", await inputFile(`Email,City\n${bob},Rome\n`)], "--delete-created"),
    key: bob,
    looks: 1,
  },
  "an undo of a deletion": {
    words: async (service) => undoing(service, ["contact", "delete", "--keys", await keys()]),
    isAbsent: true,
  },
  "a plan of a change": { words: async (service) => applying(service, await imported()) },
  "a plan of an unsubscription": {
    words: async (service) => applying(service, ["contact", "unsubscribe", "--keys", await keys()]),
    looks: 1,
  },
  "a plan of a deletion": {
    words: async (service) => applying(service, ["contact", "delete", "--keys", await keys()]),
    looks: 1,
  },
};

/** Stops it once its plan is closed. */
async function planOnly(service: RunningSandbox, { words, looks = 0 }: Kind): Promise<string> {
  const command = [...(await words(service)), "--yes", "--json"];
  const dry = parseSummary(await service.ecm([...command, "--dry-run"]));
  const most = dry.estimate.requests - looks - 1;
  const stopped = await service.ecm([...command, "--max-requests", String(most)]);
  expect(stopped.code, stopped.stderr).toBe(7);
  const { run, rows } = parseSummary(stopped);
  expect(rows).toMatchObject({ created: 0, updated: 0, deleted: 0, pending: 1 });
  return run!;
}

/** What has become of the run and of the contact, in words. */
async function resume(service: RunningSandbox, run: string, key: string): Promise<string> {
  const { code, stdout, stderr } = await service.ecm(["runs", "resume", run, "--yes", "--json"]);
  expect(stdout, stderr).not.toBe("");
  const { rows, codes } = parseSummary({ code, stdout, stderr } as never);
  const { read: _read, ...counted } = rows;
  const counts = Object.entries(counted).filter(([, count]) => count > 0);
  const reasons = [...Object.keys(codes.skipped), ...Object.keys(codes.rejected)];
  return [
    counts.map(([name, count]) => `${name} ${count}`).join(", "),
    ...reasons,
    `exit ${code}`,
    await describeContact(service, key),
  ].join(" · ");
}

async function describeContact(service: RunningSandbox, key: string): Promise<string> {
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  const contact = all.find((each) => each.key === key);
  if (!contact) return "nobody";
  const { stdout } = await service.ecm("lists list --json");
  const named = JSON.parse(stdout) as { _id: string; name: string }[];
  const held = toIdSet(contact.lists ?? []);
  const lists = named.filter(({ _id }) => held.has(_id)).map(({ name }) => name);
  const [city] = contact.fields ?? [];
  return [city?.value, ...lists.sort(), findStatus(contact)?.primary].join(" ");
}

describe("others between a plan and its write", () => {
  it.each(Object.entries(kinds))("%s", { timeout: 120_000 }, async (_name, kind) => {
    const table: string[] = [];
    for (const [event, happen] of Object.entries(events)) {
      const service = await start();
      const run = await planOnly(service, kind);
      const key = kind.key ?? ada;
      if (kind.isAbsent && !["nothing", "it is suppressed"].includes(event)) await create(service, key);
      await happen(service, key);
      table.push(`${event}: ${await resume(service, run, key)}`);
    }
    expect(table).toMatchSnapshot();
  });
});
