/** What an undo could not put back, as a file: one line for each contact. */
import { keyColumn, placeRejects } from "../engine/row-rejects.ts";
import type { RunState } from "../engine/session.ts";
import type { Ledger } from "../runs/ledger.ts";
import type { RejectedLine } from "../runs/rejects-file.ts";
import { writtenBy } from "./undo-work.ts";

/** @returns its path; null when everything was put back, or a dry run was not told where */
export async function writeUndoRejects(sourceFolder: string, state: RunState): Promise<string | null> {
  const { ledger } = state;
  if (ledger.rejections.size + ledger.remarks.size === 0) return null;
  const facts = { columns: [keyColumn], delimiter: ",", hasEscapes: false };
  return placeRejects(state, facts, () => lines(sourceFolder, ledger));
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
