/** What a bulk run did, or would do, in lines. */
import type { Summary } from "../../../bulk/index.ts";
import { formatAboutDuration, formatCount, formatCounted, formatDuration, formatReasons } from "./format.ts";

/** Of the file that says what was not done, and why. */
export function toRejectsTitle({ kind, rows }: Summary): string {
  if (kind === "undo")
    return rows.rejected > 0 ? "Not undone, with the reason" : "Restored in part, with the reason";
  return kind === "import" ? "Rejected rows (fix and import again)" : "Rejected, with the reason";
}

/**
 * @param seconds that it took
 * @param isShort at a terminal: outcomes without a contact are left out
 */
export function formatSummary(summary: Summary, seconds: number, isShort: boolean): string[] {
  const { kind, rows, requests, status, estimate, rejects } = summary;
  const isDry = status === "dry-run";
  const took = isDry ? "" : ` in ${formatDuration(seconds)}`;
  const what = formatCounted(rows.read, kind === "import" || kind === "sync" ? "row" : "contact");
  const lines = [`${what}${took}: ${formatOutcomes(summary, isShort).join("; ") || "nothing to do"}`];
  const { members } = summary;
  const would = createWording(summary);
  if (members) {
    const { added, removed } = members;
    lines.push(
      `The list: ${formatCount(added)} ${would("added")}, ${formatCount(removed)} ${would("removed")}`,
    );
  }
  if (summary.inactive > 0 && kind !== "unsubscribe" && kind !== "delete") {
    const inactive = `${formatCounted(summary.inactive, "contact")} of these ${summary.inactive === 1 ? "is" : "are"} inactive in the account`;
    lines.push(kind === "import" ? `${inactive}; an import does not change that` : inactive);
  }
  if (isDry) {
    const { requests: maxRequests, seconds: about } = estimate;
    lines.push(
      `A real run would send ${formatCounted(maxRequests, "request")} (${formatAboutDuration(about)})`,
    );
  } else {
    const again = requests.retried > 0 ? `, ${formatCount(requests.retried)} of them retries` : "";
    lines.push(`${formatCounted(requests.total, "request")} sent${again}`);
  }
  if (summary.backup) lines.push(`Contacts as they were before: ${summary.backup}`);
  if (rejects) lines.push(`${toRejectsTitle(summary)}: ${rejects}`);
  // Nobody is resubscribed through the API.
  const canBeUndone = kind !== "undo" && kind !== "unsubscribe";
  if (!isDry && canBeUndone && summary.run !== null && rows.created + rows.updated + rows.deleted > 0) {
    // Without the flag nothing of such a run would be undone.
    const flag = rows.updated + rows.deleted === 0 ? " --delete-created" : "";
    lines.push(`Undo: ecm runs undo ${summary.run}${flag}`);
  }
  return lines;
}

function createWording({ status }: Summary): (word: string) => string {
  return (word) => (status === "dry-run" ? `would be ${word}` : word);
}

function formatPartial({ partial = 0 }: Summary): string {
  return partial > 0 ? ` (${formatCount(partial)} in part)` : "";
}

/** How many contacts had which outcome; of skipped and rejected ones also why. */
function formatOutcomes(summary: Summary, isShort: boolean): string[] {
  const { kind, rows, codes } = summary;
  const would = createWording(summary);
  const why = (reasons: Record<string, number>) => {
    const text = formatReasons(reasons);
    return text === "" ? "" : `: ${text}`;
  };
  const isRemoval = kind === "unsubscribe" || kind === "delete";
  const isBrief = isShort || isRemoval;
  const parts: [number: number, words: string, isLeftOut: boolean][] =
    kind === "undo"
      ? [
          [rows.updated, `${would("restored")}${formatPartial(summary)}`, isShort],
          [rows.created, would("created again"), true],
          [rows.deleted, would("deleted"), true],
          [rows.unchanged, "already as before", isShort],
          [rows.skipped, `skipped${why(codes.skipped)}`, true],
          [rows.rejected, `not undone${why(codes.rejected)}`, isShort],
        ]
      : [
          [rows.created, would("created"), isBrief],
          [
            rows.updated,
            would(kind === "unsubscribe" ? "unsubscribed" : "updated"),
            isShort || kind === "delete",
          ],
          [rows.deleted, would("deleted"), isShort || kind !== "delete"],
          [rows.unchanged, isRemoval ? "already inactive" : "unchanged", isBrief],
          [rows.skipped, `skipped${why(codes.skipped)}`, isBrief],
          [rows.rejected, `rejected${why(codes.rejected)}`, isBrief],
        ];
  parts.push([rows.pending, "not attempted", true]);
  return parts
    .filter(([number, , isLeftOut]) => number > 0 || !isLeftOut)
    .map(([number, words]) => `${formatCount(number)} ${words}`);
}
