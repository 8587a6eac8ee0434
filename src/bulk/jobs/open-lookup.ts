/** Looking contacts up for a plan that says itself what is asked of them. */
import { type Behavior, createBehavior } from "../../service/behavior.ts";
import { createKeySearch } from "../../service/key-search.ts";
import type { LookupOptions } from "../plan/found.ts";
import { createLookup, type Lookup } from "../plan/lookup.ts";
import type { RunContext } from "../plan/run-context.ts";
import { createIdentityReader } from "../read/keys.ts";

interface AboutLookup
  extends Pick<LookupOptions, "structureId" | "keyType" | "source" | "asksHidden" | "listIds"> {
  /** Whether the status of contacts decides what becomes of them. */
  readsStatus?: boolean;
}

export function openLookup(
  { engine, send }: Pick<RunContext, "engine" | "send">,
  { readsStatus, ...about }: AboutLookup,
): { behavior: Behavior; lookup: Lookup } {
  const { structureId, keyType } = about;
  const behavior = engine.behaviors?.(structureId) ?? createBehavior();
  const identityOf = createIdentityReader(keyType);
  const keys = createKeySearch({
    send: send.searches,
    behavior,
    structureId,
    toIdentity: identityOf,
    readsStatus,
  });
  return { behavior, lookup: createLookup({ ...about, send, keys, behavior }) };
}
