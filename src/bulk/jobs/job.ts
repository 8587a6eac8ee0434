/**
 * What a run has to do. Every command states it as a job; a run that goes on, and one that is tried again, make
 * the same job from the record that the run keeps. Types only.
 */

import type { Readable } from "node:stream";
import type { EcmError } from "../../errors.ts";
import type { Selection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import type {
  Duplicates,
  InputFacts,
  InputFile,
  OpenedInput,
  ReadOptions,
  Row,
  Survey,
  UnderstoodInput,
} from "../../tables/index.ts";
import type { ContactStructure, IdRef } from "../../wire.ts";
import type { Desired } from "../desired.ts";
import type { MarkedAre } from "../plan/events.ts";
import type { Judging } from "../plan/judge.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntries } from "../plan/make-plan.ts";
import type { NameBook, NameBookOptions } from "../plan/names.ts";
import type { PlanHead, PlanMapping } from "../plan/plan-file.ts";
import type { RunContext, RunState } from "../plan/session.ts";
import type { EnteredRun } from "../runs/enter.ts";
import type { AfterStep, Manifest } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";

/** As it was named; a stream where that is no path; the path where it is not the name. */
export interface JobInput {
  name: string;
  stream?: Readable;
  path?: string;
}

export interface Job {
  kind: Manifest["kind"];
  /** Of what kind the plan is that is carried out, where somebody brings one. */
  applies?: string;
  /** What the run works on: a file, conditions, or another run. */
  input: JobInput;
  /** Whether the bytes of the input are read: they are taken first, and kept where they can be read only once. */
  readsInput: boolean;
  /** Finds out what has to be done, and writes nothing. @throws RunStop; UsageError for what cannot be meant */
  open(context: RunContext, opening: Opening): Promise<OpenedJob>;
}

/** What a job is given when it is opened. */
export interface Opening {
  /** The input's bytes, where the job reads them. */
  file: InputFile;
  /** To be told of the input's rows as soon as they are known. */
  noteInput(input: SettledByInput): void;
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
  /** Rows that stand for no contact; all rows, as far as they are known. */
  readonly input: SettledByInput;
  /** What the run creates in the account first. */
  readonly names?: NameBook;
  /** What follows on the run once it is complete. */
  readonly after?: readonly AfterStep[];
  /** After what is missing was created. */
  created?(run: EnteredRun): Promise<void>;
}

/** The same before the plan is closed. */
export interface ContactsToPlan extends Contacts {
  head: PlanDescription;
  /**
   * Reads the pages that are needed first, if any.
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

/** A job over the rows of an input, or over contacts that conditions choose. */
export interface RowJob extends Job {
  /**
   * Reads the input's bytes, and refuses what nobody is asked about, before a request is spent. Absent where
   * there is no input.
   * @throws UsageError
   */
  openInput?(file: InputFile): Promise<OpenedInput>;
  /** Looks up what the flags name, before the rows of the input are read. */
  resolve(account: Account): Promise<InputJob>;
}

/** A job before the rows of its input are known. Each step asks a person what is open, or refuses it. */
export interface InputJob {
  /** @throws UsageError where it is not clear where a column goes */
  understand(input: OpenedInput, structure: ContactStructure): Promise<UnderstoodInput>;
  /**
   * What is to be done, now that every row was read once; `understood` where the rows are read otherwise then.
   * @throws UsageError for an input that cannot be meant
   */
  decide(survey: Survey, facts: InputFacts): Promise<{ job: ResolvedJob; understood?: UnderstoodInput }>;
}

export interface NamesOfJob extends Pick<NameBookOptions, "lists" | "tags" | "isNew" | "fields"> {
  /** Whether missing names are created; a function has a person agree to it first. */
  createMissing: boolean | AgreeToCreate;
}

/** @param failure what is thrown where they are not to be created @throws DeclinedError; the failure */
type AgreeToCreate = (failure: EcmError) => Promise<void>;

/** What is to be done with each row, or with each contact that conditions choose. */
export interface ResolvedJob {
  /** Everything that decides a contact's outcome: the record from which the job is made again. */
  readonly options: Record<string, unknown>;
  /** The words of the command, where they are not those of the kind. */
  command?: string[];
  /** How the values of rows are made, for the plan. */
  mapping?: PlanMapping;
  duplicates: Duplicates;
  /** Whether a row's contact is meant at all. Default: every row's. */
  takesRow?(row: Row): boolean;
  /** A list whose members become exactly the contacts of the input. */
  members?: MembersOptions;
  /** What follows on the run once it is complete. */
  after?: readonly AfterStep[];
  /** Names in flags, and what is created of them; the file's own come with the rows. */
  names?: NamesOfJob;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  toDesired(row: Row, names: NameBook): Desired;
  /** What becomes of those whom the file marks as not subscribed. */
  notSubscribedAre: MarkedAre;
  /** The same of those whose mark is not understood, where that is something else. */
  unclearAre?: MarkedAre;
  /** Whoever is on the suppression list is left out. */
  leavesOutSuppressed?: boolean;
  /** Lists that a desired contact can speak of. */
  listIds(names: NameBook): string[];
  /** Conditions that choose the contacts: of the whole account, or of those that the input names. */
  selection?: Selection;
  /** What is wanted of every contact that conditions choose. */
  desiredForAll?(names: NameBook): Desired;
  /** The status decides what becomes of contacts: where no search tells it, they are read by their ids. */
  readsStatus?: boolean;
  /** One contact may be named twice, by its key and by its id; an import takes keys alone. */
  marksRepeats?: boolean;
  /** Lists that every contact is in whom the conditions choose, should the pages not tell. */
  chosenLists?: IdRef[];
}

export interface MembersOptions {
  listId: string;
  listName: string;
}

/** How a file that names contacts is read, as a run keeps it. By default as the file says itself. */
export interface KeysFileOptions {
  map: [column: string, target: string][];
  consentColumns?: readonly string[];
  sheet?: string;
}

export function toReadOptions(read: KeysFileOptions | undefined): ReadOptions {
  return { map: new Map(read?.map), consentColumns: read?.consentColumns, sheet: read?.sheet };
}
