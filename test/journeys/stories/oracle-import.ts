/** What an import has to make of an account, told from the documents alone. */
import type { People, Person } from "./account.ts";
import { type Expected, type Import, isSame, none, type Row, withFacets } from "./oracle.ts";

/** The addresses in a cell, in lower case. */
const addresses = (cell: string): string[] => cell.toLowerCase().match(/[\w.+-]+@[\w.-]+\w/g) ?? [];

/** The addresses that a mark beside this cell counts for: those that can only be guessed too. */
export const markedAddresses = (cell: string): string[] => addresses(cell.replace(" .", "."));

/** The one address that a key cell stands for. */
export function keyIn(cell: string): string | undefined {
  const found = addresses(cell);
  return found.length === 1 ? found[0] : undefined;
}

/** An opt-in column that is blank in every row says nothing. */
export function isMarkedRow({ columns, rows }: Import, { mark }: Row): boolean {
  const saysYes = columns.includes("Subscribed") && rows.some((row) => row.mark !== "");
  return (columns.includes("Unsubscribed") && mark === "yes") || (saysYes && mark !== "yes");
}

/** Everybody whom a row of the file marks as not subscribed. */
export function markedIn(command: Import): Set<string> {
  const marked = command.rows.filter((row) => isMarkedRow(command, row));
  return new Set(marked.flatMap(({ key }) => markedAddresses(key)));
}

type Wanted = { fields: Record<string, string>; lists: Set<string>; tags: Set<string> };

function wantedBy(row: Row, { columns, lists, tags, set }: Import): Wanted {
  const fields: Record<string, string> = {};
  if (columns.includes("First Name")) fields["field First Name"] = row.first;
  if (columns.includes("City")) fields["field City"] = row.city;
  else if (set !== undefined) fields["field City"] = set;
  const further = (column: "Lists" | "Tags", cell: string) =>
    columns.includes(column) && cell ? [cell] : [];
  return {
    fields,
    lists: new Set([...further("Lists", row.list), ...lists]),
    tags: new Set([...further("Tags", row.tag), ...tags]),
  };
}

function joined(one: Wanted, other: Wanted): Wanted {
  const fields = { ...one.fields };
  for (const [name, value] of Object.entries(other.fields)) if (value.trim() !== "") fields[name] = value;
  return {
    fields,
    lists: new Set([...one.lists, ...other.lists]),
    tags: new Set([...one.tags, ...other.tags]),
  };
}

/** The contacts that a file asks for, and how many rows are settled without them. */
function readFile(command: Import) {
  const wanted = new Map<string, Wanted>();
  const rows = { ...none };
  for (const row of command.rows) {
    const key = keyIn(row.key);
    const found = key === undefined ? undefined : wanted.get(key);
    if (key === undefined) rows.rejected++;
    else if (!found) wanted.set(key, wantedBy(row, command));
    else {
      const passed = command.duplicates === "reject" ? "rejected" : "skipped";
      rows[passed]++;
      const next = wantedBy(row, command);
      const taken = { merge: joined(found, next), last: next, first: found, reject: found };
      wanted.set(key, taken[command.duplicates]);
    }
  }
  return { wanted, rows };
}

export function expectImport(
  command: Import,
  before: People,
  suppressed: Set<string>,
  marked = markedIn(command),
): Expected {
  const { wanted, rows } = readFile(command);
  const people: People = new Map(before);
  const isKept = (key: string) => suppressed.has(key) && !command.includeSuppressed;
  for (const [key, want] of wanted) {
    const found = before.get(key);
    const isMarked = marked.has(key);
    const isLeftOut = isMarked && command.marked !== "include";
    const next = (person: Person) => withFacets(person, changesOf(want, command, isLeftOut));
    if (!found) {
      const mayCreate = command.mode !== "update" && !isLeftOut && !isKept(key);
      rows[mayCreate ? "created" : "skipped"]++;
      if (mayCreate) people.set(key, next({ id: "", key, status: "Active", facets: {} }));
      continue;
    }
    // Who is suppressed and still in the account is left alone.
    if (isKept(key) || command.mode === "create") rows.skipped++;
    else {
      const person = next(found);
      people.set(key, person);
      rows[isSame(found, person) ? "unchanged" : "updated"]++;
    }
  }
  return { people, rows };
}

function changesOf({ fields, lists, tags }: Wanted, command: Import, isLeftOut: boolean) {
  const changes: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value.trim() !== "") changes[name] = value;
    else if (command.blank === "clear") changes[name] = "";
  }
  for (const tag of tags) changes[`tag ${tag}`] = "yes";
  if (!isLeftOut) for (const list of lists) changes[`list ${list}`] = "yes";
  return changes;
}
