/** A contact of a run as the plan keeps it, and back. Pure. */

import type { ContactKey } from "../../tables/index.ts";
import type { Item, Operation } from "../items.ts";
import { toDesiredFromCreate } from "./decide.ts";
import type { Planned, StoredLine } from "./plan-file.ts";
import type { PlanLine } from "./plan-line.ts";

/** The line of a contact, with what applying it needs. */
export function toStoredLine(line: PlanLine, item: Item, operation: Operation | undefined): StoredLine {
  const { mark } = item;
  if (!operation) {
    const ref = line.line === null ? { ref: item.ref } : {};
    return { ...line, cells: item.cells, ...(mark !== undefined && { mark }), ...ref };
  }
  const { kind: _kind, line: _line, found: _found, mark: _mark, ...kept } = item;
  const { cells, desired, key, ...more } = kept;
  const repeatsDesired =
    operation.kind === "create" && desired && [...desired.fields.values()].every((value) => value !== "");
  return {
    ...line,
    cells,
    ...(mark !== undefined && { mark }),
    apply: {
      ...more,
      key: toStoredKey(key),
      operation,
      ...(desired && !repeatsDesired && { desired: { ...desired, fields: [...desired.fields] } }),
    },
  };
}

function toStoredKey({ written, sent }: ContactKey): Planned["key"] {
  return { written, sent };
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
