/**
 * Edits of a structure, as pure functions from the structure to the body of an update. Everything the service
 * sent is sent back, attributes we do not know included: an update replaces the whole structure.
 */
import type { ContactStructure, UpdateStructureBody } from "../wire.ts";

/** Attributes of a structure that the service assigns; all others are sent back as they came. */
const assigned = new Set(["_id", "createdAt", "updatedAt"]);

/** The update that changes nothing: the ground for every edit. A deep copy, free to change. */
export function structureBody(structure: ContactStructure): UpdateStructureBody {
  const copy = structuredClone(structure) as unknown as Record<string, unknown>;
  for (const name of assigned) delete copy[name];
  copy.tags ??= [];
  return copy as unknown as UpdateStructureBody;
}
