/** `ecm runs retry`: the rows that an import rejected, once they are fixed, as that import took its own. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { ImportRecord, Manifest, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { notFoundError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import { requireSameAccount, startRun } from "../bulk/start.ts";
import { shortPath } from "../bulk/words.ts";
import { addBulkFlags, toRunOptions } from "../flags/bulk.ts";
import type { OptionsOf } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { findNamedRun, requireRun } from "./shared.ts";

type RetryFlags = OptionsOf<typeof declareRetry>;

function declareRetry(parent: Command) {
  const command = parent
    .command("retry")
    .description("import the rejected rows of an import again, once they are fixed")
    .argument("[run]", "its id, the start of it, or last")
    .argument("[file]", "the fixed rows (default: the run's rejects file)")
    // Who is created all the same is said anew: whoever was left out or erased since stays out.
    .option("--include-unsubscribed", "create contacts marked as not subscribed")
    .option("--include-suppressed", "create suppressed contacts too");
  return addBulkFlags(command);
}

export function registerRunsRetry(parent: Command, context: Context): void {
  const command = declareRetry(parent);
  command.action((run, file, flags) => runRunsRetry(context, { run, file }, flags));
  describeCommand(command, {
    examples: ["ecm runs retry last", "ecm runs retry 20261121-1402 fixed.xlsx --dry-run"],
    output:
      "As ecm import: with the lists, the tags and the mapping of the run. --include-unsubscribed and --include-suppressed are not taken over.",
    writes: true,
    exitCodes: {
      2: "the run is not an import, is unfinished, or rejected no rows",
      3: "finished, and some rows were rejected again",
      5: "no such run, or its rejects file is gone",
      7: "stopped by a limit; the same command resumes",
    },
  });
}

async function runRunsRetry(
  context: Context,
  given: { run?: string; file?: string },
  flags: RetryFlags,
): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  const wanted = await requireRun(context, given.run, "retry", canBeRetried);
  const { jobs } = await import("../../bulk/index.ts");
  const run = await findNamedRun(context, wanted);
  const { manifest } = run;
  requireImport(run);
  if (given.file === undefined) requireRejects(manifest);
  await requireSameAccount(context, manifest, "runs retry");
  const file = given.file ?? (await rejectsFile(context, run));
  const { includeUnsubscribed = false, includeSuppressed = false } = flags;
  const record = { ...(manifest.options as unknown as ImportRecord), input: inputFrom(context, file) };
  const what = `${options.isDryRun ? "Reading" : "Importing"} ${shortPath(file)}, rejected by run ${manifest.id}`;
  const job = jobs.import(ofTheFile({ ...record, includeUnsubscribed, includeSuppressed }));
  const { structureId } = manifest.account;
  await startRun(context, { job, options, flags, what, danger: "change", structureId });
}

function canBeRetried({ manifest: { kind, summary } }: StoredRun): boolean {
  return kind === "import" && (summary?.rows.rejected ?? 0) > 0;
}

/** @throws UsageError */
function requireImport({ manifest: { id, kind }, isFinished }: StoredRun): void {
  if (kind !== "import") {
    throw usageError(`Run ${id} is no import (${kind})`, "Give the same command again");
  }
  if (!isFinished) {
    throw usageError(`Run ${id} is unfinished`, advise`Resume it first: ${ecm`runs resume ${id}`}`);
  }
}

/** @throws UsageError for a run that left no rows to fix */
function requireRejects({ id, summary }: Manifest): void {
  if (summary?.rows.rejected === 0) {
    throw usageError(
      `Run ${id} rejected no rows; there is nothing to retry`,
      advise`See: ${ecm`runs show ${id}`}`,
    );
  }
}

/** @throws NotFoundError; UsageError where a later run has written to the same place */
async function rejectsFile(
  context: Context,
  { manifest, folder }: { manifest: Manifest; folder: string },
): Promise<string> {
  const { fileNames, listRuns } = await import("../../bulk/index.ts");
  const own = join(folder, fileNames.rejects);
  const file = manifest.summary?.rejects ?? own;
  const newest = (await listRuns(context.folders.state)).find(
    (each) => each.manifest.summary?.rejects === file,
  );
  if (newest && newest.manifest.id !== manifest.id) {
    throw usageError(
      `${file} holds the rejected rows of another run: run ${newest.manifest.id} has written it since`,
      advise`The rows of run ${manifest.id}: ${ecm`runs retry ${manifest.id} ${toOperands(own)}`}`,
    );
  }
  if (existsSync(file)) return file;
  throw notFoundError(
    `The rejects file of run ${manifest.id} is gone: ${file}`,
    advise`Name the file with the fixed rows: ${ecm`runs retry ${manifest.id} FILE`}`,
  );
}

function inputFrom({ terminal }: Context, file: string): ImportRecord["input"] {
  return { name: file, stream: file === "-" ? terminal.stdin : undefined };
}

/**
 * How the run's own input was written says nothing about the file of
 * its rejects, which a spreadsheet may have saved.
 */
function ofTheFile({ read, ...record }: ImportRecord): ImportRecord {
  const { sheet: _sheet, delimiter: _delimiter, encoding: _encoding, skipLines: _lines, ...others } = read;
  return { ...record, read: { ...others, hasNoHeader: false } };
}
