/** One account with everything that acts on it. Two accounts share nothing. */
import { realClock } from "../clock.ts";
import type { Clock } from "../wire.ts";
import { SandboxAdmin } from "./admin.ts";
import type { AccountPlace, AdminApi, AdminPlace } from "./admin-api/place.ts";
import { createApp } from "./app.ts";
import { Faults } from "./faults.ts";
import { ensureOwnKey } from "./key-admin.ts";
import type { StartSandboxOptions } from "./public-types.ts";
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

/**
 * By default the limits are the service's: 3,600 requests per window, and per month those of the folder,
 * until `ecm sandbox account` sets another; else 100,000.
 */
export interface SandboxAccountOptions extends Omit<StartSandboxOptions, "folder" | "port"> {
  clock?: Clock;
  /** Failed authentications that block an address; default 20. */
  blockAfter?: number;
  /** Seconds for which failures are counted together, and for which the block lasts; default 60. */
  blockSeconds?: number;
  /** False: the log stays empty, so that a benchmark can measure what it costs. */
  isLogged?: boolean;
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
