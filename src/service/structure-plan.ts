/** From a structure as it is and as a file wants it to the changes between them, and the update that makes them. Pure. */
import { UsageError } from "../errors.ts";
import type { ContactStructure, UpdateStructureBody } from "../wire.ts";
import { fold } from "./names.ts";
import { structureBody } from "./structure-edit.ts";
import type { WantedField, WantedStructure, WantedTag } from "./structure-file.ts";
import { matchEntries } from "./structure-match.ts";

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
 * @param isPruning whether what is only in the account goes
 * @throws UsageError when the file means something that does not exist, or two would have one label
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
    const byId = new Map(after.map((each) => [each._id, each]));
    for (const { _id, label } of before) {
      const now = byId.get(_id);
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
  const matches = matchEntries<Existing, WantedField>(part, existing, wanted);
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
  refuseShared(part, existing, [...kept, ...added]);
  return [...kept, ...added];
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

/** A change that gives a label to a second one would leave two that cannot be told apart. */
function refuseShared(part: Part, existing: readonly Existing[], entries: readonly Entry[]): void {
  const before = new Map(existing.map(({ _id, label }) => [_id, fold(label)]));
  const others = new Map<string, Entry>();
  for (const entry of entries) {
    const label = fold(entry.label);
    const other = others.get(label);
    others.set(label, entry);
    const isOld = (each: Entry) => each._id !== undefined && before.get(each._id) === label;
    if (!other || (isOld(entry) && isOld(other))) continue;
    throw new UsageError(
      `Two ${part}s would be named ${JSON.stringify(entry.label)}`,
      "Names are compared ignoring case; choose another, or rename or remove the other one too",
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
