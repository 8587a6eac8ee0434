/** One account with everything that acts on it. Two accounts share nothing. */
import { realClock } from "../clock.ts";
import type { Clock } from "../wire.ts";
import { SandboxAdmin } from "./admin.ts";
import { TransactionQueue } from "./database.ts";
import { Faults } from "./faults.ts";
import { ensureOwnKey } from "./key-admin.ts";
import type { StartSandboxOptions } from "./public-types.ts";
import { AccessControl } from "./rules/access-control.ts";
import { AccountLimits } from "./rules/limits.ts";
import { createService, type Service } from "./service.ts";
import { type Store, withSearchLag } from "./store/index.ts";
import { variantsFrom } from "./variants.ts";

export interface SandboxAccount {
  store: Store;
  service: Service;
  admin: SandboxAdmin;
  /** A working key for the sandbox's own use, with every scope. */
  apiKey: string;
  /** Fires when the account closes: answers that are being delayed, or have no end, stop. */
  closing: AbortSignal;
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
}

/** @throws UsageError for a bad fault, variant or key */
export function createAccount(store: Store, options: SandboxAccountOptions): SandboxAccount {
  const { clock = realClock } = options;
  const variants = variantsFrom(options.variants ?? {});
  const faults = new Faults(options.faults ?? []);
  const limits = new AccountLimits(store, {
    hourly: options.hourlyLimit,
    windowSeconds: options.windowSeconds,
    monthly: options.monthlyLimit,
  });
  const access = new AccessControl(store, limits, options);
  const queue = new TransactionQueue(store.database);
  const closing = new AbortController();
  const { signal } = closing;
  const searched = withSearchLag(store, variants["search-lag"], clock);
  return {
    store,
    service: createService({
      store: searched,
      access,
      limits,
      queue,
      faults,
      clock,
      variants,
      closing: signal,
    }),
    admin: new SandboxAdmin(store, clock, { limits, faults }),
    apiKey: ensureOwnKey(store, clock.now(), options.apiKey),
    closing: signal,
    close: () => {
      closing.abort();
      store.database.close();
    },
  };
}
