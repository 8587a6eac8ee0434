/** Starts a bulk run, or goes on with one: one way for every command that writes to many contacts. */

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { BackUp, Closed, ClosedPlan, Engine, Job, RunOptions, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import {
  findFormatByName,
  isJson,
  type OutputFormat,
  outputFormats,
  requireFileFormat,
} from "../../terminal/format.ts";
import { presentList } from "../../terminal/present.ts";
import { version } from "../../version.ts";
import { claimFiles, type FileFlags } from "../flags/bulk.ts";
import { createContactColumnsView, toSearchView } from "../output/contact-columns.ts";
import { openSuppressionList, readNamedLists } from "../selection/lookups.ts";
import { endRun, printSummary } from "./end.ts";
import { changeLines, countShown, openPlanSink, type PlanFlags, type TakenPlan, takePlan } from "./plan.ts";
import type { RunDisplay } from "./progress.ts";
import { createAgreement, type Question, requireAnswer } from "./question.ts";
import { describeReason, missingNamesError } from "./words.ts";

/** Asks, while nothing else is drawn. */
export type WhileAsking = <T>(ask: () => Promise<T>) => Promise<T>;

export interface BulkStart extends Question {
  /** A job, or a run that goes on. */
  job: Job | StoredRun;
  options: RunOptions;
  flags: PlanFlags & FileFlags;
  /** What is said at once, such as `Importing people.csv`. */
  what: string;
  backUp?: BackUp;
  /** The job that asks a person what is open; it takes the place of `job` where a person can be asked. */
  asks?(whileAsking: WhileAsking): Promise<Job> | Job;
  /** Whether a person has just seen where the columns go: then they are not listed again. */
  areColumnsShown?(): boolean;
  /** Where it is not the account's usual one. */
  structureId?: string;
  /** After a yes, before the first write. */
  agreed?(): Promise<void>;
  /** Once the run has said what it did, before the command ends as the run ended. */
  ended?(result: Closed): Promise<void> | void;
}

/**
 * Runs the job with its display, its plan and its question, says what it did, and ends the command so. Of a
 * run that is refused, the summary is printed.
 * @throws UsageError before anything is sent; DeclinedError on a no; what stopped the run
 */
export async function startRun(context: Context, start: BulkStart): Promise<Closed> {
  const result = await runShown(context, start);
  await start.ended?.(result);
  await endRun(context, result);
  return result;
}

async function runShown(context: Context, start: BulkStart): Promise<Closed> {
  const { job, options, flags, what, structureId } = start;
  const { isDryRun } = options;
  requireAnswer(context, start.danger, isDryRun);
  const file = findInputFile(job);
  claimFiles(context, file, flags);
  const inputs = file === undefined ? [] : [resolve(file)];
  // A plan holds people of the account as an export does, and has no folder that is searched.
  const kind = isDryRun && flags.plan !== undefined ? "export" : "run";
  await context.tellUnderWay({ kind, what: `A run (${what})`, inputs });
  const sink = await openPlanSink(context, flags);
  const isShown = isDryRun && (countShown(context.terminal, flags) > 0 || flags.report !== undefined);
  let plan: TakenPlan | undefined;
  const take = async (closed: ClosedPlan) => {
    plan = await takePlan(closed, sink, isShown);
  };
  const [{ resumeRun, runJob }, { RunDisplay }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("./progress.ts"),
  ]);
  const display = new RunDisplay(context, { ...start, isDryRun, isResume: "manifest" in job });
  try {
    const engine = await openEngine(context, options);
    if (structureId !== undefined) engine.account.preferredStructure = structureId;
    const agree = createAgreement(context, display, { ...start, show: flags.show });
    const all: RunOptions = {
      ...options,
      isAtTerminal: isAtTerminal(context),
      // Without it, nothing is listed that is not written.
      takePlan: sink || isShown ? take : undefined,
      planFile: flags.plan === "-" ? undefined : flags.plan,
      reportFile: flags.report,
      backUp: start.backUp,
      async agree(...about) {
        const isAgreed = await agree(...about);
        await start.agreed?.();
        return isAgreed;
      },
    };
    const asked = context.prompter() && (await start.asks?.((ask) => display.whileAsking(ask)));
    const result =
      "manifest" in job
        ? await resumeRun(engine, job, all, display.on)
        : await runJob(engine, asked ?? job, all, display.on);
    await tellEnd(context, start, display, { result, plan });
    return result;
  } catch (error) {
    await printSummary(context, display.refused);
    throw error;
  } finally {
    await sink?.discard();
    display.close();
  }
}

/** What the run came to, what was planned, and the page about it. */
async function tellEnd(
  context: Context,
  { flags, options: { isDryRun } }: BulkStart,
  display: RunDisplay,
  { result, plan }: { result: Closed; plan?: TakenPlan },
): Promise<void> {
  const { terminal } = context;
  const changes = plan?.changes.slice(0, countShown(terminal, flags)) ?? [];
  const isListed = plan && isDryRun && changes.length > 0;
  display.end(result, isListed ? changeLines(terminal, { ...plan, changes }) : []);
  if (plan?.digest !== undefined && flags.plan !== "-")
    terminal.note(`Plan: ${formatCount(plan.writes)} to write, ${plan.digest}`);
  if (flags.report === undefined) return;
  const { reportRun } = await import("./report.ts");
  await reportRun(context, flags, result.summary, plan);
}

/** The file that is read, where there is one. */
function findInputFile(job: Job | StoredRun): string | undefined {
  if ("manifest" in job)
    return job.manifest.input.isSpooled ? undefined : job.manifest.input.file || undefined;
  const { path, stream, name } = job.input;
  if (stream) return undefined;
  return path ?? (job.readsInput ? name : undefined);
}

/** Somebody reads along, and will work with the files that a run leaves; no script does. */
export function isAtTerminal({ terminal, output }: Context): boolean {
  return terminal.isStdinTerminal && terminal.isStderrTerminal && !isJson(output().format);
}

/** Opens the account for a bulk run. A dry run sends few requests. */
async function openEngine(context: Context, { concurrency, isDryRun }: RunOptions): Promise<Engine> {
  const { profile, send, behaviors, account } = await context.connect(
    isDryRun ? "single" : "bulk",
    concurrency,
  );
  return {
    send,
    clock: context.clock,
    signal: context.signal,
    stateFolder: context.folders.state,
    version,
    account: {
      baseUrl: profile.accountAddress,
      profile: profile.name?.value,
      isReadOnly: profile.readOnly,
      preferredStructure: profile.structure?.value,
    },
    limits: context.limits(),
    requestsSent: context.requestsSent,
    openSuppressions: () => openSuppressionList(context),
    behaviors,
    names: account.names,
    describeReason,
    missingNamesError,
  };
}

// The contacts that a deletion takes, in a file that imports again, written before the first one goes.

/**
 * Where a backup goes, from the flag: the format by the file's name, else by `-o`, else csv.
 * @throws UsageError
 */
function toBackupTarget(context: Context, file: string): { file: string; format: OutputFormat } {
  context.files.writes(file, "--backup");
  const named = findFormatByName(file);
  const byName = outputFormats.find((each) => each === named);
  if (!byName) requireFileFormat(file, "csv", "--backup");
  const { format } = context.output({}, "csv");
  const byFlag = format === "table" || format === "id" ? "csv" : format;
  return { file: resolve(file), format: byName ?? byFlag };
}

/** @param file of the flag @param target of a run that goes on; absent: the run folder */
export function createBackUp(
  context: Context,
  file: string | undefined,
  target: BackUp["target"] = file === undefined ? undefined : toBackupTarget(context, file),
): BackUp {
  return {
    target,
    async write(contacts, { folder, account }) {
      const { fileNames } = await import("../../bulk/index.ts");
      const file = target?.file ?? join(folder, fileNames.backup);
      // A file that is there already is only replaced by the run that made it.
      const mark = join(folder, fileNames.backupMark);
      if (target && existsSync(file) && !existsSync(mark)) {
        throw usageError(
          `--backup: ${file} already exists`,
          "Name another file: a backup is never overwritten",
        );
      }
      if (target) await writeFile(mark, "", { mode: 0o600 });
      const structure = await account.complete(await account.structure());
      const lists = await readNamedLists(context, account, structure);
      const view = toSearchView(createContactColumnsView(structure, lists));
      const format = (target?.format ?? "csv") as OutputFormat;
      await presentList(context.terminal, { format, outputFile: file }, contacts, view);
      return file;
    },
  };
}
