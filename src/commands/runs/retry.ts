/** `ecm runs retry`: the rows that an import rejected, once they are fixed, as that import took its own. */

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import type { ClosedPlan, ImportOptions, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { notFoundError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import { shortPath } from "../bulk/words.ts";
import { addBulkFlags, toRunOptions } from "../flags/bulk.ts";
import { verb } from "../verb.ts";
import { requireRun, requireSameAccount } from "./shared.ts";

export function registerRunsRetry(parent: Command, context: Context): void {
  const command = parent
    .command("retry")
    .description("import the rejected rows of an import again, once they are fixed")
    .argument("[run]", "its id, the start of it, or last")
    .argument("[file]", "the fixed rows (default: the run's rejects file)")
    // These are typed anew: people who were left out, or erased since, stay out.
    .option("--include-unsubscribed", "create contacts marked as not subscribed")
    .option("--include-suppressed", "create suppressed contacts too");
  const retrying = addBulkFlags(command);
  verb(context, retrying, {
    examples: ["ecm runs retry last", "ecm runs retry 20261121-1402 fixed.xlsx --dry-run"],
    output:
      "As ecm import: with the lists, the tags and the mapping of the run. --include-unsubscribed and --include-suppressed are not taken over.",
    writes: true,
    exitCodes: {
      3: "finished, and some rows were rejected again",
      5: "no such run, or its rejects file is gone",
    },
    async run(typedRun, typedFile, flags) {
      const options = toRunOptions(flags, context.clock.now());
      const run = await requireRun(context, typedRun, "retry", canBeRetried);
      const [{ jobs, readingsOf }, { startRun }] = await Promise.all([
        import("../../bulk/index.ts"),
        import("../bulk/start.ts"),
      ]);
      const { manifest } = run;
      requireRetryable(run, typedFile);
      await requireSameAccount(context, manifest, "runs retry");
      const file = typedFile ?? (await findRejectsFile(context, run));
      // How the run's own input was written says nothing about the file of its rejects.
      const { read, ...record } = manifest.options as unknown as ImportOptions;
      const {
        sheet: _sheet,
        delimiter: _delimiter,
        encoding: _encoding,
        skipLines: _lines,
        createsFields: _creates,
        ...others
      } = read;
      const head = await readingsOf(run).head();
      const { includeUnsubscribed = false, includeSuppressed = false } = flags;
      await startRun(context, {
        job: jobs.import({
          ...record,
          read: {
            ...others,
            hasNoHeader: false,
            consentColumns: [...listConsentColumns(head), ...(read.consentColumns ?? [])],
          },
          input: { name: file, stream: file === "-" ? context.terminal.stdin : undefined },
          includeUnsubscribed,
          includeSuppressed,
        }),
        options,
        flags,
        what: `${options.isDryRun ? "Reading" : "Importing"} ${shortPath(file)}, rejected by run ${manifest.id}`,
        danger: "change",
        structureId: manifest.account.structureId,
      });
    },
  });
}

function canBeRetried({ manifest: { kind, summary } }: StoredRun): boolean {
  return kind === "import" && (summary?.rows.rejected ?? 0) > 0;
}

/** @throws UsageError for a run that is no import, is unfinished, or left no rows to fix */
function requireRetryable({ manifest, isFinished }: StoredRun, file: string | undefined): void {
  const { id, kind, summary } = manifest;
  if (kind !== "import") throw usageError(`Run ${id} is no import (${kind})`, "Give the same command again");
  if (!isFinished) {
    throw usageError(`Run ${id} is unfinished`, advise`Resume it first: ${ecm`runs resume ${id}`}`);
  }
  if (file === undefined && summary?.rows.rejected === 0) {
    throw usageError(
      `Run ${id} rejected no rows; there is nothing to retry`,
      advise`See: ${ecm`runs show ${id}`}`,
    );
  }
}

/** What the run read as consent: the fixed rows say it too. */
function listConsentColumns(head: ClosedPlan["head"] | undefined): string[] {
  return (head?.table?.columns ?? []).flatMap(({ name, target, isConsent }) => {
    if (!isConsent || name === "") return [];
    return ["reading" in target && target.reading ? `${name}=${target.reading}` : name];
  });
}

/** @throws NotFoundError; UsageError where a later run has written to the same place */
async function findRejectsFile(context: Context, { manifest, folder }: StoredRun): Promise<string> {
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
