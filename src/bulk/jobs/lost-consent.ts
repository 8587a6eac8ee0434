/** A file that said who has left in its last run, and does not any more. */

import type { RunContext } from "../plan/run-context.ts";
import { formatQuotedNames } from "../read/columns/column-names.ts";
import { isOurBookkeeping } from "../read/columns/map-columns.ts";
import type { UnderstoodInput } from "../read/reading.ts";
import { listRuns } from "../runs/find-runs.ts";

/**
 * An export that lost a column of consent lets in whoever has left. A column that is there and is not read as
 * consent was looked at.
 * @returns a sentence, where that is so
 */
export async function describeLostConsent(
  { engine }: RunContext,
  structureId: string,
  { file, facts }: UnderstoodInput,
): Promise<string | undefined> {
  if (facts.columns.length === 0) return undefined;
  const runs = await listRuns(engine.stateFolder);
  const last = runs.find(
    ({ manifest: { account, input } }) =>
      input.file === file.path &&
      account.baseUrl === engine.account.baseUrl &&
      account.structureId === structureId,
  );
  const names = new Set(facts.columns.map(({ name }) => name));
  const isLost = (name: string) => !names.has(name) && !isOurBookkeeping(name);
  const lost = last?.manifest.input.consentColumns?.filter(isLost) ?? [];
  if (!last || lost.length === 0) return undefined;
  return `${file.name} has lost ${formatQuotedNames(lost)}, which said who is not subscribed in run ${last.manifest.id}`;
}
