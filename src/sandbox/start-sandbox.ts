/** `ecm-cli/sandbox`: a sandbox for a test suite, in its own process. */
import { onProcessEnd } from "../disk/this-process.ts";
import type { SandboxAdmin } from "./admin.ts";
import { openSandbox } from "./index.ts";
import type {
  Admin,
  ClockChange,
  EventBody,
  LimitsChange,
  RequestQuery,
  ResetOptions,
  SandboxWorld,
  SeedData,
  StartedSandbox,
  StartSandboxOptions,
} from "./public-types.ts";
import { checkedOptions } from "./start-options.ts";
import { makeTemporaryFolder, removeTemporaryFolder } from "./temporary-folder.ts";
import type { World, Worlds } from "./worlds.ts";

/**
 * Starts one on a free port of 127.0.0.1. It does not keep its process alive, so a test suite that forgets to
 * stop it ends all the same.
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
  const forget = onProcessEnd(end);
  try {
    const sandbox = await openSandbox({ hourlyLimit: 1_000_000, monthlyLimit: 10_000_000, ...rest, folder });
    close = () => sandbox.close();
    const server = await sandbox.serve({ host: "127.0.0.1", port, keepsProcess: false });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= server.close().then(end);
      return stopped;
    };
    const requireRunning = () => {
      if (stopped) throw new Error("The sandbox was stopped; start another one with startSandbox");
    };
    return {
      baseUrl: server.baseUrl,
      apiKey: sandbox.ownKey(),
      structureId: sandbox.structureId,
      admin: publicAdmin(sandbox.admin, requireRunning),
      async world(given) {
        requireRunning();
        return publicWorld(await sandbox.worlds.create(given), sandbox.worlds, server.baseUrl);
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    end();
    throw error;
  }
}

function publicWorld(
  { id, root, apiKey, structureId, admin }: World,
  worlds: Worlds,
  url: string,
): SandboxWorld {
  const isOpen = () => worlds.find(id) !== undefined;
  const close = () => {
    if (isOpen()) worlds.close(id);
  };
  return {
    id,
    baseUrl: `${url}${root}`,
    apiKey,
    structureId,
    admin: publicAdmin(admin, () => {
      if (!isOpen()) throw new Error("The world was closed; open another one with world()");
    }),
    close: async () => close(),
    [Symbol.dispose]: close,
    [Symbol.asyncDispose]: async () => close(),
  };
}

/** The admin of an account as promises. @param requireOpen throws once the account was closed */
function publicAdmin(admin: SandboxAdmin, requireOpen: () => void): Admin {
  const whileRunning =
    <Arguments extends unknown[], Result>(act: (...given: Arguments) => Result) =>
    async (...given: Arguments): Promise<Result> => {
      requireOpen();
      return act(...given);
    };
  return {
    reset: whileRunning((options?: ResetOptions) => admin.reset(options)),
    seed: whileRunning((data: SeedData) => admin.seed(data)),
    requests: Object.assign(
      whileRunning((query?: RequestQuery) => admin.requests(query)),
      { clear: whileRunning(() => admin.clearRequests()) },
    ),
    clock: whileRunning((change?: ClockChange) => admin.clock(change)),
    faults: whileRunning((specs?: string[]) => admin.faults(specs)),
    limits: whileRunning((change?: LimitsChange) => admin.limits(change)),
    events: whileRunning((event: EventBody) => admin.event(event)),
    snapshots: Object.assign(
      whileRunning(() => admin.snapshots()),
      {
        save: whileRunning((name: string) => admin.saveSnapshot(name)),
        load: whileRunning((name: string) => admin.loadSnapshot(name)),
        remove: whileRunning((name: string) => admin.removeSnapshot(name)),
      },
    ),
  };
}
