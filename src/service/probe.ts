/**
 * Finds out at once how the service behaves where its documents are silent: a few reads, and with leave one
 * contact of its own that is created, changed and deleted (`probe-writes.ts`). What is seen is learned; what
 * could not be seen stays open.
 */

import { listStructuresRequest, readStructures } from "../api/structures.ts";
import { EcmError, exitCodes, hasStatus } from "../errors.ts";
import type { Contact, ContactList, ContactStructure, RateLimits, Send } from "../wire.ts";
import { type Behavior, createBehavior } from "./behavior.ts";
import type { ProbeState } from "./probe-asking.ts";
import {
  probeInactive,
  probeLetterCase,
  probeListColumn,
  probeLists,
  probeManyKeys,
  probePages,
  probeSeveralKeys,
  probeStructure,
} from "./probe-points.ts";
import { type DetectedVariants, learnDetected } from "./probe-seen.ts";

export const maxProbeReads = 12;

export interface Probe {
  structure: ContactStructure;
  detected: DetectedVariants;
  reads: number;
}

export interface ProbeOptions {
  send: Send;
  behavior: Behavior;
  structure: ContactStructure;
  clock: { now(): number; sleep(milliseconds: number): Promise<void> };
  /** What the answers so far said of the limits. */
  limits(): RateLimits | undefined;
}

/**
 * At most 12 reads; a point that they do not reach stays open.
 * @throws what ends every command: 401, 429, no answer
 */
export async function probeReads(options: ProbeOptions): Promise<Probe> {
  const { behavior, structure, limits } = options;
  const detected: DetectedVariants = {};
  let reads = 0;
  const send: Send = (request, sendOptions) => {
    if (reads >= maxProbeReads) throw new NoReadsLeftError();
    reads++;
    return options.send(request, sendOptions);
  };
  // Asked afresh: what was learned earlier must not decide what is seen now.
  const asking: ProbeState = { send, structureId: structure._id, behavior: createBehavior() };
  const look = async (point: () => Promise<void>) => {
    try {
      await point();
    } catch (error) {
      if (error instanceof NoReadsLeftError || hasStatus(error, 400)) return;
      throw error;
    }
  };
  await look(async () => {
    const listed = readStructures(await send(listStructuresRequest())).find(
      ({ _id }) => _id === structure._id,
    );
    const isWhole =
      listed?.tags !== undefined && listed.fields.every((field) => field.required !== undefined);
    detected.structures = isWhole ? "whole" : "slim";
  });
  let lists: ContactList[] = [];
  await look(async () => {
    lists = await probeLists(asking, detected);
  });
  let contacts: Partial<Contact>[] = [];
  await look(async () => {
    contacts = await probePages(asking, detected);
  });
  const keys = contacts.map(({ key }) => key).filter((key) => key !== undefined);
  await look(() => probeSeveralKeys(asking, keys, detected));
  await look(() => probeManyKeys(asking, keys, detected));
  await look(() => probeLetterCase(asking, keys, detected));
  await look(() => probeInactive(asking, detected));
  await look(() => probeListColumn(asking, lists, detected));
  detected["hourly-headers"] = limits()?.hour ? "sent" : "missing";
  if (structure.tags === undefined) await look(() => probeStructure(asking, detected));
  learnDetected(behavior, detected, asking.behavior);
  return { structure, detected, reads };
}

/** The reads that a probe may spend are spent. */
class NoReadsLeftError extends EcmError {
  constructor() {
    super(exitCodes.failed, "No reads are left");
  }
}
