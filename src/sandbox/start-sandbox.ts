/** `ecm/sandbox`: a sandbox for a test suite, in its own process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Operations } from "./admin-api/operations.ts";
import { openSandbox } from "./index.ts";
import type { Admin, StartedSandbox, StartSandboxOptions } from "./public-types.ts";

/**
 * Starts one on a free port of 127.0.0.1.
 * @throws UsageError for a bad option, or when the database binding is not installed
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<StartedSandbox> {
  const { port = 0, folder: given, ...rest } = options;
  const folder = given ?? (await mkdtemp(join(tmpdir(), "ecm-sandbox-")));
  const discard = async () => {
    if (given === undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    const sandbox = await openSandbox({ hourlyLimit: 1_000_000, monthlyLimit: 10_000_000, ...rest, folder });
    try {
      const server = await sandbox.serve({ host: "127.0.0.1", port });
      let stopped: Promise<void> | undefined;
      return {
        baseUrl: server.baseUrl,
        apiKey: sandbox.ownKey(),
        structureId: sandbox.structureId,
        admin: adminOf(sandbox.operations),
        stop() {
          stopped ??= server.close().then(() => {
            sandbox.close();
            return discard();
          });
          return stopped;
        },
      };
    } catch (error) {
      sandbox.close();
      throw error;
    }
  } catch (error) {
    await discard();
    throw error;
  }
}

function adminOf(operations: Operations): Admin {
  return {
    reset: async (options) => operations.reset(options),
    seed: async (data) => operations.seed(data),
    requests: Object.assign(async (query?: Parameters<Admin["requests"]>[0]) => operations.requests(query), {
      clear: async () => operations.clearRequests(),
    }),
    clock: async (change) => operations.clock(change),
    faults: async (specs) => operations.faults(specs),
    limits: async (change) => operations.limits(change),
    events: async (event) => operations.event(event),
    snapshots: Object.assign(async () => operations.snapshots(), {
      save: async (name: string) => operations.saveSnapshot(name),
      load: async (name: string) => operations.loadSnapshot(name),
      remove: async (name: string) => operations.removeSnapshot(name),
    }),
  };
}
