/** Reading: which columns of a file speak of consent, by their names and by all of their cells. */
import { type Cells, findUnknown } from "../cells.ts";
import { type CellMeaning, type ConsentRule, isUnmistakable, readConsentCell, toAnswer } from "./cells.ts";
import { type ConsentName, findConsentName, hasHint } from "./names.ts";

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
export async function findConsent(
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
