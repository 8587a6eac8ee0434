/** Reading: targets that a person has named → fields of the account, lists, tags. */
import { findNearestName, foldName } from "../../api/names.ts";
import { toNewFieldId } from "../../api/structures.ts";
import { UsageError } from "../../errors.ts";
import { advise, ecm, joinHints, quoteShellWord, toOperands } from "../../hint.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import type { Sample } from "../layout.ts";
import { findColumns, formatQuotedNames, unknownColumnError } from "../names.ts";
import type { ReadOptions, Target } from "../rows.ts";
import type { System } from "../system-table.ts";

/** What `--map` and the mapping file say. Each of their columns must exist, and one of them has the key. */
export function readExplicitTargets({ names, options, structure, place, constants }: MappingInput): Targets {
  const explicitTargets: Targets = names.map(() => undefined);
  requireColumns(options, names, place);
  for (const [column, target] of options.map) {
    const indexes = findColumns(column, names);
    const resolved = parseTarget(target, structure, column, options);
    for (const index of indexes) explicitTargets[index] = resolved;
  }
  for (const { fieldId, label, replaces } of constants) {
    for (const index of replaces) explicitTargets[index] = { kind: "field", fieldId, label };
  }
  requireOneKey(explicitTargets, { names, place });
  return explicitTargets;
}

/** @throws UsageError where `--map` names a column that is not there; GoneColumnsError */
export function requireColumns({ map, mapPlaces }: ReadOptions, names: string[], place: string): void {
  const missing = [...map.keys()].filter((column) => findColumns(column, names).length === 0);
  const typed = missing.find((column) => !mapPlaces?.has(column));
  if (typed !== undefined) throw unknownColumnError(typed, names, place, "--map");
  const gone = missing.map((column) => ({ column, line: mapPlaces!.get(column)! }));
  if (gone.length > 0) throw new GoneColumnsError(gone, names, place);
}

/** A mapping file names columns that the file does not have. */
export class GoneColumnsError extends UsageError {
  readonly columns: readonly string[];

  /** @param gone each with its line of the mapping file, such as `people.yaml:4` */
  constructor(gone: readonly { column: string; line: string }[], names: string[], place: string) {
    const [first, ...others] = gone.map(({ column, line }) => ({ column, line }));
    const { message, details } = unknownColumnError(first!.column, names, place, first!.line);
    const more = others.map(({ column, line }) => `; ${line}: ${JSON.stringify(column)}`);
    const what = more.length > 0 ? "Correct these lines, or remove them" : "Correct the line, or remove it";
    super(`${message}${more.join("")}`, joinHints(details.hint, what));
    this.columns = gone.map(({ column }) => column);
  }
}

/** @throws UsageError where several columns go to the key */
function requireOneKey(targets: Targets, { names, place }: Pick<MappingInput, "names" | "place">): void {
  const columns = names.filter((_, index) => targets[index]?.kind === "key");
  if (columns.length <= 1) return;
  throw new UsageError(
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
  { map, mapPlaces, splits, newFields = [] }: ReadOptions,
): Target {
  const found = parseTargetWord(target) ?? fieldTarget(target, structure, newFields);
  const split = splits?.find(([name]) => name === column)?.[1];
  if (found && split !== undefined && (found.kind === "lists" || found.kind === "tags"))
    return { ...found, split };
  if (found) return found;
  const isMissing = (each: string) => !isTargetWord(each) && !fieldTarget(each, structure, newFields);
  const others = [...map.values()].filter((each) => each !== target && isMissing(each));
  const place = mapPlaces?.get(column);
  throw new UnknownFieldError(
    place === undefined ? `--map ${column}=${target}` : `${place}: ${JSON.stringify(column)}`,
    [target, ...others],
    structure,
    (near) => (place === undefined ? `--map ${quoteShellWord(`${column}=${near}`)}` : JSON.stringify(near)),
  );
}

/** The values of `--set`; of one field, the last. @throws UnknownFieldError */
export function readConstants(
  { set = [], map, newFields = [] }: ReadOptions,
  names: string[],
  structure: ContactStructure,
): Constant[] {
  const constants = new Map<string, Constant>();
  const isMapped = (field: string) => [...map.keys()].some((name) => foldName(name) === foldName(field));
  for (const [field, value] of set) {
    const found = fieldTarget(field, structure, newFields);
    if (found?.kind !== "field") {
      throw new UnknownFieldError(
        "--set",
        [field],
        structure,
        (near) => `--set ${quoteShellWord(`${near}=${value}`)}`,
      );
    }
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

/** A mapping names a field that the account does not have. */
export class UnknownFieldError extends UsageError {
  readonly label: string;
  /** One that the account has, and whose name is nearly the same. */
  readonly near?: string;

  /** @param named the field, and others of the same mapping that do not exist either */
  constructor(
    what: string,
    [label, ...others]: readonly [string, ...string[]],
    structure: ContactStructure,
    meant: (near: string) => string,
  ) {
    const labels = structure.fields.map((field) => field.label);
    const near = findNearestName(label, labels);
    const more = others.length === 0 ? "" : `; nor ${formatQuotedNames([...new Set(others)])}`;
    super(
      `${what}: there is no field ${JSON.stringify(label)}${more}`,
      near
        ? `Did you mean ${meant(near)}?`
        : advise`Fields: ${formatQuotedNames(labels)}. Add one with: ${ecm`structure field add ${toOperands(label)}`}`,
    );
    this.label = label;
    this.near = near;
  }
}

/** By id, by label, then without regard to case. @throws UsageError when two labels match */
export function findField(name: string, structure: ContactStructure): FieldDefinition | undefined {
  const exact = structure.fields.find((field) => field._id === name || field.label === name);
  if (exact) return exact;
  const loose = structure.fields.filter((field) => foldName(field.label) === foldName(name));
  if (loose.length > 1) {
    throw new UsageError(
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
}

export type Targets = (Target | undefined)[];
