/** What a run does about a contact, once it was looked up: for the plan, and again for each second look. */
import { isErasedKey } from "../../api/key-spelling.ts";
import type { LocalCondition } from "../../service/contact-search.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import { decide, fromSettled, isSettled } from "../decide.ts";
import type { Decision, DescribeReason, Item, Remark } from "../desired.ts";
import type { Found } from "./lookup.ts";
import { nameOf, type StoredNames } from "./name-book.ts";
import type { Looks } from "./plan-file.ts";

/** What holds for every contact of a run, besides what is desired of each. */
export interface Judging {
  /** In which contacts are created. */
  structureId: string;
  looks: Looks;
  suppression: SuppressionRules;
  /** Conditions by which the contacts were chosen. */
  selection?: LocalCondition;
  /** The plan is made: a contact that is not chosen any more has changed since. */
  isSecondLook?: true;
  /** What fields, lists and tags are called; default: their ids. */
  names?: StoredNames;
  describe: DescribeReason;
}

/** Whether nobody may be created with this key. */
export interface SuppressionRules {
  holds(key: string): boolean;
  /** Asked when a write may leave: others may have changed the list meanwhile. */
  holdsNow(key: string): boolean;
}

/** @param suppressions absent where they are included */
export function createSuppressionRules(suppressions?: Suppressions): SuppressionRules {
  return {
    holds: (key) => isErasedKey(key) || (suppressions?.has(key) ?? false),
    holdsNow: (key) => isErasedKey(key) || (suppressions?.hasNow(key) ?? false),
  };
}

export function judge(item: Item, { refused, contact, isRepeated }: Found, judging: Judging): Decision {
  const { desired, key } = item;
  if (refused) return { kind: "reject", code: refused.type, message: refused.message };
  if (isRepeated) return { kind: "skip", code: "duplicate" };
  if (isSettled(desired)) return inWords(fromSettled(desired), judging);
  if (isPassedOver(item, judging)) return { kind: "skip", code: "suppressed" };
  const isChosen = contact === undefined || judging.selection?.holds(contact) !== false;
  if (!isChosen && !judging.isSecondLook) return { kind: "skip", code: "not_selected" };
  const decision = decide(key.sent, desired, contact);
  // A contact that is as wanted already is left, whether it meets the conditions or not.
  if (!isChosen && decision.kind !== "leave") return { kind: "skip", code: "changed" };
  const isBarred = decision.kind === "create" && judging.suppression.holds(key.sent);
  return isBarred ? { kind: "skip", code: "suppressed" } : inWords(decision, judging);
}

/** The decision with its reason in words: those that came with it, else those of its code. */
function inWords(decision: Decision, judging: Judging): Decision {
  if (decision.kind === "reject") return { kind: "reject", ...describe(decision, judging) };
  if (!("remark" in decision) || !decision.remark) return decision;
  return { ...decision, remark: describe(decision.remark, judging) };
}

function describe({ code, message, unmet }: Remark, { names, describe }: Judging): Remark {
  const parts = unmet?.map(({ what, id }) => ({ what, id, name: names ? nameOf(names, what, id) : id }));
  return { code, message: message ?? describe({ code, parts }) };
}

/** Whether the contact has to be looked up before it can be judged. */
export function needsLookup(item: Item, judging: Judging): boolean {
  return !isSettled(item.desired) && !isPassedOver(item, judging);
}

/** Whether the contact is read by its id right before its write. */
export function isReadById({ desired, contactId }: Item, { looks }: Pick<Judging, "looks">): boolean {
  return looks.by === "id" && contactId !== undefined && !isSettled(desired);
}

function isPassedOver({ key, isRemoval }: Item, { looks, suppression }: Judging): boolean {
  const isAsked = looks.by === "search" && looks.suppressions !== "hold" && !isRemoval;
  return isAsked && suppression.holds(key.sent);
}
