/** What others do between a plan and its writes: a run stops with nine contacts planned, and is resumed. */
import { expect, it } from "vitest";
import { findStatus } from "../../src/api/contacts.ts";
import type { Contact, ContactList } from "../../src/wire.ts";
import { call, done, ends, inputFile, makePlanFile, parseSummary, readJson, toWords } from "../kit.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const create = "contact create --key KEY --set City=Bonn --list Customers";
/** What others do to a contact, in commands. */
const events: Record<string, string[]> = {
  nothing: [],
  "its value changes": ["contact mutate KEY --set City=Lima"],
  "it joins a list": ["contact mutate KEY --add-list News"],
  "it leaves its list": ["contact mutate KEY --remove-list Customers"],
  "it unsubscribes": ["contact unsubscribe KEY --yes"],
  "it is suppressed": ["suppressions add KEY"],
  "it is deleted": ["contact delete KEY --yes"],
  "it is made anew": ["contact delete KEY --yes", create],
  "it is as wanted": ["contact mutate KEY --set City=Rome"],
};
const count = Object.keys(events).length;
const keysOf = (name: string) => Object.keys(events).map((_event, index) => `${name}${index}@example.com`);
const known = keysOf("known");
const unknown = keysOf("unknown");

const contents = {
  fields: ["City"],
  lists: ["Customers", "News"],
  tags: ["VIP"],
  contacts: [
    ...known.map((key) => ({ key, fields: { City: "Oslo" }, lists: ["Customers"], tags: ["VIP"] })),
    { key: "eve@example.com", lists: ["Customers"] },
  ],
};

interface Kind {
  /** Before the run. @returns its line */
  line(service: RunningSandbox): Promise<string>;
  keys?: string[];
  /** The contacts are not there when they are planned: others make them before most events. */
  areAbsent?: true;
  /** Requests from its plan's end to its first write. */
  looks?: number;
}

const importOf = async (keys: string[]) =>
  `import ${await inputFile(`Email,City\n${keys.map((key) => `${key},Rome\n`).join("")}`)}`;
const importOfKnown = async () => `${await importOf(known)} --list Customers`;
const keysFile = async () => `--keys ${await inputFile(known.join("\n"), "keys.txt")}`;
/** Undoes what this has done. */
const undoing = async ({ ecm }: RunningSandbox, line: string, flags = "") => {
  await done(ecm(`${line} --yes`));
  return `runs undo last ${flags}`;
};
const applying = async (service: RunningSandbox, line: string) =>
  `apply ${(await makePlanFile(service, toWords(line))).file}`;

const kinds: Record<string, Kind> = {
  "an import": { line: importOfKnown },
  "an import of somebody new": { line: () => importOf(unknown), keys: unknown, areAbsent: true },
  "an import that updates": { line: async () => `${await importOfKnown()} --mode update` },
  "an edit": { line: async () => `contact mutate ${await keysFile()} --set City=Rome` },
  "an edit of a selection": { line: async () => "contact mutate --list Customers --tag VIP --set City=Rome" },
  "an unsubscription": { line: async () => `contact unsubscribe ${await keysFile()}`, looks: 1 },
  "a deletion": { line: async () => `contact delete ${await keysFile()}`, looks: 1 },
  "a sync": {
    line: async () => `lists sync Customers ${await inputFile("Email\neve@example.com\n")} --max-remove 100%`,
  },
  "an undo of a change": { line: async (service) => undoing(service, await importOfKnown()), looks: 5 },
  "an undo of a creation": {
    line: async (service) => undoing(service, await importOf(unknown), "--delete-created"),
    keys: unknown,
    looks: 5,
  },
  "an undo of a deletion": {
    line: async (service) => undoing(service, `contact delete ${await keysFile()}`),
    areAbsent: true,
  },
  "a plan of a change": { line: async (service) => applying(service, await importOfKnown()) },
  "a plan of an unsubscription": {
    line: async (service) => applying(service, `contact unsubscribe ${await keysFile()}`),
    looks: 1,
  },
  "a plan of a deletion": {
    line: async (service) => applying(service, `contact delete ${await keysFile()}`),
    looks: 1,
  },
};

/** Stops it once its plan is closed. */
async function planOnly(service: RunningSandbox, { line, looks = 0 }: Kind): Promise<string> {
  const command = `${await line(service)} --yes --json`;
  const { estimate } = parseSummary(await service.ecm(`${command} --dry-run`));
  const most = estimate.requests - looks - count;
  const { run, rows } = parseSummary(await ends(service.ecm(`${command} --max-requests ${most}`), 7));
  // No number of requests ends an undo between its plan and its first write, whose contact is left alone.
  expect(rows.pending).toBe(looks > 1 ? count - 1 : count);
  return run!;
}

async function happen({ ecm }: RunningSandbox, { keys = known, areAbsent }: Kind): Promise<void> {
  for (const [index, [event, lines]] of Object.entries(events).entries()) {
    const isMade = areAbsent && !["nothing", "it is suppressed"].includes(event);
    for (const line of isMade ? [create, ...lines] : lines)
      await done(ecm(line.replace("KEY", keys[index]!)));
  }
}

/** What has become of the run; and each end of a contact, with the events that lead to it. */
async function resume(service: RunningSandbox, run: string, keys = known): Promise<string[]> {
  const { code, stdout, stderr } = await service.ecm(["runs", "resume", run, "--yes", "--json"]);
  expect(stdout, stderr).not.toBe("");
  const { rows, codes } = parseSummary({ code, stdout, stderr });
  const { read: _read, ...counted } = rows;
  const counts = Object.entries({ ...counted, ...codes.skipped, ...codes.rejected })
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${name} ${number}`);
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  const named: ContactList[] = await readJson(service.ecm, "lists list");
  const describe = (key: string) => {
    const contact = all.find((each) => each.key === key);
    if (!contact) return "nobody";
    const held = JSON.stringify(contact.lists);
    const lists = named.filter(({ _id }) => held.includes(_id)).map(({ name }) => name);
    return [contact.fields?.[0]?.value, ...lists.sort(), findStatus(contact)?.primary].join(" ");
  };
  const reached = new Map<string, string[]>();
  for (const [index, event] of Object.keys(events).entries()) {
    const end = describe(keys[index]!);
    reached.set(end, [...(reached.get(end) ?? []), event]);
  }
  return [
    `${counts.join(", ")}, exit ${code}`,
    ...Array.from(reached, ([end, after]) => `${end}: ${after.join(", ")}`),
  ];
}

it.each(Object.entries(kinds))("others between a plan and its writes: %s", async (_name, kind) => {
  const service = await startSandbox({ contents });
  const run = await planOnly(service, kind);
  await happen(service, kind);
  expect(await resume(service, run, kind.keys)).toMatchSnapshot();
});
