/**
 * The first steps of a row run, before it is entered: its input is read whole, and its names are looked up.
 */

import type { Account } from "../../service/account.ts";
import type { Behavior } from "../../service/behavior.ts";
import type { KeySearch } from "../../service/key-search.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import {
  describeReading,
  emptyInput,
  type InputFile,
  type JoinedRows,
  joinRows,
  type OpenedInput,
  type Survey,
  surveyInput,
  type UnderstoodInput,
} from "../../tables/index.ts";
import type { ContactStructure } from "../../wire.ts";
import { createProgress } from "../plan/events.ts";
import type { PagesOptions } from "../plan/lookup.ts";
import { NameBook } from "../plan/names.ts";
import type { RunContext } from "../plan/run-context.ts";
import { computeFingerprint, type Manifest } from "../runs/folder.ts";
import type { RunDescription } from "./enter-job.ts";
import type { ResolvedJob, RowJob } from "./job.ts";
import { openAccount, openKeySearch } from "./open-account.ts";

/** What was read of a run's input. */
export interface ReadInput extends RunContext {
  readonly job: ResolvedJob;
  readonly account: Account;
  readonly structure: ContactStructure;
  readonly understood: UnderstoodInput;
  readonly survey: Survey;
  readonly joined: JoinedRows;
  /** Rows that contradict each other about who was known under which key. */
}

/** Everything that is known of a row run before it is entered. */
export interface RowRun extends ReadInput {
  readonly behavior: Behavior;
  readonly keys: KeySearch;
  readonly names: NameBook;
  /** Present where suppressed keys are left out. */
  readonly suppressions?: Suppressions;
}

/** How pages of the account are read for this run. */
export function readContactPages(rowRun: RowRun): PagesOptions {
  const { send, behavior, keys, clock, job, structure, survey, options } = rowRun;
  return {
    send,
    behavior,
    keys,
    clock,
    structureId: structure._id,
    source: job.source(survey),
    readsStatus: job.readsStatus,
    concurrency: options.concurrency,
  };
}

/**
 * Has a person settle what stops the preparation: columns without a target, names that do not exist.
 * @returns the job with what was answered
 * @throws the failure, when it is of another kind; DeclinedError; InterruptedError
 */
export type Clarify = (failure: unknown) => Promise<RowJob>;

/** Resolves the job and reads its whole input once. @throws UsageError for an input that cannot be meant */
export async function readInput(
  context: RunContext,
  jobOutline: RowJob,
  file: InputFile,
  clarify: Clarify | undefined,
): Promise<ReadInput> {
  const { engine, emit } = context;
  let rowsRead = 0;
  emit({ kind: "phase", progress: () => createProgress(context, "reading", { rowsRead }) });
  const { outline, opened } = await openClarified(jobOutline, file, clarify);
  // Whoever can be asked is, further on.
  if (opened && !clarify) await outline.requireOpened?.(opened);
  const account = openAccount(context);
  const structure = await account.structure();
  let job = await outline.resolve(account);
  if (clarify) {
    ({ job } = await resolveClarified(clarify, account, job, (now) =>
      requireNames(context, account, structure, now),
    ));
  }
  const answered = await resolveClarified(clarify, account, job, async (now) =>
    opened ? now.understand(opened, structure) : emptyInput,
  );
  job = answered.job;
  const understood = answered.result;
  emit({ kind: "understood", facts: understood.facts });
  const survey = await surveyInput(job.isWithoutInput ? emptyInput : understood, engine.signal, (rows) => {
    rowsRead = rows;
  });
  const required = await resolveClarified(clarify, account, job, async (now) =>
    now.requireInput?.(survey, understood.facts),
  );
  job = required.job;
  const joined = await joinRows(survey.batches(), survey.identities, job.duplicates);
  emit({
    kind: "surveyed",
    survey,
    joined,
    notSubscribedAre: job.notSubscribedAre,
    unclearAre: job.unclearAre,
  });
  return { ...context, job, account, structure, understood, survey, joined };
}

/** Reads the input's bytes; a person says which of its sheets is meant. */
async function openClarified(
  jobOutline: RowJob,
  file: InputFile,
  clarify: Clarify | undefined,
): Promise<{ outline: RowJob; opened: OpenedInput | undefined }> {
  for (let outline = jobOutline; ; ) {
    try {
      return { outline, opened: await outline.open?.(file) };
    } catch (failure) {
      if (!clarify) throw failure;
      outline = await clarify(failure);
    }
  }
}

/** Looks up the names in the input and in the flags. @throws EcmError for a name that does not exist */
export async function openRowRun(read: ReadInput, clarify: Clarify | undefined): Promise<RowRun> {
  const { engine, account, structure, survey, send, emit } = read;
  const suppressions = read.job.leavesOutSuppressed ? await engine.openSuppressions() : undefined;
  const { job, result: names } = await resolveClarified(clarify, account, read.job, (now) =>
    NameBook.open({
      send: send.plain,
      account,
      structure,
      lists: [...now.lists, ...survey.lists],
      tags: [...now.tags, ...survey.tags],
      createMissing: now.createMissing,
      isNew: now.newList !== undefined,
      fields: now.newFields,
    }),
  );
  emit({ kind: "names-missing", missing: names.missing });
  const { behavior, keys } = openKeySearch(read, {
    structureId: structure._id,
    keyType: structure.keyType,
    readsStatus: job.readsStatus,
  });
  return { ...read, job, behavior, keys, names, suppressions };
}

/**
 * A step of the preparation: where it fails, and a person can settle that,
 * it is tried again with the job as it is then.
 */
async function resolveClarified<T>(
  clarify: Clarify | undefined,
  account: Account,
  first: ResolvedJob,
  step: (job: ResolvedJob) => Promise<T>,
): Promise<{ job: ResolvedJob; result: T }> {
  for (let job = first; ; ) {
    try {
      return { job, result: await step(job) };
    } catch (failure) {
      if (!clarify) throw failure;
      job = await (await clarify(failure)).resolve(account);
    }
  }
}

/** Asked before anything else is. @throws MissingNamesError for lists and tags that flags name */
async function requireNames(
  { send }: RunContext,
  account: Account,
  structure: ContactStructure,
  { lists, tags, createMissing }: ResolvedJob,
): Promise<void> {
  if (createMissing || lists.length + tags.length === 0) return;
  await NameBook.open({ send: send.plain, account, structure, lists, tags, createMissing });
}

/** The manifest but for the run's id and start. @param input as it was taken */
export function describeRun(
  rowRun: RowRun,
  input: { file: InputFile; isSpooled: boolean },
  resumes: Manifest | undefined,
): RunDescription {
  const { subject, engine, job, structure, understood } = rowRun;
  const { facts } = understood;
  return {
    account: {
      baseUrl: engine.account.baseUrl,
      profile: engine.account.profile,
      structureId: structure._id,
    },
    input: {
      name: subject,
      file: input.file.path,
      isSpooled: input.isSpooled || resumes?.input.isSpooled === true,
      sha256: facts.sha256,
      bytes: facts.bytes,
    },
    fingerprint: computeRunFingerprint(rowRun),
    options: job.options,
    after: job.after,
  };
}

/**
 * Of what makes two invocations one run: account, input, how it is read, and what
 * decides a contact's outcome. Another one once the fields exist that the run creates:
 * then it is that of the command that names them.
 */
export function computeRunFingerprint(rowRun: RowRun): string {
  const { kind, engine, job, structure, understood, names } = rowRun;
  const { facts, reading } = understood;
  return computeFingerprint({
    kind,
    baseUrl: engine.account.baseUrl,
    structureId: structure._id,
    sha256: facts.sha256,
    columns: facts.columns.map(({ name, target }) => ({
      name,
      target: target.kind === "field" ? { ...target, fieldId: names.fieldId(target.fieldId) } : target,
    })),
    // What the entries of a mapping compute is in the options.
    reading: job.isWithoutInput ? {} : describeReading(reading),
    options: job.options,
    after: job.after,
  });
}
