/** From a structure as it is and as a file wants it to the changes between them, and the update that makes them. Pure. */
import { UsageError } from "../errors.ts";
import type { ContactStructure, UpdateStructureBody } from "../wire.ts";
import { findByName, fold } from "./names.ts";
import { structureBody } from "./structure-edit.ts";
import type { WantedField, WantedStructure, WantedTag } from "./structure-file.ts";

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
export interface Leftover {
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
 * Entries are matched by id, then by label, then by the label that they had (`was`), then by label without regard to case;
 * what matches nothing is new. @param isPruning whether what is only in the account goes
 * @throws UsageError when an id of the file does not exist, or two entries mean the same
 */
export function planStructure(
  structure: ContactStructure,
  wanted: WantedStructure,
  isPruning: boolean,
): StructurePlan {
  const body = structureBody(structure);
  const changes: StructureChange[] = [];
  for (const attribute of ["label", "keyName"] as const) {
    const to = wanted[attribute];
    if (to === undefined || to === structure[attribute]) continue;
    changes.push({ action: "set", part: "structure", attribute, from: structure[attribute], to });
    body[attribute] = to;
  }
  if (wanted.fields)
    body.fields = planPart("field", body.fields as Existing[], wanted.fields, isPruning, changes);
  if (wanted.tags) body.tags = planPart("tag", body.tags as Existing[], wanted.tags, isPruning, changes);
  return changes.some((change) => change.action !== "keep") ? { changes, body } : { changes };
}

/** What an update changes of a structure: its entries are told by their ids. */
export function changesBetween(structure: ContactStructure, body: UpdateStructureBody): StructureChange[] {
  const changes: StructureChange[] = [];
  for (const attribute of ["label", "keyName"] as const) {
    const [from, to] = [structure[attribute], body[attribute]];
    if (from !== to) changes.push({ action: "set", part: "structure", attribute, from, to });
  }
  for (const part of ["field", "tag"] as const) {
    const [before, after] =
      part === "field" ? [structure.fields, body.fields] : [structure.tags ?? [], body.tags];
    for (const { _id, label } of before) {
      const now = after.find((each) => each._id === _id);
      if (!now) changes.push({ action: "remove", part, _id, label });
      else if (now.label !== label) changes.push({ action: "rename", part, _id, label, to: now.label! });
    }
    for (const { _id, label, ...more } of after) {
      if (_id !== undefined) continue;
      const { dataType: type = "text", required = false } = more as Partial<Existing>;
      changes.push(
        part === "tag" ? { action: "add", part, label } : { action: "add", part, label, type, required },
      );
    }
  }
  return changes;
}

/** What the plan takes away from contacts. */
export function removalsOf(plan: StructurePlan): Leftover[] {
  return plan.changes.filter((change): change is Leftover => change.action === "remove");
}

type Existing = { _id: string; label: string; dataType: string; required?: boolean } & Record<
  string,
  unknown
>;
type Entry = UpdateStructureBody["fields"][number];

/** The order of the account stays; what is new comes after it. */
function planPart(
  part: Part,
  existing: Existing[],
  wanted: (WantedField | WantedTag)[],
  isPruning: boolean,
  changes: StructureChange[],
): Entry[] {
  const matches = matchEntries(part, existing, wanted);
  const kept: Entry[] = [];
  for (const thing of existing) {
    const match = matches.get(thing);
    if (match) kept.push(changed(part, thing, match, changes));
    else {
      changes.push({ action: isPruning ? "remove" : "keep", part, _id: thing._id, label: thing.label });
      if (!isPruning) kept.push(thing);
    }
  }
  const matched = new Set(matches.values());
  const added = wanted.filter((entry) => !matched.has(entry)).map((entry) => addition(part, entry, changes));
  refuseShared(part, kept, added);
  return [...kept, ...added];
}

function matchEntries(
  part: Part,
  existing: Existing[],
  wanted: (WantedField | WantedTag)[],
): Map<Existing, WantedField> {
  const matches = new Map<Existing, WantedField>();
  const open = new Set(wanted);
  const match = (find: (entry: WantedField, free: Existing[]) => Existing | undefined) => {
    for (const entry of [...open]) {
      const thing = find(
        entry,
        existing.filter((each) => !matches.has(each)),
      );
      if (!thing) continue;
      matches.set(thing, entry);
      open.delete(entry);
    }
  };
  match(({ id, label }, free) => {
    if (id === undefined) return undefined;
    const thing = free.find((each) => each._id === id);
    if (thing) return thing;
    throw new UsageError(`The structure has no ${part} with the id ${id} (${JSON.stringify(label)})`);
  });
  match(({ label }, free) => free.find((each) => each.label === label));
  match(({ was }, free) =>
    was === undefined ? undefined : findByName(was, free, (each) => each.label, part),
  );
  match(({ label }, free) => findByName(label, free, (each) => each.label, part));
  return matches;
}

function changed(part: Part, thing: Existing, wanted: WantedField, changes: StructureChange[]): Existing {
  const { _id, label } = thing;
  const result = { ...thing };
  if (wanted.label !== label) {
    changes.push({ action: "rename", part, _id, label, to: wanted.label });
    result.label = wanted.label;
  }
  if (part === "tag") return result;
  const name = wanted.label;
  if (wanted.type !== undefined && wanted.type !== thing.dataType) {
    changes.push({
      action: "change",
      part,
      _id,
      label: name,
      attribute: "type",
      from: thing.dataType,
      to: wanted.type,
    });
    result.dataType = wanted.type;
  }
  // A service that does not tell `required` means that it is not.
  const isRequired = thing.required ?? false;
  if (wanted.required !== undefined && wanted.required !== isRequired) {
    const [from, to] = [String(isRequired), String(wanted.required)];
    changes.push({ action: "change", part, _id, label: name, attribute: "required", from, to });
    result.required = wanted.required;
  }
  return result;
}

function addition(part: Part, wanted: WantedField, changes: StructureChange[]): Entry {
  const { label, type = "text", required = false } = wanted;
  if (part === "tag") {
    changes.push({ action: "add", part, label });
    return { label } as Entry;
  }
  changes.push({ action: "add", part, label, type, required });
  return { label, dataType: type, required };
}

/** A rename onto a label that another one keeps would leave two that cannot be told apart. */
function refuseShared(part: Part, kept: Entry[], added: Entry[]): void {
  for (const entry of [...kept, ...added]) {
    const others = [...kept, ...added].filter((other) => other !== entry);
    const isNew = entry._id === undefined;
    if (isNew && others.some((other) => fold(other.label) === fold(entry.label))) {
      throw new UsageError(`Two ${part}s would be named ${JSON.stringify(entry.label)}`);
    }
  }
}
