/** Reading: where the columns of a file could go, for questions to a person. */
import { foldName, toStandInName } from "../../api/names.ts";
import type { ContactStructure } from "../../wire.ts";
import { findUnknown, isBlankText } from "../cells.ts";
import type { Batches, Readings, UnclearConsent } from "../consent/columns.ts";
import { findIndexes, isTargetWord } from "../header-names.ts";
import { isAddress } from "../layout.ts";
import type { Target } from "../rows.ts";
import type { MappingInput } from "../table.ts";

/** A column is told by its name where to go: those of one name go together. */
export interface ProposedColumn {
  name: string;
  count: number;
  /** Some cells of it that are not blank, as the file has them. */
  samples: string[];
  /** Rows in which it has a value, and in which it has an address. */
  filled: number;
  addresses: number;
  /** Where it goes, in the words of `--map`. */
  target: string;
  /** The field is to be created. */
  isNew: boolean;
  /** A flag, a rule or its own name says where it goes: nobody has to confirm it. */
  isSure: boolean;
  /** How many rows each reading leaves out, where the column may be consent. */
  readings?: Readings;
  /** It fills a field, and may be consent besides. */
  fillsField: boolean;
  /** The label of a field that would be made for it; no other column has the same. */
  label: string;
}

export interface Proposal {
  structure: ContactStructure;
  /** In the order of the file. */
  columns: ProposedColumn[];
  /** Columns of which one holds the key; none when the key's column is known. */
  keyCandidates: string[];
  /** How many rows the file has. */
  rows: number;
}

/** What is known of the columns when a person is asked. */
interface KnownColumns {
  /** Where each column goes as things are. */
  targets: readonly Target[];
  /** Indexes of columns that nothing places. */
  unmapped: readonly number[];
  keyCandidates: readonly number[];
  unclearConsent: readonly UnclearConsent[];
}

/** Reads all rows. */
export async function createProposal(
  input: Pick<MappingInput, "names" | "structure">,
  known: KnownColumns,
  batches: Batches,
): Promise<Proposal> {
  const { names, structure } = input;
  const columns = toColumns(input, known);
  const places = names.map((name) => columns.find((column) => column.name === name)!);
  let rows = 0;
  for await (const batch of batches) {
    rows += batch.length;
    for (const { cells } of batch) {
      for (const [index, column] of places.entries()) addCell(column, cells[index] ?? "");
    }
  }
  for (const column of columns.filter(({ isSure }) => !isSure)) {
    // Whatever has a value goes somewhere.
    column.isNew = column.filled > 0;
    column.target = column.isNew ? column.label : "ignore";
  }
  const keyCandidates = [...new Set(known.keyCandidates.map((index) => names[index]!))];
  return { structure, columns, keyCandidates, rows };
}

function toColumns(
  { names, structure }: Pick<MappingInput, "names" | "structure">,
  { targets, unmapped, unclearConsent }: KnownColumns,
): ProposedColumn[] {
  const labels = new Set(structure.fields.map(({ label }) => foldName(label)));
  return [...new Set(names)].map((name) => {
    const indexes = findIndexes(names, (each) => each === name);
    const index = indexes[0]!;
    const target = targets[index]!;
    const isSure = !indexes.some((each) => unmapped.includes(each));
    const unclear = unclearConsent.find((each) => indexes.includes(each.index));
    return {
      name,
      count: indexes.length,
      samples: [],
      filled: 0,
      addresses: 0,
      target: toTargetWord(target, structure),
      isNew: target.kind === "field" && toStandInName(target.fieldId) !== undefined,
      isSure,
      readings: unclear?.readings,
      fillsField: isSure && target.kind === "field",
      label: proposeLabel(name, index, labels),
    };
  });
}

const maxSamples = 3;

function addCell(column: ProposedColumn, written: string): void {
  const cell = findUnknown(written) ?? written;
  if (isBlankText(cell)) return;
  column.filled += 1;
  if (isAddress(cell)) column.addresses += 1;
  const text = cell.trim();
  if (column.samples.length < maxSamples && !column.samples.includes(text)) column.samples.push(text);
}

/** A label for a new field, which neither a field nor another column has. */
function proposeLabel(name: string, index: number, labels: Set<string>): string {
  const plain = name.replaceAll("=", " ").replace(/\s+/g, " ").trim() || `Column ${index + 1}`;
  for (let number = 1; ; number++) {
    const label = number === 1 ? plain : `${plain} ${number}`;
    if (isTargetWord(label) || labels.has(foldName(label))) continue;
    labels.add(foldName(label));
    return label;
  }
}

/** As a person would write it: a field's label, where that can mean nothing else. */
export function toTargetWord(target: Target, { fields }: ContactStructure): string {
  if (target.kind === "consent") return target.reading ? `consent=${target.reading}` : "consent";
  if (target.kind !== "field") return target.kind;
  const alike = fields.filter(({ label }) => foldName(label) === foldName(target.label));
  const isClear = alike.length <= 1 && !isTargetWord(target.label) && !target.label.includes("=");
  return isClear ? target.label : target.fieldId;
}
