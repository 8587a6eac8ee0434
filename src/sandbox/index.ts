/** The embedded service: the whole account behind two doors, in this process or behind a port. */
import { realClock } from "../clock.ts";
import type { Clock, Transport } from "../wire.ts";
import { operations as createOperations, type Operations } from "./admin-api/operations.ts";
import type { AdminApi } from "./admin-api/routes.ts";
import { asSent, createApp } from "./app.ts";
import { changeableFaults } from "./faults.ts";
import { entryOf } from "./log-entry.ts";
import { ownKeyOf } from "./own-key.ts";
import { answerOf, resultOf } from "./request.ts";
import { accessControlOf, defaultBlocking } from "./rules/access-control.ts";
import { accountLimitsOf, defaultLimits } from "./rules/limits.ts";
import { serviceOf } from "./service.ts";
import { openStore, serviceTime } from "./store/index.ts";
import { laggingBehind } from "./store/search-lag.ts";
import { transactionQueue } from "./transaction-queue.ts";
import type { OpenPort, PortOptions } from "./transports/http.ts";
import { inProcessTransport } from "./transports/in-process.ts";
import { variantsFrom } from "./variants.ts";

export interface SandboxOptions {
  /** Holds the database; made when it does not exist. Several processes may use one at once. */
  folder: string;
  clock?: Clock;
  /** Requests per window; default 3,600. */
  hourlyLimit?: number;
  /** Length of the window; default 3,600. */
  windowSeconds?: number;
  /** Requests per calendar month, UTC, until the owner sets another; default: the owner's, else 100,000. */
  monthlyLimit?: number;
  /** Failed authentications that block an address; default 20. */
  blockAfter?: number;
  /** How long they are counted together, and the block lasts; default 60. */
  blockSeconds?: number;
  /** As typed after `--fault`. */
  faults?: string[];
  /** Two letters in the keys that are made from now on; default: the folder's, else `us`. */
  region?: string;
  /** Ids of a new folder, and of every folder after a reset, are the same for the same seed. */
  seed?: number;
  /** The folder's own key from now on, in place of a random one. */
  apiKey?: string;
  /** Needed for /__sandbox/, and enough from anywhere; default: none, and only this machine is answered. */
  adminToken?: string;
  /** False: the log stays empty, so that a benchmark sees what it costs. */
  isLogged?: boolean;
  /** How it decides what the documents leave open: names and values as typed after `--variant`. */
  variants?: Record<string, unknown>;
}

export interface Sandbox {
  /** The door for this process: no network. Any base address will do. */
  transport: Transport;
  /** A working key for this process's own use, with every scope. Stays the same for one folder. */
  ownKey(): string;
  /** Id of the account's default structure. */
  structureId: string;
  /** What a test does to the sandbox beside using it. */
  operations: Operations;
  /** Puts the same application behind a port. */
  serve(options: PortOptions): Promise<OpenPort>;
  /** A second time does nothing. */
  close: () => void;
}

/** @throws UsageError for a bad fault or variant, or when the database binding is not installed. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const clock = options.clock ?? realClock;
  const { region, seed, apiKey: givenKey, adminToken } = options;
  const variants = variantsFrom(options.variants ?? {});
  const faults = changeableFaults(options.faults ?? []);
  const store = await openStore(options.folder, clock.now(), { region, seed });
  const limits = accountLimitsOf(store, {
    hourly: options.hourlyLimit ?? defaultLimits.hourly,
    windowSeconds: options.windowSeconds ?? defaultLimits.windowSeconds,
    monthly: options.monthlyLimit,
  });
  const access = accessControlOf(store, limits, {
    blockAfter: options.blockAfter ?? defaultBlocking.blockAfter,
    blockSeconds: options.blockSeconds ?? defaultBlocking.blockSeconds,
  });
  const takeTurn = transactionQueue(store.database, [store.account, store.structures, store.requests]);
  const operations = createOperations(store, clock, limits, faults);
  const admin = lazily(() =>
    import("./admin-api/routes.ts").then(({ adminRoutes }) => adminRoutes({ store, operations, adminToken })),
  );
  const lag = variants["search-lag"];
  const app = createApp({
    store: lag > 0 ? laggingBehind(store, lag, clock) : store,
    access,
    takeTurn,
    clock,
    variants,
    isLogged: options.isLogged ?? true,
  });
  const closing = new AbortController();
  const service = serviceOf({
    app,
    faultsOf: faults.of,
    clock,
    closing: closing.signal,
    hourIsOver(seconds) {
      const now = serviceTime(store, clock);
      return asSent(answerOf(resultOf(limits.hourIsOver(now + seconds * 1000, now))), variants);
    },
    async log(request, answer) {
      await takeTurn(() => {
        const now = serviceTime(store, clock);
        const { status = null, text = null } = answer ?? {};
        store.requests.add(entryOf({ request, body: undefined, status, answer: text, now }));
      });
    },
  });
  const both = {
    service,
    admin: async (...given: Parameters<AdminApi>) => (await admin())(...given),
  };
  const apiKey = ownKeyOf(store, clock.now(), givenKey);
  return {
    transport: inProcessTransport(both),
    ownKey: () => apiKey,
    structureId: store.structures.all()[0]!._id,
    operations,
    async serve(place) {
      const { openPort } = await import("./transports/http.ts");
      return openPort(both, place);
    },
    close: () => {
      closing.abort();
      store.requests.close();
      store.database.close();
    },
  };
}

function lazily<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}
