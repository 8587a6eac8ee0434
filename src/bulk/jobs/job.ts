/**
 * The job of a run over the rows of an input, or over contacts that
 * conditions choose: what each command makes of it.
 */

import type { Readable } from "node:stream";
import type { NewField } from "../../api/structures.ts";
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
import type { NameBook, NameBookOptions } from "../plan/names.ts";
import type { PlanMapping } from "../plan/plan-file.ts";
import type { AfterStep, Manifest } from "../runs/folder.ts";

/** As a command states it: what its flags name is not looked up yet. */
export interface RowJob {
  kind: Exclude<Manifest["kind"], "undo" | "apply">;
  /** As it was named; a stream where that is no path; the path where it is not the name. */
  input: { name: string; stream?: Readable; path?: string };
  /**
   * Reads the input's bytes, and refuses what nobody is asked about, before a request is spent. Absent where
   * there is no input.
   * @throws UsageError
   */
  open?(file: InputFile): Promise<OpenedInput>;
  /** Looks up what the flags name, before the rows of the input are read. */
  resolve(account: Account): Promise<InputJob>;
}

/** A job before the rows of its input are known. Each step asks a person what is open, or refuses it. */
export interface InputJob {
  /** Names in flags that a person is asked about before anything else. */
  asked?: Pick<ResolvedJob, "lists" | "tags" | "createMissing">;
  /** @throws UsageError where it is not clear where a column goes */
  understand(input: OpenedInput, structure: ContactStructure): Promise<UnderstoodInput>;
  /**
   * What is to be done, now that every row was read once; `understood` where the rows are read otherwise then.
   * @throws UsageError for an input that cannot be meant
   */
  decide(survey: Survey, facts: InputFacts): Promise<{ job: ResolvedJob; understood?: UnderstoodInput }>;
}

export interface ResolvedJob {
  /** The contacts come from the account's pages: there is no input. */
  isWithoutInput?: boolean;
  /** Everything that decides a contact's outcome, as `resume` hands it back. */
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
  /** Created for the run; a list of its name that others have made is not the one. */
  newList?: string;
  /** Names in flags; the file's own come with the rows. */
  lists: string[];
  tags: string[];
  createMissing: NameBookOptions["createMissing"];
  /** Created before the first write; only a person at a terminal asks for them. */
  newFields?: readonly NewField[];
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source(survey: Survey): string[];
  toDesired(row: Row, names: NameBook): Desired;
  /** What becomes of those whom the file marks as not subscribed, in words: `not created`. */
  notSubscribedAre: string;
  /** The same of those whose mark is not understood, where that is something else. */
  unclearAre?: string;
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
