/** A plan as a file of its own, to be looked at, approved and applied elsewhere. */
import { createHash } from "node:crypto";
import type { ClosedPlan, StoredLine } from "./plan-file.ts";
import type { PlanLine } from "./plan-line.ts";

/** A line of a plan file: what people read, and what `ecm apply` needs. */
export type ExportedLine = Omit<StoredLine, "cells" | "mark" | "of" | "ref">;

/**
 * @param write takes the lines of the file, each with its break; absent where no file is wanted
 * @param onLine called with what people read of each contact
 * @returns the digest in its last line
 */
export async function exportPlan(
  { head, creations, end: { counts, requests }, lines }: ClosedPlan,
  write: ((line: string) => Promise<void>) | undefined,
  onLine: (line: PlanLine) => void,
): Promise<string> {
  const hash = createHash("sha256");
  const writeLine = async (value: object) => {
    if (!write) return;
    const line = `${JSON.stringify(value)}\n`;
    hash.update(line);
    await write(line);
  };
  const { table: _table, ...about } = head;
  await writeLine({ plan: about });
  for (const create of creations) await writeLine({ create });
  for await (const { cells: _cells, mark: _mark, of: _of, ref: _ref, ...line } of lines()) {
    const { apply: _apply, ...publicLine } = line;
    onLine(publicLine);
    await writeLine(line);
  }
  const digest = `sha256:${hash.digest("hex")}`;
  await write?.(`${JSON.stringify({ end: { counts, requests, digest } })}\n`);
  return digest;
}
