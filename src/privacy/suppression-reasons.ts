/**
 * Why people are on a suppression list, and where that is known from: a file beside the list. The list itself is
 * what must be believed; this file is told, and may be lost without anybody being created again.
 */
import { readFileSync, rmSync } from "node:fs";
import { writeAtomicallySync } from "../disk/atomic-file.ts";

/** Without anything that names the person. */
export interface SuppressionReason {
  /** Such as `unsubscribed`, `bounced`, `complained` or `erased`. */
  reason?: string;
  /** Such as `SendGrid`, or the name of a file. */
  source?: string;
}

function toReasonsPath(listFile: string): string {
  return `${listFile}.reasons`;
}

/** By hash; what cannot be read is not known. */
export function readReasons(listFile: string): Map<string, SuppressionReason> {
  const reasons = new Map<string, SuppressionReason>();
  let text: string;
  try {
    text = readFileSync(toReasonsPath(listFile), "utf8");
  } catch {
    return reasons;
  }
  for (const line of text.split("\n")) {
    try {
      const { hash, reason, source } = JSON.parse(line) as SuppressionReason & { hash: string };
      reasons.set(hash, { ...(reason && { reason }), ...(source && { source }) });
    } catch {
      // A line that is damaged tells nothing.
    }
  }
  return reasons;
}

/** The caller holds the lock of the list. @throws the system's error */
export function writeReasons(listFile: string, reasons: ReadonlyMap<string, SuppressionReason>): void {
  const file = toReasonsPath(listFile);
  if (reasons.size === 0) {
    rmSync(file, { force: true });
    return;
  }
  const lines = [...reasons].map(([hash, why]) => `${JSON.stringify({ hash, ...why })}\n`);
  writeAtomicallySync(file, lines.join(""));
}
