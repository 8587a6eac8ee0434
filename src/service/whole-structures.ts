/** Structures with what a listing may leave out: each is read by itself when that is needed, once. */

import { getStructureRequest, readStructure } from "../api/structures.ts";
import { hasStatus, isNotOffered, UnreadableAnswerError } from "../errors.ts";
import type { ContactStructure, Send } from "../wire.ts";
import type { NamesCache } from "./names-cache.ts";

export function createWholeStructures(send: Send, names: NamesCache) {
  const byId = new Map<string, Promise<ContactStructure>>();
  /** Structures that were read by themselves: nothing more can be learned of them. */
  const wholes = new WeakSet<ContactStructure>();

  async function readWhole(structure: ContactStructure): Promise<ContactStructure> {
    const whole = await fetchWhole(send, structure);
    wholes.add(whole);
    return whole;
  }

  function keep(structureId: string, whole: Promise<ContactStructure>): Promise<ContactStructure> {
    byId.set(structureId, whole);
    return whole;
  }

  async function complete(structure: ContactStructure): Promise<ContactStructure> {
    const { _id: id, tags, __v: version } = structure;
    if (tags !== undefined && version !== undefined) return structure;
    const cached = byId.get(id);
    if (cached) return cached;
    const cachedWhole = names.take(({ whole }) => whole?.[id]?.item);
    return keep(id, cachedWhole ? Promise.resolve({ ...structure, ...cachedWhole }) : readWhole(structure));
  }

  async function forUpdate(structure: ContactStructure): Promise<ContactStructure> {
    const isComplete = structure.fields.every(({ required }) => required !== undefined);
    if (isComplete || wholes.has(structure)) return complete(structure);
    const cached = await byId.get(structure._id);
    return cached && wholes.has(cached) ? cached : keep(structure._id, readWhole(structure));
  }

  return { byId, complete, forUpdate };
}

/** One structure by itself; as it is when the service does not let a key read one. */
async function fetchWhole(send: Send, structure: ContactStructure): Promise<ContactStructure> {
  try {
    return { ...structure, ...readStructure(await send(getStructureRequest(structure._id))) };
  } catch (error) {
    if (hasStatus(error, 403, 404) || isNotOffered(error)) return structure;
    // The listing has all that is documented: it is as good as an answer that nobody can read.
    if (error instanceof UnreadableAnswerError && structure.tags && structure.__v !== undefined)
      return structure;
    throw error;
  }
}
