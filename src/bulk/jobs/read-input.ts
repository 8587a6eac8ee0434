/**
 * The first steps of a job over rows, before its run is entered: its input is read whole, and its names are looked
 * up.
 */

import type { Account } from "../../service/account.ts";
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
import type { Lookup } from "../plan/lookup.ts";
import { NameBook } from "../plan/names.ts";
import type { RunContext } from "../plan/session.ts";
import type { PagesOptions } from "../plan/snapshot.ts";
import { computeFingerprint } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";
import type { NamesOfJob, Opening, ResolvedJob, RowJob, RunAbout } from "./job.ts";
import { openAccount } from "./open-account.ts";

/** Everything that is known of a job over rows before its run is entered. */
export interface RowRun extends RunContext {
  readonly stated: RowJob;
  readonly job: ResolvedJob;
  readonly file: InputFile;
  readonly account: Account;
  readonly structure: ContactStructure;
  readonly understood: UnderstoodInput;
  readonly survey: Survey;
  readonly joined: JoinedRows;
  readonly names: NameBook;
}

/** How pages of the account are read for this run. */
export function readContactPages(rowRun: RowRun, { behavior, keys }: Lookup): PagesOptions {
  const { send, clock, job, structure, options } = rowRun;
  return {
    send,
    behavior,
    keys,
    clock,
    structureId: structure._id,
    source: job.source,
    readsStatus: job.readsStatus,
    concurrency: options.concurrency,
  };
}

/**
 * Reads a job's whole input once, decides what is to be done with it, and looks its names up.
 * @throws UsageError for an input that cannot be meant; EcmError for a name that does not exist; DeclinedError;
 *   InterruptedError
 */
export async function readInput(
  context: RunContext,
  stated: RowJob,
  { file, noteInput }: Opening,
): Promise<RowRun> {
  const { engine, emit } = context;
  let rowsRead = 0;
  emit({ kind: "phase", progress: () => createProgress(context, "reading", { rowsRead }) });
  const opened = await stated.openInput?.(file);
  const account = openAccount(context);
  const structure = await account.structure();
  const input = await stated.resolve(account);
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
  const read = { stated, job, file, account, structure, understood, survey: surveyed, joined };
  noteInput(countSettledByInput(read));
  return { ...context, ...read, names: await openNames(context, read) };
}

/** Looks up the names in the input and in the flags. */
async function openNames(
  { engine, send, emit }: RunContext,
  { account, structure, survey, job }: Pick<RowRun, "account" | "structure" | "survey" | "job">,
): Promise<NameBook> {
  const { createMissing = false, ...named }: Partial<NamesOfJob> = job.names ?? {};
  const names = await NameBook.open({
    ...named,
    send: send.plain,
    account,
    structure,
    lists: [...(named.lists ?? []), ...survey.lists],
    tags: [...(named.tags ?? []), ...survey.tags],
    async createMissing(missing) {
      if (createMissing === true) return;
      const failure = engine.missingNamesError(missing);
      if (!createMissing) throw failure;
      await createMissing(failure);
    },
  });
  emit({ kind: "names-missing", missing: names.creations });
  return names;
}

/** Rows that stand for no contact. */
export function countSettledByInput({
  survey,
  joined,
  job,
}: Pick<RowRun, "survey" | "joined" | "job">): SettledByInput {
  return {
    read: survey.read,
    rejectedCodes: Object.fromEntries(survey.rejectedCodes),
    passedOver: joined.passedOver,
    passedOverAre: job.duplicates === "reject" ? "rejected" : "skipped",
  };
}

/** What the run keeps of what it is. */
export function describeRun(rowRun: RowRun): RunAbout {
  const { engine, job, structure, understood, file } = rowRun;
  const { baseUrl, profile } = engine.account;
  const { sha256, bytes } = understood.facts;
  return {
    account: { baseUrl, profile, structureId: structure._id },
    input: { name: rowRun.subject, file: file.path, sha256, bytes },
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
  const { kind, engine, job, stated, structure, understood, names } = rowRun;
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
    reading: stated.readsInput ? describeReading(reading) : {},
    options: job.options,
    after: job.after,
  });
}
