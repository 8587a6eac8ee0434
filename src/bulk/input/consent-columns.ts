/** Reading: which of a file's columns speak of consent: told by flags, by the system's rules, or found in the file. */
import { UsageError } from "../../errors.ts";
import { shellWord } from "../../shell-word.ts";
import { columnsNamed, unknownColumn } from "./column-names.ts";
import type { MappingInput, Targets } from "./columns.ts";
import type { ConsentColumn } from "./consent.ts";
import { consentNameOf, ruleByName } from "./consent-names.ts";
import type { FoundConsent } from "./find-consent.ts";
import { isColumn, isIgnoredBy } from "./systems.ts";

export interface ConsentColumns {
  consent: ConsentColumn[];
  /** They look like consent, and nobody can tell what they say. */
  unreadable: FoundConsent[];
  /** What is passed over, and why. */
  notes: string[];
}

/**
 * The columns that are read as consent. A recognised system's own rule comes first, and no flag inverts it; only
 * `--map COLUMN=ignore` puts a column aside.
 *
 * @param told what `--map` and the mapping file say
 * @throws UsageError for a `--consent-column` that is not there
 */
export function consentColumns(input: MappingInput, told: Targets): ConsentColumns {
  const { names, system } = input;
  const consent: ConsentColumn[] = [];
  const unreadable: FoundConsent[] = [];
  const notes: string[] = [];
  const add = (column: ConsentColumn) => {
    if (consent.every(({ index }) => index !== column.index)) consent.push(column);
  };
  const named = namedColumns(input, told);
  const isAside = (index: number) => told[index]?.kind === "ignore" && !named.includes(index);
  const aside = new Set<number>();
  for (const { column, rule } of system?.consent ?? []) {
    for (const [index, name] of names.entries()) {
      if (!isColumn(name, column)) continue;
      if (isAside(index)) aside.add(index);
      else add({ index, name, rule });
    }
  }
  for (const index of named) add({ index, name: names[index]!, rule: ruleByName(names[index]!) });
  for (const found of input.found ?? []) {
    const { index, outcome, rule } = found;
    const name = names[index]!;
    if (outcome === "otherChannel")
      notes.push(`${quote(name)} is about another channel than email; not read as consent`);
    else if (outcome === "empty") notes.push(`${quote(name)} is empty in every row; not read as consent`);
    else if (outcome === "noAnswers") {
      if (told[index] === undefined) notes.push(`${quote(name)} has no yes or no; not read as consent`);
    } else if (isAside(index)) aside.add(index);
    else if (outcome === "consent") add({ index, name, rule });
    else if (!named.includes(index)) {
      // Told to go to a field, it was looked at by a person.
      if (told[index]?.kind !== "field") unreadable.push(found);
      else notes.push(`${quote(name)} has no yes or no; imported as a field, not read as consent`);
    }
  }
  for (const index of aside) {
    const name = names[index]!;
    notes.push(
      `${quote(name)} looks like consent but is ignored, because of --map ${shellWord(`${name}=ignore`)}`,
    );
  }
  return { consent: consent.sort((one, other) => one.index - other.index), unreadable, notes };
}

/** Columns of which the answer is known before the file is looked through. */
export function isConsentKnown({ names, system }: MappingInput, told: Targets): (index: number) => boolean {
  return (index) => {
    const name = names[index]!;
    if (told[index]?.kind === "key" || told[index]?.kind === "consent") return true;
    if (system?.consent?.some(({ column }) => isColumn(name, column))) return true;
    return system !== undefined && isIgnoredBy(system, name);
  };
}

function namedColumns({ names, options, place }: MappingInput, told: Targets): number[] {
  const byTarget = names.flatMap((_, index) => (told[index]?.kind === "consent" ? [index] : []));
  if (options.consentColumn === undefined) return byTarget;
  const indexes = columnsNamed(options.consentColumn, names);
  if (indexes.length === 0) throw unknownColumn(options.consentColumn, names, place, "--consent-column");
  return [...new Set([...byTarget, ...indexes])];
}

/** @returns the error that names the place, and both ways out of it */
export function unreadableConsent(
  { names, place }: MappingInput,
  { index, unclear }: FoundConsent,
): UsageError {
  const name = names[index] || String(index + 1);
  const isEitherWay = consentNameOf(name) === "both";
  const why = isEitherWay
    ? "its name does not say whether a yes means subscribed or unsubscribed"
    : `none of its cells is a yes or a no${unclear ? `, such as ${quote(unclear.cell.slice(0, 40))} on line ${unclear.line}` : ""}`;
  return new UsageError(
    `${place}: ${quote(name)} looks like consent, but ${why}`,
    `Pass --consent-column ${shellWord(name)} if yes means subscribed (rows without a yes are then not created), or ignore it with --map ${shellWord(`${name}=ignore`)}`,
    { type: "ConsentError" },
  );
}

function quote(name: string): string {
  return JSON.stringify(name);
}
