/** What a run does about a contact, once it was looked up: for the plan, and again for each second look. */
import { isErasedKey } from "../../api/key-spelling.ts";
import type { SelectionCheck } from "../../select/selection.ts";
import type { Suppressions } from "../../suppressions/suppressions.ts";
import { decide } from "../decide.ts";
import type { DesiredValue, Reason, Verdict } from "../desired.ts";
import {
  type Decision,
  type DescribeReason,
  type Item,
  isSettled,
  type Remark,
  type Settled,
} from "../items.ts";
import type { Found } from "./lookup.ts";
import { nameOf, type StoredNames } from "./names.ts";
import type { Looks } from "./plan-file.ts";

/** What holds for every contact of a run, besides what is desired of each. */
export interface Judging {
  /** In which contacts are created. */
  structureId: string;
  looks: Looks;
  suppression: SuppressionRules;
  /** Conditions by which the contacts were chosen. */
  selection?: SelectionCheck;
  /** The plan is made: whoever is not chosen any more has changed since. */
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

export function judge(item: Item, found: Found, judging: Judging): Decision {
  const { desired, key } = item;
  const { refused, contact } = found;
  if (refused) return { kind: "reject", code: refused.type, message: refused.message };
  if (found.isRepeated) return { kind: "skip", code: "duplicate" };
  if (isSettled(desired)) return fromSettled(desired, judging);
  if (isPassedOver(item, judging)) return { kind: "skip", code: "suppressed" };
  const isChosen = contact === undefined || judging.selection?.holds(contact) !== false;
  if (!isChosen && !judging.isSecondLook) return { kind: "skip", code: "not_selected" };
  const verdict = decide(key.sent, desired, contact);
  const decision =
    "unmet" in verdict ? fromVerdict(verdict, key.sent, judging) : fromSettled(verdict, judging);
  // Who is as wanted already needs no conditions.
  return isChosen || decision.kind === "leave" ? decision : { kind: "skip", code: "changed" };
}

function fromVerdict(
  { do: operation, unmet }: Extract<Verdict, { unmet: unknown }>,
  key: string,
  judging: Judging,
): Decision {
  const remark = unmet.length === 0 ? undefined : toNotRestoredRemark(unmet, judging);
  if (!operation) return remark ? { kind: "reject", ...remark } : { kind: "leave" };
  const isKept = operation.kind === "create" && judging.suppression.holds(key);
  if (isKept) return { kind: "skip", code: "suppressed" };
  return remark ? { ...operation, remark } : operation;
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

function fromSettled(settled: Settled, judging: Judging): Decision {
  return "skip" in settled
    ? { kind: "skip", code: settled.skip }
    : { kind: "reject", ...describe(settled.reject, judging) };
}

/** In the words of whoever said it, if they did. */
function describe({ message, ...reason }: Reason, judging: Judging): Remark {
  return { code: reason.code, message: message ?? judging.describe(reason) };
}

function toNotRestoredRemark(unmet: readonly DesiredValue[], { names, describe }: Judging): Remark {
  const code = "changed_since";
  const parts = unmet.map(({ what, id }) => ({ what, id, name: names ? nameOf(names, what, id) : id }));
  return { code, message: describe({ code, parts }) };
}
