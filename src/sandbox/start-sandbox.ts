/** `ecm-cli/sandbox`: a sandbox for a test suite, in its own process. */
import * as v from "valibot";
import { isObject } from "../json.ts";
import type { SandboxAdmin } from "./admin.ts";
import { parseBody } from "./admin-api/bodies.ts";
import { openSandbox } from "./index.ts";
import type { Admin, SandboxWorld, StartedSandbox, StartSandboxOptions } from "./public-types.ts";
import { maxWindowSeconds } from "./rules/limits.ts";
import { notObject } from "./rules/requests.ts";
import type { World, Worlds } from "./worlds.ts";

/**
 * Starts a sandbox on a free port of 127.0.0.1. It does not keep its process alive: a test suite that forgets
 * to stop it still ends.
 * @throws Error that begins with the name of a bad option; UsageError when the database binding is not
 *   installed
 */
export async function startSandbox(options: StartSandboxOptions = {}): Promise<StartedSandbox> {
  const { port = 0, ...rest } = parseBody(schema, options, "The options");
  const sandbox = await openSandbox({ hourlyLimit: 1_000_000, monthlyLimit: 10_000_000, ...rest });
  try {
    const server = await sandbox.serve({ host: "127.0.0.1", port, keepsProcess: false });
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= server.close().then(sandbox.close);
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
    sandbox.close();
    throw error;
  }
}

function publicWorld(
  { id, root, apiKey, structureId, admin }: World,
  worlds: Worlds,
  url: string,
): SandboxWorld {
  const requireOpen = () => {
    if (!worlds.isOpen(id)) throw new Error("The world was closed; open another one with world()");
  };
  const close = async () => {
    if (worlds.isOpen(id)) worlds.close(id);
  };
  return {
    id,
    baseUrl: `${url}${root}`,
    apiKey,
    structureId,
    admin: publicAdmin(admin, requireOpen),
    close,
    [Symbol.dispose]: () => void close(),
    [Symbol.asyncDispose]: close,
  };
}

/** The admin of an account as promises. @param requireOpen throws once the account was closed */
function publicAdmin(admin: SandboxAdmin, requireOpen: () => void): Admin {
  const whileOpen =
    <Arguments extends unknown[], Result>(act: (...given: Arguments) => Result) =>
    async (...given: Arguments): Promise<Result> => {
      requireOpen();
      return act(...given);
    };
  const { requests, snapshots } = admin;
  return {
    reset: whileOpen(admin.reset),
    seed: whileOpen(admin.seed),
    requests: Object.assign(whileOpen(requests), { clear: whileOpen(requests.clear) }),
    clock: whileOpen(admin.clock),
    faults: whileOpen(admin.faults),
    limits: whileOpen(admin.limits),
    events: whileOpen(admin.events),
    snapshots: Object.assign(whileOpen(snapshots), {
      save: whileOpen(snapshots.save),
      load: whileOpen(snapshots.load),
      remove: whileOpen(snapshots.remove),
    }),
  };
}

const maxPort = 65_535;
const maxRequests = 1_000_000_000;

const wholeNumber = (min: number, max: number) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return v.optional(
    v.pipe(v.number(message), v.integer(message), v.minValue(min, message), v.maxValue(max, message)),
  );
};
const matching = (pattern: RegExp, message: string) =>
  v.optional(v.pipe(v.string(message), v.regex(pattern, message)));
const notText = "must be a string";

const schema = v.strictObject(
  {
    folder: v.optional(v.pipe(v.string(notText), v.nonEmpty("must not be empty"))),
    port: wholeNumber(0, maxPort),
    hourlyLimit: wholeNumber(1, maxRequests),
    windowSeconds: wholeNumber(1, maxWindowSeconds),
    monthlyLimit: wholeNumber(1, maxRequests),
    faults: v.optional(v.array(v.string(notText), "must be an array of strings")),
    variants: v.optional(
      v.custom<Record<string, unknown>>(isObject, "must be an object of names and values"),
    ),
    region: matching(/^[a-z]{2}$/, "must be two lower-case letters, such as jp"),
    seed: wholeNumber(0, Number.MAX_SAFE_INTEGER),
    apiKey: matching(
      /^ecm_[a-z]{2}_[A-Za-z0-9]{43}$/,
      "must be an API key: ecm_us_ and 43 letters or digits",
    ),
    // An empty token would let everybody in.
    adminToken: matching(/^[\x21-\x7e]+$/, "must be ASCII characters without spaces, and not empty"),
  },
  notObject,
);
