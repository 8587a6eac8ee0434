/** A list's members, and which of them an input does not name. */

import { createEquals, createFilter } from "../../api/contacts.ts";
import { createIdentityReader, listPossibleKeys, type Survey } from "../../tables/index.ts";
import { TextIndex } from "../../text-index.ts";
import type { Contact } from "../../wire.ts";
import type { Desired } from "../desired.ts";
import type { Item } from "../items.ts";
import { findRemovalFailure } from "../plan/numbers.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import type { AccountSnapshot } from "../plan/snapshot.ts";
import { type PagesOptions, readAllPages } from "../plan/snapshot.ts";
import { toValues } from "../values.ts";
import { toPageItem } from "./entries.ts";
import type { MembersOptions } from "./job.ts";
import type { RowRun } from "./read-input.ts";

export interface Removals {
  count: number;
  limits: NonNullable<PlanHead["removals"]>;
  items(): Iterable<Item>;
}

/** Reads the members into the snapshot. */
export async function readMembers(
  snapshot: AccountSnapshot,
  pages: PagesOptions,
  { listId }: MembersOptions,
): Promise<void> {
  const filters = createFilter(createEquals("LIST_ID", [listId]));
  await readAllPages(snapshot, { ...pages, filters, lists: [{ _id: listId }] });
}

/**
 * Members that the input does not name, not even in a row that is rejected; none where the input is cut off.
 * Their places in the snapshot name them in the journal, after the input's lines.
 * @param isLastUnknown whether the account does not hold the contact of a last row that may be cut off
 * @throws UsageError when they are more than may be taken out; a dry run says so, and shows whom all the same
 */
export async function planRemovals(
  members: AccountSnapshot,
  rowRun: RowRun,
  list: MembersOptions,
  isLastUnknown: () => Promise<boolean>,
): Promise<Removals> {
  const { survey, structure, options, emit } = rowRun;
  const toIdentity = createIdentityReader(structure.keyType);
  const rejected = await collectRejectedIdentities(survey, toIdentity);
  const isCut = survey.rejectedCodes.has("truncated") || isStartOfMember(survey, members, toIdentity);
  const isNamed = ({ _id, key = "" }: Partial<Contact>) => {
    if (isCut) return true;
    const identity = toIdentity(key);
    if (survey.identities.has(identity) || rejected.has(identity)) return true;
    return _id !== undefined && rejected.has(_id.toLowerCase());
  };
  let total = 0;
  let count = 0;
  for (const contact of members.all()) {
    total++;
    if (!isNamed(contact)) count++;
  }
  const isLeftOut = count > 0 && (await isLastUnknown());
  if (isCut || isLeftOut) emit({ kind: "remark", remark: { code: "cut_off" } });
  const limits = { members: total, allowed: options.guards?.maxRemove };
  const refusal = isLeftOut ? undefined : findRemovalFailure(count, limits, list.listName);
  if (refusal && !options.isDryRun) throw refusal;
  if (refusal) emit({ kind: "remark", remark: { code: "would_be_refused", failure: refusal } });
  // Whoever is gone from the account is gone from the list.
  const removal: Desired = {
    values: toValues({ removeLists: [list.listId] }),
    absent: "leave",
    present: "change",
    mayJoinLists: true,
  };
  const desired = isLeftOut ? { skip: "truncated" } : removal;
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

/** The last row has no line end, and its key is the start of a member's key that the input does not name. */
function isStartOfMember(
  { openRow, identities }: Survey,
  members: AccountSnapshot,
  toIdentity: (key: string) => string,
): boolean {
  if (!openRow) return false;
  const start = openRow.key.identity;
  let hasLonger = false;
  for (const { key = "" } of members.all()) {
    const identity = toIdentity(key);
    if (identity === start) return false;
    hasLonger ||= identity.startsWith(start) && !identities.has(identity);
  }
  return hasLonger;
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
