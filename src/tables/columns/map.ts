/** Reading: header names → where each column's cells go. */
import { findNearestName, foldName } from "../../api/names.ts";
import { UsageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import type { FieldDefinition } from "../../wire.ts";
import type { ConsentColumn } from "../consent/cells.ts";
import { findConsentColumns, unclearConsentError } from "../consent/columns.ts";
import { findConsentName } from "../consent/names.ts";
import type { FoundConsent } from "../consent/search.ts";
import { findAddressColumn, holdsValues } from "../layout.ts";
import {
  findIndexes,
  findPredefinedField,
  formatQuotedNames,
  isIdName,
  isKeyName,
  maxNamesShown,
} from "../names.ts";
import { isRejectsColumn } from "../rejects-columns.ts";
import type { Target } from "../rows.ts";
import type { System } from "../system-table.ts";
import { isColumn, isIgnoredColumn } from "../systems.ts";
import { createProposal, UnclearColumnsError } from "./proposal.ts";
import { findField, findKeyIndex, type MappingInput, readExplicitTargets, type Targets } from "./targets.ts";

export interface Columns {
  targets: Target[];
  consent: ConsentColumn[];
  notes: string[];
}

/**
 * Decides for every column: `--map` and the mapping file first, then the system's rules, then names.
 *
 * @throws UsageError naming all columns that map to nothing, or
 *   the candidates when the key column is not plain
 */
export function mapColumns(input: MappingInput, found: readonly FoundConsent[]): Columns {
  const targets = readExplicitTargets(input);
  const { consent, unclear: unclearColumns, notes } = findConsentColumns(input, targets, found);
  const isExplicit = targets.map((target) => target !== undefined);
  if (input.system) placeSystemColumns(input.names, targets, input.system);
  if (input.options.hasNoHeader && input.names.length === 1) targets[0] ??= { kind: "key" };
  const key = placeKey(input, targets);
  placeFields(input, targets);
  for (const { index } of consent) targets[index] ??= { kind: "consent" };
  const { settled, lost } = placeRemaining(input, targets, notes);
  const isLost = lost.length > 0 && !input.options.ignoreUnmapped;
  const problem: UsageError | undefined =
    (unclearColumns.length > 0 ? unclearConsentError(input, unclearColumns) : undefined) ??
    key?.problem ??
    (isLost ? unmappedColumnsError(input, lost) : undefined) ??
    (input.options.isReviewed
      ? new UsageError(`${input.place}: the columns are to be looked at`)
      : undefined);
  if (problem) {
    const known = {
      targets: settled,
      isExplicit,
      unmapped: isLost ? lost : [],
      keyCandidates: key?.candidates ?? [],
      unclearConsent: unclearColumns,
      consent,
    };
    throw new UnclearColumnsError(problem, createProposal(input, known));
  }
  noteSharedFields(input, settled, isExplicit, notes);
  return { targets: settled, consent, notes };
}

/**
 * Finds the key column and ignores all others.
 * @throws UsageError when it is not plain which column holds the key
 */
export function mapKeyColumn(input: MappingInput, found: readonly FoundConsent[]): Columns {
  const targets = readExplicitTargets(input);
  if (input.system) placeSystemColumns(input.names, targets, input.system);
  if (input.names.length === 1) targets[0] ??= { kind: "key" };
  const key = placeKey(input, targets);
  const ids = input.options.takesIds ? findIndexes(input.names, isIdName) : [];
  if (key && ids.length === 1) targets[ids[0]!] = { kind: "key" };
  else if (key) throw key.problem;
  const { consent, unclear, notes } = input.options.readsConsent
    ? findConsentColumns(input, targets, found)
    : { consent: [], unclear: [], notes: [] };
  if (unclear.length > 0) throw unclearConsentError(input, unclear);
  return {
    targets: targets.map((target) => (target?.kind === "key" ? target : { kind: "ignore" })),
    consent,
    notes,
  };
}

function placeSystemColumns(names: string[], targets: Targets, system: System): void {
  for (const [index, name] of names.entries()) {
    if (targets[index]) continue;
    if (findKeyIndex(targets) < 0 && isColumn(name, system.key)) targets[index] = { kind: "key" };
    else if (isColumn(name, system.tags?.column)) targets[index] = { kind: "tags" };
    else if (isColumn(name, system.lists?.column)) targets[index] = { kind: "lists" };
  }
}

/** Says what is not plain about the key's column, and which columns it could be. */
function placeKey(
  { names, sample, options, structure, place }: MappingInput,
  targets: Targets,
): { problem: UsageError; candidates: number[] } | undefined {
  if (targets.some((target) => target?.kind === "key")) return undefined;
  const isFree = (index: number) => targets[index] === undefined;
  const own = findIndexes(names, (name) => foldName(name) === foldName(structure.keyName)).filter(isFree);
  const candidates =
    own.length === 1
      ? own
      : findIndexes(names, (name) => isKeyName(name, structure.keyName, structure.keyType)).filter(isFree);
  if (candidates.length === 1) {
    targets[candidates[0]!] = { kind: "key" };
    return undefined;
  }
  const likely = findAddressColumn(sample, candidates.length > 0 ? candidates : [...names.keys()]);
  const found = candidates.map((index) => names[index]!);
  if (found.length > 1) {
    const others = options.ignoreUnmapped ? "" : ", and map the others to a field or to ignore";
    const problem = new UsageError(
      `${place}: ${found.length} columns could be the key: ${formatQuotedNames(found)}`,
      `Say which one: --map ${quoteShellWord(`${likely === undefined ? found[0] : names[likely]}=key`)}${others}`,
    );
    return { problem, candidates };
  }
  const problem = new UsageError(
    `${place}: no key column (${structure.keyName}) found; columns: ${formatQuotedNames(names)}`,
    `Say which one: --map ${quoteShellWord(`${(likely === undefined ? undefined : names[likely]) || "COLUMN"}=key`)}`,
  );
  return { problem, candidates: [...names.keys()].filter(isFree) };
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
  notes: string[],
): { settled: Target[]; lost: number[] } {
  const lost: number[] = [];
  const systemColumns: string[] = [];
  const settled = targets.map((target, index): Target => {
    if (target) return target;
    const name = names[index]!;
    const word = foldName(name).replace(/^ecm:/, "");
    if (word === "lists" || word === "tags") return { kind: word };
    if (system && isIgnoredColumn(system, name)) systemColumns.push(name);
    else if (!isRejectsColumn(name) && (word !== "" || holdsValues(sample, index))) lost.push(index);
    return { kind: "ignore" };
  });
  if (system && systemColumns.length > 0)
    notes.push(`Ignored columns of ${system.title}: ${systemColumns.join(", ")}`);
  if (lost.length > 0)
    notes.push(
      `Ignored columns that do not match any field: ${formatQuotedNames(lost.map((index) => names[index]!))}`,
    );
  return { settled, lost };
}

/** Several columns mapped to one field by hand: the last one that has a value fills it. */
function noteSharedFields(
  { names, constants }: MappingInput,
  targets: readonly Target[],
  isExplicit: readonly boolean[],
  notes: string[],
): void {
  const byField = new Map<string, string[]>();
  const add = (label: string, name: string) => byField.set(label, [...(byField.get(label) ?? []), name]);
  for (const [index, target] of targets.entries()) {
    if (isExplicit[index] && target.kind === "field") add(target.label, names[index]!);
  }
  for (const { label, replaces } of constants) if (replaces.length === 0) add(label, label);
  for (const [label, columns] of byField) {
    if (columns.length > 1) {
      notes.push(
        `${formatQuotedNames(columns)} all fill ${JSON.stringify(label)}; the last non-blank value is used`,
      );
    }
  }
}

function unmappedColumnsError({ names, structure, place }: MappingInput, lost: number[]): UsageError {
  const labels = structure.fields.map((field) => field.label);
  const described = lost.slice(0, maxNamesShown).map((index) => {
    const name = names[index]!;
    if (foldName(name) === "") return `column ${index + 1}, which has no name`;
    if (names.indexOf(name) < index) return `the second ${JSON.stringify(name)} (column ${index + 1})`;
    const near = findNearestName(name, labels);
    return near ? `${JSON.stringify(name)} (like the field ${JSON.stringify(near)}?)` : JSON.stringify(name);
  });
  if (lost.length > maxNamesShown) described.push(`and ${lost.length - maxNamesShown} more`);
  const message = `${place}: ${lost.length === 1 ? "1 column does" : `${lost.length} columns do`} not match any field: ${described.join(", ")}`;
  const example = names[lost.find((index) => foldName(names[index]!) !== "") ?? -1];
  if (example === undefined)
    return new UsageError(message, "Give the column a name, or pass --ignore-unmapped");
  // Ignored for good, it would be ignored where it says that somebody has left, too.
  const consent = lost.map((index) => names[index]!).find((name) => isConsentName(name));
  const mapConsent =
    consent &&
    `If ${JSON.stringify(consent)} says who is subscribed: --map ${quoteShellWord(`${consent}=consent`)}. `;
  return new UsageError(
    message,
    `${mapConsent ?? ""}Map each with --map ${quoteShellWord(`${example}=FIELD`)} or --map ${quoteShellWord(`${example}=ignore`)}, or ignore them all with --ignore-unmapped`,
  );
}

function isConsentName(name: string): boolean {
  const kind = findConsentName(name);
  return kind === "status" || kind === "optIn";
}
