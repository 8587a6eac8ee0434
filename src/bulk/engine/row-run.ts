/** A row run whose input and account were read: its context, and the contacts that its rows name. */
import type { Account } from "../../service/account.ts";
import type { Behavior } from "../../service/behavior.ts";
import type { KeySearch } from "../../service/key-search.ts";
import { isErasedKey } from "../../service/key-spelling.ts";
import type { ContactStructure } from "../../wire.ts";
import { type HiddenContact, isHidden } from "../account/lookup.ts";
import type { NameBook } from "../account/names.ts";
import type { PagesOptions } from "../account/read-account.ts";
import type { Suppressions } from "../account/suppressions.ts";
import type { Understood } from "../input/index.ts";
import { type Joined, roleOf } from "../input/join.ts";
import type { RejectedRow, Row } from "../input/rows.ts";
import type { Survey } from "../input/survey.ts";
import type { Decision, DesiredContact, Item, Work } from "../items.ts";
import type { SettledByInput } from "../runs/report.ts";
import { type DecideOptions, decide, isMarked } from "./decide.ts";
import { isChosen, needsStatus, type ResolvedJob } from "./row-job.ts";
import type { RunContext } from "./run-context.ts";
import type { RunState, Session } from "./session.ts";

/** What was read of a run's input. */
export interface ReadInput extends RunContext {
  readonly job: ResolvedJob;
  readonly account: Account;
  readonly structure: ContactStructure;
  readonly understood: Understood;
  readonly survey: Survey;
  readonly joined: Joined;
}

/** Everything that is known of a row run before it is entered. */
export interface RowRun extends ReadInput {
  readonly behavior: Behavior;
  readonly keys: KeySearch;
  readonly names: NameBook;
  /** Present where suppressed keys are left out. */
  readonly suppressions?: Suppressions;
}

export type RowState = RowRun & RunState;
export type RowSession = RowRun & Session;

/** Rows that no request is needed for. */
export function settledByInput({ survey, joined, job }: ReadInput): SettledByInput {
  return {
    read: survey.read,
    rejectedCodes: survey.rejectedCodes,
    passedOver: joined.passedOver,
    passedOverAre: job.duplicates === "reject" ? "rejected" : "skipped",
  };
}

/** How pages of the account are read for this run. */
export function pagesOf(rowRun: RowRun): PagesOptions {
  const { send, behavior, keys, clock, job, structure, survey, options } = rowRun;
  const source = job.source(structure, survey);
  return {
    send,
    behavior,
    keys,
    clock,
    structureId: structure._id,
    source,
    readsStatus: needsStatus(job),
    concurrency: options.concurrency,
  };
}

export interface RowItem extends Item {
  row: Row;
  /** Once it was needed. */
  desired?: DesiredContact;
  isSuppressed?: boolean;
}

/** What becomes of rows without an item of their own. */
export interface PassedRows {
  rejected(row: RejectedRow): void;
  duplicate(row: Row, passedOverFor: number): void;
}

/** One item for each contact, in file order; rows that another row of the contact represents are passed over. */
export function workOf(rowRun: RowRun, passed?: () => PassedRows | undefined): Work<RowItem> {
  const { job, names, structure, suppressions } = rowRun;
  const decideOptions: DecideOptions = { ...job.decide, structureId: structure._id };
  const isSuppressed = (item: RowItem) => {
    item.isSuppressed ||= isErasedKey(item.key.sent) || (suppressions?.has(item.key.sent) ?? false);
    return item.isSuppressed;
  };
  const takes = ({ row }: RowItem) => job.takesRow?.(row) ?? true;
  return {
    batches: () => itemsOf(rowRun, passed),
    needsLookup: (item) => takes(item) && !isSuppressed(item),
    // An unsubscription or a deletion wants nothing of a contact that a mark could stand against.
    isMarked: job.edit ? undefined : (item, found) => isMarked(item.desired, found),
    decide(item, found) {
      if (!takes(item)) return { kind: "skip", code: "not_selected" };
      // Asked again for everyone who would be created: others add to the list meanwhile.
      if (item.isSuppressed || (!found && isSuppressed(item))) return { kind: "skip", code: "suppressed" };
      if (!found && item.row.keyFault) return { kind: "reject", ...item.row.keyFault };
      if (found && !isChosen(job, found)) return { kind: "skip", code: "not_selected" };
      if (isHidden(found)) return job.edit?.hidden ?? rejectHidden(found);
      if (job.edit) return found ? job.edit.decide(found, names) : job.edit.missing;
      item.desired ??= job.desiredContactOf(item.row, names);
      return decide(item.key.sent, item.desired, found, decideOptions);
    },
  };
}

async function* itemsOf(
  { survey, joined }: RowRun,
  passed: (() => PassedRows | undefined) | undefined,
): AsyncGenerator<RowItem[]> {
  for await (const rows of survey.batches()) {
    const told = passed?.();
    let items: RowItem[] = [];
    for (const row of rows) {
      const role = row.kind === "rejected" ? undefined : roleOf(row, joined);
      if (role && "representative" in role) {
        items.push(itemOf(role.representative, survey));
        continue;
      }
      if (!told) continue;
      // Whoever is told has taken the items before this row by then.
      if (items.length > 0) yield items;
      items = [];
      if (row.kind === "rejected") told.rejected(row);
      else told.duplicate(row, role!.passedOverFor);
    }
    if (items.length > 0) yield items;
  }
}

function itemOf(row: Row, { markedElsewhere }: Survey): RowItem {
  const mark = markedElsewhere.get(row.key.identity);
  const marked = mark
    ? {
        ...row,
        notSubscribed: row.notSubscribed ?? mark.notSubscribed,
        isMarkClear: row.isMarkClear || mark.isMarkClear,
      }
    : row;
  return { ref: row.line, key: row.key, row: marked };
}

/** The service would take the write, but nobody who looks for the contact sees it. */
function rejectHidden({ _id }: HiddenContact): Decision {
  const message = `the contact with this key is inactive, and no search shows it; name it by its id: ${_id}`;
  return { kind: "reject", code: "exists_hidden", message };
}
