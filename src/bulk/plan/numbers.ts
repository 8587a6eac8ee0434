/** The numbers of a plan: what it holds, what its guards allow, and what it costs. */
import type { InferOutput } from "valibot";
import { isInactive } from "../../api/contacts.ts";
import { formatCount, formatCounted, quote, sumCounts } from "../../counts.ts";
import { EcmError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import type { Clock, Contact } from "../../wire.ts";
import { isSettled } from "../decide.ts";
import type { Decision, Item, Write } from "../desired.ts";
import type { Budget, BudgetOptions } from "../pace/budget.ts";
import type { PacedSend } from "../pace/paced-send.ts";
import { RunStop } from "../pace/run-stop.ts";
import type { GuardOptions, Limit } from "../runs/folder.ts";
import type { PlanCounts } from "../runs/report.ts";
import { nameOf } from "./name-book.ts";
import type * as schema from "./plan-schema.ts";

type PlanHead = Pick<InferOutput<typeof schema.head>, "kind" | "removals" | "names">;

export interface PlanTally extends PlanCounts {
  /** Unsubscribed; counted as updated too. */
  unsubscribed: number;
  /** Contacts that the account holds as inactive. */
  inactive: number;
  /** Contacts that the input marks as not subscribed, and the account holds as active. */
  marked: number;
  /** The first of them. */
  markedContacts: { line: number | null; key: string }[];
  /** Requests that the writes take, and the reads right before them. */
  requests: number;
  /** Contacts that are written, but not in all that was wanted. */
  remarks: number;
}

const maxContactsListed = 100;
export function createTally(): PlanTally {
  return {
    created: 0,
    updated: 0,
    unsubscribed: 0,
    removed: 0,
    deleted: 0,
    unchanged: 0,
    skipped: {},
    rejected: {},
    inactive: 0,
    marked: 0,
    markedContacts: [],
    requests: 0,
    remarks: 0,
  };
}

const writeKinds: readonly Decision["kind"][] = ["create", "change", "unsubscribe", "delete"];

export function isWrite(decision: Decision): decision is Write {
  return writeKinds.includes(decision.kind);
}

/** What the plan saw is never enough for unsubscriptions and deletions: the account cannot undo them. */
export function alwaysHasSecondLook<T extends Write>(
  write: T,
): write is Extract<T, { kind: "unsubscribe" | "delete" }> {
  return write.kind === "unsubscribe" || write.kind === "delete";
}

/** Contacts that the plan writes. */
export function countPlannedWrites({ created, updated, removed, deleted }: PlanTally): number {
  return created + updated + removed + deleted;
}

interface Decided {
  item: Item;
  decision: Decision;
  /** The contact as it was looked up. */
  contact: Partial<Contact> | undefined;
}

/** Counts a contact about which something was decided. @param readsBefore requests right before its write */
export function addToTally(tally: PlanTally, decided: Decided, readsBefore: number): void {
  const { item, decision, contact } = decided;
  if (isInactive(contact)) tally.inactive++;
  if (isMarked(decided)) {
    tally.marked++;
    if (tally.markedContacts.length < maxContactsListed)
      tally.markedContacts.push({ line: item.line, key: item.key.sent });
  }
  if (isWrite(decision)) {
    tally[toPlannedOutcome(item, decision)]++;
    tally.requests += 1 + readsBefore;
    if (decision.kind === "unsubscribe") tally.unsubscribed++;
    if (decision.remark) tally.remarks++;
  } else if (decision.kind === "leave") tally.unchanged++;
  else {
    const codes = decision.kind === "skip" ? tally.skipped : tally.rejected;
    codes[decision.code] = (codes[decision.code] ?? 0) + 1;
  }
}

/** Whether the input marks a contact as not subscribed that the account holds as active, or may hold so. */
function isMarked({ item: { desired }, contact }: Decided): boolean {
  return !isSettled(desired) && !desired.mayJoinLists && contact !== undefined && !isInactive(contact);
}

/** What a write counts as once it is carried out. */
export function toPlannedOutcome(
  item: Item,
  { kind }: Pick<Write, "kind">,
): "created" | "updated" | "removed" | "deleted" {
  if (kind === "create") return "created";
  if (kind === "delete") return "deleted";
  return item.isRemoval ? "removed" : "updated";
}

// Limits on what a plan may do are checked once it is closed, before its first write.

/** What a sync takes out of its list, unless more is allowed. */
const defaultMaxRemove: Limit = { percent: 10 };

/**
 * What the plan would do beyond its limits; of a run that has begun, what was done already counts too.
 * @param plan its head, and its file where it stays for a look
 */
export function findGuardFailure(
  tally: PlanTally,
  guards: GuardOptions = {},
  { head, file, isFirst }: { head: PlanHead; file?: string; isFirst: boolean },
): EcmError | undefined {
  const writes = countPlannedWrites(tally);
  const contacts = writes + tally.unchanged + sumCounts(tally.skipped);
  const { listId = "", members = 0 } = head.removals ?? {};
  const maxRemove = guards.maxRemove ?? (head.kind === "sync" && isFirst ? defaultMaxRemove : undefined);
  const ofMembers = `${formatCount(tally.removed)} of the ${formatCount(members)} members of ${quote(nameOf(head.names, "list", listId))}`;
  const ofContacts = (count: number) =>
    `${formatCounted(count, "contact")} (of ${formatCount(contacts)} looked at)`;
  const guarded: [flag: string, guard: Limit | undefined, count: number, of: number, what: string][] = [
    ["--max-remove", maxRemove, tally.removed, members, `remove ${ofMembers}`],
    ["--max-changes", guards.maxChanges, writes, contacts, `write to ${ofContacts(writes)}`],
    ["--max-delete", guards.maxDelete, tally.deleted, contacts, `delete ${ofContacts(tally.deleted)}`],
  ];
  const exceeded = guarded.find(([, guard, count, of]) => guard && exceedsLimit(count, guard, of));
  if (!exceeded) return undefined;
  const [flag, guard, count, , what] = exceeded;
  const limit = "rows" in guard! ? formatCount(guard.rows) : `${guard!.percent} %`;
  const look = file === undefined ? "--dry-run --plan plan.ndjson" : ecm`plan show ${toOperands(file)}`;
  const written = isFirst ? "Nothing was written" : "Nothing more was written";
  return usageError(
    `This would ${what}; ${flag} allows ${limit}`,
    advise`${written}. Look at the plan: ${look}; to allow it, pass ${flag} ${count}`,
    { type: "GuardError", allowedBy: [flag, `${count}`] },
  );
}

function exceedsLimit(count: number, guard: Limit, contacts: number): boolean {
  return "rows" in guard ? count > guard.rows : count * 100 > guard.percent * contacts;
}

export interface Price {
  estimate: {
    /** Every request of the whole invocation, look-ups and what was sent already included. */
    requests: number;
    /** Under the account's hourly limit. */
    seconds: number;
  };
  /** Requests still to be sent. */
  left: number;
  /** Left of the month, less what is reserved; undefined when the service did not say. */
  monthLeft?: number;
  fitsMonth: boolean;
  /** Contacts that would be written. */
  writes: number;
}

/** Why a run that costs this must not begin; undefined when the month holds it, or the run is limited. */
export function findMonthStop(
  { left, monthLeft = 0, fitsMonth }: Price,
  { maxRequests }: Pick<BudgetOptions, "maxRequests">,
): RunStop | undefined {
  if (fitsMonth || maxRequests !== undefined) return undefined;
  return new RunStop(
    "month",
    new EcmError(
      "budget",
      `This needs ${formatCount(left)} requests, and ${formatCount(monthLeft)} are left this month`,
      `Do a part of it now with --max-requests ${monthLeft}, and the rest next month with the same command`,
      { limit: "month", ...(monthLeft > 0 && { allowedBy: ["--max-requests", `${monthLeft}`] }) },
    ),
  );
}

/** What is left of a plan. */
export interface PlanRest {
  /** Contacts. */
  writes: number;
  /** Requests of the writes, and of the reads right before them. */
  requests: number;
  /** Keys whose look-up is repeated where the run waits before their contact is written. */
  changes: number;
  /** Requests of the second looks that are made in any case. */
  secondLooks?: number;
  /** Searches that repeat the look-ups of an earlier invocation; absent where this one has made them. */
  searches?: number;
}

/** What has been spent, and what the limits allow. */
interface Spending {
  send: Pick<PacedSend, "counts">;
  budget: Pick<Budget, "limits" | "clockOffset">;
  options: Pick<BudgetOptions, "reserve"> & { concurrency: number };
  clock: Pick<Clock, "now">;
}

/** Where the limit does not hold a run back, answers do. */
const secondsPerAnswer = 0.2;
const secondsPerHour = 3600;

/**
 * Where a run waits for the hour, contacts that are still to be changed are looked up again, so many in one
 * search. Windows that are used up are waited for; the last one takes as long as its answers do.
 */
export function computePlanPrice(
  { send, budget, options, clock }: Spending,
  { writes, requests, changes, secondLooks = 0, searches }: PlanRest,
  { further, blockSize }: { further: number; blockSize: number },
): Price {
  const { reserve, concurrency } = options;
  const { hour, month } = budget.limits;
  const leftNow = hour ? Math.max(0, hour.remaining - reserve) : Number.POSITIVE_INFINITY;
  const perWindow = Math.max(1, (hour?.limit ?? 0) - reserve);
  const later = Math.max(0, requests - leftNow);
  const lookedUpAgain =
    secondLooks > 0
      ? secondLooks + Math.ceil(later / perWindow)
      : Math.ceil(Math.min(changes, later) / blockSize);
  const left = requests + further + (searches ?? lookedUpAgain);
  const beyond = Math.max(0, left - leftNow);
  const fullWindows = Math.max(0, Math.ceil(beyond / perWindow) - 1);
  const now = (clock.now() + budget.clockOffset) / 1000;
  const untilReset = hour?.reset === undefined ? secondsPerHour : Math.max(0, hour.reset - now);
  const waiting = beyond > 0 ? untilReset + fullWindows * secondsPerHour : 0;
  const answered = beyond > 0 ? beyond - fullWindows * perWindow : left;
  const seconds = Math.ceil(waiting + (answered * secondsPerAnswer) / concurrency);
  const monthLeft = month && Math.max(0, month.remaining - reserve);
  return {
    estimate: { requests: send.counts.total + left, seconds },
    left,
    monthLeft,
    fitsMonth: monthLeft === undefined || left <= monthLeft,
    writes,
  };
}
