/**
 * From a structure as it is and as a file wants it to the changes between them, and the update that makes
 * them. Pure.
 */

import { findByName, foldCase } from "../api/names.ts";
import { quote } from "../counts.ts";
import { usageError } from "../errors.ts";
import type { ContactStructure, UpdateStructureBody } from "../wire.ts";
import { editKnown, toUpdateBody } from "./edit.ts";
import type { FieldSpec, StructureSpec, TagSpec } from "./file.ts";

export type Part = "field" | "tag";

/** One difference, and what is done about it. `keep`: only in the account, and left there. */
export type StructureChange =
  | { action: "set"; part: "structure"; attribute: "label" | "keyName"; from: string; to: string }
  | { action: "add"; part: "field"; label: string; type: string; required: boolean }
  | { action: "add"; part: "tag"; label: string }
  | { action: "rename"; part: Part; _id: string; label: string; to: string }
  | {
      action: "change";
      part: "field";
      _id: string;
      label: string;
      attribute: string;
      from: string;
      to: string;
    }
  | Leftover;

/** What the account has and the file does not name. */
interface Leftover {
  action: "remove" | "keep";
  part: Part;
  _id: string;
  label: string;
}

export interface StructurePlan {
  changes: StructureChange[];
  /** Absent when nothing would be sent. */
  body?: UpdateStructureBody;
}

/**
 * @param isPruning whether what is only in the account goes
 * @throws UsageError when the file means something that does not exist, or two would have one label
 */
export function planStructure(
  structure: ContactStructure,
  spec: StructureSpec,
  isPruning: boolean,
): StructurePlan {
  if (structure.tags === undefined) {
    const known = { ...structure, tags: [] };
    editKnown(structure, () => planStructure(known, spec, isPruning).body);
    return planStructure(known, { ...spec, tags: undefined }, isPruning);
  }
  const body = toUpdateBody(structure);
  body.label = spec.label ?? body.label;
  body.keyName = spec.keyName ?? body.keyName;
  const leftovers = new Set<unknown>();
  const { fields, tags } = spec;
  const options = { isPruning, leftovers };
  if (fields)
    body.fields = planPart("field", body.fields as Existing[], fields, options) as typeof body.fields;
  if (tags) body.tags = planPart("tag", body.tags as Existing[], tags, options);
  const changes = diffStructures(structure, body, leftovers);
  return changes.some((change) => change.action !== "keep") ? { changes, body } : { changes };
}

/**
 * What an update changes of a structure. Its entries are identified by their ids.
 * @param leftovers ids of what stays without being in the file
 */
export function diffStructures(
  structure: ContactStructure,
  body: UpdateStructureBody,
  leftovers: ReadonlySet<unknown> = new Set(),
): StructureChange[] {
  const changes: StructureChange[] = [];
  for (const attribute of ["label", "keyName"] as const) {
    const [from, to] = [structure[attribute], body[attribute]];
    if (from !== to) changes.push({ action: "set", part: "structure", attribute, from, to });
  }
  return [
    ...changes,
    ...listPartChanges("field", structure.fields, body.fields, leftovers),
    ...listPartChanges("tag", structure.tags ?? [], body.tags, leftovers),
  ];
}

/** A field or a tag, in the account or in an update: what is new has no id. */
type Entry = { _id?: string; label: string; dataType?: string; required?: boolean } & Record<string, unknown>;

function listPartChanges(
  part: Part,
  before: readonly unknown[],
  after: readonly unknown[],
  leftovers: ReadonlySet<unknown>,
): StructureChange[] {
  const entries = after as readonly Entry[];
  const byId = new Map(entries.map((each) => [each._id, each]));
  const changes = (before as readonly Existing[]).flatMap((thing): StructureChange[] => {
    const { _id, label } = thing;
    const now = byId.get(_id);
    if (!now) return [{ action: "remove", part, _id, label }];
    if (leftovers.has(_id)) return [{ action: "keep", part, _id, label }];
    return listEntryChanges(part, thing, now);
  });
  const added = entries
    .filter(({ _id }) => _id === undefined)
    .map(({ label, dataType: type = "text", required = false }): StructureChange => {
      return part === "tag" ? { action: "add", part, label } : { action: "add", part, label, type, required };
    });
  return [...changes, ...added];
}

function listEntryChanges(
  part: Part,
  before: Existing,
  { label, dataType, required }: Entry,
): StructureChange[] {
  const { _id } = before;
  const changes: StructureChange[] = [];
  if (label !== before.label) changes.push({ action: "rename", part, _id, label: before.label, to: label });
  const attributes = {
    type: [before.dataType, dataType],
    // A service that does not tell `required` means that it is not.
    required: [before.required ?? false, required ?? false],
  };
  for (const [attribute, [from, to]] of Object.entries(attributes)) {
    if (from === to) continue;
    const change = { attribute, from: String(from), to: String(to) };
    changes.push({ action: "change", part: "field", _id, label, ...change });
  }
  return changes;
}

/** What the plan takes away from contacts. */
export function listRemovals(plan: StructurePlan): Leftover[] {
  return plan.changes.filter((change): change is Leftover => change.action === "remove");
}

type Existing = Entry & { _id: string };

/**
 * The order of the account stays; what is new comes after it.
 * @param options `leftovers`: the ids of what stays unasked are added to it
 */
function planPart(
  part: Part,
  existing: Existing[],
  specs: readonly FieldSpec[],
  { isPruning, leftovers }: { isPruning: boolean; leftovers: Set<unknown> },
): Entry[] {
  const matches = matchEntries(part, existing, specs);
  const remaining = existing.flatMap((thing): Entry[] => {
    const match = matches.get(thing);
    if (match) return [changeEntry(thing, match)];
    if (isPruning) return [];
    leftovers.add(thing._id);
    return [thing];
  });
  const matched = new Set(matches.values());
  const added = specs
    .filter((entry) => !matched.has(entry))
    .map(({ label, type = "text", required = false }) =>
      part === "tag" ? { label } : { label, dataType: type, required },
    );
  const entries = [...remaining, ...added];
  requireUniqueLabels(part, existing, entries);
  return entries;
}

function changeEntry(thing: Existing, { label, type = thing.dataType, required }: FieldSpec): Entry {
  const isChanged = required !== undefined && required !== (thing.required ?? false);
  return { ...thing, label, ...(type && { dataType: type }), ...(isChanged && { required }) };
}

/** A change that gives a label to a second one would leave two that cannot be told apart. */
function requireUniqueLabels(part: Part, existing: readonly Existing[], entries: readonly Entry[]): void {
  const before = new Map(existing.map(({ _id, label }) => [_id, foldCase(label)]));
  const others = new Map<string, Entry>();
  for (const entry of entries) {
    const label = foldCase(entry.label);
    const other = others.get(label);
    others.set(label, entry);
    const isOld = (each: Entry) => each._id !== undefined && before.get(each._id) === label;
    if (!other || (isOld(entry) && isOld(other))) continue;
    throw usageError(
      `Two ${part}s would be named ${JSON.stringify(entry.label)}`,
      "Upper and lower case count as the same name; choose another, or rename or remove the other one too",
    );
  }
}

/** Whether two plans do the same. What they leave alone may differ. */
export function isSamePlan(one: StructurePlan, other: StructurePlan): boolean {
  const [first, second] = [one, other].map(({ changes }) =>
    JSON.stringify(changes.filter(({ action }) => action !== "keep")),
  );
  return first === second;
}

/**
 * The entry that each thing is matched to: by id; by what it was (`was`), or is already; else by its label.
 * @returns what is matched to nothing is new
 * @throws UsageError when an entry means nothing, or may mean two things
 */
function matchEntries(
  part: Part,
  things: readonly Existing[],
  entries: readonly FieldSpec[],
): Map<Existing, FieldSpec> {
  const ids = new Set(entries.map(({ id }) => id));
  const others = things.filter(({ _id }) => !ids.has(_id));
  const matches = new Map<Existing, FieldSpec>();
  for (const entry of entries) {
    const thing = entry.id === undefined ? findByLabels(part, others, entry) : findById(part, things, entry);
    if (!thing) continue;
    const other = matches.get(thing);
    if (other) {
      const both = `The ${part}s ${quote(entry.label)} and ${quote(other.label)}`;
      throw usageError(`${both} both mean ${quote(thing.label)}`);
    }
    matches.set(thing, entry);
  }
  return matches;
}

function findById(part: Part, things: readonly Existing[], { id, label }: TagSpec): Existing {
  const thing = things.find(({ _id }) => _id === id);
  if (thing) return thing;
  throw usageError(`The structure has no ${part} with the id ${id} (${quote(label)})`);
}

function findByLabels(part: Part, things: readonly Existing[], spec: TagSpec): Existing | undefined {
  const { label, was } = spec;
  const find = (name: string) => findByName(name, things, (thing) => thing.label, part);
  const [before, now] = [was === undefined ? undefined : find(was), find(label)];
  if (was === undefined || (before && before === now)) return now;
  if (before && now) {
    throw usageError(
      `The ${part} ${quote(label)} was ${quote(was)}, but the account has both`,
      `Take out \`was: ${was}\` to keep both, or remove or rename one of them first`,
    );
  }
  if (before || now) return before ?? now;
  throw usageError(
    `The ${part} ${quote(label)} was ${quote(was)}, but the account has neither`,
    `Take out \`was: ${was}\` to add ${quote(label)} as a new ${part}, or correct it`,
  );
}
