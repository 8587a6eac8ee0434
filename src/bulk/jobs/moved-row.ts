/** What an import decides of a row that says under which key the person was known before. Pure. */
import type { Contact } from "../../wire.ts";
import type { Decision, DesiredContact, Item, OldContact } from "../items.ts";
import { type DecideOptions, decide, filledValuesOf, toDesiredFromCreate } from "../plan/decide.ts";
import type { RunEvent } from "../plan/events.ts";
import type { PlanTally } from "../plan/tally.ts";
import { hindranceOf, isActive } from "./move-pair.ts";

type RemarkEvent = Extract<RunEvent, { kind: "remark" }>;

/** Why a contact that exists is not changed by such a row; undefined where it is a row like any other. */
export function findMoveRefusal({ movesFrom, key }: Item, old: OldContact | undefined): Decision | undefined {
  if (movesFrom) {
    return { kind: "reject", code: "exists", message: "another contact was created with this key meanwhile" };
  }
  if (!old?.contact || !isActive(old.contact)) return undefined;
  const oldKey = old.contact.key ?? "";
  return {
    kind: "reject",
    code: "both_exist",
    message: `the old key ${oldKey} is an active contact too; merge them with: ecm contact move ${oldKey} ${key.sent} --merge`,
  };
}

/** Of a new key: the contact takes over what the old one has, unless that one has left. */
export function decideMovedRow(
  { key, desired }: Item,
  old: OldContact | undefined,
  options: DecideOptions,
): Decision {
  const plain = decide(key.sent, desired!, undefined, options);
  if (!old || plain.kind !== "create") return plain;
  const hindrance = hindranceOf(old);
  if (hindrance) return hindrance;
  const contact = old.contact!;
  if (!contact.fields || !contact.lists || !contact.tags) {
    const message = `the service does not tell all fields, lists and tags of ${contact.key ?? "the old contact"}`;
    return { kind: "reject", code: "old_not_told", message };
  }
  return decide(key.sent, addTo(contact, desired!), undefined, options);
}

/** What the row wants, and what the old contact has besides. */
function addTo(old: Partial<Contact>, desired: DesiredContact): DesiredContact {
  const fields = filledValuesOf(old);
  for (const [id, value] of desired.fields) {
    if (!(fields.has(id) && desired.onlyIfEmpty?.includes(id))) fields.set(id, value);
  }
  const taken = toDesiredFromCreate({ key: "", contactStructureId: "", lists: old.lists, tags: old.tags });
  return {
    ...desired,
    fields,
    addLists: [...new Set([...taken.addLists, ...desired.addLists])],
    addTags: [...new Set([...taken.addTags, ...desired.addTags])],
  };
}

/** What is said before the price of the people whom the input moves to another key. */
export function describeMoves({
  former,
  leftBefore,
  skipped,
}: PlanTally): Pick<RemarkEvent, "text" | "isAside">[] {
  const { moved_unsubscribed: left = 0 } = skipped;
  const remarks: Pick<RemarkEvent, "text" | "isAside">[] = [];
  if (former > 0) {
    const who = former === 1 ? "1 contact is" : `${former.toLocaleString("en-US")} contacts are`;
    remarks.push({
      text: `${who} unsubscribed under the old key, once the new one is written`,
      isAside: true,
    });
  }
  if (left > 0 && leftBefore.length > 0) {
    const who = left === 1 ? "1 person is" : `${left.toLocaleString("en-US")} people are`;
    const more =
      left > leftBefore.length ? [`  and ${(left - leftBefore.length).toLocaleString("en-US")} more`] : [];
    const names = leftBefore.map(({ line, key, oldKey }) => `  ${key} (line ${line}): left as ${oldKey}`);
    remarks.push({
      text: [`${who} not created: they have left under the old key`, ...names, ...more].join("\n"),
    });
  }
  return remarks;
}
