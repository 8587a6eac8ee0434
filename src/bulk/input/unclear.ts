/** Reading: columns of which it is not plain where they go, for whoever can ask a person. */
import { UsageError } from "../../errors.ts";
import type { ContactStructure } from "../../wire.ts";
import { nearestName } from "./names.ts";
import type { Target } from "./rows.ts";
import type { Sample } from "./sample.ts";

export interface UnclearColumn {
  name: string;
  /** How many columns have this name. A column is told by its name where to go: they go together. */
  count: number;
  /** A field whose name is like it. */
  near?: string;
  /** Some cells of it that are not blank, as the file has them. */
  samples: string[];
}

export interface Unclear {
  structure: ContactStructure;
  /** Of these one holds the key; none when the key's column is known. */
  keyCandidates: UnclearColumn[];
  /** Columns that map to nothing. */
  unmapped: UnclearColumn[];
  /** Columns that look like consent. */
  consent: UnclearColumn[];
  /** Ids of fields that other columns fill. */
  takenFields: string[];
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
export function unclearFrom(
  { names, sample, structure }: { names: string[]; sample: Sample; structure: ContactStructure },
  targets: (Target | undefined)[],
  unclear: { keyCandidates: number[]; unmapped: number[]; consent: number[] },
): Unclear {
  const { keyCandidates, consent } = unclear;
  const isConsent = (index: number) => consent.some((each) => names[each] === names[index]);
  const unmapped = unclear.unmapped.filter((index) => !isConsent(index));
  const labels = structure.fields.map((field) => field.label);
  const columns = (indexes: number[]): UnclearColumn[] =>
    [...new Set(indexes.map((index) => names[index]!))].map((name) => ({
      name,
      count: names.filter((each) => each === name).length,
      near: nearestName(name, labels),
      samples: samplesOf(names.indexOf(name), sample),
    }));
  const isUnclear = (name: string) => [...unmapped, ...consent].some((index) => names[index] === name);
  const takenFields = targets.flatMap((target, index) =>
    target?.kind === "field" && !isUnclear(names[index]!) ? [target.fieldId] : [],
  );
  return {
    structure,
    keyCandidates: columns(keyCandidates),
    unmapped: columns(unmapped),
    consent: columns(consent),
    takenFields,
  };
}

const samplesShown = 3;

function samplesOf(index: number, sample: Sample): string[] {
  const cells = new Set<string>();
  for (const row of sample) {
    const cell = row[index]?.trim();
    if (cell) cells.add(cell);
    if (cells.size === samplesShown) break;
  }
  return [...cells];
}
