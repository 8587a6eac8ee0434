/** Reading: where each column's cells go: by flags and mapping file, then a system's rules, then names. */
import { findByName, findNearestName, foldName, toStandInId } from "../../api/names.ts";
import { formatQuotedNames } from "../../counts.ts";
import { type EcmError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import type { ConsentColumn } from "../consent/cells.ts";
import { type Batches, findConsentColumns } from "../consent/columns.ts";
import {
  findColumns,
  findIndexes,
  findPredefinedField,
  isIdName,
  isKeyName,
  parseTargetWord,
  suggestColumn,
} from "../header-names.ts";
import { findAddressColumn, holdsValues } from "../layout.ts";
import { rejectsColumns } from "../rejects-columns.ts";
import type { ColumnTarget, Note, Target } from "../rows.ts";
import { isColumn, isIgnoredColumn } from "../systems.ts";
import type { HeaderSigns, MappingInput, Targets } from "../table.ts";
import { createProposal } from "./proposal.ts";
import { describeConsent, describeKey, describeUnmapped, type UnclearInput } from "./unclear.ts";

/** `--set`: the same value for every row. */
export interface Constant {
  fieldId: string;
  label: string;
  value: string;
}

/**
 * What `--map` and the mapping file say of each column.
 * @throws UsageError for a column or a field that does not exist, and where several columns go to the key
 */
export function readExplicitTargets(signs: HeaderSigns, names: readonly string[], place: string): Targets {
  const { map, set = [], mayBeGone = [] } = signs.options;
  const targets: Targets = names.map(() => undefined);
  const gone: string[] = [];
  const unknown = new Set(set.map(([field]) => field).filter((field) => !toFieldTarget(field, signs)));
  for (const [column, written] of map) {
    const target = toTarget(written, signs);
    if (!target) unknown.add(toTargetText(written));
    const indexes = findColumns(column, names);
    if (indexes.length === 0 && !mayBeGone.includes(column)) gone.push(column);
    for (const index of indexes) targets[index] = target;
  }
  if (gone.length > 0) {
    const what = gone.length === 1 ? "a column that does" : "columns that do";
    throw usageError(
      `${place}: the mapping names ${what} not exist: ${formatQuotedNames(gone)}`,
      suggestColumn(gone[0]!, names),
    );
  }
  if (unknown.size > 0) throw unknownFieldError([...unknown], signs.structure, place);
  const keys = names.filter((_, index) => targets[index]?.kind === "key");
  if (keys.length <= 1) return targets;
  throw usageError(
    `${place}: ${keys.length} columns are mapped to the key: ${formatQuotedNames(keys)}`,
    "Map one of them to key, and the others to a field or to ignore",
  );
}

function unknownFieldError(labels: string[], { fields }: ContactStructure, place: string): EcmError {
  const known = fields.map(({ label }) => label);
  const near = findNearestName(labels[0]!, known);
  return usageError(
    `${place}: there is no field ${formatQuotedNames(labels)}`,
    near === undefined
      ? advise`Fields: ${formatQuotedNames(known)}. Add one with: ${ecm`structure field add ${toOperands(labels[0]!)}`}`
      : `Did you mean ${JSON.stringify(near)}?`,
  );
}

/** The values of `--set`. @throws UsageError when a field is set twice */
export function readConstants(signs: HeaderSigns): Constant[] {
  const constants = (signs.options.set ?? []).flatMap(([field, value]) => {
    const target = toFieldTarget(field, signs);
    return target ? [{ fieldId: target.fieldId, label: target.label, value }] : [];
  });
  const ids = constants.map(({ fieldId }) => fieldId);
  const twice = constants.find(({ fieldId }, at) => ids.indexOf(fieldId) !== at);
  if (twice) throw usageError(`The field ${JSON.stringify(twice.label)} is set twice`, "Give it one value");
  return constants;
}

function toTarget(written: ColumnTarget, signs: HeaderSigns): Target | undefined {
  const text = toTargetText(written);
  const target = parseTargetWord(text) ?? toFieldTarget(text, signs);
  const isSplit = typeof written !== "string" && (target?.kind === "tags" || target?.kind === "lists");
  return isSplit ? { ...target, split: written.split } : target;
}

function toTargetText(written: ColumnTarget): string {
  return typeof written === "string" ? written : written.target;
}

/** The column of the key; -1 without one. */
export function findKeyIndex(targets: readonly (Target | undefined)[]): number {
  return targets.findIndex((target) => target?.kind === "key");
}

function toFieldTarget(name: string, { structure, options }: HeaderSigns) {
  const field = findField(name, structure);
  if (field) return { kind: "field" as const, fieldId: field._id, label: field.label };
  return options.createsFields
    ? { kind: "field" as const, fieldId: toStandInId({ what: "field", name }), label: name }
    : undefined;
}

/** By id, by label, then without regard to case. @throws UsageError when two labels match */
function findField(name: string, structure: ContactStructure): FieldDefinition | undefined {
  return findByName(name, structure.fields, ({ label }) => label, "field");
}

export interface Columns {
  targets: Target[];
  consent: ConsentColumn[];
  notes: Note[];
}

/**
 * Decides for every column: `--map` and the mapping file first, then the system's rules, then names.
 * @param rows of the file, as often as they are needed
 * @throws UsageError for a flag that names no column
 */
export async function mapColumns(input: MappingInput, rows: () => Batches): Promise<Columns | UnclearInput> {
  const { options, place, rowKind } = input;
  const { consent, unclear, notes } = await findConsentColumns(input, rows);
  const targets = [...input.explicit];
  placeSystemColumns(input, targets);
  const key = placeKey(input, targets);
  const lost = rowKind === "keys" ? [] : placeValues(input, targets, consent, notes);
  const settled = targets.map(
    (target): Target =>
      target && (rowKind === "contacts" || target.kind === "key") ? target : { kind: "ignore" },
  );
  const unmapped = options.ignoreUnmapped ? [] : lost;
  const described = new Set([...unclear.map(({ index }) => index), ...(key?.named ?? []), key?.likely]);
  const problems = [
    ...describeConsent(input, unclear),
    ...(key ? [describeKey(input, key.named, key.likely)] : []),
    ...describeUnmapped(
      input,
      unmapped.filter((index) => !described.has(index)),
    ),
  ];
  if (problems.length === 0 && !options.isReviewed) return { targets: settled, consent, notes };
  const known = { targets: settled, unmapped, keyCandidates: key?.candidates ?? [], unclearConsent: unclear };
  return { place, unclear: problems, propose: () => createProposal(input, known, rows()) };
}

/** Fields, consent, lists and tags. @returns columns that map to nothing, and that no rule ignores */
function placeValues(
  input: MappingInput,
  targets: Targets,
  consent: readonly ConsentColumn[],
  notes: Note[],
): number[] {
  placeFields(input, targets);
  for (const { index } of consent) targets[index] ??= { kind: "consent" };
  for (const [index, name] of input.names.entries()) {
    const word = foldName(name).replace(/^ecm:/, "");
    if (word === "lists" || word === "tags") targets[index] ??= { kind: word };
  }
  return findLost(input, targets, notes);
}

function placeSystemColumns({ names, system }: MappingInput, targets: Targets): void {
  if (!system) return;
  for (const [index, name] of names.entries()) {
    if (targets[index]) continue;
    if (findKeyIndex(targets) < 0 && isColumn(name, system.key)) targets[index] = { kind: "key" };
    else if (isColumn(name, system.tags?.column)) targets[index] = { kind: "tags" };
    else if (isColumn(name, system.lists?.column)) targets[index] = { kind: "lists" };
  }
}

/** What is not plain about the key's column. */
interface UnclearKey {
  /** Columns whose names are those of keys. */
  named: number[];
  /** Columns that could be it. */
  candidates: number[];
  /** The one in which most cells hold an address. */
  likely: number | undefined;
}

/** @returns what is not plain, if anything */
function placeKey(
  { names, sample, options, structure, rowKind }: MappingInput,
  targets: Targets,
): UnclearKey | undefined {
  if ((rowKind === "keys" || options.hasNoHeader) && names.length === 1) targets[0] ??= { kind: "key" };
  if (findKeyIndex(targets) >= 0) return undefined;
  const findFree = (holds: (name: string) => boolean) =>
    findIndexes(names, holds).filter((index) => targets[index] === undefined);
  const own = findFree((name) => foldName(name) === foldName(structure.keyName));
  const alike = findFree((name) => isKeyName(name, structure.keyName, structure.keyType));
  const ids = options.takesIds ? findIndexes(names, isIdName) : [];
  const only = [own, alike, ids].find((indexes) => indexes.length === 1);
  if (only) {
    targets[only[0]!] = { kind: "key" };
    return undefined;
  }
  return {
    named: alike,
    candidates: alike.length > 0 ? alike : findFree(() => true),
    likely: findAddressColumn(sample, alike.length > 0 ? alike : [...names.keys()]),
  };
}

/** Columns named like a field, then like a first or last name. No field is filled from two columns. */
function placeFields({ names, structure, system }: MappingInput, targets: Targets): void {
  const taken = new Set(targets.flatMap((target) => (target?.kind === "field" ? [target.fieldId] : [])));
  const place = (find: (name: string) => FieldDefinition | undefined) => {
    for (const [index, name] of names.entries()) {
      const field = targets[index] || foldName(name) === "" ? undefined : find(name);
      if (!field || taken.has(field._id)) continue;
      targets[index] = { kind: "field", fieldId: field._id, label: field.label };
      taken.add(field._id);
    }
  };
  place((name) => findField(name, structure));
  if (system?.suffix) place((name) => findField(name.replace(system.suffix!, ""), structure));
  place((name) => {
    const part = findPredefinedField(name);
    return part && structure.fields.find(({ predefinedField }) => predefinedField === part);
  });
}

/** Columns that map to nothing, and that no rule ignores. */
function findLost({ names, sample, system }: MappingInput, targets: Targets, notes: Note[]): number[] {
  const isOpen = (index: number) => targets[index] === undefined;
  const isSystemColumn = (name: string) => system !== undefined && isIgnoredColumn(system, name);
  const isLost = (name: string, index: number) =>
    !isSystemColumn(name) &&
    !rejectsColumns.has(name) &&
    (foldName(name) !== "" || holdsValues(sample, index));
  const lost = [...names.keys()].filter((index) => isOpen(index) && isLost(names[index]!, index));
  const ignored = names.filter((name, index) => isOpen(index) && isSystemColumn(name));
  if (system && ignored.length > 0)
    notes.push({ code: "system_columns", system: system.title, columns: ignored });
  if (lost.length > 0) notes.push({ code: "unmapped", columns: lost.map((index) => names[index]!) });
  return lost;
}
