/** What a bulk run did, or would do, in lines. */
import type { Summary } from "../../bulk/index.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { formatDuration } from "../../moments.ts";
import { formatAboutDuration, formatReasons, formatShare, shortPath } from "./format.ts";

/** Of the file that says what was not done, and why. */
export function toRejectsTitle({ kind, rows }: Summary): string {
  if (kind === "undo")
    return rows.rejected > 0 ? "Not undone, with the reason" : "Restored in part, with the reason";
  return kind === "import" ? "Rejected rows (fix and import again)" : "Rejected, with the reason";
}

/** What the command knows of a run besides its summary; a run of another command tells none of it. */
export interface RunFacts {
  /** That it took. */
  seconds?: number;
  /** Requests before the price was said: they are named apart from those that it counts. */
  sentBefore?: number;
  /** Requests that the month had left when the price was said. */
  monthLeft?: number;
}

/** @param isShort at a terminal: outcomes without a contact are left out */
export function formatSummary(summary: Summary, isShort: boolean, facts: RunFacts = {}): Hint[] {
  const { seconds } = facts;
  const { kind, status, rejects } = summary;
  const lines: Hint[] = [
    `${formatTitle(summary, seconds)}: ${formatOutcomes(summary, isShort).join("; ") || "nothing to do"}`,
  ];
  lines.push(...describeMembers(summary), ...describeInactive(summary));
  lines.push(formatRequests(summary, facts));
  if (summary.backup) lines.push(`Contacts as they were before: ${summary.backup}`);
  if (rejects) {
    lines.push(`${toRejectsTitle(summary)}: ${isShort ? shortPath(rejects) : rejects}`);
  }
  if (isShort && rejects && kind === "import" && status === "completed" && summary.run !== null) {
    lines.push(advise`Fix them, then: ${ecm`runs retry ${summary.run}`}`);
  }
  lines.push(...describeUndo(summary));
  return lines;
}

/** Of a sync: what became of the list. */
function describeMembers(summary: Summary): string[] {
  if (!summary.members) return [];
  const would = createWording(summary);
  const { added, removed } = summary.members;
  return [`The list: ${formatCount(added)} ${would("added")}, ${formatCount(removed)} ${would("removed")}`];
}

function describeInactive({ kind, inactive: count }: Summary): string[] {
  if (count === 0 || kind === "unsubscribe" || kind === "delete") return [];
  const are = count === 1 ? "is" : "are";
  const inactive = `${formatCount(count)} of these contacts ${are} inactive in the account`;
  return [kind === "import" ? `${inactive}; an import does not change that` : inactive];
}

/** How what was done is taken back. Nobody is resubscribed through the API. */
function describeUndo({ kind, rows, status, run, file, codes }: Summary): Hint[] {
  if (kind === "undo") {
    const hasCreated = (codes.rejected.created ?? 0) > 0;
    return hasCreated
      ? [advise`To delete what the run created: ${ecm`runs undo ${file} --delete-created`}`]
      : [];
  }
  const isWritten = rows.created + rows.updated + rows.deleted > 0;
  if (status === "dry-run" || kind === "unsubscribe" || run === null || !isWritten) return [];
  // Without the flag the contacts that the run created would stay.
  return [advise`Undo: ${ecm`runs undo ${run} ${rows.created > 0 ? ["--delete-created"] : []}`}`];
}

/** `1,204 rows in 21 s`. */
export function formatTitle({ kind, rows, status }: Summary, seconds: number | undefined): string {
  const took = status === "dry-run" || seconds === undefined ? "" : ` in ${formatDuration(seconds)}`;
  return `${formatCounted(rows.read, kind === "import" || kind === "sync" ? "row" : "contact")}${took}`;
}

function formatRequests(
  { requests, status, estimate }: Summary,
  { sentBefore: knownBefore, monthLeft }: RunFacts,
): string {
  const sentBefore = knownBefore ?? 0;
  const before = sentBefore > 0 ? `, after ${formatCount(sentBefore)} to read the account` : "";
  if (status === "dry-run") {
    const left = estimate.requests - sentBefore;
    const price = `${formatAboutDuration(estimate.seconds)}${formatShare(estimate.requests, monthLeft)}`;
    return `A real run would send ${formatCounted(left, "request")} (${price})${before}`;
  }
  const again = requests.retried > 0 ? `, ${formatCount(requests.retried)} of them retries` : "";
  return `${formatCounted(requests.total - sentBefore, "request")} sent${again}${knownBefore === undefined ? ", reading the account included" : before}`;
}

function createWording({ status }: Summary): (word: string) => string {
  return (word) => (status === "dry-run" ? `would be ${word}` : word);
}

function formatPartial({ partial = 0 }: Summary): string {
  return partial > 0 ? ` (${formatCount(partial)} in part)` : "";
}

/** Contacts that came to the same. */
export interface ShownOutcome {
  number: number;
  words: string;
  /** Of skipped and rejected ones, by code. */
  reasons?: Readonly<Record<string, number>>;
  look: "done" | "same" | "skipped" | "rejected" | "pending";
}

/** How many contacts had which outcome; of skipped and rejected ones also why. */
function formatOutcomes(summary: Summary, isShort: boolean): string[] {
  return listOutcomes(summary, isShort).map(({ number, words, reasons = {} }) => {
    const why = formatReasons(reasons);
    return `${formatCount(number)} ${words}${why === "" ? "" : `: ${why}`}`;
  });
}

/** @param isShort those without a contact are left out */
export function listOutcomes(summary: Summary, isShort: boolean): ShownOutcome[] {
  const { kind, rows, codes } = summary;
  const would = createWording(summary);
  const isRemoval = kind === "unsubscribe" || kind === "delete";
  const isBrief = isShort || isRemoval;
  const skipped = {
    number: rows.skipped,
    words: "skipped",
    reasons: codes.skipped,
    look: "skipped",
  } as const;
  const rejected = { number: rows.rejected, reasons: codes.rejected, look: "rejected" } as const;
  const done = (number: number, words: string) => ({ number, words, look: "done" }) as const;
  const same = (words: string) => ({ number: rows.unchanged, words, look: "same" }) as const;
  const all: [outcome: ShownOutcome, isLeftOut: boolean][] =
    kind === "undo"
      ? [
          [done(rows.updated, `${would("restored")}${formatPartial(summary)}`), isShort],
          [done(rows.created, would("created again")), true],
          [done(rows.deleted, would("deleted")), true],
          [same("already as before"), isShort],
          [skipped, true],
          [{ ...rejected, words: "not undone" }, isShort],
        ]
      : [
          [done(rows.created, would("created")), isBrief],
          [
            done(rows.updated, would(kind === "unsubscribe" ? "unsubscribed" : "updated")),
            isShort || kind === "delete",
          ],
          [done(rows.deleted, would("deleted")), isShort || kind !== "delete"],
          [same(isRemoval ? "already inactive" : "unchanged"), isBrief],
          [skipped, isBrief],
          [{ ...rejected, words: "rejected" }, isBrief],
        ];
  all.push([{ number: rows.pending, words: "not attempted", look: "pending" }, true]);
  return all.flatMap(([outcome, isLeftOut]) => (outcome.number > 0 || !isLeftOut ? [outcome] : []));
}
