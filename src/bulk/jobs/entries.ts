/**
 * What a job over rows puts into its plan, in order: the contacts of its input, those that conditions choose, or
 * members of a list whom the input does not name.
 */

import {
  createIdentityReader,
  findRole,
  listPossibleKeys,
  type ReadRow,
  type RejectedRow,
  type Row,
  type Survey,
} from "../../tables/index.ts";
import { TextIndex } from "../../text-index.ts";
import type { Contact } from "../../wire.ts";
import type { Desired } from "../desired.ts";
import type { Item } from "../items.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import { findRemovalFailure } from "../plan/numbers.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import type { StoredLine } from "../plan/plan-line.ts";
import type { AccountSnapshot } from "../plan/snapshot.ts";
import { toValues } from "../values.ts";
import type { RowRun } from "./row-work.ts";

/** One entry for each row, in file order; made when it is taken, so that few of a batch are in memory at once. */
export async function* readRowEntries(rowRun: RowRun): AsyncGenerator<Iterable<PlanEntry>> {
  for await (const rows of rowRun.survey.batches()) yield toEntries(rowRun, rows);
}

function* toEntries(rowRun: RowRun, rows: readonly ReadRow[]): Generator<PlanEntry> {
  for (const row of rows) {
    if (row.kind === "rejected") {
      yield toRejectedEntry(rowRun, row);
      continue;
    }
    const role = findRole(row, rowRun.joined);
    yield "passedOverFor" in role
      ? toSkippedEntry(rowRun, row, role.passedOverFor)
      : toRowItem(rowRun, role.representative, row.cells);
  }
}

function toRowItem({ survey, work, names }: RowRun, row: Row, cells: Row["cells"]): Item {
  const marked = survey.withMarks(row);
  const { line, key, keyFault } = row;
  // Of a file whose marks say who is meant, other rows are not.
  const isMeant = work.takesRow?.(marked) ?? true;
  return {
    ref: line,
    line,
    key,
    cells,
    mark: survey.describeMark(marked),
    desired: isMeant
      ? { ...work.toDesired(marked, names), ...refuseKey(keyFault) }
      : { skip: "not_selected" },
  };
}

/** No contact is created with a key that is wrong, although one that has it is looked for. */
function refuseKey(fault: Row["keyFault"]): Partial<Desired> {
  return fault ? { absent: { reject: fault } } : {};
}

function toRejectedEntry(rowRun: RowRun, row: RejectedRow): StoredLine {
  const { line, cells, code, message } = row;
  const mark = rowRun.survey.findHiddenMark(row);
  const key = findKeyCell(rowRun, row);
  return { line, key, contactId: null, action: "reject", code, message, changes: [], cells, mark };
}

/** Another row of the contact stands for it. */
function toSkippedEntry({ survey, joined, work, engine }: RowRun, row: Row, other: number): StoredLine {
  const { line, key, cells } = row;
  const marked = survey.withMarks(joined.groups.get(key.identity)?.row ?? row);
  return {
    line,
    key: key.sent,
    contactId: null,
    action: work.duplicates === "reject" ? "reject" : "skip",
    code: "duplicate",
    message: engine.describeReason({ code: "duplicate", line: other }),
    changes: [],
    cells,
    mark: survey.describeMark(marked),
    // Joined rows make one contact: fixing it takes all of them.
    of: work.duplicates === "merge" ? other : undefined,
  };
}

/** The cell that should have been a key, as it is written. */
function findKeyCell({ understood }: RowRun, { cells }: ReadRow): string {
  return cells[understood.reading.targets.findIndex(({ kind }) => kind === "key")] ?? "";
}

/**
 * Everyone on the pages for whom the conditions hold. A contact's place on the pages names it in the journal.
 */
export function* listSelectedItems(
  snapshot: AccountSnapshot,
  { work, names, reader }: RowRun,
): Generator<Item> {
  const toIdentity = createIdentityReader(reader.structure.keyType);
  const desired = work.desiredForAll!(names);
  // A contact that slid to another page was read twice.
  const seenIds = snapshot.isWhole() ? undefined : new Set<string>();
  let place = 0;
  for (const contact of snapshot.all()) {
    place++;
    if (seenIds?.has(contact._id ?? "")) continue;
    seenIds?.add(contact._id ?? "");
    if (!(work.selection?.holds(contact) ?? true)) continue;
    yield { ...toPageItem(place, contact, toIdentity), desired };
  }
}

/** A contact that no row names. */
function toPageItem(
  ref: number,
  contact: Partial<Contact>,
  toIdentity: (key: string) => string,
): Omit<Item, "desired"> {
  const key = contact.key ?? "";
  return {
    ref,
    line: null,
    key: { written: key, sent: key, identity: toIdentity(key) },
    cells: [key],
    contactId: contact._id,
    found: contact,
  };
}

interface Removals {
  count: number;
  limits: NonNullable<PlanHead["removals"]>;
  items(): Iterable<Item>;
}

/**
 * Members that the input does not name, not even in a row that is rejected; all are skipped where the input is cut
 * off.
 * Their places in the snapshot name them in the journal, after the input's lines.
 * @throws UsageError when they are more than may be taken out; a dry run says so, and shows whom all the same
 */
export async function planRemovals(
  members: AccountSnapshot,
  rowRun: RowRun,
  lookup: Lookup,
): Promise<Removals> {
  const { survey, reader, work, options, emit } = rowRun;
  const { listId, listName } = work.members!;
  const toIdentity = createIdentityReader(reader.structure.keyType);
  const rejected = await collectRejectedIdentities(survey, toIdentity);
  const isNamed = ({ _id = "", key = "" }: Partial<Contact>) => {
    const identity = toIdentity(key);
    return survey.identities.has(identity) || rejected.has(identity) || rejected.has(_id.toLowerCase());
  };
  const openKey = survey.openRow?.key.identity;
  let [total, count, isStart] = [0, 0, false];
  for (const contact of members.all()) {
    total++;
    if (isNamed(contact)) continue;
    count++;
    isStart ||= openKey !== undefined && toIdentity(contact.key ?? "").startsWith(openKey);
  }
  const isCut =
    survey.rejectedCodes.has("truncated") || (count > 0 && (await isLastRowCut(rowRun, lookup, isStart)));
  if (isCut) emit({ kind: "remark", remark: { code: "cut_off" } });
  const limits = { listId, members: total, allowed: options.guards?.maxRemove };
  const failure = isCut ? undefined : findRemovalFailure(count, limits, listName);
  if (failure && !options.isDryRun) throw failure;
  if (failure) emit({ kind: "remark", remark: { code: "would_be_refused", failure } });
  // Whoever is gone from the account is gone from the list.
  const removal: Desired = {
    values: toValues({ removeLists: [listId] }),
    absent: "leave",
    present: "change",
    mayJoinLists: true,
  };
  const desired = isCut ? { skip: "truncated" } : removal;
  function* items(): Generator<Item> {
    let place = 0;
    for (const contact of members.all()) {
      place++;
      if (isNamed(contact)) continue;
      yield { ...toPageItem(survey.lastLine + place, contact, toIdentity), desired, isRemoval: true };
    }
  }
  return { count, limits, items };
}

/**
 * Whether a last row without a line end, with which nothing else is wrong, is taken as cut off: nobody has its key,
 * and either no contact is created with it, or a member's key that the input does not name begins so.
 */
async function isLastRowCut(rowRun: RowRun, lookup: Lookup, isStartOfMember: boolean): Promise<boolean> {
  const { openRow } = rowRun.survey;
  if (!openRow) return false;
  const item = toRowItem(rowRun, openRow, openRow.cells);
  const isCreated = "absent" in item.desired && item.desired.absent === "create";
  if (isCreated && !isStartOfMember) return false;
  return (await lookup.find([item])).get(item.ref)?.contact === undefined;
}

/**
 * Whoever a rejected row may mean: what is wrong with the row
 * does not say that the person is to be taken out.
 */
async function collectRejectedIdentities(
  survey: Survey,
  toIdentity: (key: string) => string,
): Promise<TextIndex> {
  const rejected = new TextIndex();
  if (survey.rejected === 0) return rejected;
  for await (const rows of survey.batches()) {
    for (const row of rows) {
      if (row.kind !== "rejected") continue;
      for (const meant of listPossibleKeys(row.cells)) rejected.add(toIdentity(meant));
    }
  }
  return rejected;
}
