/**
 * What a job over rows puts into its plan: the contacts of its
 * input, or those that conditions choose, in order.
 */

import {
  createIdentityReader,
  findRole,
  type ReadRow,
  type RejectedRow,
  type Row,
} from "../../tables/index.ts";
import type { Contact } from "../../wire.ts";
import type { Desired } from "../desired.ts";
import type { Item } from "../items.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import type { StoredLine } from "../plan/plan-line.ts";
import type { AccountSnapshot } from "../plan/snapshot.ts";
import type { RowRun } from "./read-input.ts";

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

export function toRowItem({ survey, job, names }: RowRun, row: Row, cells: Row["cells"]): Item {
  const marked = survey.withMarks(row);
  const { line, key, keyFault } = row;
  // Of a file whose marks say who is meant, other rows are not.
  const isMeant = job.takesRow?.(marked) ?? true;
  return {
    ref: line,
    line,
    key,
    cells,
    mark: survey.describeMark(marked),
    desired: isMeant ? { ...job.toDesired(marked, names), ...refuseKey(keyFault) } : { skip: "not_selected" },
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
function toSkippedEntry({ survey, joined, job, engine }: RowRun, row: Row, other: number): StoredLine {
  const { line, key, cells } = row;
  const marked = survey.withMarks(joined.groups.get(key.identity)?.row ?? row);
  return {
    line,
    key: key.sent,
    contactId: null,
    action: job.duplicates === "reject" ? "reject" : "skip",
    code: "duplicate",
    message: engine.describeReason({ code: "duplicate", line: other }),
    changes: [],
    cells,
    mark: survey.describeMark(marked),
    // Joined rows make one contact: fixing it takes all of them.
    of: job.duplicates === "merge" ? other : undefined,
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
  { job, names, structure }: RowRun,
): Generator<Item> {
  const toIdentity = createIdentityReader(structure.keyType);
  const desired = job.desiredForAll!(names);
  // A contact that slid to another page was read twice.
  const seenIds = snapshot.isWhole() ? undefined : new Set<string>();
  let place = 0;
  for (const contact of snapshot.all()) {
    place++;
    if (seenIds?.has(contact._id ?? "")) continue;
    seenIds?.add(contact._id ?? "");
    if (!(job.selection?.holds(contact) ?? true)) continue;
    yield { ...toPageItem(place, contact, toIdentity), desired };
  }
}

/** A contact that no row names. */
export function toPageItem(
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
