/**
 * From a structure as it is and as a file wants it to the changes
 * between them, and the update that makes them. Pure.
 */

import { foldCase } from "../api/names.ts";
import { UsageError } from "../errors.ts";
import type { ContactStructure, UpdateStructureBody } from "../wire.ts";
import { toUpdateBody } from "./edit.ts";
import type { FieldSpec, StructureSpec, TagSpec } from "./file.ts";
import { matchEntries } from "./match.ts";

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
  spec: StructureSpec,
  isPruning: boolean,
): StructurePlan {
  const body = toUpdateBody(structure);
  const changes: StructureChange[] = [];
  for (const attribute of ["label", "keyName"] as const) {
    const to = spec[attribute];
    if (to === undefined || to === structure[attribute]) continue;
    changes.push({ action: "set", part: "structure", attribute, from: structure[attribute], to });
    body[attribute] = to;
  }
  if (spec.fields) {
    const fields = planPart("field", body.fields as ExistingPart[], spec.fields, isPruning);
    body.fields = fields.entries;
    changes.push(...fields.changes);
  }
  if (spec.tags) {
    const tags = planPart("tag", body.tags as ExistingPart[], spec.tags, isPruning);
    body.tags = tags.entries;
    changes.push(...tags.changes);
  }
  return changes.some((change) => change.action !== "keep") ? { changes, body } : { changes };
}

/** What an update changes of a structure: its entries are told by their ids. */
export function diffStructures(structure: ContactStructure, body: UpdateStructureBody): StructureChange[] {
  const changes: StructureChange[] = [];
  for (const attribute of ["label", "keyName"] as const) {
    const [from, to] = [structure[attribute], body[attribute]];
    if (from !== to) changes.push({ action: "set", part: "structure", attribute, from, to });
  }
  return [
    ...changes,
    ...partChanges("field", structure.fields, body.fields),
    ...partChanges("tag", structure.tags ?? [], body.tags),
  ];
}

function partChanges(
  part: Part,
  before: readonly { _id: string; label: string }[],
  after: UpdateStructureBody["fields" | "tags"],
): StructureChange[] {
  const changes: StructureChange[] = [];
  const byId = new Map(after.map((each) => [each._id, each]));
  for (const { _id, label } of before) {
    const now = byId.get(_id);
    if (!now) changes.push({ action: "remove", part, _id, label });
    else if (now.label !== label) changes.push({ action: "rename", part, _id, label, to: now.label! });
  }
  for (const { _id, label, ...more } of after) {
    if (_id !== undefined) continue;
    const { dataType: type = "text", required = false } = more as Partial<ExistingPart>;
    changes.push(
      part === "tag" ? { action: "add", part, label } : { action: "add", part, label, type, required },
    );
  }
  return changes;
}

/** What the plan takes away from contacts. */
export function listRemovals(plan: StructurePlan): Leftover[] {
  return plan.changes.filter((change): change is Leftover => change.action === "remove");
}

type ExistingPart = { _id: string; label: string; dataType: string; required?: boolean } & Record<
  string,
  unknown
>;
type PartEntry = UpdateStructureBody["fields"][number];

/** The order of the account stays; what is new comes after it. */
function planPart(
  part: Part,
  existing: ExistingPart[],
  specs: (FieldSpec | TagSpec)[],
  isPruning: boolean,
): { entries: PartEntry[]; changes: StructureChange[] } {
  const changes: StructureChange[] = [];
  const matches = matchEntries<ExistingPart, FieldSpec>(part, existing, specs);
  const remaining: PartEntry[] = [];
  for (const thing of existing) {
    const match = matches.get(thing);
    if (match) remaining.push(planChange(part, thing, match, changes));
    else {
      changes.push({ action: isPruning ? "remove" : "keep", part, _id: thing._id, label: thing.label });
      if (!isPruning) remaining.push(thing);
    }
  }
  const matched = new Set(matches.values());
  const added = specs
    .filter((entry) => !matched.has(entry))
    .map((entry) => planAddition(part, entry, changes));
  const entries = [...remaining, ...added];
  requireUniqueLabels(part, existing, entries);
  return { entries, changes };
}

function planChange(
  part: Part,
  thing: ExistingPart,
  spec: FieldSpec,
  changes: StructureChange[],
): ExistingPart {
  const { _id, label } = thing;
  const result = { ...thing };
  if (spec.label !== label) {
    changes.push({ action: "rename", part, _id, label, to: spec.label });
    result.label = spec.label;
  }
  if (part === "tag") return result;
  const name = spec.label;
  if (spec.type !== undefined && spec.type !== thing.dataType) {
    changes.push({
      action: "change",
      part,
      _id,
      label: name,
      attribute: "type",
      from: thing.dataType,
      to: spec.type,
    });
    result.dataType = spec.type;
  }
  // A service that does not tell `required` means that it is not.
  const isRequired = thing.required ?? false;
  if (spec.required !== undefined && spec.required !== isRequired) {
    const [from, to] = [String(isRequired), String(spec.required)];
    changes.push({ action: "change", part, _id, label: name, attribute: "required", from, to });
    result.required = spec.required;
  }
  return result;
}

function planAddition(part: Part, spec: FieldSpec, changes: StructureChange[]): PartEntry {
  const { label, type = "text", required = false } = spec;
  if (part === "tag") {
    changes.push({ action: "add", part, label });
    return { label } as PartEntry;
  }
  changes.push({ action: "add", part, label, type, required });
  return { label, dataType: type, required };
}

/** A change that gives a label to a second one would leave two that cannot be told apart. */
function requireUniqueLabels(
  part: Part,
  existing: readonly ExistingPart[],
  entries: readonly PartEntry[],
): void {
  const before = new Map(existing.map(({ _id, label }) => [_id, foldCase(label)]));
  const others = new Map<string, PartEntry>();
  for (const entry of entries) {
    const label = foldCase(entry.label);
    const other = others.get(label);
    others.set(label, entry);
    const isOld = (each: PartEntry) => each._id !== undefined && before.get(each._id) === label;
    if (!other || (isOld(entry) && isOld(other))) continue;
    throw new UsageError(
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
