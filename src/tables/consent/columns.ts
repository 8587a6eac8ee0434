/**
 * Reading: which of a file's columns speak of consent: told by flags, by the system's rules, or found by
 * their names and values.
 */
import { foldName } from "../../api/names.ts";
import { usageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import { type Cells, findUnknown } from "../cells.ts";
import { findColumns, suggestColumn } from "../header-names.ts";
import { rejectsColumns } from "../rejects-columns.ts";
import type { Note } from "../rows.ts";
import { findSystemRule, isFullExport, isIgnoredColumn } from "../systems.ts";
import type { MappingInput } from "../table.ts";
import { answers, type CellMeaning, type ConsentColumn, type ConsentRule, readConsentCell } from "./cells.ts";
import { type ConsentName, findConsentName, hasHint } from "./consent-names.ts";

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

interface ConsentColumns {
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
  const found: ConsentColumns = { consent: [], unclear: [], notes: [] };
  const named = readNamedConsent(input);
  if (input.rowKind === "keys" && !input.options.readsConsent) return found;
  const columns = input.names.map((_, index) => new Column(input, index, named.has(index)));
  await countCells(columns, readRows);
  const tellsStatus = columns.some(({ isToldStatus }) => isToldStatus);
  for (const column of columns) {
    const { index, name } = column;
    const verdict = column.isNamed
      ? judgeNamed(input, column, named.get(index))
      : judge(input, column, tellsStatus);
    if (verdict === "unclear") found.unclear.push(column.describeUnclear());
    else if (verdict && "rule" in verdict) found.consent.push({ index, name, rule: verdict.rule });
    else if (verdict) found.notes.push({ code: verdict.note, column: name });
  }
  return found;
}

async function countCells(columns: readonly Column[], readRows: () => Batches): Promise<void> {
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

/** What a column is taken for, or why it is passed over; undefined: it has nothing to do with consent. */
type Verdict =
  | { rule: ConsentRule }
  | "unclear"
  | { note: "consent_ignored" | "consent_of_other_channel" | "consent_empty" | "consent_is_field" }
  | undefined;

/** @param tellsStatus whether a column of our own export says who is active */
function judge(
  { explicit, names, system, structure }: MappingInput,
  column: Column,
  tellsStatus: boolean,
): Verdict {
  const { name, rule, outcome } = column;
  const isConsent = outcome === "consent" || outcome === "unclear" || outcome === "unreadable";
  if (explicit[column.index]?.kind === "ignore") return isConsent ? { note: "consent_ignored" } : undefined;
  if (outcome === "consent") return { rule };
  if (outcome === "otherChannel") return { note: "consent_of_other_channel" };
  if (outcome === "empty") return { note: "consent_empty" };
  if (!isConsent) return undefined;
  // Our own export as a whole says of each contact itself whether they are active; its fields come back as
  // they were.
  const isOwnField = system?.name === "ecm" && structure.fields.some(({ label }) => label === name);
  return isOwnField && isFullExport(names) && tellsStatus ? { note: "consent_is_field" } : "unclear";
}

/**
 * The verdict on a column that a person has named as consent: it is never passed over.
 * @throws UsageError where its name or the system's rule says another thing than the person
 */
function judgeNamed(input: MappingInput, column: Column, reading: ConsentReading | undefined): Verdict {
  const { name, kind, rule, hasRule, outcome } = column;
  if (!reading) return outcome === "unclear" ? "unclear" : { rule };
  const isOptIn = hasRule ? rule === "subscribed" || rule === "unlessRefused" : kind === "optIn";
  const own = isOptIn ? "opt-in" : "opt-out";
  if (own === reading || !(hasRule || kind === "optIn" || kind === "optOut"))
    return { rule: reading === "opt-in" ? "subscribed" : "optedOut" };
  const why = hasRule
    ? `${input.system?.title ?? "a rejects file"} has its own rule for it`
    : "its name says so";
  throw usageError(
    `${input.place}: --consent-column ${JSON.stringify(`${name}=${reading}`)}: the column is an ${own}, ${why}`,
    `Pass --consent-column ${quoteShellWord(name)}, ignore the column with --map ${quoteShellWord(`${name}=ignore`)}, or rename it in the file`,
    { type: "ConsentError" },
  );
}

/**
 * Columns that flags and targets name as consent, by index; undefined where they leave the reading to the
 * name.
 * @throws UsageError for a column that does not exist, and for flags that contradict each other
 */
function readNamedConsent({ names, options, place, explicit }: MappingInput) {
  const readings = new Map<number, ConsentReading | undefined>();
  for (const text of options.consentColumns ?? []) {
    const { column, reading } = parseConsentColumn(text, names);
    const indexes = findColumns(column, names);
    if (indexes.length === 0) {
      throw usageError(
        `${place}: --consent-column names a column that does not exist: ${JSON.stringify(column)}`,
        suggestColumn(column, names),
      );
    }
    for (const index of indexes) {
      const before = readings.get(index);
      if (before && reading && before !== reading) {
        throw usageError(
          `${place}: one --consent-column reads ${JSON.stringify(names[index])} as ${before}, another as ${reading}`,
          "Pass one of them",
          { type: "ConsentError" },
        );
      }
      readings.set(index, reading ?? before);
    }
  }
  for (const [index, target] of explicit.entries()) {
    if (target?.kind === "consent" && !readings.get(index)) readings.set(index, target.reading);
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

const ruleByKind = { optIn: "subscribed", optOut: "optedOut" } as const;

/** A column, and what its cells say over the rows that were read. */
class Column {
  readonly index: number;
  readonly name: string;
  readonly kind: ConsentName | undefined;
  /** It is the status of our own export. */
  readonly #isOwnStatus: boolean;
  readonly #isOfFullExport: boolean;
  /** The system's, else what its name says. */
  readonly rule: ConsentRule;
  /** The rule is the system's. */
  readonly hasRule: boolean;
  /** A person has named it as consent. */
  readonly isNamed: boolean;
  /** It is the key's, or the system keeps it for itself: its cells say nothing of consent. */
  readonly #isOfOther: boolean;
  /** A person may have to choose between its readings, so that every row is counted. */
  readonly #isAsked: boolean;
  /** Rows by what their cell says. */
  readonly #rows = new Map<CellMeaning, number>();
  /** The first cell that is no answer, and its line. */
  #unclear: UnclearConsent["unreadable"];

  constructor(input: MappingInput, index: number, isNamed: boolean) {
    const { names, explicit, system } = input;
    this.index = index;
    this.name = names[index]!;
    this.isNamed = isNamed;
    this.kind = findConsentName(this.name);
    const { kind } = this;
    const hasReading = kind === "optIn" || kind === "optOut";
    const rule = findRule(input, index);
    this.hasRule = rule !== undefined;
    this.rule = rule ?? (hasReading ? ruleByKind[kind] : "status");
    this.#isOwnStatus = this.hasRule && system?.name === "ecm";
    this.#isOfFullExport = this.#isOwnStatus && isFullExport(names);
    const isIgnored = system !== undefined && isIgnoredColumn(system, this.name);
    this.#isOfOther = isIgnored || explicit[index]?.kind === "key";
    this.#isAsked =
      kind === "unclear" || (kind === "status" && hasHint(this.name)) || (isNamed && !hasReading);
  }

  /** Whether a further cell can change what becomes of the column, or of what is said of it. */
  isOpen(): boolean {
    const { kind } = this;
    if (this.#isOwnStatus) return !this.isToldStatus;
    if (this.hasRule || this.#isOfOther) return false;
    if (this.#isAsked) return true;
    if (kind === "otherChannel" || kind === "optOut") return false;
    if (kind === "optIn") return !this.#has(isAnswer);
    return kind === "status" ? !this.#has(isGone) : !this.#has(isOther);
  }

  add(cell: string, line: number): void {
    const meaning = readConsentCell(cell);
    this.#rows.set(meaning, (this.#rows.get(meaning) ?? 0) + 1);
    if (!isAnswer(meaning) && !isBlank(meaning))
      this.#unclear ??= { cell: findUnknown(cell) ?? cell.trim(), line };
  }

  /** Our own export as a whole has no status of anybody: who has left is not known. */
  get #isUntold(): boolean {
    return this.#isOfFullExport && this.#rows.size > 0 && !this.isToldStatus;
  }

  /** It is the status of our own export, and says something of anybody: a service may have told none. */
  get isToldStatus(): boolean {
    return this.#isOwnStatus && this.#has((meaning) => !isBlank(meaning));
  }

  describeUnclear(): UnclearConsent {
    const readings = { rows: 0, optIn: 0, optOut: 0 };
    for (const [meaning, count] of this.#rows) {
      readings.rows += count;
      if (answers.subscribed[meaning] !== "allows") readings.optIn += count;
      if (answers.optedOut[meaning] !== "allows") readings.optOut += count;
    }
    const isUnreadable = this.outcome === "unreadable";
    return { index: this.index, readings, ...(isUnreadable && { unreadable: { ...this.#unclear } }) };
  }

  /**
   * `unclear`: it may be consent, and which way round is not known; `unreadable`: it is, and none of its
   * cells is an answer; undefined: it has nothing to do with consent.
   */
  get outcome(): "consent" | "unclear" | "unreadable" | "otherChannel" | "empty" | undefined {
    const { kind, isNamed } = this;
    if (this.hasRule) return this.#isUntold ? "unreadable" : "consent";
    if (this.#isOfOther) return undefined;
    if (kind === "otherChannel" && !isNamed) return "otherChannel";
    // Empty in every row, it says that nobody has left.
    if (kind === "optOut") return "consent";
    if (!this.#has((meaning) => !isBlank(meaning))) return this.#outcomeOfEmpty();
    if (kind === "optIn") return this.#has(isAnswer) ? "consent" : "unreadable";
    // Nobody can say whether the column is consent, nor that it is none.
    const isUnknown = !this.#has((meaning) => meaning !== "unknown" && !isBlank(meaning));
    if (isUnknown && (this.#isAsked || kind === "status")) return "unreadable";
    if (this.#speaksOfSubscription()) return "consent";
    if (isNamed) return this.#has((meaning) => yesOrNo.has(meaning)) ? "unclear" : "consent";
    return this.#isAsked && this.#has(isAnswer) ? "unclear" : undefined;
  }

  /** With dates that mean never, a column says of everybody that they never agreed, or never left. */
  #outcomeOfEmpty() {
    const { kind, isNamed } = this;
    const hasNever = this.#rows.has("never");
    if (kind === "optIn") return hasNever ? "consent" : "empty";
    if (kind !== "unclear" && !isNamed) return undefined;
    return hasNever ? "unclear" : "empty";
  }

  #speaksOfSubscription(): boolean {
    const hasOther = this.#has(isOther);
    if (this.kind === "other") return this.#rows.has("gone") && !hasOther;
    if (this.kind !== "status") return this.#has(isGone) && !hasOther;
    // Without a word for gone nobody has left so far, or it is not known.
    return this.#has(isGone) || ((this.#rows.has("subscribed") || this.#rows.has("unknown")) && !hasOther);
  }

  #has(holds: (meaning: CellMeaning) => boolean): boolean {
    return [...this.#rows.keys()].some(holds);
  }
}

const yesOrNo: ReadonlySet<CellMeaning> = new Set<CellMeaning>(["yes", "no", "date"]);

function isBlank(meaning: CellMeaning): boolean {
  return meaning === "empty" || meaning === "never";
}

function isGone(meaning: CellMeaning): boolean {
  return meaning === "gone" || meaning === "goneOrName" || meaning === "perhapsGone";
}

function isAnswer(meaning: CellMeaning): boolean {
  return !isBlank(meaning) && meaning !== "unclear" && meaning !== "number" && meaning !== "unknown";
}

/** Whether the meaning is none of subscription. */
function isOther(meaning: CellMeaning): boolean {
  return yesOrNo.has(meaning) || meaning === "perhapsGone" || meaning === "number" || meaning === "unclear";
}
