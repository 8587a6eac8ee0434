/** Reading: targets that a person has named → fields of the account, lists, tags. */
import { findByName, findNearestName, foldName } from "../../api/names.ts";
import { toNewFieldId } from "../../api/structures.ts";
import { formatQuotedNames } from "../../counts.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import type { Sample } from "../layout.ts";
import { findColumns, suggestColumn } from "../names.ts";
import type { ColumnTarget, ReadOptions, Target } from "../rows.ts";
import type { System } from "../systems.ts";
import type { HeaderSigns } from "../table.ts";

/** What the header is held against. */
export interface MappingInput extends HeaderSigns {
  /** One for each column; `1`, `2`, … without a header. */
  names: string[];
  /** The first rows. */
  sample: Sample;
  system?: System;
  /** `FILE:LINE` of the header, for messages. */
  place: string;
  /** What flags and the mapping file say; undefined for a column of which they say nothing. */
  explicit: Targets;
}

export type Targets = (Target | undefined)[];

/** `--set`: the same value for every row. */
export interface Constant {
  fieldId: string;
  label: string;
  value: string;
}

/** A mapping that is not of this file or of this account. */
export type MappingFault =
  /** It names columns that the file does not have. */
  | { kind: "gone"; columns: readonly string[]; names: readonly string[]; place: string }
  /** It names fields that the account does not have. */
  | { kind: "fields"; labels: readonly string[]; known: readonly string[]; place: string };

export function findMappingFault(
  { options: { set = [], map, newFields }, structure }: HeaderSigns,
  names: readonly string[],
  place: string,
): MappingFault | undefined {
  const gone = [...map].map(([column]) => column).filter((column) => findColumns(column, names).length === 0);
  if (gone.length > 0) return { kind: "gone", columns: gone, names, place };
  const targets = [...map]
    .map(([, target]) => toTargetText(target))
    .filter((target) => !isTargetWord(target));
  const fields = [...set.map(([field]) => field), ...targets];
  const missing = fields.filter((field) => !toFieldTarget(field, structure, newFields));
  if (missing.length === 0) return undefined;
  const known = structure.fields.map(({ label }) => label);
  return { kind: "fields", labels: [...new Set(missing)], known, place };
}

export function toMappingError(fault: MappingFault): EcmError {
  if (fault.kind === "gone") {
    const { columns, names, place } = fault;
    const what = `${columns.length === 1 ? "a column that does" : "columns that do"} not exist`;
    return usageError(
      `${place}: the mapping names ${what}: ${formatQuotedNames(columns)}`,
      suggestColumn(columns[0]!, names),
    );
  }
  const { labels, known, place } = fault;
  const [label] = labels as [string];
  const near = findNearestName(label, known);
  return usageError(
    `${place}: there is no field ${formatQuotedNames(labels)}`,
    near === undefined
      ? advise`Fields: ${formatQuotedNames(known)}. Add one with: ${ecm`structure field add ${toOperands(label)}`}`
      : `Did you mean ${JSON.stringify(near)}?`,
  );
}

/**
 * What `--map` and the mapping file say, where they have no fault.
 * @throws UsageError where several columns go to the key
 */
export function readExplicitTargets(
  { options: { map, newFields }, structure }: HeaderSigns,
  names: readonly string[],
  place: string,
): Targets {
  const targets: Targets = names.map(() => undefined);
  for (const [column, written] of map) {
    const text = toTargetText(written);
    let target = parseTargetWord(text) ?? toFieldTarget(text, structure, newFields);
    if (typeof written !== "string" && (target?.kind === "tags" || target?.kind === "lists"))
      target = { ...target, split: written.split };
    for (const index of findColumns(column, names)) targets[index] = target;
  }
  const keys = names.filter((_, index) => targets[index]?.kind === "key");
  if (keys.length <= 1) return targets;
  throw usageError(
    `${place}: ${keys.length} columns are mapped to the key: ${formatQuotedNames(keys)}`,
    "Map one of them to key, and the others to a field or to ignore",
  );
}

/** The values of `--set`; of one field, the last. */
export function readConstants({ options: { set = [], newFields }, structure }: HeaderSigns): Constant[] {
  const constants = set.flatMap(([field, value]) => {
    const target = toFieldTarget(field, structure, newFields);
    return target ? [{ fieldId: target.fieldId, label: target.label, value }] : [];
  });
  return [...new Map(constants.map((each) => [each.fieldId, each])).values()];
}

export function toTargetText(written: ColumnTarget): string {
  return typeof written === "string" ? written : written.target;
}

/** The column of the key; -1 without one. */
export function findKeyIndex(targets: readonly (Target | undefined)[]): number {
  return targets.findIndex((target) => target?.kind === "key");
}

const targetWords = ["key", "lists", "tags", "ignore"] as const;

/** A target that is no field: `key`, `tags`, `consent=opt-in`. Undefined for any other text. */
function parseTargetWord(text: string): Target | undefined {
  const word = foldName(text);
  const consent = /^consent(?:=(opt-in|opt-out))?$/.exec(word);
  if (consent) return { kind: "consent", reading: consent[1] as "opt-in" | "opt-out" | undefined };
  const kind = targetWords.find((each) => each === word);
  return kind && { kind };
}

/** Words that name no field. */
export function isTargetWord(text: string): boolean {
  return parseTargetWord(text) !== undefined;
}

function toFieldTarget(
  name: string,
  structure: ContactStructure,
  newFields: ReadOptions["newFields"] = [],
): Extract<Target, { kind: "field" }> | undefined {
  const field = findField(name, structure);
  if (field) return { kind: "field", fieldId: field._id, label: field.label };
  const made = newFields.find(({ label }) => foldName(label) === foldName(name));
  return made && { kind: "field", fieldId: toNewFieldId(made.label), label: made.label };
}

/** By id, by label, then without regard to case. @throws UsageError when two labels match */
export function findField(name: string, structure: ContactStructure): FieldDefinition | undefined {
  return findByName(name, structure.fields, ({ label }) => label, "field");
}
