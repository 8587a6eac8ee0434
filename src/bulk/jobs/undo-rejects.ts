/** What an undo could not put back, as a file: one line for each contact. */
import { join, resolve } from "node:path";
import { fileOf } from "../runs/files.ts";
import type { Ledger } from "../runs/ledger.ts";
import { type RejectedLine, writeRejects } from "../runs/rejects-file.ts";
import { writtenBy } from "./undo-work.ts";

/** @returns its path; null when everything was put back, or a dry run was not told where */
export async function writeUndoRejects(
  sourceFolder: string,
  runFolder: string | undefined,
  wanted: string | undefined,
  ledger: Ledger,
): Promise<string | null> {
  if (ledger.rejections.size + ledger.remarks.size === 0) return null;
  const target = wanted === undefined ? runFolder && join(runFolder, fileOf.rejects) : resolve(wanted);
  if (!target) return null;
  const facts = {
    columns: [{ name: "key", target: { kind: "key" as const } }],
    delimiter: ",",
    hasEscapes: false,
  };
  await writeRejects(target, facts, lines(sourceFolder, ledger));
  return target;
}

async function* lines(folder: string, ledger: Ledger): AsyncGenerator<RejectedLine> {
  // What could not be read when the undo was decided has no remark either.
  for await (const { ref, key } of writtenBy(folder, undefined, true)) {
    const said = ledger.rejections.get(ref) ?? ledger.remarks.get(ref);
    if (!said) continue;
    yield {
      row: { kind: "rejected", line: ref, cells: [key.written], code: said.code, message: said.message },
      ...said,
    };
  }
}
