/**
 * A run over the rows of an input, or over contacts that conditions choose, before it begins: what it is handed, the
 * job that each command makes of it, and what is said while it goes on.
 */

import type { Readable } from "node:stream";
import { UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import type { Behavior, Behaviors } from "../../service/behavior.ts";
import type { KeySearch } from "../../service/key-search.ts";
import type { Selection } from "../../service/selection.ts";
import type { Clock, Contact, ContactStructure, RateLimits, Send } from "../../wire.ts";
import { type HiddenContact, isHidden } from "../account/lookup.ts";
import type { MissingNames, NameBook } from "../account/names.ts";
import type { Suppressions } from "../account/suppressions.ts";
import type { InputFile, Understood } from "../input/index.ts";
import { type Duplicates, type Joined, standingOf } from "../input/join.ts";
import type { NewField } from "../input/new-fields.ts";
import type { InputFacts, RejectedRow, Row } from "../input/rows.ts";
import type { Survey } from "../input/survey.ts";
import type { Decision, DesiredContact, Item, Work } from "../items.ts";
import type { Budget, BudgetOptions } from "../pacing/budget.ts";
import type { PacedSend } from "../pacing/paced-send.ts";
import type { Manifest } from "../runs/folder.ts";
import type { JournalFile } from "../runs/journal.ts";
import type { RowCounts, Summary } from "../runs/report.ts";
import { type DecideOptions, decide, isMarked } from "./decide.ts";
import type { Price } from "./estimate.ts";
import type { PlanSink } from "./plan.ts";

/** What a run is handed by the outside. */
export interface Engine {
  send: Send;
  clock: Clock;
  /** Its reason is an InterruptedError. */
  signal: AbortSignal;
  stateFolder: string;
  version: string;
  account: { baseUrl: string; profile?: string; isReadOnly: boolean; preferredStructure?: string };
  /** What earlier answers of this process said. */
  limits?: RateLimits;
  /** Opens the account's suppression list. @throws SuppressionsError */
  openSuppressions?(): Promise<Suppressions>;
  /** What is known of how the service behaves. Default: nothing. */
  behaviors?: Behaviors;
  /** A seam for a disk that fails. */
  openJournalFile?: (file: string) => JournalFile;
}

export interface RowJob {
  kind: Exclude<Manifest["kind"], "undo">;
  /** As it was named; a stream where that is no path; the path where it is not the name. */
  input: { name: string; stream?: Readable; path?: string };
  understand(file: InputFile, structure: ContactStructure): Promise<Understood>;
  /** Everything that decides a contact's outcome, as `resume` hands it back. */
  options: Record<string, unknown>;
  duplicates: Duplicates;
  /** Resolves what the flags name, before the input is surveyed. */
  resolve?(account: Account): Promise<void>;
  /** Refuses an input that cannot be meant. @throws UsageError */
  requireInput?(survey: Survey): void;
  /** A list whose members become exactly the contacts of the input. */
  members?: MembersOptions;
  /** Names in flags; the file's own come with the rows. */
  lists: string[];
  tags: string[];
  createMissing: boolean;
  /** Created before the first write; only a person at a terminal asks for them. */
  newFields?: readonly NewField[];
  decide: Omit<DecideOptions, "structureId">;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source(structure: ContactStructure, survey: Survey): string[];
  desiredContactOf(row: Row, names: NameBook): DesiredContact;
  /** What becomes of those whom the file marks as not subscribed, in words: `not created`. */
  notSubscribedAre: string;
  /** Whom the file marks is unsubscribed in the account. */
  unsubscribesMarked?: boolean;
  /** Whoever is on the suppression list is left out. */
  leavesOutSuppressed?: boolean;
  /** Lists that a wish can speak of. */
  listIds(names: NameBook): string[];
  /** Conditions that choose the contacts: of the whole account, or of those that the input names. Once resolved. */
  selection?(): Selection;
  /** The contacts come from the account's pages: there is no input. */
  isWithoutInput?: boolean;
  /** What is done to every contact that exists and is chosen, in place of what its row wants. */
  edit?: ContactEdit;
}

/** The same for every contact: a change, an unsubscription, a deletion. */
export interface ContactEdit {
  /** @param found as the account holds it: it exists, and it is chosen */
  decide(found: Partial<Contact>, names: NameBook): Decision;
  /** Of someone who is named and does not exist. */
  missing: Decision;
  /** Of someone who is inactive, and whom no search without a status shows. Default: rejected. */
  hidden?: Decision;
  /** How many it will be is known before the first write: everyone is looked up first. */
  looksFirst?: boolean;
}

export interface MembersOptions {
  listId(): string;
  listName: string;
  /** How many may be taken out. Default: 10 %. */
  maxRemove?: { rows: number } | { percent: number };
}

export interface RowItem extends Item {
  row: Row;
  wish?: DesiredContact;
  isSuppressed?: boolean;
}

export interface RunOptions extends BudgetOptions {
  isDryRun: boolean;
  isFresh: boolean;
  concurrency: number;
  /** Stops the run. Default: 50 with none accepted. */
  maxRejects?: { rows: number } | { percent: number };
  /** Where the rejects file goes besides the run folder. */
  rejects?: string;
  /** Takes the plan: of a dry run while it decides; of a real one all of it, before the first write. */
  plan?: PlanSink;
  /** Where the plan is written, for the manifest. */
  planFile?: string;
  /** Everyone is looked up before the first write, so that the price is exact. */
  looksFirst?: boolean;
  /**
   * Has the writes agreed to, between the price and the first of them. Not asked again once writing has begun.
   * @param created what the run creates in the account first
   */
  agree?(price: Price, created: MissingNames): Promise<void>;
  /**
   * Has a person settle what stops the preparation: columns without a target, names that do not exist.
   * @returns the job with what was answered
   * @throws the failure, when it is of another kind; DeclinedError; InterruptedError
   */
  clarify?(failure: unknown, job: RowJob): Promise<RowJob>;
  /** Writes the contacts that a deletion takes as they are, whole and on the disk before it returns. */
  backUp?: BackUp;
}

export interface BackUp {
  /** As the manifest keeps it. */
  target?: Manifest["backup"];
  /** @param folder of the run @returns the file's path */
  write(
    contacts: AsyncIterable<Partial<Contact>>,
    run: { folder: string; account: Account },
  ): Promise<string>;
}

/** What a run is doing, read whenever it is drawn. */
export interface RunStatus {
  phase: "reading" | "looking" | "working" | "reporting";
  /** While reading. */
  rowsRead?: number;
  /** Once everything is read. */
  rows?: () => RowCounts;
  price?: Price;
  send?: PacedSend;
  budget?: Budget;
}

export type RunEvent =
  | { kind: "status"; status: RunStatus }
  | { kind: "understood"; facts: InputFacts }
  | { kind: "surveyed"; survey: Survey; joined: Joined; notSubscribedAre: string }
  | { kind: "names-missing"; missing: MissingNames }
  | { kind: "input-changed"; older: string }
  | { kind: "entered"; run: string; isResumed: boolean; rows: RowCounts }
  | { kind: "priced"; price: Price }
  | { kind: "marked"; contacts: { line: number; key: string }[]; total: number; isUnsubscribed: boolean }
  /** `isAside`: nothing to be warned of. */
  | { kind: "remark"; text: string; isAside?: boolean }
  /** Refused before the first write: the error is thrown besides. */
  | { kind: "refused"; summary: Summary };

/** Everything that is known of a row run before it is entered. */
export interface Prepared {
  engine: Engine;
  job: RowJob;
  options: RunOptions;
  budget: Budget;
  send: PacedSend;
  account: Account;
  structure: ContactStructure;
  behavior: Behavior;
  keys: KeySearch;
  understood: Understood;
  survey: Survey;
  joined: Joined;
  names: NameBook;
  /** Present where suppressed keys are left out. */
  suppressions?: Suppressions;
  status: RunStatus;
  on: (event: RunEvent) => void;
}

/** What becomes of rows for which no item stands. */
export interface PassedRows {
  rejected(row: RejectedRow): void;
  duplicate(row: Row, passedOverFor: number): void;
}

/** One item for each contact, in file order; rows that another row stands for are passed over. */
export function workOf(prepared: Prepared, passed?: () => PassedRows | undefined): Work<RowItem> {
  const { job, survey, joined, names, structure, suppressions } = prepared;
  const decideOptions: DecideOptions = { ...job.decide, structureId: structure._id };
  const isSuppressed = (item: RowItem) => {
    item.isSuppressed ||= suppressions?.has(item.key.sent) ?? false;
    return item.isSuppressed;
  };
  return {
    async *items() {
      for await (const row of survey.rows()) {
        if (row.kind === "rejected") {
          passed?.()?.rejected(row);
          continue;
        }
        const standing = standingOf(row, joined);
        if (!("stands" in standing)) {
          passed?.()?.duplicate(row, standing.passedOverFor);
          continue;
        }
        const { stands } = standing;
        const notSubscribed = stands.notSubscribed ?? survey.markedByRejected.get(stands.key.identity);
        const marked = notSubscribed === stands.notSubscribed ? stands : { ...stands, notSubscribed };
        yield { ref: stands.line, key: stands.key, row: marked };
      }
    },
    needsLookup: (item) => !isSuppressed(item),
    isMarked: (item, found) => isMarked(item.wish, found),
    decide(item, found) {
      // Asked again for everyone who would be created: others add to the list meanwhile.
      if (item.isSuppressed || (!found && isSuppressed(item))) return { kind: "skip", code: "suppressed" };
      if (!found && item.row.keyFault) return { kind: "reject", ...item.row.keyFault };
      if (found && !isChosen(job, found)) return { kind: "skip", code: "not_selected" };
      if (isHidden(found)) return job.edit?.hidden ?? rejectHidden(found);
      if (job.edit) return found ? job.edit.decide(found, names) : job.edit.missing;
      item.wish ??= job.desiredContactOf(item.row, names);
      return decide(item.key.sent, item.wish, found, decideOptions);
    },
  };
}

/** The service would take the write, but nobody who looks for the contact sees it. */
function rejectHidden({ _id }: HiddenContact): Decision {
  const message = `the contact with this key is inactive, and no search shows it; name it by its id: ${_id}`;
  return { kind: "reject", code: "exists_hidden", message };
}

/** Whether the conditions hold for a contact. The service's own filters are held against it once more. */
export function isChosen({ selection }: RowJob, found: Partial<Contact>): boolean {
  return selection?.().holds(found) ?? true;
}

export function readOnly(): UsageError {
  return new UsageError(
    "Read-only mode: this command would write; nothing was sent",
    "Leave out --read-only, ECM_READ_ONLY, or the profile's own setting; or preview with --dry-run",
    { type: "ReadOnlyError" },
  );
}
