/** The account of a run, and how its contacts are looked up and judged. */

import { restoreSelection } from "../../select/selection.ts";
import { Account } from "../../service/account.ts";
import { KeySearch } from "../../service/key-search.ts";
import { createIdentityReader } from "../../tables/index.ts";
import { createSuppressionRules } from "../plan/judge.ts";
import { Lookup } from "../plan/lookup.ts";
import type { RunContext } from "../plan/session.ts";
import type { Contacts, PlanDescription } from "./job.ts";

type Opening = Pick<RunContext, "engine" | "send">;

/** @param preferred the structure to work in; default: the one that flags or the profile name */
export function openAccount(
  { engine, send }: Opening,
  preferred = engine.account.preferredStructure,
): Account {
  const { behaviors, names } = engine;
  return new Account(send.plain, { preferred, behaviors, names });
}

/**
 * How contacts are looked up and judged: by what the head of their plan says and nothing else, so that a plan that
 * is closed needs no job.
 * @throws SuppressionsError; UsageError for a condition that speaks of what does not exist any more
 */
export async function openJudging(
  { engine, send }: Opening,
  account: Account,
  { structureId, keyType }: { structureId: string; keyType: string },
  { looks, source, listIds, selection, names }: PlanDescription,
): Promise<Pick<Contacts, "judging" | "lookup">> {
  const behavior = engine.behaviors(structureId);
  const toIdentity = createIdentityReader(keyType);
  const { readsStatus, marksRepeats, suppressions } = looks;
  const keys = new KeySearch({ send: send.searches, behavior, structureId, toIdentity, readsStatus });
  return {
    judging: {
      structureId,
      looks,
      suppression: createSuppressionRules(
        suppressions === "include" ? undefined : await engine.openSuppressions(),
      ),
      // The conditions as they were planned: their words may mean something else by now.
      selection: selection && (await restoreSelection(account, await account.structure(), selection)),
      names,
      describe: engine.describeReason,
    },
    lookup: new Lookup({
      send,
      clock: engine.clock,
      keys,
      structureId,
      keyType,
      source,
      behavior,
      marksRepeats,
      listIds,
    }),
  };
}
