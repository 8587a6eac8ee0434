/**
 * What a command has to make of an account, told from the documents alone: nothing of the engine is imported here.
 */
import type { People, Person } from "./account.ts";

export interface Row {
  /** The key cell as it is written. */
  key: string;
  first: string;
  city: string;
  list: string;
  tag: string;
  /** The consent cell. */
  mark: "" | "yes" | "no";
}

export interface Import {
  kind: "import";
  rows: Row[];
  columns: ("First Name" | "City" | "Lists" | "Tags" | "Unsubscribed" | "Subscribed")[];
  lists: string[];
  tags: string[];
  mode: "upsert" | "create" | "update";
  blank: "keep" | "clear";
  duplicates: "merge" | "last" | "first" | "reject";
  /** What is done with people whom the file marks: by a flag typed in the command. */
  marked: "leave" | "include";
  includeSuppressed: boolean;
  /** `--set City=…`: where there is no such column. */
  set?: string;
}

export interface Selection {
  keys: string[];
  /** The keys are in a file, whose column `Unsubscribed` marks these. */
  marked?: string[];
  list?: string;
  tag?: string;
  status?: "active" | "inactive";
}

export type Change =
  | {
      kind: "mutate";
      whom: Selection;
      set: Record<string, string>;
      addTags: string[];
      removeTags: string[];
      addLists: string[];
      removeLists: string[];
    }
  | { kind: "unsubscribe" | "delete"; whom: Selection; takesMarked: boolean }
  | { kind: "sync"; list: string; keys: string[]; marked?: string[]; creates: boolean }
  | { kind: "merge"; lists: string[]; into: string };

export type Command = Import | Change;

export interface Counts {
  created: number;
  updated: number;
  deleted: number;
  unchanged: number;
  skipped: number;
  rejected: number;
}

export interface Expected {
  people: People;
  rows: Counts;
  /** The command is refused as a whole, and writes nothing. */
  isRefused?: boolean;
}

export const none: Counts = { created: 0, updated: 0, deleted: 0, unchanged: 0, skipped: 0, rejected: 0 };

/** A person with these facets set; a blank one is taken away. */
export function withFacets(person: Person, changes: Record<string, string>): Person {
  const facets = Object.entries({ ...person.facets, ...changes }).filter(([, value]) => value !== "");
  return { ...person, facets: Object.fromEntries(facets.sort(([a], [b]) => (a < b ? -1 : 1))) };
}

export const isSame = (one: Person, other: Person) =>
  one.status === other.status && JSON.stringify(one.facets) === JSON.stringify(other.facets);

function isChosen(
  { keys, list, tag, status }: Selection,
  key: string,
  { status: held, facets }: Person,
): boolean {
  return (
    (keys.length === 0 || keys.includes(key)) &&
    (list === undefined || facets[`list ${list}`] === "yes") &&
    (tag === undefined || facets[`tag ${tag}`] === "yes") &&
    (status === undefined || (status === "active") === (held === "Active"))
  );
}

export function expectChange(command: Change, before: People, suppressed: Set<string>): Expected {
  const people: People = new Map(before);
  const rows = { ...none };
  if (command.kind === "sync") return expectSync(command, before, suppressed);
  if (command.kind === "merge") return expectMerge(command, before);
  const { whom } = command;
  for (const key of whom.keys.filter((each) => !before.has(each))) {
    const isMarked = whom.marked?.includes(key) ?? false;
    // Somebody who left and is not there is no mistake of the file.
    const isNone =
      command.kind === "mutate"
        ? isMarked && command.addLists.length > 0
        : whom.marked && command.takesMarked && !isMarked;
    rows[command.kind === "delete" || isNone ? "skipped" : "rejected"]++;
  }
  for (const [key, person] of before) {
    const isMarked = whom.marked?.includes(key) ?? false;
    const isPassed = command.kind !== "mutate" && command.takesMarked && whom.marked && !isMarked;
    if (isPassed || !isChosen(whom, key, person)) {
      if (whom.keys.includes(key)) rows.skipped++;
      continue;
    }
    if (command.kind === "delete") {
      people.delete(key);
      rows.deleted++;
      continue;
    }
    const next = changed(command, person, isMarked);
    people.set(key, next);
    rows[isSame(person, next) ? "unchanged" : "updated"]++;
  }
  return { people, rows };
}

function changed(command: Change, person: Person, isMarked: boolean): Person {
  if (command.kind === "unsubscribe")
    return person.status === "Active" ? { ...person, status: "Unsubscribe" } : person;
  if (command.kind !== "mutate") return person;
  const changes: Record<string, string> = {};
  for (const [label, value] of Object.entries(command.set)) changes[`field ${label}`] = value;
  for (const tag of command.addTags) changes[`tag ${tag}`] = "yes";
  for (const tag of command.removeTags) changes[`tag ${tag}`] = "";
  if (!isMarked) for (const list of command.addLists) changes[`list ${list}`] = "yes";
  for (const list of command.removeLists) changes[`list ${list}`] = "";
  return withFacets(person, changes);
}

function expectSync(
  { list, keys, marked = [], creates }: Change & { kind: "sync" },
  before: People,
  suppressed: Set<string>,
): Expected {
  const people: People = new Map(before);
  const rows = { ...none };
  const name = `list ${list}`;
  for (const key of new Set(keys)) {
    const found = before.get(key);
    const isMarked = marked.includes(key);
    const isLeftOut = creates && suppressed.has(key);
    if (isLeftOut || (!found && (isMarked || !creates))) {
      rows[isLeftOut || isMarked ? "skipped" : "rejected"]++;
      continue;
    }
    const change: Record<string, string> = isMarked ? {} : { [name]: "yes" };
    people.set(key, withFacets(found ?? { id: "", key, status: "Active", facets: {} }, change));
    rows[!found ? "created" : isMarked || found.facets[name] === "yes" ? "unchanged" : "updated"]++;
  }
  rows.skipped += keys.length - new Set(keys).size;
  for (const [key, person] of before) {
    if (person.facets[name] !== "yes" || keys.includes(key)) continue;
    people.set(key, withFacets(person, { [name]: "" }));
    rows.updated++;
  }
  return { people, rows };
}

function expectMerge({ lists, into }: Change & { kind: "merge" }, before: People): Expected {
  const people: People = new Map(before);
  const rows = { ...none };
  for (const [key, person] of before) {
    if (!lists.some((list) => person.facets[`list ${list}`] === "yes")) continue;
    people.set(key, withFacets(person, { [`list ${into}`]: "yes" }));
    rows.updated++;
  }
  return { people, rows };
}

interface Undoing {
  /** The account before the run, after it, and when it is undone. */
  from: People;
  to: People;
  now: People;
  suppressed: Set<string>;
  /** With `--delete-created`. */
  deletes: boolean;
}

/** What undoing a run has to make of an account: what nobody has changed since is as before. */
export function expectUndo({ from, to, now, suppressed, deletes }: Undoing): People {
  const people: People = new Map(now);
  const ids = new Set([...from.values()].map(({ id }) => id));
  for (const [key, held] of now) {
    const was = from.get(key);
    const made = to.get(key);
    if (!made || held.id !== made.id) continue;
    if (!ids.has(made.id)) {
      if (deletes && isSame(made, held)) people.delete(key);
      continue;
    }
    if (!was) continue;
    const names = new Set([...Object.keys(was.facets), ...Object.keys(made.facets)]);
    const changes: Record<string, string> = {};
    for (const name of names) {
      const [old = "", ours = "", theirs = ""] = [was.facets[name], made.facets[name], held.facets[name]];
      if (old !== ours && theirs === ours) changes[name] = old;
    }
    people.set(key, withFacets(held, changes));
  }
  for (const [key, was] of from) {
    if (to.has(key) || now.has(key) || was.status !== "Active" || suppressed.has(key)) continue;
    people.set(key, { ...was, id: "" });
  }
  return people;
}
