/** What an import decides of a row that says under which key the person was known before. Pure. */
import { formatCount, formatCounted } from "../../counts.ts";
import type { Contact } from "../../wire.ts";
import type { Decision, DesiredContact, Item, OldContact } from "../items.ts";
import { type DecideOptions, decide, filledValues, toDesiredFromCreate } from "../plan/decide.ts";
import type { RunEvent } from "../plan/events.ts";
import { isActive } from "../plan/found.ts";
import type { PlanTally } from "../plan/tally.ts";
import { findHindrance } from "./move-pair.ts";

type RemarkEvent = Extract<RunEvent, { kind: "remark" }>;

/** Why a contact that exists is not changed by such a row; undefined where it is a row like any other. */
export function findMoveRefusal(
  { movesFrom, key, desired }: Item,
  old: OldContact | undefined,
): Decision | undefined {
  if (movesFrom) {
    return { kind: "reject", code: "exists", message: "another contact was created with this key meanwhile" };
  }
  // Whom the file marks is unsubscribed under both keys.
  if (!old?.contact || !isActive(old.contact) || desired?.unsubscribes) return undefined;
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
  const hindrance = findHindrance(old);
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
  const fields = filledValues(old);
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

type Said = Pick<RemarkEvent, "text" | "isAside">;

/** What is said before the price of people who move, or who may have left under another key. */
export function describeMoves(tally: PlanTally): Said[] {
  const { former, moved, leftBefore, skipped, knownInactive, knownInactiveContacts } = tally;
  const { unsubscribed, deleted } = tally;
  const { moved_unsubscribed: left = 0 } = skipped;
  const said: Said[] = [];
  if (moved > 0 && unsubscribed + deleted > 0) {
    const who = formatCounted(moved, "contact is", "contacts are");
    const how = deleted > 0 ? "deleted" : "unsubscribed";
    said.push({ text: `${who} ${how} under the old key, once the new one is written`, isAside: true });
  }
  if (former > moved) {
    const who = formatCounted(former - moved, "contact", "contacts");
    said.push({
      text: `${who} that the file marks: unsubscribed under another key of the row`,
      isAside: true,
    });
  }
  if (left > 0 && leftBefore.length > 0) {
    const who = formatCounted(left, "person is", "people are");
    const names = leftBefore.map(({ line, key, oldKey }) => `  ${key} (line ${line}): left as ${oldKey}`);
    said.push(listNames(`${who} not created: they have left under another key`, names, left));
  }
  if (knownInactive > 0) {
    const who = formatCounted(
      knownInactive,
      "contact would be created that has",
      "contacts would be created that have",
    );
    const names = knownInactiveContacts.map(
      ({ line, key, field, value, inactive }) =>
        `  ${key} (line ${line}): ${field} ${value} is that of ${inactive}`,
    );
    said.push(listNames(`${who} a unique value of somebody inactive:`, names, knownInactive));
  }
  return said;
}

function listNames(title: string, names: readonly string[], total: number): Said {
  const more = total > names.length ? [`  and ${formatCount(total - names.length)} more`] : [];
  return { text: [title, ...names, ...more].join("\n") };
}
