/** Reading: columns of which it is not plain where they go, for whoever can ask a person. */
import { UsageError } from "../../errors.ts";
import type { ContactStructure } from "../../wire.ts";
import type { FoundConsent, Readings } from "./find-consent.ts";
import { findNearestName } from "./names.ts";
import type { ReadRow, Target } from "./rows.ts";
import type { Sample } from "./sample.ts";

export interface UnclearColumn {
  name: string;
  /** How many columns have this name. A column is told by its name where to go: they go together. */
  count: number;
  /** A field whose name is like it. */
  near?: string;
  /** Some cells of it that are not blank, as the file has them. */
  samples: string[];
  /** Of a column that may be consent: how many rows each reading of it leaves out. */
  readings?: Readings;
  /** It fills a field besides. */
  fillsField?: boolean;
}

export interface Unclear {
  structure: ContactStructure;
  /** Of these one holds the key; none when the key's column is known. */
  keyCandidates: UnclearColumn[];
  /** Columns that map to nothing. */
  unmapped: UnclearColumn[];
  /** Columns that may be consent, and of which nobody can tell what they say. */
  unclearConsent: UnclearColumn[];
  /** Columns that are read as consent. */
  consent: UnclearColumn[];
  /** Ids of fields that other columns fill. */
  takenFields: string[];
  /** All rows of the file, whatever their columns mean, and the names of these. */
  rows?(): { names: readonly string[]; batches: AsyncIterable<readonly ReadRow[]> };
}

/** What to say in `--map`, said in words for those who cannot be asked. */
export class UnclearColumnsError extends UsageError {
  readonly unclear: Unclear;

  constructor({ message, details }: UsageError, unclear: Unclear) {
    super(message, details.hint);
    this.unclear = unclear;
  }
}

/** @param targets of the columns whose place is known */
export function createUnclearError(
  { names, sample, structure }: { names: string[]; sample: Sample; structure: ContactStructure },
  targets: (Target | undefined)[],
  unclear: {
    keyCandidates: number[];
    unmapped: number[];
    consent: number[];
    readings: readonly FoundConsent[];
  },
): Unclear {
  const { keyCandidates, readings } = unclear;
  const askedColumns = readings.map(({ index }) => index);
  const consent = unclear.consent.filter((index) => !askedColumns.includes(index));
  const isConsent = (index: number) =>
    [...consent, ...askedColumns].some((each) => names[each] === names[index]);
  const unmapped = unclear.unmapped.filter((index) => !isConsent(index));
  const labels = structure.fields.map((field) => field.label);
  const toUnclearColumns = (indexes: number[]): UnclearColumn[] =>
    [...new Set(indexes.map((index) => names[index]!))].map((name) => ({
      name,
      count: names.filter((each) => each === name).length,
      near: findNearestName(name, labels),
      samples: listSamples(names.indexOf(name), sample),
    }));
  const isUnclear = (name: string) =>
    [...unmapped, ...consent, ...askedColumns].some((index) => names[index] === name);
  const takenFields = targets.flatMap((target, index) =>
    target?.kind === "field" && !isUnclear(names[index]!) ? [target.fieldId] : [],
  );
  return {
    structure,
    keyCandidates: toUnclearColumns(keyCandidates),
    unmapped: toUnclearColumns(unmapped),
    unclearConsent: toUnclearColumns(askedColumns).map((column) => ({
      ...column,
      readings: readings.find(({ index }) => names[index] === column.name)?.readings,
      fillsField: targets[names.indexOf(column.name)]?.kind === "field",
    })),
    consent: toUnclearColumns(consent),
    takenFields,
  };
}

const maxSamplesShown = 3;

function listSamples(index: number, sample: Sample): string[] {
  const cells = new Set<string>();
  for (const row of sample) {
    const cell = row[index]?.trim();
    if (cell) cells.add(cell);
    if (cells.size === maxSamplesShown) break;
  }
  return [...cells];
}
