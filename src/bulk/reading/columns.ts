/** Reading: header names → where each column's cells go. */
import { UsageError } from "../../errors.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import type { ReadOptions, Target } from "../rows.ts";
import { foldName, isKeyName, nearestName, predefinedFieldOf } from "./names.ts";
import { type System, systemTarget } from "./systems.ts";

export interface Columns {
  targets: Target[];
  notes: string[];
}

/**
 * Decides for every column: `--map` and the mapping file first, then the system's rules, then names.
 *
 * @param names one for each column; `1`, `2`, … without a header
 * @param place `FILE:LINE` of the header, for messages
 * @throws UsageError naming all columns that map to nothing, or the candidates when the key column is not plain
 */
export function mapColumns(
  names: string[],
  options: ReadOptions,
  structure: ContactStructure,
  system: System | undefined,
  place: string,
): Columns {
  const told = toldTargets(names, options, structure, place);
  const targets: (Target | undefined)[] = names.map(
    (name, index) =>
      told[index] ??
      (options.consentColumn !== undefined && foldName(name) === foldName(options.consentColumn)
        ? { kind: "consent" }
        : undefined),
  );
  if (options.consentColumn !== undefined && !targets.some((target) => target?.kind === "consent")) {
    throw unknownColumn(options.consentColumn, names, place, "--consent-column");
  }
  const notes: string[] = [];
  const hasKey = targets.some((target) => target?.kind === "key");
  for (const [index, name] of names.entries()) {
    if (targets[index]) continue;
    const target = system ? systemTarget(system, name, structure) : undefined;
    if (target && !(target.kind === "key" && hasKey)) targets[index] = target;
  }
  placeKey(names, targets, options, structure, place);
  placeFields(names, targets, structure);
  return { targets: settleRest(names, targets, options, structure, system, place, notes), notes };
}

/**
 * Finds the key column and ignores all others.
 * @throws UsageError when it is not plain which column holds the key
 */
export function mapKeyColumn(
  names: string[],
  options: ReadOptions,
  structure: ContactStructure,
  system: System | undefined,
  place: string,
): Columns {
  const told = toldTargets(names, options, structure, place);
  const targets = names.map((name, index) => {
    const target = told[index] ?? (system ? systemTarget(system, name, structure) : undefined);
    return target?.kind === "key" ? target : undefined;
  });
  if (names.length === 1) targets[0] ??= { kind: "key" };
  placeKey(names, targets, options, structure, place);
  return { targets: targets.map((target) => target ?? { kind: "ignore" }), notes: [] };
}

/** What `--map` and the mapping file say. Each of their columns must exist. */
function toldTargets(
  names: string[],
  options: ReadOptions,
  structure: ContactStructure,
  place: string,
): (Target | undefined)[] {
  const told: (Target | undefined)[] = names.map(() => undefined);
  for (const [column, target] of options.map) {
    const indexes = columnsNamed(column, names);
    if (indexes.length === 0) throw unknownColumn(column, names, place, "--map");
    const resolved = parseTarget(target, structure, column);
    for (const index of indexes) told[index] = resolved;
  }
  const keys = names.filter((_, index) => told[index]?.kind === "key");
  if (keys.length > 1) {
    throw new UsageError(
      `${place}: ${keys.length} columns are mapped to the key: ${quoted(keys)}`,
      "map one of them to ignore",
    );
  }
  return told;
}

function columnsNamed(column: string, names: string[]): number[] {
  const exact = indexesWhere(names, (name) => name === column);
  return exact.length > 0 ? exact : indexesWhere(names, (name) => foldName(name) === foldName(column));
}

function indexesWhere(names: string[], holds: (name: string) => boolean): number[] {
  return names.flatMap((name, index) => (holds(name) ? [index] : []));
}

/** A target as it is typed: `key`, `lists`, `tags`, `ignore`, or a field's label or id. */
export function parseTarget(target: string, structure: ContactStructure, column: string): Target {
  const field = findField(target, structure);
  const word = foldName(target);
  if (word === "key" || word === "lists" || word === "tags" || word === "ignore" || word === "consent") {
    return { kind: word };
  }
  if (field) return { kind: "field", fieldId: field._id, label: field.label };
  const near = nearestName(
    target,
    structure.fields.map((each) => each.label),
  );
  throw new UsageError(
    `--map ${column}=${target}: there is no field ${JSON.stringify(target)}`,
    near ? `did you mean --map ${shellWord(`${column}=${near}`)}?` : `fields: ${labelsOf(structure)}`,
  );
}

/** By id, by label, then without regard to case. @throws UsageError when two labels match */
function findField(name: string, structure: ContactStructure): FieldDefinition | undefined {
  const exact = structure.fields.find((field) => field._id === name || field.label === name);
  if (exact) return exact;
  const loose = structure.fields.filter((field) => foldName(field.label) === foldName(name));
  if (loose.length > 1) {
    throw new UsageError(
      `${loose.length} fields are called ${JSON.stringify(name)}`,
      `use an id: ${loose.map((field) => field._id).join(", ")}`,
    );
  }
  return loose[0];
}

function placeKey(
  names: string[],
  targets: (Target | undefined)[],
  options: ReadOptions,
  structure: ContactStructure,
  place: string,
): void {
  if (targets.some((target) => target?.kind === "key")) return;
  const isFree = (index: number) => targets[index] === undefined;
  const own = indexesWhere(names, (name) => foldName(name) === foldName(structure.keyName)).filter(isFree);
  const candidates =
    own.length === 1
      ? own
      : indexesWhere(names, (name) => isKeyName(name, structure.keyName, structure.keyType)).filter(isFree);
  if (candidates.length === 1) {
    targets[candidates[0]!] = { kind: "key" };
    return;
  }
  const found = candidates.map((index) => names[index]!);
  if (found.length > 1) {
    throw new UsageError(
      `${place}: ${found.length} columns could hold the key: ${quoted(found)}`,
      `say which one: --map ${shellWord(`${found[0]}=key`)}${options.ignoreUnmapped ? "" : ", and map the others to a field or to ignore"}`,
    );
  }
  throw new UsageError(
    `${place}: no column holds the key (${structure.keyName}); columns: ${quoted(names)}`,
    `say which one: --map ${shellWord(`${names[0] || "COLUMN"}=key`)}`,
  );
}

/** Columns named like a field, then like a first or last name. No field is filled from two columns. */
function placeFields(names: string[], targets: (Target | undefined)[], structure: ContactStructure): void {
  const taken = new Set(targets.flatMap((target) => (target?.kind === "field" ? [target.fieldId] : [])));
  const give = (index: number, field: FieldDefinition) => {
    targets[index] = { kind: "field", fieldId: field._id, label: field.label };
    taken.add(field._id);
  };
  for (const [index, name] of names.entries()) {
    const field = targets[index] ? undefined : findField(name, structure);
    if (field && !taken.has(field._id)) give(index, field);
  }
  for (const [index, name] of names.entries()) {
    const part = targets[index] ? undefined : predefinedFieldOf(name);
    const field = part && structure.fields.find((each) => each.predefinedField === part);
    if (field && !taken.has(field._id)) give(index, field);
  }
}

/** Lists and tags by name; everything that is left is ignored by a rule, or is an error. */
function settleRest(
  names: string[],
  targets: (Target | undefined)[],
  options: ReadOptions,
  structure: ContactStructure,
  system: System | undefined,
  place: string,
  notes: string[],
): Target[] {
  const lost: string[] = [];
  const settled = targets.map((target, index): Target => {
    if (target) return target;
    const name = names[index]!;
    const word = foldName(name).replace(/^ecm:/, "");
    if (word === "lists" || word === "tags") return { kind: word };
    if (!options.ignoreUnmapped && !isBookkeepingOfOurs(name)) lost.push(name);
    return { kind: "ignore" };
  });
  const unnamed = lost.filter((name) => foldName(name) === "");
  if (lost.length > unnamed.length || (unnamed.length > 0 && !system)) {
    throw unmapped(names, lost, structure, place);
  }
  const ignored = names.filter(
    (_, index) => settled[index]!.kind === "ignore" && targets[index] === undefined,
  );
  if (options.ignoreUnmapped && ignored.length > 0) notes.push(`ignored columns: ${quoted(ignored)}`);
  return settled;
}

/** The columns that a rejects file adds. */
function isBookkeepingOfOurs(name: string): boolean {
  return ["ecm_line", "ecm_error", "ecm_message"].includes(foldName(name));
}

function unmapped(names: string[], lost: string[], structure: ContactStructure, place: string): UsageError {
  const labels = structure.fields.map((field) => field.label);
  const described = lost.map((name) => {
    if (foldName(name) === "") return `column ${names.indexOf(name) + 1}, which has no name`;
    const near = nearestName(name, labels);
    return near ? `${JSON.stringify(name)} (like the field ${JSON.stringify(near)}?)` : JSON.stringify(name);
  });
  const example = lost.find((name) => foldName(name) !== "");
  return new UsageError(
    `${place}: ${lost.length === 1 ? "a column maps" : `${lost.length} columns map`} to nothing: ${described.join(", ")}`,
    example === undefined
      ? "give the column a name, or pass --ignore-unmapped"
      : `map each with --map ${shellWord(`${example}=FIELD`)} or --map ${shellWord(`${example}=ignore`)}, or leave them all out with --ignore-unmapped`,
  );
}

function unknownColumn(column: string, names: string[], place: string, flag: string): UsageError {
  const near = nearestName(column, names);
  return new UsageError(
    `${place}: ${flag} names a column that is not there: ${JSON.stringify(column)}`,
    near ? `did you mean ${JSON.stringify(near)}?` : `columns: ${quoted(names)}`,
  );
}

function labelsOf(structure: ContactStructure): string {
  return quoted(structure.fields.map((field) => field.label));
}

/** Names in a message: quoted, and at most ten of them. */
export function quoted(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => JSON.stringify(name));
  return names.length > 10 ? `${shown.join(", ")} and ${names.length - 10} more` : shown.join(", ");
}

function shellWord(word: string): string {
  return /^[\w=.@:-]+$/.test(word) ? word : `"${word.replace(/(["$`\\])/g, "\\$1")}"`;
}
