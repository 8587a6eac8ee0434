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
 * Reads a job's whole input once, and decides what is to be done with it.
 * @throws UsageError for an input that cannot be meant; DeclinedError; InterruptedError
 */
export async function readInput(context: RunContext, outline: RowJob, file: InputFile): Promise<ReadInput> {
  const { engine, send, emit } = context;
  let rowsRead = 0;
  emit({ kind: "phase", progress: () => createProgress(context, "reading", { rowsRead }) });
  const opened = await outline.open?.(file);
  const account = openAccount(context);
  const structure = await account.structure();
  const input = await outline.resolve(account);
  if (input.asked) await NameBook.open({ send: send.plain, account, structure, ...input.asked });
  const survey = (rows: UnderstoodInput) =>
    surveyInput(rows, engine.signal, (count) => {
      rowsRead = count;
    });
  const first = opened ? await input.understand(opened, structure) : emptyInput;
  emit({ kind: "understood", facts: first.facts });
  const firstSurvey = await survey(first);
  const { job, understood = first } = await input.decide(firstSurvey, first.facts);
  const surveyed = understood === first ? firstSurvey : await survey(understood);
  const joined = await joinRows(surveyed.batches(), surveyed.identities, job.duplicates);
  const { notSubscribedAre, unclearAre } = job;
  emit({ kind: "surveyed", survey: surveyed, joined, notSubscribedAre, unclearAre });
  return { ...context, job, account, structure, understood, survey: surveyed, joined };
}

/** Looks up the names in the input and in the flags. @throws EcmError for a name that does not exist */
export async function openRowRun(read: ReadInput): Promise<RowRun> {
  const { engine, account, job, structure, survey, send, emit } = read;
  const suppressions = job.leavesOutSuppressed ? await engine.openSuppressions() : undefined;
  const names = await NameBook.open({
    send: send.plain,
    account,
    structure,
    lists: [...job.lists, ...survey.lists],
    tags: [...job.tags, ...survey.tags],
    createMissing: job.createMissing,
    isNew: job.newList !== undefined,
    fields: job.newFields,
  });
  emit({ kind: "names-missing", missing: names.missing });
  const { behavior, keys } = openKeySearch(read, {
    structureId: structure._id,
    keyType: structure.keyType,
    readsStatus: job.readsStatus,
  });
  return { ...read, behavior, keys, names, suppressions };
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
