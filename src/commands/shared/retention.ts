/** From which time on runs are kept: `--older`, else ECM_KEEP_RUNS, else 90 days. */
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { parsePastTime } from "./flags.ts";

const defaultAge = "90d";

/**
 * In milliseconds since the epoch: what was last written before it is old.
 * @throws UsageError for an age that is none
 */
export function computeCutoffTime({ terminal, clock }: Context, older?: string): number {
  const [age, name] =
    older === undefined ? [terminal.env.ECM_KEEP_RUNS || defaultAge, "ECM_KEEP_RUNS"] : [older, "--older"];
  if (!/^\d+[mhdw]$/.test(age)) {
    throw new UsageError(
      `${name}: ${JSON.stringify(age)} is not an age`,
      `Give one such as ${defaultAge} or 12w`,
    );
  }
  return parsePastTime(age, name, clock.now());
}
