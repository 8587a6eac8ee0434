/** The bulk runs that a client may see. */
import type { RunView } from "../../bulk/index.ts";
import { NotFoundError, UsageError } from "../../errors.ts";
import type { Invoke } from "./invoke.ts";

/**
 * Of the account that the server was started for: what other accounts hold is none of the client's business.
 */
export async function readOwnRuns(invoke: Invoke, signal: AbortSignal): Promise<RunView[]> {
  return (await invoke(["runs", "list", "--own"], { signal })).value as RunView[];
}

/** @param wanted an id, the start of one, or `last` @throws NotFoundError, UsageError */
export function findRun(runs: readonly RunView[], idOrLast: string): RunView {
  const exact = runs.filter(({ run }, index) => run === idOrLast || (idOrLast === "last" && index === 0));
  const found = exact.length > 0 ? exact : runs.filter(({ run }) => run.startsWith(idOrLast));
  if (found.length > 1)
    throw new UsageError(`${JSON.stringify(idOrLast)} matches several runs`, "Give the whole id");
  if (found[0]) return found[0];
  throw new NotFoundError(`This account has no run ${JSON.stringify(idOrLast)}`, "See runs_list");
}
