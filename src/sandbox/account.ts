/** One account with everything that acts on it. Two accounts share nothing. */
import { realClock } from "../clock.ts";
import type { Clock } from "../wire.ts";
import { SandboxAdmin } from "./admin.ts";
import type { AccountPlace, AdminApi, AdminPlace } from "./admin-api/place.ts";
import { createApp } from "./app.ts";
import { Faults } from "./faults.ts";
import { ensureOwnKey } from "./key-admin.ts";
import { AccessControl, defaultBlocking } from "./rules/access-control.ts";
import { AccountLimits, defaultLimits } from "./rules/limits.ts";
import { createService, type Service } from "./service.ts";
import { type Store, withSearchLag } from "./store/index.ts";
import { TransactionQueue } from "./transaction-queue.ts";
import { variantsFrom } from "./variants.ts";

export interface SandboxAccount {
  store: Store;
  service: Service;
  adminApi: AdminApi;
  admin: SandboxAdmin;
  /** A working key for the sandbox's own use, with every scope. */
  apiKey: string;
  /** Closing twice does nothing. */
  close(): void;
}

export interface SandboxAccountOptions {
  clock?: Clock;
  /** Requests per window; default 3,600. */
  hourlyLimit?: number;
  /** Length of the window in seconds; default 3,600. */
  windowSeconds?: number;
  /**
   * Requests per calendar month, UTC, until `ecm sandbox account` sets another; default: the folder's, else
   * 100,000.
   */
  monthlyLimit?: number;
  /** Failed authentications that block an address; default 20. */
  blockAfter?: number;
  /** Seconds for which failures are counted together, and for which the block lasts; default 60. */
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
  const { clock = realClock, isLogged = true } = options;
  const variants = variantsFrom(options.variants ?? {});
  const faults = new Faults(options.faults ?? []);
  const limits = new AccountLimits(store, {
    hourly: options.hourlyLimit ?? defaultLimits.hourly,
    windowSeconds: options.windowSeconds ?? defaultLimits.windowSeconds,
    monthly: options.monthlyLimit,
  });
  const access = new AccessControl(store, limits, {
    blockAfter: options.blockAfter ?? defaultBlocking.blockAfter,
    blockSeconds: options.blockSeconds ?? defaultBlocking.blockSeconds,
  });
  const queue = new TransactionQueue(store.database, [store.account, store.structures]);
  const searched = withSearchLag(store, variants["search-lag"], clock);
  const app = createApp({ store: searched, access, queue, clock, variants, isLogged });
  const admin = new SandboxAdmin(store, clock, { limits, faults });
  const closing = new AbortController();
  const { signal } = closing;
  return {
    store,
    service: createService({ app, store, queue, faults, limits, clock, variants, closing: signal }),
    adminApi: lazyAdminApi(admin, { ...place, adminToken: options.adminToken, closing: signal }),
    admin,
    apiKey: ensureOwnKey(store, clock.now(), options.apiKey),
    close: () => {
      closing.abort();
      store.database.close();
    },
  };
}

/** The routes of /__sandbox/ load with the first request to them. */
function lazyAdminApi(admin: SandboxAdmin, place: AdminPlace): AdminApi {
  let loading: Promise<AdminApi> | undefined;
  return async (request, bindings) => {
    loading ??= import("./admin-api/routes.ts").then(({ adminRoutes }) => adminRoutes(admin, place));
    return (await loading)(request, bindings);
  };
}
