/**
 * Reading: which of a file's columns speak of consent: told by flags, by the system's rules, or found by their
 * names and values.
 */
import { foldName } from "../../api/names.ts";
import { usageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import { type Cells, findUnknown } from "../cells.ts";
import { findColumns, suggestColumn } from "../names.ts";
import { rejectsColumns } from "../rejects-columns.ts";
import type { Note } from "../rows.ts";
import { findSystemRule, isFullExport, isIgnoredColumn } from "../systems.ts";
import type { MappingInput } from "../table.ts";
import {
  answers,
  type CellMeaning,
  type ConsentColumn,
  type ConsentRule,
  isNeverDate,
  isUnmistakable,
  readConsentCell,
} from "./cells.ts";
import { type ConsentName, findConsentName, hasHint } from "./names.ts";

/** How a person says that a column is read. */
type ConsentReading = "opt-in" | "opt-out";

/** How many rows each reading of a column leaves out. */
export interface Readings {
  rows: number;
  optIn: number;
  optOut: number;
}

/** A column that may be consent, and nobody can tell what it says. */
export interface UnclearConsent {
  index: number;
  readings: Readings;
  /** It is consent, and none of its cells is an answer; such as this one. */
  unreadable?: { cell?: string; line?: number };
}

export interface ConsentColumns {
  consent: ConsentColumn[];
  unclear: UnclearConsent[];
  /** What is passed over, and why. */
  notes: Note[];
}

export type Batches = AsyncIterable<readonly { line: number; cells: Cells }[]>;

/**
 * The columns that are read as consent. A recognised system's own rule comes first, and no flag inverts it;
 * only `--map COLUMN=ignore` puts a column aside. Reads the rows once, if it has to.
 * @throws UsageError for a `--consent-column` that is not there, or that contradicts the column's own name
 */
export async function findConsentColumns(
  input: MappingInput,
  readRows: () => Batches,
): Promise<ConsentColumns> {
  const { names, explicit, system, rowKind, options } = input;
  const found: ConsentColumns = { consent: [], unclear: [], notes: [] };
  if (rowKind === "keys" && !options.readsConsent) return found;
  const named = readNamedConsent(input);
  const columns = names.map(
    (name, index) => new Column(index, name, findRule(input, index), named.has(index)),
  );
  const isLookedAt = ({ index, name, rule }: Column) =>
    explicit[index]?.kind !== "key" && rule === undefined && !(system && isIgnoredColumn(system, name));
  await lookAt(columns.filter(isLookedAt), readRows);
  for (const column of columns) {
    const { index, name } = column;
    const verdict = judge(input, column, named);
    if (verdict.rule) found.consent.push({ index, name, rule: verdict.rule });
    if (verdict.note) found.notes.push({ code: verdict.note, column: name });
    if (verdict.isUnclear) found.unclear.push(column.describeUnclear());
  }
  return found;
}

async function lookAt(columns: readonly Column[], readRows: () => Batches): Promise<void> {
  for (const column of columns) column.isLookedAt = true;
  let open = columns.filter((column) => column.isOpen());
  if (open.length === 0) return;
  for await (const rows of readRows()) {
    for (const { cells, line } of rows) {
      for (const column of open) column.add(cells[column.index] ?? "", line);
    }
    open = open.filter((column) => column.isOpen());
    if (open.length === 0) return;
  }
}

/** What a column is taken for; nothing of these: it has nothing to do with consent. */
interface Verdict {
  rule?: ConsentRule;
  isUnclear?: boolean;
  /** Why it is passed over. */
  note?: "consent_ignored" | "consent_of_other_channel" | "consent_empty" | "consent_is_field";
}

/** @throws UsageError where a column says another thing itself than a person says of it */
function judge(
  input: MappingInput,
  column: Column,
  named: ReadonlyMap<number, ConsentReading | undefined>,
): Verdict {
  const { index, name } = column;
  const outcome = column.outcome();
  const known = column.rule ?? (outcome === "consent" ? column.ownRule : undefined);
  if (named.has(index)) return judgeNamed(input, column, named.get(index));
  const isUndecided = outcome === "unclear" || outcome === "unreadable";
  if (input.explicit[index]?.kind === "ignore")
    return known !== undefined || isUndecided ? { note: "consent_ignored" } : {};
  if (known) return { rule: known };
  if (outcome === "otherChannel") return { note: "consent_of_other_channel" };
  if (outcome === "empty") return { note: "consent_empty" };
  if (isUndecided && isFromOwnExport(input, name)) return { note: "consent_is_field" };
  return { isUnclear: isUndecided };
}

/** The verdict on a column that a person has named as consent. */
function judgeNamed(input: MappingInput, column: Column, reading: ConsentReading | undefined): Verdict {
  requireSameReading(input, column, reading);
  if (reading) return { rule: reading === "opt-in" ? "subscribed" : "optedOut" };
  return column.outcome() === "unclear" ? { isUnclear: true } : { rule: column.rule ?? column.ownRule };
}

/**
 * Columns that flags and targets name as consent, by index; undefined where they leave the reading to the name.
 * @throws UsageError for a column that does not exist
 */
function readNamedConsent({ names, options, place, explicit }: MappingInput) {
  const readings = new Map<number, ConsentReading | undefined>();
  for (const [index, target] of explicit.entries()) {
    if (target?.kind === "consent") readings.set(index, target.reading);
  }
  for (const text of options.consentColumns ?? []) {
    const { column, reading } = parseConsentColumn(text, names);
    const indexes = findColumns(column, names);
    if (indexes.length === 0) {
      throw usageError(
        `${place}: --consent-column names a column that does not exist: ${JSON.stringify(column)}`,
        suggestColumn(column, names),
      );
    }
    for (const index of indexes) readings.set(index, reading);
  }
  return readings;
}

/** `NAME=opt-out`; a column may be called so itself. */
function parseConsentColumn(text: string, names: string[]): { column: string; reading?: ConsentReading } {
  const match = /^(.+)=\s*(opt-in|opt-out)\s*$/is.exec(text);
  if (!match || findColumns(text, names).length > 0) return { column: text };
  return { column: match[1]!, reading: match[2]!.toLowerCase() as ConsentReading };
}

/** By the system's own rule, or that of our rejects files. */
function findRule({ names, system }: MappingInput, index: number): ConsentRule | undefined {
  if (foldName(names[index]!) === rejectsColumns.notSubscribed) return "marked";
  return system && findSystemRule(system, names[index]!);
}

/** A name or a rule that says one thing is not told another. @throws UsageError */
function requireSameReading(
  input: MappingInput,
  { name, rule, kind }: Column,
  reading: ConsentReading | undefined,
): void {
  if (reading === undefined) return;
  const isOptIn = rule ? rule === "subscribed" || rule === "unlessRefused" : kind === "optIn";
  if (!isOptIn && !rule && kind !== "optOut") return;
  const own = isOptIn ? "opt-in" : "opt-out";
  if (own === reading) return;
  const why = rule
    ? `${input.system?.title ?? "a rejects file"} has its own rule for it`
    : "its name says so";
  throw usageError(
    `${input.place}: --consent-column ${JSON.stringify(`${name}=${reading}`)}: the column is an ${own}, ${why}`,
    `Pass --consent-column ${quoteShellWord(name)}, ignore the column with --map ${quoteShellWord(`${name}=ignore`)}, or rename it in the file`,
    { type: "ConsentError" },
  );
}

/**
 * Our own export as a whole says of each contact itself whether they are active; its fields come back as they were.
 */
function isFromOwnExport({ names, system, structure }: MappingInput, name: string): boolean {
  return (
    system?.name === "ecm" && isFullExport(names) && structure.fields.some(({ label }) => label === name)
  );
}

/**
 * `unclear`: it may be consent, and which way round is not known; `unreadable`: it is, and none of its cells is an
 * answer.
 */
type Outcome = "consent" | "unclear" | "unreadable" | "otherChannel" | "empty";

/** A column, and what its cells say over the rows that were read. */
class Column {
  readonly index: number;
  readonly name: string;
  /** The system's. */
  readonly rule: ConsentRule | undefined;
  readonly kind: ConsentName | undefined;
  isLookedAt = false;
  /** It was named as consent: it is never passed over. */
  readonly #isNamed: boolean;
  /** A person may have to choose between its readings, so that every row is counted. */
  readonly #isAsked: boolean;
  /** Rows by what their cell says; `unknown`: it has a value that nobody knows. */
  readonly #rows = new Map<CellMeaning | "unknown", number>();
  /** Some cell is a word that can mean nothing else, whatever the column. */
  #isUnmistakable = false;
  /** Some cell is a date that means never. */
  #hasNever = false;
  /** The first cell that is no answer, and its line. */
  #unclear: UnclearConsent["unreadable"];

  constructor(index: number, name: string, rule: ConsentRule | undefined, isNamed: boolean) {
    this.index = index;
    this.name = name;
    this.rule = rule;
    this.kind = findConsentName(name);
    this.#isNamed = isNamed;
    this.#isAsked =
      this.kind === "unclear" ||
      (this.kind === "status" && hasHint(name)) ||
      (isNamed && this.kind !== "optIn" && this.kind !== "optOut");
  }

  /** How it is read where nothing but its name and cells says so. */
  get ownRule(): ConsentRule {
    return this.kind === "optIn" ? "subscribed" : this.kind === "optOut" ? "optedOut" : "status";
  }

  /** Whether a further cell can change what becomes of the column, or of what is said of it. */
  isOpen(): boolean {
    if (this.#isAsked) return true;
    switch (this.kind) {
      case "otherChannel":
        return false;
      case "optIn":
      case "optOut":
        return !this.#hasAnswer();
      case "status":
        return !this.#has("gone", "perhapsGone");
      default:
        return !this.#hasOther();
    }
  }

  add(cell: string, line: number): void {
    const unknown = findUnknown(cell);
    const said = unknown === undefined ? readConsentCell(cell) : "unknown";
    this.#rows.set(said, (this.#rows.get(said) ?? 0) + 1);
    if (said === "empty" && !this.#hasNever) this.#hasNever = isNeverDate(cell);
    if (said === "gone" && !this.#isUnmistakable) this.#isUnmistakable = isUnmistakable(cell);
    if (said !== "empty" && !isAnswer(said)) this.#unclear ??= { cell: unknown ?? cell.trim(), line };
  }

  describeUnclear(): UnclearConsent {
    const isUnreadable = this.outcome() === "unreadable";
    const readings = { rows: 0, optIn: 0, optOut: 0 };
    for (const [said, count] of this.#rows) {
      const meaning = said === "unknown" ? "unclear" : said;
      readings.rows += count;
      if (answers.subscribed[meaning] !== "allows") readings.optIn += count;
      if (answers.optedOut[meaning] !== "allows") readings.optOut += count;
    }
    return { index: this.index, readings, ...(isUnreadable && { unreadable: { ...this.#unclear } }) };
  }

  /** Undefined for a column that has nothing to do with consent, and for one that was not looked at. */
  outcome(): Outcome | undefined {
    if (!this.isLookedAt) return undefined;
    if (this.kind === "otherChannel" && !this.#isNamed) return "otherChannel";
    // Empty in every row, it says that nobody has left.
    if (this.kind === "optOut") return "consent";
    const said = [...this.#rows.keys()].filter((each) => each !== "empty");
    if (said.length > 0) return this.#outcomeOf(said);
    // With dates that mean never alone, the column says of everybody that they never agreed, or never left.
    if (this.#hasNever && this.kind === "optIn") return "consent";
    if (this.#hasNever && (this.kind === "unclear" || this.#isNamed)) return "unclear";
    return this.kind === "optIn" || this.kind === "unclear" || this.#isNamed ? "empty" : undefined;
  }

  #outcomeOf(said: readonly (CellMeaning | "unknown")[]): Outcome | undefined {
    if (this.kind === "optIn") return this.#hasAnswer() ? "consent" : "unreadable";
    // Nobody can say whether the column is consent, nor that it is none.
    const isUnknown = said.every((each) => each === "unknown");
    if (isUnknown && (this.#isAsked || this.kind === "status")) return "unreadable";
    if (this.#speaksOfSubscription()) return "consent";
    if (this.#isNamed) return this.#has("yes", "no", "date") ? "unclear" : "consent";
    return this.#isAsked && this.#hasAnswer() ? "unclear" : undefined;
  }

  #speaksOfSubscription(): boolean {
    const hasGone = this.#has("gone", "perhapsGone");
    if (this.kind === "other") return this.#isUnmistakable && !this.#hasOther();
    if (this.kind !== "status") return hasGone && !this.#hasOther();
    // Without a word for gone nobody has left so far, or it is not known.
    return hasGone || (this.#has("subscribed", "unknown") && !this.#hasOther());
  }

  #has(...meanings: (CellMeaning | "unknown")[]): boolean {
    return meanings.some((meaning) => this.#rows.has(meaning));
  }

  #hasAnswer(): boolean {
    return [...this.#rows.keys()].some((said) => said !== "empty" && isAnswer(said));
  }

  /** Some cell is no word of subscription. */
  #hasOther(): boolean {
    return this.#has("yes", "no", "perhapsGone", "date", "number", "unclear");
  }
}

function isAnswer(said: CellMeaning | "unknown"): boolean {
  return said !== "unclear" && said !== "number" && said !== "unknown";
}
