/**
 * A line of a plan: what would be done about a contact and what would change, as people read it, and what
 * applying it needs. The operation that is sent follows from the line.
 */
import type { InferOutput } from "valibot";
import { findStatus, formatStatus, unsubscribed } from "../../api/contacts.ts";
import type { Cells } from "../../tables/index.ts";
import type { Contact } from "../../wire.ts";
import { isSettled, seal, toBefore, toOperation } from "../decide.ts";
import type { Decision, Item, Remark, Write } from "../desired.ts";
import { nameOf, type StoredNames } from "./name-book.ts";
import { isWrite } from "./numbers.ts";
import type * as schema from "./plan-schema.ts";

/** What people read: as `--plan` writes it, one JSON object a line. */
export type PlanLine = InferOutput<typeof schema.shown>;
export type PlanChange = InferOutput<typeof schema.change>;
export type Planned = InferOutput<typeof schema.planned>;
type Erased = InferOutput<typeof schema.erased>;

/** A line of a plan file: also what `ecm apply` needs. */
export type ExportedLine = InferOutput<typeof schema.line>;

/** A line of the run's own plan: also what the rejects file needs. */
export interface StoredLine extends ExportedLine {
  cells?: Cells;
  /** How its input marks the person as not subscribed. */
  mark?: string;
  /** The ref of the contact that stands for this row, where another row does. */
  of?: number;
  /** Where no row names the contact, and it is not written. */
  ref?: number;
}

/** Without what only `ecm apply` and the run itself read. */
export function toShownLine(planLine: PlanLine): PlanLine {
  const { line, key, contactId, action, code, message, changes } = planLine;
  return { line, key, contactId, action, code, message, changes };
}

/** What a line has for a contact that is to be written, unless the person was erased. */
export function isPlanned(apply: Planned | Erased | undefined): apply is Planned {
  return apply !== undefined && !("isErased" in apply);
}

const actions: Readonly<Record<Decision["kind"], PlanLine["action"]>> = {
  create: "create",
  change: "update",
  unsubscribe: "update",
  delete: "delete",
  leave: "unchanged",
  skip: "skip",
  reject: "reject",
};

/** A contact about which something was decided. @param found the contact, as far as it is known */
export function toPlanLine(
  { line, key, found }: { line: number | null; key: string; found?: Partial<Contact> },
  decision: Decision,
  names: StoredNames,
): PlanLine {
  // What is to be said of a contact although it is written, or why it is not.
  const remark: Partial<Remark> = ("remark" in decision ? decision.remark : undefined) ?? {};
  const { code = null, message = null } = "code" in decision ? (decision as Partial<Remark>) : remark;
  return {
    line,
    key: found?.key ?? key,
    contactId: ("id" in decision ? decision.id : found?._id) ?? null,
    action: actions[decision.kind],
    code,
    message,
    changes: toChanges(decision, found, names),
  };
}

function toChanges(
  decision: Decision,
  found: Partial<Contact> | undefined,
  names: StoredNames,
): PlanChange[] {
  if (decision.kind === "unsubscribe") {
    const before = formatStatus(decision.was ?? (found && findStatus(found)));
    return [{ what: "status", name: "status", before, after: formatStatus(unsubscribed)! }];
  }
  if (decision.kind !== "create" && decision.kind !== "change") return [];
  return decision.values.map(({ what, id, to, was }) => ({
    what,
    name: nameOf(names, what, id),
    before: was,
    after: to,
  }));
}

/** The line of a contact; of one that is written with what applying it needs. */
export function toStoredLine(
  item: Item,
  contact: Partial<Contact> | undefined,
  decision: Decision,
  names: StoredNames,
): StoredLine {
  const { ref, line, key, cells, mark, desired, isRemoval, contactId } = item;
  const found = contact ?? (contactId === undefined ? undefined : { _id: contactId });
  const stored = { ...toPlanLine({ line, key: key.sent, found }, decision, names), cells, mark };
  if (!isWrite(decision) || isSettled(desired)) return { ...stored, ...(line === null && { ref }) };
  const { written, sent } = key;
  const before = toBefore(decision, contact);
  return { ...stored, apply: { ref, key: { written, sent }, desired, before, isRemoval } };
}

/** The contact that a line plans; one that the plan saw is not made anew. */
export function toPlannedItem(
  { line, cells = [], mark }: StoredLine,
  { ref, key, desired, before, isRemoval }: Planned,
  readIdentity: (key: string) => string,
): Item {
  return {
    ref,
    line,
    cells,
    key: { ...key, identity: readIdentity(key.sent) },
    desired: seal(desired, before),
    mark,
    isRemoval,
    contactId: before?.id,
  };
}

/** What the line says is sent. */
export function toPlannedWrite(
  { code, message }: Pick<PlanLine, "code" | "message">,
  { key, desired, before }: Pick<Planned, "key" | "desired" | "before">,
): Write {
  const operation = toOperation(key.sent, desired, before);
  return code === null ? operation : { ...operation, remark: { code, message: message ?? "" } };
}

/** Whether what people read is what would be sent. */
export function isAsShown(line: PlanLine, { key, desired, before }: Planned, names: StoredNames): boolean {
  const operation = toOperation(key.sent, desired, before);
  const expected = toPlanLine({ line: line.line, key: line.key }, operation, names);
  // The status that a contact had may have been told by its look-up alone.
  const format = ({ changes }: PlanLine) =>
    JSON.stringify(
      changes.map(({ what, name, before: was, after }) => [what, name, what === "status" || was, after]),
    );
  return (
    (before !== undefined || key.sent === line.key) &&
    line.action === expected.action &&
    (expected.contactId === null || line.contactId === expected.contactId) &&
    format(line) === format(expected)
  );
}
