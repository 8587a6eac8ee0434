/** A contact of a run as the plan keeps it, and back. Pure. */
import type { Item, Operation } from "../items.ts";
import { toDesiredFromCreate } from "./decide.ts";
import type { Planned, StoredLine } from "./plan-file.ts";
import type { PlanLine } from "./plan-line.ts";

/** The line of a contact, with what applying it needs. */
export function toStoredLine(line: PlanLine, item: Item, operation: Operation | undefined): StoredLine {
  if (!operation) return { ...line, cells: item.cells, ...(line.line === null && { ref: item.ref }) };
  const {
    kind: _kind,
    line: _line,
    found: _found,
    consent: _consent,
    former: _former,
    others: _others,
    ...kept
  } = item;
  const { cells, desired, key, ...more } = kept;
  const repeatsDesired =
    operation.kind === "create" &&
    desired &&
    // What the old contact adds is read again.
    item.movesFrom === undefined &&
    !desired.onlyIfEmpty &&
    !desired.defaults &&
    [...desired.fields.values()].every((value) => value !== "");
  return {
    ...line,
    cells,
    apply: {
      ...more,
      key: { written: key.written, sent: key.sent },
      operation,
      ...(desired && !repeatsDesired && { desired: { ...desired, fields: [...desired.fields] } }),
    },
  };
}

/** The contact that a line plans. */
export function toPlannedItem(
  line: StoredLine & { apply: Planned },
  readIdentity: (key: string) => string,
): Item {
  const { key, operation, desired, ...more } = line.apply;
  const { ref } = more;
  const desiredContact = desired
    ? { ...desired, fields: new Map(desired.fields) }
    : operation.kind === "create"
      ? toDesiredFromCreate(operation.body)
      : undefined;
  return {
    ...more,
    kind: "contact",
    ref,
    line: line.line,
    cells: line.cells ?? [],
    key: { ...key, identity: readIdentity(key.sent) },
    ...(desiredContact && { desired: desiredContact }),
    // As the operation, with the ids of what was created since.
    ...("approved" in more && { approved: operation }),
  };
}
