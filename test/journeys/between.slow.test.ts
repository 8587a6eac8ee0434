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

/** A command that succeeds, or finds nobody. */
async function done(result: Promise<{ code: number; stderr: string }>): Promise<void> {
  const { code, stderr } = await result;
  if (code !== 0 && !stderr.includes("not found")) expect({ code, stderr }).toMatchObject({ code: 0 });
}

type Happening = (service: RunningSandbox, key: string) => Promise<void>;

const command =
  (line: string): Happening =>
  ({ ecm }, key) =>
    done(ecm(line.replace("KEY", key)));
const remove = command("contact delete KEY --yes");
const create = command("contact create --key KEY --set City=Bonn --list Customers");

/** What others do to the contact. */
const events: Record<string, Happening> = {
  nothing: async () => undefined,
  "its value changes": command("contact mutate KEY --set City=Lima"),
  "it joins a list": command("contact mutate KEY --add-list News"),
  "it leaves its list": command("contact mutate KEY --remove-list Customers"),
  "it unsubscribes": command("contact unsubscribe KEY --yes"),
  "it is suppressed": command("suppressions add KEY"),
  "it is deleted": remove,
  "it is deleted and made anew": async (service, key) => {
    await remove(service, key);
    await create(service, key);
  },
  "it is as wanted": command("contact mutate KEY --set City=Rome"),
};

interface Kind {
  /** Before the run. @returns its line */
  line(service: RunningSandbox): Promise<string>;
  key?: string;
  /** Requests from its plan's end to its first write. */
  looks?: number;
  /** The contact is not there when it is planned. */
  isAbsent?: true;
}

const importOf = async (key: string) => `import ${await inputFile(`Email,City\n${key},Rome\n`)}`;
const importOfAda = async () => `${await importOf(ada)} --list Customers`;
const keys = async () => `--keys ${await inputFile(`${ada}\n`, "keys.txt")}`;
/** Undoes what this has done. */
const undoing = async ({ ecm }: RunningSandbox, line: string, flags = "") => {
  await done(ecm(`${line} --yes`));
  return `runs undo last ${flags}`;
};
const applying = async (service: RunningSandbox, line: string) =>
  `apply ${(await makePlanFile(service, toWords(line))).file}`;

const kinds: Record<string, Kind> = {
  "an import": { line: importOfAda },
  "an import of somebody new": { line: () => importOf(bob), key: bob, isAbsent: true },
  "an import that updates": { line: async () => `${await importOfAda()} --mode update` },
  "an edit": { line: async () => `contact mutate ${await keys()} --set City=Rome` },
  "an edit of a selection": {
    line: async () => "contact mutate --list Customers --tag VIP --set City=Rome",
  },
  "an unsubscription": { line: async () => `contact unsubscribe ${await keys()}`, looks: 1 },
  "a deletion": { line: async () => `contact delete ${await keys()}`, looks: 1 },
  "a sync": {
    line: async () => `lists sync Customers ${await inputFile("Email\neve@example.com\n")} --max-remove 100%`,
  },
  "an undo of a change": { line: async (service) => undoing(service, await importOfAda()), looks: 1 },
  "an undo of a creation": {
    line: async (service) => undoing(service, await importOf(bob), "--delete-created"),
    key: bob,
    looks: 1,
  },
  "an undo of a deletion": {
    line: async (service) => undoing(service, `contact delete ${await keys()}`),
    isAbsent: true,
  },
  "a plan of a change": { line: async (service) => applying(service, await importOfAda()) },
  "a plan of an unsubscription": {
    line: async (service) => applying(service, `contact unsubscribe ${await keys()}`),
    looks: 1,
  },
  "a plan of a deletion": {
    line: async (service) => applying(service, `contact delete ${await keys()}`),
    looks: 1,
  },
};

/** Stops it once its plan is closed. */
async function planOnly(service: RunningSandbox, { line, looks = 0 }: Kind): Promise<string> {
  const command = `${await line(service)} --yes --json`;
  const { estimate } = parseSummary(await service.ecm(`${command} --dry-run`));
  const stopped = await service.ecm(`${command} --max-requests ${estimate.requests - looks - 1}`);
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
