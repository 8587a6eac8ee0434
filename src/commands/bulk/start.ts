/** Starts a bulk run over rows or a selection: one way for every command that writes to many contacts. */

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { BackUp, Closed, Engine, Job, Manifest, RunOptions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { syncFolder } from "../../disk/atomic-file.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm, type ShownCommand } from "../../hint.ts";
import { findFormatByName, requireFileFormat } from "../../terminal/file-names.ts";
import { isJson, type OutputFormat } from "../../terminal/format.ts";
import { presentList } from "../../terminal/present.ts";
import { version } from "../../version.ts";
import { claimFiles, type FileFlags } from "../flags/bulk.ts";
import { addFlagsToCommand } from "../help/command-line.ts";
import { createContactColumnsView, toSearchView } from "../output/contact-columns.ts";
import { openSuppressionList, readNamedLists } from "../selection/lookups.ts";
import { endRun, printSummary } from "./end.ts";
import { openPlanOutput, type PlanFlags } from "./plan.ts";
import type { RunDisplay } from "./progress.ts";
import { createAgreement, type Danger, type Review, requireAnswer } from "./question.ts";
import { describeReason, missingNamesError } from "./words.ts";

/** Asks, while nothing else is drawn. */
export type WhileAsking = <T>(ask: () => Promise<T>) => Promise<T>;

export interface BulkStart {
  job: Job;
  options: RunOptions;
  flags: PlanFlags & FileFlags;
  /** What is said at once, such as `Importing people.csv`. */
  what: string;
  danger: Danger;
  backUp?: BackUp;
  /** The same job, which has a person settle what is open: taken where one can be asked. */
  asks?(whileAsking: WhileAsking): Promise<Job> | Job;
  /** Whether a person has just seen where the columns go: then they are not listed again. */
  areColumnsShown?(): boolean;
  /** Where it is not the account's usual one. */
  structureId?: string;
  /** One contact that was named: what becomes of it needs no bar. */
  isSingle?: boolean;
  /** After a yes, before the first write. */
  agreed?(): Promise<void>;
  /** The plan is shown before its question. */
  review?: Review;
  /** Once the run has said what it did, before the command ends as the run ended. */
  ended?(result: Closed): Promise<void> | void;
}

/**
 * Runs the job with its display, its plan and its question, says what it did, and ends the command so.
 * @throws UsageError before anything is sent; DeclinedError on a no; what stopped the run
 */
export async function startRun(context: Context, start: BulkStart): Promise<Closed> {
  const { job, options, flags, what, danger, backUp, asks, structureId, agreed, review } = start;
  const { runJob } = await import("../../bulk/index.ts");
  requireAnswer(context, danger, options.isDryRun);
  const { name, path = name, stream } = job.input;
  claimFiles(context, stream ? undefined : path, flags);
  const inputs = stream || !job.readsInput ? [] : [resolve(path)];
  await context.tellUnderWay({ kind: "run", what: `A run (${what})`, inputs });
  return withRun(context, start, async ({ engine, display, options }) => {
    if (structureId !== undefined) engine.account.preferredStructure = structureId;
    const agree = createAgreement(context, display, danger, review);
    const mayAsk = asks && context.prompter() !== undefined;
    return runJob(
      engine,
      mayAsk ? await asks((ask) => display.whileAsking(ask)) : job,
      {
        ...options,
        isAtTerminal: isAtTerminal(context),
        backUp,
        async agree(...about) {
          await agree(...about);
          await agreed?.();
        },
      },
      display.on,
    );
  });
}

/** Somebody reads along, and will work with the files that a run leaves; no script does. */
export function isAtTerminal({ terminal, output }: Context): boolean {
  return terminal.isStdinTerminal && terminal.isStderrTerminal && !isJson(output().format);
}

/** A run that can begin. */
export interface OpenRun {
  engine: Engine;
  display: RunDisplay;
  /** With the places that its plan goes to. */
  options: RunOptions;
}

/**
 * Opens what a run needs, does it, and closes all of it however it ends; then ends the command as the run ended.
 * Of a run that is refused, the summary is printed.
 * @param begun `what` is said at once, such as `Importing people.csv`
 */
export async function withRun(
  context: Context,
  begun: Pick<BulkStart, "what" | "options" | "flags" | "isSingle" | "areColumnsShown" | "ended">,
  run: (open: OpenRun) => Promise<Closed>,
): Promise<Closed> {
  const result = await runShown(context, begun, run);
  await begun.ended?.(result);
  await endRun(context, result);
  return result;
}

async function runShown(
  context: Context,
  begun: Parameters<typeof withRun>[1],
  run: (open: OpenRun) => Promise<Closed>,
): Promise<Closed> {
  const { what, options, flags } = begun;
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  const { RunDisplay } = await import("./progress.ts");
  const display = new RunDisplay(context, what, { ...begun, isDryRun: options.isDryRun });
  try {
    const engine = await openEngine(context, options);
    const planFile = flags.plan === "-" ? undefined : flags.plan;
    const result = await run({
      engine,
      display,
      options: { ...options, takePlan: plan.take, planFile, reportFile: flags.report },
    });
    await plan.discard();
    display.end(result, plan.lines());
    const note = plan.note();
    if (note) context.terminal.note(note);
    await plan.report(result);
    return result;
  } catch (error) {
    await plan.discard();
    await printSummary(context, display.refused);
    throw error;
  } finally {
    display.close();
  }
}

/** Opens the account for a bulk run. A dry run sends few requests. */
async function openEngine(
  context: Context,
  { concurrency, isDryRun }: { concurrency: number; isDryRun: boolean },
): Promise<Engine> {
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
      baseUrl: profile.baseUrl.value,
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

// * The contacts that a deletion takes, in a file that imports again: written before the first of them is
// deleted.

/**
 * Where a backup goes, from the flag: the format by the file's name, else by `-o`, else csv.
 * @throws UsageError
 */
export function createBackupTarget(context: Context, file: string): { file: string; format: OutputFormat } {
  context.files.writes(file, "--backup");
  const byName = findFormatByName(file);
  if (byName === "yaml" || byName === "workbook") requireFileFormat(file, "csv", "--backup");
  const { format } = context.output({}, "csv");
  const byFlag = format === "table" || format === "id" ? "csv" : format;
  return { file: resolve(file), format: (byName as OutputFormat | undefined) ?? byFlag };
}

/** @param target absent: the run folder */
export function createBackUp(context: Context, target: BackUp["target"]): BackUp {
  return {
    target,
    async write(contacts, { folder, account }) {
      const { fileNames } = await import("../../bulk/index.ts");
      const file = target?.file ?? join(folder, fileNames.backup);
      if (target) await claimFile(file, folder);
      const structure = await account.complete(await account.structure());
      const lists = await readNamedLists(context, account, structure);
      const view = toSearchView(createContactColumnsView(structure, lists));
      const format = (target?.format ?? "csv") as OutputFormat;
      await presentList(context.terminal, { format, outputFile: file }, contacts, view);
      await syncFolder(dirname(file));
      return file;
    },
  };
}

/** A file that is there already is only replaced by the run that made it. */
async function claimFile(file: string, folder: string): Promise<void> {
  const { fileNames } = await import("../../bulk/index.ts");
  const mark = join(folder, fileNames.backupMark);
  if (existsSync(file) && !existsSync(mark)) {
    throw usageError(`--backup: ${file} already exists`, "Name another file: a backup is never overwritten");
  }
  await writeFile(mark, "", { mode: 0o600 });
}

// The account that a run belongs to, and how a command comes to work on it.

/**
 * A command on a run, for its account: with the profile that it was made with, or one of its address, unless
 * the command that was typed works on that account already.
 * @param command such as `ecm runs resume 20261121-1402-3fa9c1`
 */
export async function commandOnRun(
  context: Context,
  { baseUrl, profile }: Pick<Manifest["account"], "baseUrl" | "profile">,
  command: ShownCommand,
): Promise<ShownCommand> {
  const now = await context.profile().catch(() => undefined);
  const isSameProfile = profile === undefined || profile === now?.name?.value;
  // Accounts may share an address.
  if (now?.baseUrl.value === baseUrl && isSameProfile) return addFlagsToCommand(command, context.settings);
  const name = profile ?? (await findProfile(context, baseUrl));
  const flag = name === undefined ? ["--base-url", baseUrl] : ["--profile", name];
  return { words: [...flag, ...command.words] };
}

async function findProfile(context: Context, baseUrl: string): Promise<string | undefined> {
  const profiles = await context.profiles().catch(() => undefined);
  return profiles?.names().find((name) => profiles.get(name)?.baseUrl === baseUrl);
}

/**
 * @param command that was typed
 * @throws UsageError when the run belongs to another account than the one that is open
 */
export async function requireSameAccount(
  context: Context,
  { id, account }: Manifest,
  command: string,
): Promise<void> {
  const { baseUrl } = await context.profile();
  if (account.baseUrl === baseUrl.value) return;
  throw usageError(
    `Run ${id} belongs to ${account.baseUrl}, and this is ${baseUrl.value}`,
    advise`Select that account: ${await commandOnRun(context, account, ecm`${command.split(" ")} ${id}`)}`,
  );
}
