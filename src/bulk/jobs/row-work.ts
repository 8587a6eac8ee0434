/**
 * What jobs over the rows of an input, or over contacts that conditions choose, have in common: the steps by which
 * each reads its input, and how it says what is to be done with each row.
 */

import type { EcmError } from "../../errors.ts";
import type { Selection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import {
  type Duplicates,
  type InputFile,
  type JoinedRows,
  type Row,
  type Survey,
  surveyInput,
  type UnderstoodInput,
} from "../../tables/index.ts";
import type { ContactStructure, IdRef } from "../../wire.ts";
import type { Desired } from "../desired.ts";
import { createProgress, type MarkedAre } from "../plan/events.ts";
import type { NameBook, NameBookOptions } from "../plan/names.ts";
import type { RunContext } from "../plan/session.ts";
import type { ListDeletion } from "../runs/folder.ts";
import { openAccount } from "./job.ts";

/** What is to be done with each row, or with each contact that conditions choose. */
export interface RowWork {
  /** Everything that decides a contact's outcome: the record from which the job is made again. */
  readonly options: Record<string, unknown>;
  /** The words of the command, where they are not those of the kind. */
  command?: string[];
  duplicates: Duplicates;
  /** Whether a row's contact is meant at all. Default: every row's. */
  takesRow?(row: Row): boolean;
  /** A list whose members become exactly the contacts of the input. */
  members?: { listId: string; listName: string };
  /** What follows on the run once it is complete. */
  after?: readonly ListDeletion[];
  /** Names in flags, and what is created of them; the file's own come with the rows. */
  names?: WantedNames;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  toDesired(row: Row, names: NameBook): Desired;
  /** What becomes of those whom the file marks as not subscribed. */
  notSubscribedAre: MarkedAre;
  /** The same of those whose mark is not understood, where that is something else. */
  unclearAre?: MarkedAre;
  /** Whoever is on the suppression list is left out. */
  leavesOutSuppressed?: boolean;
  /** Conditions that choose the contacts: of the whole account, or of those that the input names. */
  selection?: Selection;
  /** What is wanted of every contact that conditions choose. */
  desiredForAll?(names: NameBook): Desired;
  /** The status decides what becomes of contacts: where no search tells it, they are read by their ids. */
  readsStatus?: boolean;
  /** One contact may be named twice, by its key and by its id; an import takes keys alone. */
  marksRepeats?: boolean;
  /** Lists that every contact that the conditions choose is in, should the pages not tell. */
  chosenLists?: IdRef[];
}

export interface WantedNames extends Pick<NameBookOptions, "lists" | "tags" | "isNew" | "fields"> {
  /**
   * Whether missing names are created; a function has a person agree to it first, and throws the failure, or a
   * DeclinedError, where they are not to be.
   */
  createMissing: boolean | ((failure: EcmError) => Promise<void>);
}

/** The steps by which a job reads its input. */
export interface RowReader {
  readonly account: Account;
  readonly structure: ContactStructure;
  /** Reads all rows once. @throws InterruptedError */
  survey(understood: UnderstoodInput): Promise<Survey>;
}

export async function openReader(context: RunContext): Promise<RowReader> {
  const { engine, emit } = context;
  let rowsRead = 0;
  emit({ kind: "phase", progress: () => createProgress(context, "reading", { rowsRead }) });
  const account = openAccount(context);
  const structure = await account.structure();
  return {
    account,
    structure,
    survey(understood) {
      emit({ kind: "understood", facts: understood.facts });
      return surveyInput(understood, engine.signal, (count) => {
        rowsRead = count;
      });
    },
  };
}

/** Rows that were read, and what is to be done with them. */
export interface RowsToPlan {
  reader: RowReader;
  /** Its path is empty where conditions choose the contacts. */
  file: InputFile;
  understood: UnderstoodInput;
  survey: Survey;
  work: RowWork;
}

/** The same with the run. */
export interface RowRun extends RunContext, RowsToPlan {
  readonly joined: JoinedRows;
  readonly names: NameBook;
}
