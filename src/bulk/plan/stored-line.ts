/** A contact of a run as the plan keeps it, and back. Pure. */

import type { Contact } from "../../wire.ts";
import { seal, toBefore, toOperation } from "../decide.ts";
import { type Item, isSettled, type Write } from "../items.ts";
import type { Planned, StoredLine } from "./plan-file.ts";
import type { PlanLine } from "./plan-line.ts";

/** The line of a contact that is not written. */
export function toStoredLine(line: PlanLine, { ref, cells, mark }: Item): StoredLine {
  return {
    ...line,
    cells,
    ...(mark !== undefined && { mark }),
    ...(line.line === null && { ref }),
  };
}

/** The line of a contact that is written, with what applying it needs. */
export function toWriteLine(
  line: PlanLine,
  { ref, key: { written, sent }, cells, mark, desired, isRemoval }: Item,
  { operation, found }: { operation: Write; found: Partial<Contact> | undefined },
): StoredLine {
  if (isSettled(desired)) throw new Error("a settled contact is not written");
  const before = toBefore(operation, found);
  return {
    ...line,
    cells,
    ...(mark !== undefined && { mark }),
    apply: {
      ref,
      key: { written, sent },
      desired,
      ...(before && { before }),
      ...(isRemoval && { isRemoval }),
    },
  };
}

/** The contact that a line plans; one that the plan saw is not made anew. */
export function toPlannedItem(
  { line, cells = [], mark }: StoredLine,
  { ref, key, desired, before, isRemoval }: Planned,
  readIdentity: (key: string) => string,
): Item {
  return {
    kind: "contact",
    ref,
    line,
    cells,
    key: { ...key, identity: readIdentity(key.sent) },
    desired: seal(desired, before),
    ...(mark !== undefined && { mark }),
    ...(isRemoval && { isRemoval }),
    ...(before && { contactId: before.id }),
  };
}

/** What the line says is sent. */
export function toPlannedWrite(
  { code, message }: Pick<PlanLine, "code" | "message">,
  { key, desired, before }: Pick<Planned, "key" | "desired" | "before">,
  structureId: string,
): Write {
  const operation = toOperation(key.sent, desired, before, structureId);
  return code === null ? operation : { ...operation, remark: { code, message: message ?? "" } };
}
