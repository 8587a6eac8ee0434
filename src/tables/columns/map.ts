/** Reading: header names → where each column's cells go. */
import { foldName } from "../../api/names.ts";
import type { FieldDefinition } from "../../wire.ts";
import type { ConsentColumn } from "../consent/cells.ts";
import { type Batches, type FoundConsent, findConsentColumns } from "../consent/columns.ts";
import { findAddressColumn, holdsValues } from "../layout.ts";
import { findIndexes, findPredefinedField, isIdName, isKeyName } from "../names.ts";
import { rejectsColumns } from "../rejects-columns.ts";
import type { Note, RowKind, Target } from "../rows.ts";
import { isColumn, isIgnoredColumn, type System } from "../systems.ts";
import { createProposal } from "./proposal.ts";
import { findField, findKeyIndex, type MappingInput, type Targets } from "./targets.ts";
import { toUnclearConsent, toUnclearKey, toUnmapped, type UnclearInput } from "./unclear.ts";

export interface Columns {
  targets: Target[];
  consent: ConsentColumn[];
  notes: Note[];
}

/** What is known of columns before they are mapped. */
export interface FoundColumns {
  /** What names and cells say of consent. */
  consent: readonly FoundConsent[];
  rowKind: RowKind;
  /** All rows of the file. */
  rows(): Batches;
}

/**
 * Decides for every column: `--map` and the mapping file first, then the system's rules, then names.
 * @throws UsageError for a flag that names no column
 */
export function mapColumns(
  input: MappingInput,
  { consent: found, rowKind, rows }: FoundColumns,
): Columns | UnclearInput {
  const { names, options, place, system } = input;
  const isOfKeys = rowKind === "keys";
  const targets = [...input.explicit];
  const isExplicit = targets.map((target) => target !== undefined);
  const { consent, unclear, notes } =
    isOfKeys && !options.readsConsent
      ? { consent: [], unclear: [], notes: [] }
      : findConsentColumns(input, found);
  if (system) placeSystemColumns(names, targets, system);
  if ((isOfKeys || options.hasNoHeader) && names.length === 1) targets[0] ??= { kind: "key" };
  const key = placeKey(input, targets);
  const { settled, lost } = isOfKeys
    ? { settled: targets.map(ignoreUnlessKey), lost: [] }
    : placeValues(input, targets, consent, notes);
  const unmapped = options.ignoreUnmapped ? [] : lost;
  const isSaid = (index: number) =>
    unclear.some((each) => each.index === index) || key?.named.includes(index) || key?.likely === index;
  const unsaid = unmapped.filter((index) => !isSaid(index));
  const problems = [
    ...unclear.map((each) => toUnclearConsent(input, each)),
    ...(key ? [toUnclearKey(input, key)] : []),
    ...(unsaid.length > 0 ? [toUnmapped(input, unsaid)] : []),
  ];
  if (problems.length > 0 || options.isReviewed) {
    const known = {
      targets: settled,
      isExplicit,
      unmapped,
      keyCandidates: key?.candidates ?? [],
      unclearConsent: unclear,
      consent,
      rows,
    };
    return { place, names, unclear: problems, proposal: createProposal(input, known) };
  }
  if (!isOfKeys) noteSharedFields(input, settled, isExplicit, notes);
  return { targets: settled, consent, notes };
}

function ignoreUnlessKey(target: Target | undefined): Target {
  return target?.kind === "key" ? target : { kind: "ignore" };
}

/** Fields, consent, lists and tags. */
function placeValues(
  input: MappingInput,
  targets: Targets,
  consent: readonly ConsentColumn[],
  notes: Note[],
): { settled: Target[]; lost: number[] } {
  placeFields(input, targets);
  for (const { index } of consent) targets[index] ??= { kind: "consent" };
  return placeRemaining(input, targets, notes);
}

function placeSystemColumns(names: string[], targets: Targets, system: System): void {
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
  { names, sample, options, structure }: MappingInput,
  targets: Targets,
): UnclearKey | undefined {
  if (targets.some((target) => target?.kind === "key")) return undefined;
  const isFree = (index: number) => targets[index] === undefined;
  const own = findIndexes(names, (name) => foldName(name) === foldName(structure.keyName)).filter(isFree);
  const named =
    own.length === 1
      ? own
      : findIndexes(names, (name) => isKeyName(name, structure.keyName, structure.keyType)).filter(isFree);
  const ids = options.takesIds ? findIndexes(names, isIdName) : [];
  const [only] = named.length !== 1 && ids.length === 1 ? ids : named;
  if (only !== undefined && (named.length === 1 || ids.length === 1)) {
    targets[only] = { kind: "key" };
    return undefined;
  }
  return {
    named,
    candidates: named.length > 0 ? named : [...names.keys()].filter(isFree),
    likely: findAddressColumn(sample, named.length > 0 ? named : [...names.keys()]),
  };
}

/** Columns named like a field, then like a first or last name. No field is filled from two columns. */
function placeFields(input: MappingInput, targets: Targets): void {
  const { names, structure, system, constants } = input;
  const takenFieldIds = new Set([
    ...targets.flatMap((target) => (target?.kind === "field" ? [target.fieldId] : [])),
    ...constants.map(({ fieldId }) => fieldId),
  ]);
  const assignField = (index: number, field: FieldDefinition | undefined) => {
    if (!field || takenFieldIds.has(field._id)) return;
    targets[index] = { kind: "field", fieldId: field._id, label: field.label };
    takenFieldIds.add(field._id);
  };
  const isOpen = (name: string, index: number) => !targets[index] && foldName(name) !== "";
  for (const [index, name] of names.entries()) {
    if (isOpen(name, index)) assignField(index, findField(name, structure));
  }
  for (const [index, name] of names.entries()) {
    if (isOpen(name, index) && system?.suffix)
      assignField(index, findField(name.replace(system.suffix, ""), structure));
  }
  for (const [index, name] of names.entries()) {
    const part = isOpen(name, index) ? findPredefinedField(name) : undefined;
    if (part)
      assignField(
        index,
        structure.fields.find((field) => field.predefinedField === part),
      );
  }
}

/** Lists and tags by name; what is left is ignored by a rule, or lost: its column maps to nothing. */
function placeRemaining(
  { names, sample, system }: MappingInput,
  targets: Targets,
  notes: Note[],
): { settled: Target[]; lost: number[] } {
  const lost: number[] = [];
  const systemColumns: string[] = [];
  const settled = targets.map((target, index): Target => {
    if (target) return target;
    const name = names[index]!;
    const word = foldName(name).replace(/^ecm:/, "");
    if (word === "lists" || word === "tags") return { kind: word };
    if (system && isIgnoredColumn(system, name)) systemColumns.push(name);
    else if (!rejectsColumns.has(name) && (word !== "" || holdsValues(sample, index))) lost.push(index);
    return { kind: "ignore" };
  });
  if (system && systemColumns.length > 0)
    notes.push({ code: "system_columns", system: system.title, columns: systemColumns });
  if (lost.length > 0) notes.push({ code: "unmapped", columns: lost.map((index) => names[index]!) });
  return { settled, lost };
}

/** Several columns mapped to one field by hand: the last one that has a value fills it. */
function noteSharedFields(
  { names, constants }: MappingInput,
  targets: readonly Target[],
  isExplicit: readonly boolean[],
  notes: Note[],
): void {
  const byField = new Map<string, string[]>();
  const add = (label: string, name: string) => byField.set(label, [...(byField.get(label) ?? []), name]);
  for (const [index, target] of targets.entries()) {
    if (isExplicit[index] && target.kind === "field") add(target.label, names[index]!);
  }
  for (const { label, replaces } of constants) if (replaces.length === 0) add(label, label);
  for (const [field, columns] of byField) {
    if (columns.length > 1) notes.push({ code: "shared_field", columns, field });
  }
}
