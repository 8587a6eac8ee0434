/** Reading: targets that a person has named → fields of the account, lists, tags. */
import { findNearestName, foldName } from "../../api/names.ts";
import { toNewFieldId } from "../../api/structures.ts";
import { formatQuotedNames } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import type { Sample } from "../layout.ts";
import { findColumns, unknownColumnError } from "../names.ts";
import type { ReadOptions, Target } from "../rows.ts";
import type { System } from "../systems.ts";

/** What `--map` and the mapping file say. Each of their columns must exist, and one of them has the key. */
export function readExplicitTargets(input: Omit<MappingInput, "explicit">): Targets {
  const { names, options, structure, constants } = input;
  const explicitTargets: Targets = names.map(() => undefined);
  for (const [column, target] of options.map) {
    const indexes = findColumns(column, names);
    const resolved = parseTarget(target, structure, column, options);
    for (const index of indexes) explicitTargets[index] = resolved;
  }
  for (const { fieldId, label, replaces } of constants) {
    for (const index of replaces) explicitTargets[index] = { kind: "field", fieldId, label };
  }
  requireOneKey(explicitTargets, input);
  return explicitTargets;
}

/** A mapping file names columns that the file does not have. */
export interface GoneColumns {
  kind: "gone";
  /** Each with its line of the mapping file, such as `people.yaml:4`. */
  columns: readonly { column: string; line: string }[];
  /** The columns of the file. */
  names: readonly string[];
  /** `FILE:LINE` of its header. */
  place: string;
}

/**
 * Columns of the mapping that the file does not have, as far as a mapping file names them.
 * @throws UsageError where `--map` names one
 */
export function findGoneColumns(
  { map, mapPlaces }: ReadOptions,
  names: readonly string[],
  place: string,
): GoneColumns | undefined {
  const missing = [...map.keys()].filter((column) => findColumns(column, names).length === 0);
  const typed = missing.find((column) => !mapPlaces?.has(column));
  if (typed !== undefined) throw unknownColumnError(typed, names, place, "--map");
  const columns = missing.map((column) => ({ column, line: mapPlaces!.get(column)! }));
  return columns.length === 0 ? undefined : { kind: "gone", columns, names, place };
}

/** @throws UsageError where several columns go to the key */
function requireOneKey(targets: Targets, { names, place }: Pick<MappingInput, "names" | "place">): void {
  const columns = names.filter((_, index) => targets[index]?.kind === "key");
  if (columns.length <= 1) return;
  throw usageError(
    `${place}: ${columns.length} columns are mapped to the key: ${formatQuotedNames(columns)}`,
    "Map one of them to key, and the others to a field or to ignore",
  );
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

/** A target as it is typed: `key`, `lists`, `tags`, `ignore`, or a field's label or id. */
function parseTarget(
  target: string,
  structure: ContactStructure,
  column: string,
  { splits, newFields = [] }: ReadOptions,
): Target {
  const found = parseTargetWord(target) ?? fieldTarget(target, structure, newFields);
  if (!found) throw new Error(`the mapping has an unknown field ${JSON.stringify(target)}`);
  const split = splits?.find(([name]) => name === column)?.[1];
  if (split !== undefined && (found.kind === "lists" || found.kind === "tags")) return { ...found, split };
  return found;
}

/** A flag or a mapping file names a field that the account does not have. */
export interface UnknownField {
  kind: "field";
  label: string;
  /** What names it, such as `--map City=Stadt`. */
  source: string;
  /** Further fields of the same mapping that do not exist. */
  others: readonly string[];
  /** Labels of the fields that there are. */
  labels: readonly string[];
  /** One of them whose name is nearly the same, and how it would be written there. */
  near?: { label: string; written: string };
}

/** The first field that `--set`, `--map` or the mapping file names, and that the account does not have. */
export function findUnknownField(
  { set = [], map, mapPlaces, newFields = [] }: ReadOptions,
  structure: ContactStructure,
): UnknownField | undefined {
  const isMissing = (text: string) => !isTargetWord(text) && !fieldTarget(text, structure, newFields);
  const labels = structure.fields.map((field) => field.label);
  const toUnclear = (
    source: string,
    [label, ...others]: readonly [string, ...string[]],
    write: (near: string) => string,
  ): UnknownField => {
    const near = findNearestName(label, labels);
    const meant = near === undefined ? undefined : { label: near, written: write(near) };
    return { kind: "field", source, label, others, labels, ...(meant && { near: meant }) };
  };
  const constant = set.find(([field]) => fieldTarget(field, structure, newFields)?.kind !== "field");
  if (constant) {
    const [field, value] = constant;
    return toUnclear("--set", [field], (near) => `--set ${quoteShellWord(`${near}=${value}`)}`);
  }
  const [mapped, ...rest] = [...map].filter(([, target]) => isMissing(target));
  if (!mapped) return undefined;
  const [column, target] = mapped;
  const place = mapPlaces?.get(column);
  const others = rest.map(([, each]) => each).filter((each) => each !== target);
  return place === undefined
    ? toUnclear(
        `--map ${column}=${target}`,
        [target, ...others],
        (near) => `--map ${quoteShellWord(`${column}=${near}`)}`,
      )
    : toUnclear(`${place}: ${JSON.stringify(column)}`, [target, ...others], (near) => JSON.stringify(near));
}

/** The values of `--set`; of one field, the last. */
export function readConstants(
  { set = [], map, newFields = [] }: ReadOptions,
  names: string[],
  structure: ContactStructure,
): Constant[] {
  const constants = new Map<string, Constant>();
  const isMapped = (field: string) => [...map.keys()].some((name) => foldName(name) === foldName(field));
  for (const [field, value] of set) {
    const found = fieldTarget(field, structure, newFields);
    if (found?.kind !== "field") throw new Error(`--set has an unknown field ${JSON.stringify(field)}`);
    const { fieldId, label } = found;
    // A column of the field's name goes nowhere else, unless it was told where.
    const replaces = isMapped(field) ? [] : findColumns(field, names);
    constants.set(fieldId, { fieldId, label, value, replaces });
  }
  return [...constants.values()];
}

function fieldTarget(
  name: string,
  structure: ContactStructure,
  newFields: NonNullable<ReadOptions["newFields"]>,
): Target | undefined {
  const field = findField(name, structure);
  if (field) return { kind: "field", fieldId: field._id, label: field.label };
  const made = newFields.find(({ label }) => foldName(label) === foldName(name));
  return made && { kind: "field", fieldId: toNewFieldId(made.label), label: made.label };
}

/** By id, by label, then without regard to case. @throws UsageError when two labels match */
export function findField(name: string, structure: ContactStructure): FieldDefinition | undefined {
  const exact = structure.fields.find((field) => field._id === name || field.label === name);
  if (exact) return exact;
  const loose = structure.fields.filter((field) => foldName(field.label) === foldName(name));
  if (loose.length > 1) {
    throw usageError(
      `${loose.length} fields are named ${JSON.stringify(name)}`,
      `Use an id: ${loose.map((field) => field._id).join(", ")}`,
    );
  }
  return loose[0];
}

/** `--set`: the same value for every row. */
export interface Constant {
  fieldId: string;
  label: string;
  value: string;
  /** The file's columns of the field's name: their cells go nowhere. */
  replaces: readonly number[];
}

/** What the header is held against. */
export interface MappingInput {
  /** One for each column; `1`, `2`, … without a header. */
  names: string[];
  /** The first rows. */
  sample: Sample;
  options: ReadOptions;
  structure: ContactStructure;
  system?: System;
  /** `FILE:LINE` of the header, for messages. */
  place: string;
  constants: readonly Constant[];
  /** What flags and the mapping file say; undefined for a column of which they say nothing. */
  explicit: Targets;
}

export type Targets = (Target | undefined)[];
