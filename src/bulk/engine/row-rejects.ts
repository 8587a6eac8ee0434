/** Which rows of an input go to the rejects file, and with what reason: found by reading the input once more. */
import { copyFile, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { roleOf } from "../input/join.ts";
import type { InputFacts } from "../input/rows.ts";
import type { RunStop } from "../pacing/run-stop.ts";
import { fileOf } from "../runs/files.ts";
import type { Ledger } from "../runs/ledger.ts";
import { type RejectedLine, writeRejects } from "../runs/rejects-file.ts";
import type { RowState } from "./row-run.ts";
import type { Selected } from "./selected.ts";
import type { RunState } from "./session.ts";

/** A file that takes longer to read again than an interrupted person waits. */
const mostRowsAfterSignal = 5000;

/** @returns the path of the rejects file; null when nothing was rejected, or none was asked for in a dry run */
export async function writeRowRejects(
  state: RowState,
  stop: RunStop | undefined,
  chosen?: Selected,
): Promise<string | null> {
  const { survey, joined, job, understood, ledger } = state;
  const count =
    survey.rejected + ledger.rejections.size + (job.duplicates === "reject" ? joined.passedOver : 0);
  if (count === 0) return null;
  if (stop?.by === "signal" && survey.read > mostRowsAfterSignal) return null;
  const { facts } = understood;
  if (!chosen) return placeRejects(state, facts, () => rejectedRows(state));
  return placeRejects(state, { ...facts, columns: [keyColumn] }, () => rejectedContacts(chosen, ledger));
}

/**
 * Writes the rejects file into the run's folder, and to where the command wants it too; of a dry run only there.
 * @returns its path; null when there is no place for it, or it could not be written
 */
export async function placeRejects(
  { run, options, emit }: Pick<RunState, "run" | "options" | "emit">,
  facts: Parameters<typeof writeRejects>[1],
  lines: () => AsyncIterable<RejectedLine>,
): Promise<string | null> {
  const wanted = options.rejects === undefined ? undefined : resolve(options.rejects);
  const own = run && join(run.folder, fileOf.rejects);
  // A link stays, and what it leads to is written.
  const target = own ?? (wanted && (await realpath(wanted).catch(() => wanted)));
  if (!target) return null;
  try {
    await writeRejects(target, facts, lines);
  } catch (error) {
    // The run is over, and its summary must not be lost over this.
    emit({ kind: "remark", text: `No rejects file: ${(error as Error).message}` });
    return null;
  }
  if (own && wanted) {
    const isCopied = await copyFile(own, wanted).then(
      () => true,
      () => false,
    );
    if (!isCopied) {
      emit({ kind: "remark", text: `--rejects: ${wanted} cannot be written` });
      return own;
    }
  }
  return wanted ?? target;
}

/** Of contacts that no input names. */
export const keyColumn: InputFacts["columns"][number] = { name: "key", target: { kind: "key" } };

async function* rejectedContacts({ work }: Selected, ledger: Ledger): AsyncGenerator<RejectedLine> {
  for await (const { ref, key } of eachOf(work.batches())) {
    const rejection = ledger.rejections.get(ref);
    if (rejection)
      yield { row: { kind: "rejected", line: ref, cells: [key.written], ...rejection }, ...rejection };
  }
}

async function* rejectedRows({ survey, joined, job, ledger }: RowState): AsyncGenerator<RejectedLine> {
  for await (const row of eachOf(survey.batches())) {
    if (row.kind === "rejected") {
      yield { row, code: row.code, message: row.message };
      continue;
    }
    const role = roleOf(row, joined);
    const line = "representative" in role ? row.line : role.passedOverFor;
    const rejection = ledger.rejections.get(line);
    if ("passedOverFor" in role && job.duplicates === "reject") {
      yield { row, code: "duplicate", message: `the contact of line ${line} again` };
    } else if (rejection && ("representative" in role || job.duplicates === "merge")) {
      // Joined rows make one contact: fixing it takes all of them.
      yield { row, ...rejection };
    }
  }
}

async function* eachOf<T>(batches: AsyncIterable<readonly T[]> | Iterable<readonly T[]>): AsyncGenerator<T> {
  for await (const batch of batches) yield* batch;
}
