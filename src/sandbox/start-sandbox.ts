/** `ecm/sandbox`: a sandbox for a test suite, in its own process. */
import { atProcessEnd } from "../disk/this-process.ts";
import type { Operations } from "./admin-api/operations.ts";
import { openSandbox } from "./index.ts";
import type { Admin, StartedSandbox, StartSandboxOptions } from "./public-types.ts";
import { checkedOptions } from "./start-options.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "./temporary-folder.ts";

/**
 * Starts one on a free port of 127.0.0.1. It does not keep its process alive: whoever forgets to stop it does not wait for it.
 * @throws UsageError for a bad option, or when the database binding is not installed
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<StartedSandbox> {
  const { port = 0, folder: given, ...rest } = checkedOptions(options);
  const folder = given ?? (await makeTemporaryFolder());
  let close = () => {};
  const end = () => {
    forget();
    close();
    if (given === undefined) removeTemporaryFolder(folder);
  };
  const forget = atProcessEnd(end);
  try {
    const sandbox = await openSandbox({ hourlyLimit: 1_000_000, monthlyLimit: 10_000_000, ...rest, folder });
    close = sandbox.close;
    const server = await sandbox.serve({ host: "127.0.0.1", port, keepsProcess: false });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= server.close().then(end);
      return stopped;
    };
    return {
      baseUrl: server.baseUrl,
      apiKey: sandbox.ownKey(),
      structureId: sandbox.structureId,
      admin: adminOf(sandbox.operations, () => stopped !== undefined),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    end();
    throw error;
  }
}

function adminOf(operations: Operations, isStopped: () => boolean): Admin {
  /** Rejects with what the work throws, and once the sandbox was stopped. */
  const whileRunning =
    <Arguments extends unknown[], Result>(work: (...given: Arguments) => Result) =>
    async (...given: Arguments): Promise<Result> => {
      if (isStopped()) throw new Error("The sandbox was stopped; start another one with startSandbox");
      return work(...given);
    };
  return {
    reset: whileRunning(operations.reset),
    seed: whileRunning(operations.seed),
    requests: Object.assign(whileRunning(operations.requests), {
      clear: whileRunning(operations.clearRequests),
    }),
    clock: whileRunning(operations.clock),
    faults: whileRunning(operations.faults),
    limits: whileRunning(operations.limits),
    events: whileRunning(operations.event),
    snapshots: Object.assign(whileRunning(operations.snapshots), {
      save: whileRunning(operations.saveSnapshot),
      load: whileRunning(operations.loadSnapshot),
      remove: whileRunning(operations.removeSnapshot),
    }),
  };
}
