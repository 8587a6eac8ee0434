/** Commands that are killed at an exact moment. */
import { type Result, spawnEcm, waitForResult } from "../support/ecm.ts";
import type { Moment, RecordingProxy } from "./recording-proxy.ts";

/** Kills the command at each request for which this is true. @param loss what becomes of that request */
export async function runKilled(
  proxy: RecordingProxy,
  args: string[],
  isThen: (moment: Moment) => boolean,
  loss?: "drop",
): Promise<Result> {
  const child = spawnEcm(args, proxy.env);
  proxy.onRequest = (moment) => {
    if (!isThen(moment)) return undefined;
    child.kill("SIGKILL");
    return loss;
  };
  const result = await waitForResult(child);
  proxy.onRequest = () => undefined;
  return result;
}

/**
 * Starts the command until it ends by itself.
 * @param pickReach how many requests the next start may send; the one after `kills` deaths is left alone
 */
export async function runToItsEnd(
  proxy: RecordingProxy,
  args: string[],
  { kills, random, pickReach }: { kills: number; random: () => number; pickReach: () => number },
): Promise<{ killed: number; last: Result }> {
  for (let killed = 0; ; killed++) {
    const reach = killed < kills ? pickReach() : Number.POSITIVE_INFINITY;
    const at = proxy.arrived() + 1 + reach;
    const when = random() < 0.5 ? "before" : "after";
    const loss = random() < 0.5 ? "drop" : undefined;
    const isThen = (moment: Moment) => moment.count >= at && moment.when === when;
    const last = await runKilled(proxy, args, isThen, loss);
    if (last.code !== -1) return { killed, last };
  }
}
