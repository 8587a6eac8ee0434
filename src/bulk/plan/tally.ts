/** What a plan holds so far, in numbers. */
import { isInactive } from "../../api/contacts.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, Item, Write } from "../items.ts";

/** Contacts; rows that stand for none are counted with the input. */
export interface PlanTally {
  created: number;
  updated: number;
  /** Of these, who is unsubscribed. */
  unsubscribed: number;
  /** Taken out of a list by a sync. */
  removed: number;
  deleted: number;
  unchanged: number;
  /** By code. */
  skipped: Record<string, number>;
  rejected: Record<string, number>;
  /** Whom the account holds as inactive. */
  inactive: number;
  /** Whom the input marks as not subscribed, and the account holds as active. */
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

/** Neither can be undone in the account: what the plan saw is never enough. */
export function alwaysHasSecondLook<T extends Write>(
  write: T,
): write is Extract<T, { kind: "unsubscribe" | "delete" }> {
  return write.kind === "unsubscribe" || write.kind === "delete";
}

/** Contacts that the plan writes. */
export function countPlannedWrites({ created, updated, removed, deleted }: PlanTally): number {
  return created + updated + removed + deleted;
}

/** Counts a contact about which something was decided. */
export function addToTally(tally: PlanTally, decided: TalliedDecision, readsBefore: number): void {
  const { item, decision } = decided;
  if (isInactive(decided.found)) tally.inactive++;
  if (decided.isMarked) addMarked(tally, decided);
  if (isWrite(decision)) addWrite(tally, item, decision, readsBefore);
  else if (decision.kind === "leave") tally.unchanged++;
  else {
    const codes = decision.kind === "skip" ? tally.skipped : tally.rejected;
    codes[decision.code] = (codes[decision.code] ?? 0) + 1;
  }
}

function addMarked(tally: PlanTally, { item }: TalliedDecision): void {
  tally.marked++;
  if (tally.markedContacts.length >= maxContactsListed) return;
  tally.markedContacts.push({ line: item.line, key: item.key.sent });
}

function addWrite(tally: PlanTally, item: Item, operation: Write, readsBefore: number): void {
  tally[toPlannedOutcome(item, operation)]++;
  tally.requests += 1 + readsBefore;
  if (operation.kind === "unsubscribe") tally.unsubscribed++;
  if (operation.remark) tally.remarks++;
}

export interface TalliedDecision {
  item: Item;
  decision: Decision;
  found: Partial<Contact> | undefined;
  isMarked: boolean;
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
