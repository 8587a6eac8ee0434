/** `ecm/sandbox`: a sandbox for a test suite, in its own process. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../errors.ts";
import type { Operations } from "./admin-api/operations.ts";
import { openSandbox } from "./index.ts";
import type { Admin, StartedSandbox, StartSandboxOptions } from "./public-types.ts";

/**
 * Starts one on a free port of 127.0.0.1.
 * @throws UsageError for a bad option, or when the database binding is not installed
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<StartedSandbox> {
  refuseInvalid(options);
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

const least = { hourlyLimit: 0, windowSeconds: 1, monthlyLimit: 0, seed: 0 };

/** What commands refuse where their flags are read. @throws UsageError that names the option */
function refuseInvalid(options: StartSandboxOptions): void {
  const { region, adminToken } = options;
  for (const name of Object.keys(least) as (keyof typeof least)[]) {
    const value = options[name];
    if (value === undefined || (Number.isSafeInteger(value) && value >= least[name])) continue;
    throw new UsageError(`${name} must be a whole number from ${least[name]} up`);
  }
  if (region !== undefined && !/^[a-z]{2}$/.test(region)) {
    throw new UsageError("region must be two lower-case letters, such as jp");
  }
  // With an empty one, everybody would have it.
  if (adminToken !== undefined && !/^[\x21-\x7e]+$/.test(adminToken)) {
    throw new UsageError("adminToken must be ASCII characters without spaces, and not empty");
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
