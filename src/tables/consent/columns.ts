/**
 * Reading: which of a file's columns speak of consent: told by
 * flags, by the system's rules, or found in the file.
 */
import { foldName } from "../../api/names.ts";
import { usageError } from "../../errors.ts";
import { quoteShellWord } from "../../hint.ts";
import { type Cells, findUnknown } from "../cells.ts";
import type { MappingInput } from "../columns/targets.ts";
import { findColumns, unknownColumnError } from "../names.ts";
import { rejectsColumns } from "../rejects-columns.ts";
import type { Note } from "../rows.ts";
import { findSystemRule, isFullExport, isIgnoredColumn } from "../systems.ts";
import {
  type CellMeaning,
  type ConsentColumn,
  type ConsentRule,
  isUnmistakable,
  readConsentCell,
  toAnswer,
} from "./cells.ts";
import { type ConsentName, findConsentName, hasHint } from "./names.ts";

/** How a person says that a column is read. */
type ConsentReading = "opt-in" | "opt-out";

export interface ConsentColumns {
  consent: ConsentColumn[];
  /** They may be consent, and nobody can tell what they say. */
  unclear: FoundConsent[];
  /** What is passed over, and why. */
  notes: Note[];
}

/**
 * Columns that a person has named as consent, by index; undefined where they leave the reading to the name.
 */
type NamedConsent = ReadonlyMap<number, ConsentReading | undefined>;

/**
 * The columns that are read as consent. A recognised system's own rule comes first, and no flag inverts it;
 * only `--map COLUMN=ignore` puts a column aside.
 *
 * @param foundConsent what names and cells say, from `lookForConsent`
 * @throws UsageError for a `--consent-column` that is not there, or that contradicts the column's own name
 */
export function findConsentColumns(
  input: MappingInput,
  foundConsent: readonly FoundConsent[],
): ConsentColumns {
  const { names, explicit } = input;
  const namedColumns = readNamedConsent(input);
  const found = new Map(foundConsent.map((each) => [each.index, each]));
  const columns: ConsentColumns = { consent: [], unclear: [], notes: [] };
  const judge = (index: number): Verdict => {
    const seen = { index, found: found.get(index), rule: findRule(input, index) };
    if (namedColumns.has(index)) return judgeNamed(input, seen, namedColumns.get(index));
    return explicit[index]?.kind === "ignore" ? judgeIgnored(seen) : judgeSeen(input, seen);
  };
  for (const [index, name] of names.entries()) {
    const { rule, unclear, note } = judge(index);
    if (rule) columns.consent.push({ index, name, rule });
    if (unclear) columns.unclear.push(unclear);
    if (note) columns.notes.push({ code: note, column: name });
  }
  return columns;
}

/** What a column is taken for; nothing of these: it has nothing to do with consent. */
interface Verdict {
  rule?: ConsentRule;
  unclear?: FoundConsent;
  /** Why it is passed over. */
  note?: "consent_ignored" | "consent_of_other_channel" | "consent_empty" | "consent_is_field";
}

/** What a column shows by itself, whatever is said of it. */
interface Seen {
  index: number;
  found: FoundConsent | undefined;
  /** The system's own. */
  rule: ConsentRule | undefined;
}

/** A person has named the column as consent. @throws UsageError where it says another thing itself */
function judgeNamed(input: MappingInput, seen: Seen, reading: ConsentReading | undefined): Verdict {
  const { index, found } = seen;
  requireSameReading(input, index, reading);
  if (reading) return { rule: reading === "opt-in" ? "subscribed" : "optedOut" };
  if (found?.outcome === "unclear") return { unclear: found };
  return { rule: knownRule(seen) ?? found?.rule ?? "status" };
}

/** A person has put the column aside; they are told if it looks like consent. */
function judgeIgnored(seen: Seen): Verdict {
  const outcome = seen.found?.outcome;
  if (!knownRule(seen) && outcome !== "unclear" && outcome !== "unreadable") return {};
  return { note: "consent_ignored" };
}

const passedOver: Partial<Record<FoundConsent["outcome"], Verdict["note"]>> = {
  otherChannel: "consent_of_other_channel",
  empty: "consent_empty",
};

/** Nobody has said anything of the column. */
function judgeSeen(input: MappingInput, seen: Seen): Verdict {
  const { index, found } = seen;
  const rule = knownRule(seen);
  if (rule) return { rule };
  if (!found) return {};
  const note = passedOver[found.outcome];
  if (note) return { note };
  if (isFromOwnExport(input, index)) return { note: "consent_is_field" };
  return { unclear: found };
}

/** By the system's rules, or by the column's name and cells where these leave no doubt. */
function knownRule({ rule, found }: Seen): ConsentRule | undefined {
  return rule ?? (found?.outcome === "consent" ? found.rule : undefined);
}

/**
 * What names and cells say of consent, where nothing else does. Reads the rows once, if it has to.
 * @param mayBe whether a name makes it worth looking; default: any does
 * @throws UsageError as `findConsentColumns`
 */
export async function lookForConsent(
  input: MappingInput,
  readBatches: () => Batches,
  mayBe: (name: string) => boolean = () => true,
): Promise<FoundConsent[]> {
  const { names, system, explicit } = input;
  const namedColumns = readNamedConsent(input);
  const isOpen = (name: string, index: number) =>
    mayBe(name) &&
    explicit[index]?.kind !== "key" &&
    findRule(input, index) === undefined &&
    !(system && isIgnoredColumn(system, name));
  const columns = names.flatMap((name, index) =>
    isOpen(name, index) ? [{ index, name, isNamed: namedColumns.has(index) }] : [],
  );
  return findConsent(columns, readBatches());
}

/** What flags and targets say of consent. @throws UsageError for a column that does not exist */
function readNamedConsent({ names, options, place, explicit }: MappingInput): NamedConsent {
  const readings = new Map<number, ConsentReading | undefined>();
  for (const [index, target] of explicit.entries()) {
    if (target?.kind === "consent") readings.set(index, target.reading);
  }
  for (const text of options.consentColumns ?? []) {
    const { column, reading } = parseConsentColumn(text, names);
    const indexes = findColumns(column, names);
    if (indexes.length === 0) throw unknownColumnError(column, names, place, "--consent-column");
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

const readingsByRule: Record<ConsentRule, ConsentReading> = {
  subscribed: "opt-in",
  unlessRefused: "opt-in",
  status: "opt-out",
  optedOut: "opt-out",
  evidence: "opt-out",
  always: "opt-out",
  marked: "opt-out",
};
const readingsByName: Partial<Record<ConsentName, ConsentReading>> = { optIn: "opt-in", optOut: "opt-out" };

/** A name or a rule that says one thing is not told another. @throws UsageError */
function requireSameReading(input: MappingInput, index: number, reading: ConsentReading | undefined): void {
  if (reading === undefined) return;
  const name = input.names[index]!;
  const rule = findRule(input, index);
  const kind = findConsentName(name);
  const own = rule ? readingsByRule[rule] : kind && readingsByName[kind];
  if (own === undefined || own === reading) return;
  const why = rule ? `${input.system!.title} has its own rule for it` : "its name says so";
  throw usageError(
    `${input.place}: --consent-column ${quote(`${name}=${reading}`)}: the column is an ${own}, ${why}`,
    `Pass --consent-column ${quoteShellWord(name)}, ignore the column with --map ${quoteShellWord(`${name}=ignore`)}, or rename it in the file`,
    { type: "ConsentError" },
  );
}

/**
 * Our own export as a whole says of each contact itself whether they
 * are active; its fields come back as they were.
 */
function isFromOwnExport({ names, system, structure }: MappingInput, index: number): boolean {
  if (system?.name !== "ecm" || !isFullExport(names)) return false;
  return structure.fields.some(({ label }) => label === names[index]);
}

function quote(name: string): string {
  return JSON.stringify(name);
}

/** How many rows each reading of a column leaves out. */
export interface Readings {
  rows: number;
  optIn: number;
  optOut: number;
}

export interface FoundConsent {
  index: number;
  /**
   * `unclear`: it may be consent, and which way round is not known; `unreadable`: it is, and none of its
   * cells is an answer.
   */
  outcome: "consent" | "unclear" | "unreadable" | "otherChannel" | "empty";
  rule: ConsentRule;
  readings: Readings;
  unclear?: { cell: string; line: number };
}

export type Batches = AsyncIterable<readonly { line: number; cells: Cells }[]>;

/**
 * Finds the columns that speak of consent, by their names and values. Reads the rows once, if there is any
 * column to look at.
 *
 * @param columns those of which nothing is known; `isNamed`: a person has named it as consent
 * @param batches of rows, without the header
 */
async function findConsent(
  columns: readonly { index: number; name: string; isNamed: boolean }[],
  batches: Batches,
): Promise<FoundConsent[]> {
  const searches = columns.map(({ index, name, isNamed }) => new ConsentSearch(index, name, isNamed));
  let open = searches.filter((column) => column.isOpen());
  if (open.length > 0) {
    for await (const rows of batches) {
      for (const row of rows) {
        for (const column of open) column.add(row.cells[column.index] ?? "", row.line);
      }
      open = open.filter((column) => column.isOpen());
      if (open.length === 0) break;
    }
  }
  return searches.flatMap((column) => column.outcome() ?? []);
}

/** What was found of a column, over the rows that were read. */
class ConsentSearch {
  readonly index: number;
  readonly #kind: ConsentName | undefined;
  /** It was named as consent: it is never passed over. */
  readonly #isNamed: boolean;
  /** Both readings are counted, since a person may have to choose between them. */
  readonly #isAsked: boolean;
  #hasContent = false;
  /** Some cell has a value that nobody knows. */
  #hasUnknown = false;
  #hasKnown = false;
  /** Some cell is gone beyond doubt. */
  #hasGone = false;
  #hasSubscribed = false;
  /** Of a word that can mean nothing else, whatever the column. */
  #hasUnmistakable = false;
  #hasAnswer = false;
  /** Some cell is a yes, a no or a date: only the name says what it means. */
  #needsPolarity = false;
  /** Some cell is no word of subscription. */
  #hasOther = false;
  /** A cell that is no answer, and its line. */
  #unclear: FoundConsent["unclear"];
  readonly #readings: Readings = { rows: 0, optIn: 0, optOut: 0 };

  constructor(index: number, name: string, isNamed: boolean) {
    const kind = findConsentName(name);
    this.index = index;
    this.#kind = kind;
    this.#isNamed = isNamed;
    this.#isAsked =
      kind === "unclear" ||
      (kind === "status" && hasHint(name)) ||
      (isNamed && kind !== "optIn" && kind !== "optOut");
  }

  /** Whether a further cell can change what becomes of the column, or of what is said of it. */
  isOpen(): boolean {
    if (this.#isAsked) return true;
    switch (this.#kind) {
      case "otherChannel":
        return false;
      case "optIn":
      case "optOut":
        return !this.#hasAnswer;
      case "status":
        return !this.#hasGone;
      default:
        return !this.#hasOther;
    }
  }

  add(cell: string, line: number): void {
    if (this.#isAsked) this.#countReadings(cell);
    else if (cell === "") return;
    const unknown = findUnknown(cell);
    if (unknown !== undefined) {
      this.#hasContent = true;
      this.#hasUnknown = true;
      this.#unclear ??= { cell: unknown, line };
      return;
    }
    const said = readConsentCell(cell);
    if (said === "empty") return;
    this.#hasContent = true;
    this.#hasKnown = true;
    if (isGone(said)) this.#hasGone = true;
    if (said === "gone" && isUnmistakable(cell)) this.#hasUnmistakable = true;
    if (said === "subscribed") this.#hasSubscribed = true;
    if (isAnswer(said)) this.#hasAnswer = true;
    else this.#unclear ??= { cell: cell.trim(), line };
    if (needsPolarity(said)) this.#needsPolarity = true;
    if (!isWordOfSubscription(said)) this.#hasOther = true;
  }

  #countReadings(cell: string): void {
    this.#readings.rows++;
    if (toAnswer("subscribed", cell) !== "allows") this.#readings.optIn++;
    if (toAnswer("optedOut", cell) !== "allows") this.#readings.optOut++;
  }

  /** @returns undefined for a column that has nothing to do with consent */
  outcome(): FoundConsent | undefined {
    if (this.#kind === "otherChannel" && !this.#isNamed) return this.#found("otherChannel");
    // Empty in every row, it says that nobody has left.
    if (this.#kind === "optOut") return this.#found("consent", "optedOut");
    return this.#hasContent ? this.#outcomeOfCells() : this.#outcomeWithoutCells();
  }

  #outcomeWithoutCells(): FoundConsent | undefined {
    if (this.#kind === "optIn") return this.#found("empty", "subscribed");
    return this.#kind === "unclear" || this.#isNamed ? this.#found("empty") : undefined;
  }

  #outcomeOfCells(): FoundConsent | undefined {
    if (this.#kind === "optIn") return this.#found(this.#hasAnswer ? "consent" : "unreadable", "subscribed");
    // Nobody can say whether the column is consent, nor that it is none.
    if (!this.#hasKnown && (this.#isAsked || this.#kind === "status")) return this.#found("unreadable");
    if (this.#speaksOfSubscription()) return this.#found("consent");
    if (this.#isNamed) return this.#found(this.#needsPolarity ? "unclear" : "consent");
    return this.#isAsked && this.#hasAnswer ? this.#found("unclear") : undefined;
  }

  #speaksOfSubscription(): boolean {
    if (this.#kind !== "status") {
      const hasGone = this.#kind === "other" ? this.#hasUnmistakable : this.#hasGone;
      return hasGone && !this.#hasOther;
    }
    // Without a word for gone nobody has left so far, or it is not known.
    return this.#hasGone || ((this.#hasSubscribed || this.#hasUnknown) && !this.#hasOther);
  }

  #found(outcome: FoundConsent["outcome"], rule: ConsentRule = "status"): FoundConsent {
    return { index: this.index, outcome, rule, readings: { ...this.#readings }, unclear: this.#unclear };
  }
}

function isGone(said: CellMeaning): boolean {
  return said === "gone" || said === "perhapsGone";
}

function isAnswer(cellMeaning: CellMeaning): boolean {
  return cellMeaning !== "unclear" && cellMeaning !== "number";
}

function needsPolarity(said: CellMeaning): boolean {
  return said === "yes" || said === "no" || said === "date";
}

function isWordOfSubscription(cellMeaning: CellMeaning): boolean {
  return (
    cellMeaning === "subscribed" ||
    cellMeaning === "gone" ||
    cellMeaning === "notSubscribed" ||
    cellMeaning === "active"
  );
}
