/** The account of a run, and how its contacts are looked up. */

import { Account } from "../../service/account.ts";
import type { Behavior } from "../../service/behavior.ts";
import { KeySearch } from "../../service/key-search.ts";
import { createIdentityReader } from "../../tables/index.ts";
import { createSuppressionRules, type SuppressionRules } from "../plan/judge.ts";
import { Lookup, type LookupOptions } from "../plan/lookup.ts";
import type { Looks } from "../plan/plan-file.ts";
import type { RunContext } from "../plan/session.ts";

type Opening = Pick<RunContext, "engine" | "send">;

/** @param preferred the structure to work in; default: the one that flags or the profile name */
export function openAccount(
  { engine, send }: Opening,
  preferred = engine.account.preferredStructure,
): Account {
  const { behaviors, creatingNames } = engine;
  return new Account(send.plain, { preferred, behaviors, creatingNames });
}

interface AboutKeys extends Pick<LookupOptions, "structureId" | "keyType"> {
  /** Whether the status of contacts decides what becomes of them. */
  readsStatus?: boolean;
}

export function openKeySearch(
  { engine, send }: Opening,
  { structureId, keyType, readsStatus }: AboutKeys,
): { behavior: Behavior; keys: KeySearch } {
  const behavior = engine.behaviors(structureId);
  const toIdentity = createIdentityReader(keyType);
  const keys = new KeySearch({ send: send.searches, behavior, structureId, toIdentity, readsStatus });
  return { behavior, keys };
}

/** For a plan that says itself what is asked of its contacts. */
export function openLookup(
  context: Opening,
  about: AboutKeys & Pick<LookupOptions, "source" | "marksRepeats" | "listIds">,
): Lookup {
  return new Lookup({ ...about, send: context.send, ...openKeySearch(context, about) });
}

/** Whom the run does not create. @throws SuppressionsError */
export async function openSuppressionRules(
  { openSuppressions }: Pick<RunContext["engine"], "openSuppressions">,
  { suppressions }: Looks,
): Promise<SuppressionRules> {
  return createSuppressionRules(suppressions === "include" ? undefined : await openSuppressions());
}
