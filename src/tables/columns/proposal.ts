/**
 * Reading: where the columns of a file could go, for whoever can ask a person. A pure function of the head of the
 * file and of what the account has.
 */
import { findNearestName, foldName, toLooseName } from "../../api/names.ts";
import { parseNewFieldId } from "../../api/structures.ts";
import type { ContactStructure, FieldDefinition } from "../../wire.ts";
import { isBlankText } from "../cells.ts";
import { type ConsentColumn, findRefusal } from "../consent/cells.ts";
import type { Batches, FoundConsent, Readings } from "../consent/columns.ts";
import { isAddress, maxSampleRows, type Sample } from "../layout.ts";
import type { Target } from "../rows.ts";
import { isTargetWord, type MappingInput } from "./targets.ts";

/** A column is told by its name where to go: those of one name go together. */
export interface ProposedColumn {
  name: string;
  count: number;
  /** Some cells of it that are not blank, as the file has them. */
  samples: string[];
  /** Rows of the head in which it has a value, and in which it has an address. */
  filled: number;
  addresses: number;
  /** As in `--map`. */
  target: string;
  /** The field is to be created. */
  isNew: boolean;
  /** A flag, a rule or its own name says where it goes: nobody has to confirm it. */
  isSure: boolean;
  /** Of a column that may be consent: how many rows each reading of it leaves out. */
  readings?: Readings;
  /** Rows of the head that it marks as not subscribed. */
  marked?: number;
  /** It fills a field, and may be consent besides. */
  fillsField: boolean;
}

export interface Proposal {
  structure: ContactStructure;
  /** In the order of the file. */
  columns: ProposedColumn[];
  /** Of these one holds the key; none when the key's column is known. */
  keyCandidates: string[];
  /** The first rows. */
  head: Sample;
  /** The name of each column of the head. */
  names: readonly string[];
  /** There are no further rows. */
  isWhole: boolean;
  /** All rows of the file, whatever their columns mean. */
  rows(): Batches;
}

/** What is known of the columns when a person is asked. */
export interface KnownColumns {
  /** Where each column goes as things are. */
  targets: readonly Target[];
  /** Columns that a person has placed. */
  isExplicit: readonly boolean[];
  /** Indexes of columns that nothing places. */
  unmapped: readonly number[];
  keyCandidates: readonly number[];
  unclearConsent: readonly FoundConsent[];
  consent: readonly ConsentColumn[];
  rows: Proposal["rows"];
}

export function createProposal(input: MappingInput, known: KnownColumns): Proposal {
  const { names, structure, sample } = input;
  const taken = new Set(
    known.targets.flatMap((target) => (target.kind === "field" ? [foldName(target.label)] : [])),
  );
  const places = [...names.keys()].filter((index) => names.indexOf(names[index]!) === index);
  const columns = places.map((index) => proposeColumn(input, known, index, taken));
  return {
    structure,
    columns,
    keyCandidates: [...new Set(known.keyCandidates.map((index) => names[index]!))],
    head: sample,
    names,
    isWhole: sample.length < maxSampleRows,
    rows: known.rows,
  };
}

function proposeColumn(
  input: MappingInput,
  known: KnownColumns,
  index: number,
  taken: Set<string>,
): ProposedColumn {
  const { names, sample, structure } = input;
  const name = names[index]!;
  const same = [...names.keys()].filter((each) => names[each] === name);
  const target = known.targets[index]!;
  const cells = sample.map((row) => same.map((each) => row[each] ?? ""));
  const unclear = known.unclearConsent.find((each) => names[each.index] === name);
  const consent = known.consent.find((column) => names[column.index] === name);
  const filled = cells.filter((row) => row.some((cell) => !isBlankText(cell))).length;
  const isUnmapped = same.some((each) => known.unmapped.includes(each));
  return {
    name,
    count: same.length,
    samples: listSamples(cells),
    filled,
    addresses: cells.filter((row) => row.some(isAddress)).length,
    ...(isUnmapped
      ? proposeTarget(input, index, filled, taken)
      : {
          target: toTargetWord(target, structure),
          isNew: target.kind === "field" && parseNewFieldId(target.fieldId) !== undefined,
          isSure: true,
        }),
    ...(unclear && { readings: unclear.readings }),
    ...(consent && { marked: countMarked(cells, consent) }),
    fillsField: target.kind === "field" && !isUnmapped,
  };
}

/** Of a column that nothing places. Whatever has a value goes somewhere. */
function proposeTarget(
  { names, structure }: MappingInput,
  index: number,
  filled: number,
  taken: Set<string>,
): Pick<ProposedColumn, "target" | "isNew" | "isSure"> {
  const name = names[index]!;
  if (filled === 0) return { target: "ignore", isNew: false, isSure: false };
  const free = structure.fields.filter(({ label }) => !taken.has(foldName(label)));
  const like = findLikeField(name, free);
  const label = like?.label ?? proposeLabel(name, index, structure, taken);
  taken.add(foldName(label));
  return {
    target: like ? toTargetWord({ kind: "field", fieldId: like._id, label }, structure) : label,
    isNew: like === undefined,
    isSure: false,
  };
}

/** A label for a new field, which no other has. */
export function proposeLabel(
  name: string,
  index: number,
  structure: ContactStructure,
  taken: ReadonlySet<string> = new Set(),
): string {
  const plain = name.replaceAll("=", " ").replace(/\s+/g, " ").trim() || `Column ${index + 1}`;
  const isFree = (label: string) =>
    !isTargetWord(label) &&
    !taken.has(foldName(label)) &&
    structure.fields.every((field) => foldName(field.label) !== foldName(label));
  for (let number = 1; ; number++) {
    const label = number === 1 ? plain : `${plain} ${number}`;
    if (isFree(label)) return label;
  }
}

/** As a person would write it: a field's label, where that can mean nothing else. */
function toTargetWord(target: Target, { fields }: ContactStructure): string {
  if (target.kind === "consent") return target.reading ? `consent=${target.reading}` : "consent";
  if (target.kind !== "field") return target.kind;
  if (parseNewFieldId(target.fieldId) !== undefined) return target.label;
  const alike = fields.filter(({ label }) => foldName(label) === foldName(target.label));
  const isClear = alike.length === 1 && !isTargetWord(target.label) && !target.label.includes("=");
  return isClear ? target.label : target.fieldId;
}

/** How many rows of the head a reading of the column leaves out. */
export function countMarkedRows(
  { head, names }: Proposal,
  name: string,
  reading: "opt-in" | "opt-out",
): number {
  const rule = reading === "opt-in" ? "subscribed" : "optedOut";
  const index = names.indexOf(name);
  return countMarked(
    head.map((row) => [row[index] ?? ""]),
    { index, name, rule },
  );
}

function countMarked(cells: readonly string[][], consent: ConsentColumn): number {
  return cells.filter((row) => row.some((cell) => findRefusal(consent, cell))).length;
}

/**
 * Gives the columns that are empty in the head, and not in the rows behind it, a field. Reads the file as far as
 * it has to.
 */
export async function proposeLateColumns(proposal: Proposal): Promise<Proposal> {
  const { columns, names, isWhole, rows, structure } = proposal;
  const open = new Set(columns.flatMap(({ name, filled, isSure }) => (filled > 0 || isSure ? [] : [name])));
  if (isWhole || open.size === 0) return proposal;
  const found = new Map<string, string>();
  for await (const batch of rows()) {
    for (const { cells } of batch) noteValues(cells, names, open, found);
    if (open.size === 0) break;
  }
  const taken = new Set(columns.map(({ target }) => foldName(target)));
  return {
    ...proposal,
    columns: columns.map((column) => {
      const value = found.get(column.name);
      if (value === undefined) return column;
      const label = proposeLabel(column.name, names.indexOf(column.name), structure, taken);
      return { ...column, samples: [value], target: label, isNew: true };
    }),
  };
}

function noteValues(
  cells: Sample[number],
  names: readonly string[],
  open: Set<string>,
  found: Map<string, string>,
): void {
  for (const [index, name] of names.entries()) {
    if (!open.has(name) || isBlankText(cells[index] ?? "")) continue;
    found.set(name, cells[index]!.trim());
    open.delete(name);
  }
}

const maxSamplesShown = 3;

function listSamples(rows: readonly string[][]): string[] {
  const cells = new Set<string>();
  for (const row of rows) {
    for (const cell of row) if (cell.trim() !== "") cells.add(cell.trim());
    if (cells.size >= maxSamplesShown) break;
  }
  return [...cells].slice(0, maxSamplesShown);
}

/** Words for one thing; each column and each field of a group may be meant for the other. */
const groups = [
  [
    "company",
    "firma",
    "unternehmen",
    "organisation",
    "organization",
    "société",
    "empresa",
    "azienda",
    "bedrijf",
  ],
  ["city", "ort", "stadt", "wohnort", "town", "ville", "ciudad", "città", "plaats"],
  ["country", "land", "pays", "país", "paese"],
  [
    "phone",
    "telefon",
    "tel",
    "telephone",
    "phone number",
    "telefonnummer",
    "téléphone",
    "teléfono",
    "telefono",
  ],
  ["mobile", "handy", "mobil", "mobile phone", "cell", "cell phone", "portable", "móvil", "cellulare"],
  [
    "zip",
    "plz",
    "postleitzahl",
    "postcode",
    "postal code",
    "zip code",
    "code postal",
    "código postal",
    "cap",
  ],
  ["street", "straße", "strasse", "rue", "calle", "via", "straat"],
  ["salutation", "anrede", "civilité", "tratamiento", "aanhef"],
  ["birthday", "geburtstag", "geburtsdatum", "date of birth", "birthdate", "date de naissance", "compleanno"],
  ["first name", "first"],
  ["last name", "last"],
].map((words) => new Set(words.map(toLooseName)));

/** The field of a like name or with a word for the same; undefined where none is likely. */
function findLikeField(name: string, fields: readonly FieldDefinition[]): FieldDefinition | undefined {
  const loose = toLooseName(name);
  const group = groups.find((words) => words.has(loose));
  const same = group && fields.find(({ label }) => group.has(toLooseName(label)));
  if (same) return same;
  const near = findNearestName(
    name,
    fields.map(({ label }) => label),
  );
  // Of a short name, and of one that differs in its numbers, another field is meant.
  const digits = (text: string) => text.replace(/\D+/g, "");
  if (near === undefined || loose.length < 4 || digits(near) !== digits(name)) return undefined;
  return fields.find(({ label }) => label === near);
}
