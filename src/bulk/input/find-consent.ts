/** Reading: which columns of a file speak of consent, by their names and by all of their cells. */
import { type ConsentRule, type Said, saidIn } from "./consent.ts";
import { type ConsentName, consentNameOf, formsOf, is, ruleByName } from "./consent-names.ts";

/** What was found of a column over the whole file. */
interface Tally {
  index: number;
  kind: ConsentName | undefined;
  hasContent: boolean;
  /** Some cell is gone beyond doubt. */
  hasGone: boolean;
  /** Some cell is an answer. */
  hasAnswer: boolean;
  /** Some cell needs the name to know what its yes or no means. */
  needsPolarity: boolean;
  /** Some cell says that a person is not mailed, or is a plain no. */
  hasNo: boolean;
  /** A cell that is no answer, and its line. */
  unclear?: { cell: string; line: number };
}

export interface FoundConsent {
  index: number;
  /**
   * `unreadable`: it looks like consent, and nobody can tell what it says. `noAnswers`: its name may mean something else,
   * and so its cells do.
   */
  outcome: "consent" | "unreadable" | "otherChannel" | "empty" | "noAnswers";
  rule: ConsentRule;
  unclear?: { cell: string; line: number };
}

/**
 * Finds the columns that speak of consent, by their names and values. Reads the rows once, and no
 * further than until every column is settled.
 *
 * @param names one for each column
 * @param isSettled columns of which the answer is known
 * @param batches of rows, without the header
 */
export async function findConsent(
  names: readonly string[],
  isSettled: (index: number) => boolean,
  batches: AsyncIterable<readonly { line: number; cells: readonly (string | undefined)[] }[]>,
): Promise<FoundConsent[]> {
  const tallies = names.flatMap((name, index): Tally[] => {
    const kind = isSettled(index) ? "other" : consentNameOf(name);
    if (kind === "other") return [];
    const nothing = {
      hasContent: false,
      hasGone: false,
      hasAnswer: false,
      needsPolarity: false,
      hasNo: false,
    };
    return [{ index, kind, ...nothing }];
  });
  let open = tallies.filter(isOpen);
  if (open.length > 0) {
    for await (const rows of batches) {
      for (const row of rows) {
        if (takeAll(open, row)) open = open.filter(isOpen);
      }
      if (open.length === 0) break;
    }
  }
  return tallies.flatMap((tally) => outcomeOf(tally, names[tally.index]!) ?? []);
}

/** @returns whether a column is settled by this row */
function takeAll(
  open: readonly Tally[],
  row: { line: number; cells: readonly (string | undefined)[] },
): boolean {
  let isAnySettled = false;
  for (const tally of open) {
    const cell = row.cells[tally.index];
    if (cell === undefined || cell === "") continue;
    take(tally, cell, row.line);
    isAnySettled ||= !isOpen(tally);
  }
  return isAnySettled;
}

/** Whether a further cell can change what becomes of the column. */
function isOpen({ kind, hasContent, hasAnswer, hasGone, hasNo, needsPolarity, unclear }: Tally): boolean {
  switch (kind) {
    case "otherChannel":
      return false;
    case "evidence":
      return !hasContent;
    case "optIn":
    case "optOut":
      return !hasAnswer;
    case "both":
      return !needsPolarity;
    case "status":
      return !hasGone;
    case "perhapsOptIn":
    case "perhapsOptOut":
      return !hasNo;
    default:
      return unclear === undefined;
  }
}

function take(tally: Tally, cell: string, line: number): void {
  const said = saidIn(cell);
  if (said === "empty") return;
  tally.hasContent = true;
  if (said === "gone") tally.hasGone = true;
  if (said === "no" || said === "gone") tally.hasNo = true;
  if (isAnswer(tally.kind, said)) tally.hasAnswer = true;
  else tally.unclear ??= { cell: cell.trim(), line };
  if (said === "yes" || said === "no" || said === "date" || said === "number") tally.needsPolarity = true;
}

/** Whether a cell can be understood in a column of such a name. */
function isAnswer(kind: ConsentName | undefined, said: Said): boolean {
  if (said === "unclear") return kind === "optOut";
  if (said === "number") return kind === "optOut" || kind === "perhapsOptOut";
  if (said === "date") return kind !== undefined && kind !== "detail" && kind !== "status";
  return true;
}

function outcomeOf(tally: Tally, name: string): FoundConsent | undefined {
  const { index, kind, hasContent, hasGone, hasNo, hasAnswer, needsPolarity, unclear } = tally;
  const found = (rule: ConsentRule, outcome: FoundConsent["outcome"] = "consent") => ({
    index,
    outcome,
    rule,
    unclear,
  });
  if (kind === "otherChannel") return found("subscribed", "otherChannel");
  if (!hasContent) {
    const isNamed = kind === "optIn" || kind === "optOut" || kind === "both" || kind === "evidence";
    return isNamed ? found("subscribed", "empty") : undefined;
  }
  switch (kind) {
    case "evidence":
      return found("evidence");
    case "optOut":
      return found("optedOut");
    case "optIn":
      return found("subscribed", hasAnswer ? "consent" : "unreadable");
    case "both":
      return found("subscribed", needsPolarity || !hasAnswer ? "unreadable" : "consent");
    case "status":
      // A subscription of yes and no is one to mail; one of active and inactive may be to anything.
      return hasGone || (hasNo && is("perhapsOptIn", formsOf(name))) ? found("subscribed") : undefined;
    case "perhapsOptOut":
      return found("optedOut", unclear && !hasNo ? "noAnswers" : "consent");
    case "perhapsOptIn":
      return found("subscribed", unclear && !hasNo ? "noAnswers" : "consent");
    case "detail":
      return found(ruleByName(name), unclear || !(hasGone || needsPolarity) ? "noAnswers" : "consent");
    default:
      return unclear === undefined && hasGone ? found("subscribed") : undefined;
  }
}
