/** Reading: which columns of a file speak of consent, by their names and by all of their cells. */
import { type CellMeaning, type ConsentRule, isUnmistakable, readConsentCell, toAnswer } from "./consent.ts";
import { type ConsentName, findConsentName, hasHint } from "./consent-names.ts";

/** What was found of a column over the whole file. */
interface Tally {
  index: number;
  kind: ConsentName | undefined;
  /** It was named as consent: it is never passed over. */
  isNamed: boolean;
  hasHint: boolean;
  hasContent: boolean;
  /** Some cell is gone beyond doubt. */
  hasGone: boolean;
  /** Of a word that can mean nothing else, whatever the column. */
  hasUnmistakable: boolean;
  /** Some cell is an answer. */
  hasAnswer: boolean;
  /** Some cell is a yes, a no or a date: only the name says what it means. */
  needsPolarity: boolean;
  /** Some cell is no word of subscription. */
  hasOther: boolean;
  /** A cell that is no answer, and its line. */
  unclear?: { cell: string; line: number };
  rows: number;
  /** Rows that are left out if a yes means subscribed, and if it means gone. */
  leftOut: { optIn: number; optOut: number };
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

type Batches = AsyncIterable<readonly { line: number; cells: readonly (string | undefined)[] }[]>;

/**
 * Finds the columns that speak of consent, by their names and values. Reads the rows once, if there is any
 * column to look at.
 *
 * @param names one for each column
 * @param isSettled columns of which the answer is known
 * @param isNamed columns that a person has named as consent
 * @param batches of rows, without the header
 */
export async function findConsent(
  names: readonly string[],
  { isSettled, isNamed }: { isSettled(index: number): boolean; isNamed(index: number): boolean },
  batches: Batches,
): Promise<FoundConsent[]> {
  const tallies = names.flatMap((name, index) =>
    isSettled(index) ? [] : [createTally(index, name, isNamed(index))],
  );
  let open = tallies.filter(isOpen);
  if (open.length > 0) {
    for await (const rows of batches) {
      for (const row of rows) {
        for (const tally of open) countCell(tally, row.cells[tally.index] ?? "", row.line);
      }
      open = open.filter(isOpen);
      if (open.length === 0) break;
    }
  }
  return tallies.flatMap((tally) => toOutcome(tally) ?? []);
}

function createTally(index: number, name: string, isNamed: boolean): Tally {
  return {
    index,
    kind: findConsentName(name),
    isNamed,
    hasHint: hasHint(name),
    hasContent: false,
    hasGone: false,
    hasUnmistakable: false,
    hasAnswer: false,
    needsPolarity: false,
    hasOther: false,
    rows: 0,
    leftOut: { optIn: 0, optOut: 0 },
  };
}

/** Whether a further cell can change what becomes of the column, or of what is said of it. */
function isOpen(tally: Tally): boolean {
  const { kind, hasAnswer, hasGone, hasOther } = tally;
  if (needsAnswer(tally)) return true;
  switch (kind) {
    case "otherChannel":
      return false;
    case "optIn":
    case "optOut":
      return !hasAnswer;
    case "status":
      return !hasGone;
    default:
      return !hasOther;
  }
}

/** Whether both readings are counted, since a person may have to choose between them. */
function needsAnswer({ kind, isNamed, hasHint }: Tally): boolean {
  return (
    kind === "unclear" || (kind === "status" && hasHint) || (isNamed && kind !== "optIn" && kind !== "optOut")
  );
}

function countCell(tally: Tally, cell: string, line: number): void {
  const isCounted = needsAnswer(tally);
  if (cell === "" && !isCounted) return;
  const cellMeaning = readConsentCell(cell);
  if (isCounted) {
    tally.rows++;
    if (toAnswer("subscribed", cell) !== "allows") tally.leftOut.optIn++;
    if (toAnswer("optedOut", cell) !== "allows") tally.leftOut.optOut++;
  }
  if (cellMeaning === "empty") return;
  tally.hasContent = true;
  if (cellMeaning === "gone" || cellMeaning === "perhapsGone") tally.hasGone = true;
  if (cellMeaning === "gone" && isUnmistakable(cell)) tally.hasUnmistakable = true;
  if (isAnswer(cellMeaning)) tally.hasAnswer = true;
  else tally.unclear ??= { cell: cell.trim(), line };
  if (cellMeaning === "yes" || cellMeaning === "no" || cellMeaning === "date") tally.needsPolarity = true;
  if (!isWordOfSubscription(cellMeaning)) tally.hasOther = true;
}

function isAnswer(cellMeaning: CellMeaning): boolean {
  return cellMeaning !== "unclear" && cellMeaning !== "number";
}

function isWordOfSubscription(cellMeaning: CellMeaning): boolean {
  return (
    cellMeaning === "subscribed" ||
    cellMeaning === "gone" ||
    cellMeaning === "notSubscribed" ||
    cellMeaning === "active"
  );
}

function toOutcome(tally: Tally): FoundConsent | undefined {
  const { index, kind, isNamed, hasContent, hasGone, hasAnswer, hasOther, unclear, rows, leftOut } = tally;
  const toFound = (outcome: FoundConsent["outcome"], rule: ConsentRule = "status"): FoundConsent => ({
    index,
    outcome,
    rule,
    readings: { rows, ...leftOut },
    unclear,
  });
  if (kind === "otherChannel" && !isNamed) return toFound("otherChannel");
  if (kind === "optOut") return hasContent ? toFound("consent", "optedOut") : toFound("empty", "optedOut");
  if (!hasContent) {
    if (kind === "optIn") return toFound("empty", "subscribed");
    return kind === "unclear" || isNamed ? toFound("empty") : undefined;
  }
  if (kind === "optIn") return toFound(hasAnswer ? "consent" : "unreadable", "subscribed");
  if (kind === "status" && hasGone) return toFound("consent");
  const isGone = kind === "other" ? tally.hasUnmistakable : hasGone;
  if (isGone && !hasOther) return toFound("consent");
  if (isNamed) return toFound(tally.needsPolarity ? "unclear" : "consent");
  return needsAnswer(tally) && hasAnswer ? toFound("unclear") : undefined;
}
