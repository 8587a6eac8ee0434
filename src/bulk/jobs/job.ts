/**
 * What a run has to do. Every command states it as a job; a run that goes on, and one that is tried again, make
 * the same job from the record that the run keeps.
 */

import type { Readable } from "node:stream";
import { restoreSelection } from "../../select/selection.ts";
import { Account } from "../../service/account.ts";
import { KeySearch } from "../../service/key-search.ts";
import { createIdentityReader, type InputFile } from "../../tables/index.ts";
import { createSuppressionRules, type Judging } from "../plan/judge.ts";
import { Lookup } from "../plan/lookup.ts";
import type { PlanEntries } from "../plan/make-plan.ts";
import type { NameBook } from "../plan/names.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import type { RunContext, RunState } from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import type { ListDeletion, Manifest } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";

/** As it was named; a stream where that is no path; the path where it is not the name. */
export interface JobInput {
  name: string;
  stream?: Readable;
  path?: string;
}

export interface Job {
  kind: Manifest["kind"];
  /** What the run works on: a file, conditions, or another run. */
  input: JobInput;
  /** Whether the bytes of the input are read: they are taken first, and kept where they can be read only once. */
  readsInput: boolean;
  /**
   * Finds out what has to be done, and writes nothing.
   * @param file the input's bytes, where the job reads them
   * @throws RunStop; UsageError for what cannot be meant
   */
  open(context: RunContext, file: InputFile): Promise<OpenedJob>;
}

export interface OpenedJob {
  about: RunAbout;
  /** Absent where the run's plan is closed: it says all of this itself. */
  contacts?: ContactsToPlan;
  /** Before its plan is made. */
  entered?(run: EnteredRun): Promise<void>;
  /** Stopped now, the run could not be resumed: its record does not say all of it. */
  isUnfit?(): boolean;
  /** Lets go of what no other process may work on meanwhile. */
  release?(): Promise<void>;
}

/** What a job says of its run. `options` is the record from which the job is made again. */
export type RunAbout = Pick<Manifest, "account" | "fingerprint" | "options" | "after"> & {
  input: Omit<Manifest["input"], "isSpooled">;
};

/** How the contacts of a run are looked up and judged, and what is done besides. */
export interface Contacts {
  readonly account: Account;
  readonly judging: Judging;
  /** Without what is kept of pages: for the second looks. */
  readonly lookup: Lookup;
  /** What the run creates in the account first. */
  readonly names?: NameBook;
  /** What follows on the run once it is complete. */
  readonly after?: readonly ListDeletion[];
  /** After what is missing was created. */
  created?(run: EnteredRun): Promise<void>;
}

/** The same before the plan is closed. */
export interface ContactsToPlan extends Contacts {
  /** Rows that stand for no contact; all rows, as far as they are known. */
  readonly input: SettledByInput;
  readonly head: PlanDescription;
  /**
   * Reads the pages that are needed first, if any.
   * @param scratch where they are kept
   * @throws RunStop; UsageError when a sync would remove too many
   */
  source(state: RunState, scratch: string): Promise<PlanSource>;
}

/** What a job says of its plan. Without an input it names keys. */
export type PlanDescription = Pick<PlanHead, "names" | "source" | "looks"> & Partial<PlanHead>;

/** What a job puts into a plan. */
export interface PlanSource {
  entries: PlanEntries;
  /** Rows, and contacts that no row names; default: those of the job. */
  input?: SettledByInput;
  /** So many entries are the same each time that they are read: a plan can continue within them. */
  stableEntries: number;
  /** With what is kept of pages; default: that of the job. */
  lookup?: Lookup;
  removals?: PlanHead["removals"];
  close?(): void;
}

type Opening = Pick<RunContext, "engine" | "send">;

/** @param preferred the structure to work in; default: the one that flags or the profile name */
export function openAccount(
  { engine, send }: Opening,
  preferred = engine.account.preferredStructure,
): Account {
  const { behaviors, names } = engine;
  return new Account(send.plain, { preferred, behaviors, names });
}

/**
 * How contacts are looked up and judged: by what the head of their plan says and nothing else, so that a plan that
 * is closed needs no job.
 * @throws SuppressionsError; UsageError for a condition that speaks of what does not exist any more
 */
export async function openJudging(
  { engine, send }: Opening,
  account: Account,
  { structureId, keyType }: { structureId: string; keyType: string },
  { looks, source, selection, names }: PlanDescription,
): Promise<Pick<Contacts, "judging" | "lookup">> {
  const behavior = engine.behaviors(structureId);
  const toIdentity = createIdentityReader(keyType);
  const { readsStatus, marksRepeats, suppressions } = looks;
  const keys = new KeySearch({ send: send.searches, behavior, structureId, toIdentity, readsStatus });
  return {
    judging: {
      structureId,
      looks,
      suppression: createSuppressionRules(
        suppressions === "include" ? undefined : await engine.openSuppressions(),
      ),
      // The conditions as they were planned: their words may mean something else by now.
      selection: selection && (await restoreSelection(account, await account.structure(), selection)),
      names,
      describe: engine.describeReason,
    },
    lookup: new Lookup({
      send,
      clock: engine.clock,
      keys,
      structureId,
      keyType,
      source,
      behavior,
      marksRepeats,
      selectedLists: selection?.lists,
    }),
  };
}

/** What the file with the backup of a deletion needs is read before the price is said. */
export async function readForBackup(account: Account): Promise<void> {
  const structure = await account.structure();
  await Promise.all([account.readableLists(structure), account.complete(structure)]);
}
