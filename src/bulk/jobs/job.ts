/**
 * What a run has to do. Every command states it as a job; a run that goes on, and one that is tried again,
 * make the same job from the record that the run keeps.
 */

import type { Readable } from "node:stream";
import { restoreSelection } from "../../select/selection.ts";
import { Account } from "../../service/account.ts";
import { KeySearch } from "../../service/key-search.ts";
import { createIdentityReader, type InputFile } from "../../tables/index.ts";
import { createSuppressionRules, type Judging } from "../plan/judge.ts";
import { Lookup } from "../plan/lookup.ts";
import type { PlanEntries } from "../plan/make-plan.ts";
import { type NameBook, openPlannedNames } from "../plan/name-book.ts";
import { type ClosedPlan, type PlanHead, planVersion } from "../plan/plan-file.ts";
import type { RunContext } from "../plan/session.ts";
import { type Manifest, type Run, runCommands } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";

/** The input as it was named. `stream`: where it has no path; `path`: where that is not the name. */
export interface JobInput {
  name: string;
  stream?: Readable;
  path?: string;
}

export interface Job {
  kind: Manifest["kind"];
  /** What the run works on: a file, conditions, or another run. */
  input: JobInput;
  /** Whether the bytes of the input are read: they are taken first, and kept if they cannot be read again. */
  readsInput: boolean;
  /**
   * Finds out what has to be done, and writes nothing.
   * @param file the input's bytes, where the job reads them
   * @throws RunStop; UsageError for what cannot be meant
   */
  open(context: RunContext, file: InputFile): Promise<OpenedJob>;
}

export interface OpenedJob {
  /** What it says of its run. `options` is the record from which the job is made again. */
  about: Pick<Manifest, "account" | "fingerprint" | "options" | "after"> & {
    input: Omit<Manifest["input"], "isSpooled">;
  };
  /** Absent where the run's plan is closed: it says all of this itself. */
  contacts?: ContactsToPlan;
  /** Another run that is not resumed any more. */
  supersedes?: Run;
}

/** How the contacts of a run are looked up and judged. */
export interface Contacts {
  readonly account: Account;
  readonly judging: Judging;
  /** Without what is kept of pages: for the second looks. */
  readonly lookup: Lookup;
  /** What the run creates in the account first. */
  readonly names?: NameBook;
}

/** A run's contacts before its plan is closed. */
export interface ContactsToPlan extends Contacts {
  readonly head: PlanHead;
  /** Rows that stand for no contact; all rows, as far as they are known. */
  readonly input: SettledByInput;
  /** Reads the pages that are needed first, if any. @throws RunStop */
  source(): Promise<PlanSource>;
}

/** What a job puts into a plan. */
export interface PlanSource {
  entries: PlanEntries;
  /** Rows, and contacts that no row names; default: those of the input. */
  read?: number;
  /** How many entries are the same each time that they are read: a plan can continue within them. */
  stableEntries: number;
  /** With what is kept of pages; default: that of the job. */
  lookup?: Lookup;
  removals?: PlanHead["removals"];
  close?(): void;
}

/** @param preferred the structure to work in; default: the one that flags or the profile name */
export function openAccount(
  { engine, send }: RunContext,
  preferred = engine.account.preferredStructure,
): Account {
  const { behaviors, names } = engine;
  return new Account(send.plain, { preferred, behaviors, names });
}

/** How contacts that no input names stand in the rejects file. */
export const keyTable: NonNullable<PlanHead["table"]> = {
  columns: [{ name: "key", target: { kind: "key" } }],
  delimiter: ",",
  hasEscapes: false,
};

/** The head of a plan, from what a job says of it. By default no input names its contacts, but keys. */
export function toHead(
  { kind, engine, clock }: RunContext,
  { structureId, keyType }: Pick<PlanHead["account"], "structureId" | "keyType">,
  about: Pick<PlanHead, "names" | "source" | "looks"> & Partial<PlanHead>,
): PlanHead {
  return {
    version: planVersion,
    program: engine.version,
    command: runCommands[kind],
    createdAt: new Date(clock.now()).toISOString(),
    kind,
    account: { baseUrl: engine.account.baseUrl, structureId, keyType },
    input: null,
    table: keyTable,
    ...about,
  };
}

/**
 * How contacts are looked up and judged: by what the head of their plan says and nothing else, so that a plan
 * that is closed needs no job.
 * @throws SuppressionsError; UsageError for a condition that speaks of what does not exist any more
 */
export async function openContacts(
  { engine, send }: RunContext,
  account: Account,
  { looks, source, selection, names, account: { structureId, keyType } }: PlanHead,
): Promise<Contacts> {
  const { clock, openSuppressions, describeReason: describe } = engine;
  const behavior = engine.behaviors(structureId);
  const toIdentity = createIdentityReader(keyType);
  const { readsStatus, marksRepeats, suppressions } = looks;
  const keys = new KeySearch({ send: send.searches, behavior, structureId, toIdentity, readsStatus });
  const about = { structureId, keyType, source, behavior, marksRepeats, selectedLists: selection?.lists };
  return {
    account,
    judging: {
      structureId,
      looks,
      suppression: createSuppressionRules(suppressions === "include" ? undefined : await openSuppressions()),
      // The conditions as they were planned: their words may mean something else by now.
      selection: selection && (await restoreSelection(account, await account.structure(), selection)),
      names,
      describe,
    },
    lookup: new Lookup({ send, clock, keys, ...about }),
  };
}

/** `openContacts` for a plan that is closed, and for one that somebody brings. */
export async function openPlanned(
  context: RunContext,
  { head, creations }: Pick<ClosedPlan, "head" | "creations">,
  account: Account,
): Promise<Contacts> {
  if (context.options.backUp) await readForBackup(account);
  const names =
    creations.length === 0
      ? undefined
      : await openPlannedNames({ send: context.send.plain, account, creations });
  return { ...(await openContacts(context, account, head)), names };
}

/** What the file with the backup of a deletion needs is read before the price is said. */
export async function readForBackup(account: Account): Promise<void> {
  const structure = await account.structure();
  await Promise.all([account.readableLists(structure), account.complete(structure)]);
}
