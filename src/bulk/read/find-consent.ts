/** Reading: which columns of a file speak of consent, by their names and by all of their cells. */
import { answerIn, type ConsentRule, isUnmistakable, type Said, saidIn } from "./consent.ts";
import { type ConsentName, consentNameOf, hasHint } from "./consent-names.ts";

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
   * `unclear`: it may be consent, and which way round is not known; `unreadable`: it is, and none of its cells is an answer.
   */
  outcome: "consent" | "unclear" | "unreadable" | "otherChannel" | "empty";
  rule: ConsentRule;
  readings: Readings;
  unclear?: { cell: string; line: number };
}

type Batches = AsyncIterable<readonly { line: number; cells: readonly (string | undefined)[] }[]>;

/**
 * Finds the columns that speak of consent, by their names and values. Reads the rows once, if there is any column to look at.
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
    isSettled(index) ? [] : [newTally(index, name, isNamed(index))],
  );
  let open = tallies.filter(isOpen);
  if (open.length > 0) {
    for await (const rows of batches) {
      for (const row of rows) {
        for (const tally of open) take(tally, row.cells[tally.index] ?? "", row.line);
      }
      open = open.filter(isOpen);
      if (open.length === 0) break;
    }
  }
  return tallies.flatMap((tally) => outcomeOf(tally) ?? []);
}

function newTally(index: number, name: string, isNamed: boolean): Tally {
  return {
    index,
    kind: consentNameOf(name),
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
  if (isAsked(tally)) return true;
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
function isAsked({ kind, isNamed, hasHint }: Tally): boolean {
  return (
    kind === "unclear" || (kind === "status" && hasHint) || (isNamed && kind !== "optIn" && kind !== "optOut")
  );
}

function take(tally: Tally, cell: string, line: number): void {
  const isCounted = isAsked(tally);
  if (cell === "" && !isCounted) return;
  const said = saidIn(cell);
  if (isCounted) {
    tally.rows++;
    if (answerIn("subscribed", cell) !== "allows") tally.leftOut.optIn++;
    if (answerIn("optedOut", cell) !== "allows") tally.leftOut.optOut++;
  }
  if (said === "empty") return;
  tally.hasContent = true;
  if (said === "gone" || said === "perhapsGone") tally.hasGone = true;
  if (said === "gone" && isUnmistakable(cell)) tally.hasUnmistakable = true;
  if (isAnswer(said)) tally.hasAnswer = true;
  else tally.unclear ??= { cell: cell.trim(), line };
  if (said === "yes" || said === "no" || said === "date") tally.needsPolarity = true;
  if (!isWordOfSubscription(said)) tally.hasOther = true;
}

function isAnswer(said: Said): boolean {
  return said !== "unclear" && said !== "number";
}

function isWordOfSubscription(said: Said): boolean {
  return said === "subscribed" || said === "gone" || said === "notSubscribed" || said === "active";
}

function outcomeOf(tally: Tally): FoundConsent | undefined {
  const { index, kind, isNamed, hasContent, hasGone, hasAnswer, hasOther, unclear, rows, leftOut } = tally;
  const found = (outcome: FoundConsent["outcome"], rule: ConsentRule = "status"): FoundConsent => ({
    index,
    outcome,
    rule,
    readings: { rows, ...leftOut },
    unclear,
  });
  if (kind === "otherChannel" && !isNamed) return found("otherChannel");
  if (kind === "optOut") return hasContent ? found("consent", "optedOut") : found("empty", "optedOut");
  if (!hasContent) {
    if (kind === "optIn") return found("empty", "subscribed");
    return kind === "unclear" || isNamed ? found("empty") : undefined;
  }
  if (kind === "optIn") return found(hasAnswer ? "consent" : "unreadable", "subscribed");
  if (kind === "status" && hasGone) return found("consent");
  const isGone = kind === "other" ? tally.hasUnmistakable : hasGone;
  if (isGone && !hasOther) return found("consent");
  if (isNamed) return found(tally.needsPolarity ? "unclear" : "consent");
  return isAsked(tally) && hasAnswer ? found("unclear") : undefined;
}
