/** One account with everything that acts on it. Two accounts share nothing. */
import { realClock } from "../clock.ts";
import type { Clock } from "../wire.ts";
import { SandboxAdmin } from "./admin.ts";
import type { AccountPlace, AdminApi, AdminPlace } from "./admin-api/place.ts";
import { applyHeaderVariant, createApp } from "./app.ts";
import { Faults } from "./faults.ts";
import { createLogEntry } from "./log-entry.ts";
import { ensureOwnKey } from "./own-key.ts";
import { refusalAnswer } from "./request.ts";
import { AccessControl, defaultBlocking } from "./rules/access-control.ts";
import { AccountLimits, defaultLimits } from "./rules/limits.ts";
import { createService, type Service } from "./service.ts";
import { type Store, serviceTime } from "./store/index.ts";
import { withSearchLag } from "./store/search-lag.ts";
import { TransactionQueue } from "./transaction-queue.ts";
import { type Variants, variantsFrom } from "./variants.ts";

export interface SandboxAccount {
  store: Store;
  service: Service;
  adminApi: AdminApi;
  admin: SandboxAdmin;
  /** A working key for the sandbox's own use, with every scope. */
  apiKey: string;
  /** A second time does nothing. */
  close(): void;
}

export interface SandboxAccountOptions {
  clock?: Clock;
  /** Requests per window; default 3,600. */
  hourlyLimit?: number;
  /** Length of the window; default 3,600. */
  windowSeconds?: number;
  /**
   * Requests per calendar month, UTC, until `ecm sandbox account` sets
   * another; default: the folder's, else 100,000.
   */
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
  /** False: the log stays empty, so that a benchmark can measure what it costs. */
  isLogged?: boolean;
  /** How it decides what the documents leave open: names and values as typed after `--variant`. */
  variants?: Record<string, unknown>;
}

/** @throws UsageError for a bad fault, variant or key */
export function createAccount(
  store: Store,
  options: SandboxAccountOptions,
  place: AccountPlace,
): SandboxAccount {
  const { clock = realClock } = options;
  const variants = variantsFrom(options.variants ?? {});
  const faults = new Faults(options.faults ?? []);
  const limits = createLimits(store, options);
  const admin = new SandboxAdmin(store, clock, { limits, faults });
  const closing = new AbortController();
  const { signal } = closing;
  const parts = { store, clock, variants, limits, faults, closing: signal };
  return {
    store,
    service: assembleService(options, parts),
    adminApi: lazyAdminApi(admin, { ...place, adminToken: options.adminToken, closing: signal }),
    admin,
    apiKey: ensureOwnKey(store, clock.now(), options.apiKey),
    close: () => {
      closing.abort();
      store.database.close();
    },
  };
}

function createLimits(
  store: Store,
  { hourlyLimit, windowSeconds, monthlyLimit }: SandboxAccountOptions,
): AccountLimits {
  return new AccountLimits(store, {
    hourly: hourlyLimit ?? defaultLimits.hourly,
    windowSeconds: windowSeconds ?? defaultLimits.windowSeconds,
    monthly: monthlyLimit,
  });
}

interface ServiceParts {
  store: Store;
  clock: Clock;
  variants: Variants;
  limits: AccountLimits;
  faults: Faults;
  closing: AbortSignal;
}

function assembleService(
  { blockAfter, blockSeconds, isLogged = true }: SandboxAccountOptions,
  { store, clock, variants, limits, faults, closing }: ServiceParts,
): Service {
  const queue = new TransactionQueue(store.database, [store.account, store.structures]);
  const lag = variants["search-lag"];
  const app = createApp({
    store: lag > 0 ? withSearchLag(store, lag, clock) : store,
    access: new AccessControl(store, limits, {
      blockAfter: blockAfter ?? defaultBlocking.blockAfter,
      blockSeconds: blockSeconds ?? defaultBlocking.blockSeconds,
    }),
    queue,
    clock,
    variants,
    isLogged,
  });
  return createService({
    app,
    pickFault: (method, path) => faults.pick(method, path),
    clock,
    closing,
    hourlyLimitReached(seconds) {
      const now = serviceTime(store, clock);
      return applyHeaderVariant(
        refusalAnswer(limits.hourlyLimitReached(now + seconds * 1000, now)),
        variants,
      );
    },
    async log(request, answer) {
      await queue.runInTransaction(() => {
        const now = serviceTime(store, clock);
        const { status = null, text = null } = answer ?? {};
        store.requests.add(createLogEntry({ request, body: undefined, status, answer: text, now }));
      });
    },
  });
}

/** The routes of /__sandbox/ load with the first request to them. */
function lazyAdminApi(admin: SandboxAdmin, place: AdminPlace): AdminApi {
  let loading: Promise<AdminApi> | undefined;
  return async (request, bindings) => {
    loading ??= import("./admin-api/routes.ts").then(({ adminRoutes }) => adminRoutes(admin, place));
    return (await loading)(request, bindings);
  };
}
