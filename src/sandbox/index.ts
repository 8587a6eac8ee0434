/** The embedded service: the whole account behind two doors, in this process or behind a port. */
import { realClock } from "../clock.ts";
import type { Clock, Transport } from "../wire.ts";
import { createApp } from "./app.ts";
import { planFaults } from "./faults.ts";
import { ownKeyOf } from "./own-key.ts";
import { defaultLimits, gateOf } from "./rules/rate-limits-and-auth.ts";
import { serviceOf } from "./service.ts";
import { openStore } from "./store/index.ts";
import { turnsOn } from "./transaction-queue.ts";
import type { OpenPort } from "./transports/http.ts";
import { insideDoor } from "./transports/in-process.ts";

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
}

export interface Sandbox {
  /** The door for this process: no network. Any base address will do. */
  transport: Transport;
  /** A working key for this process's own use, with every scope. Stays the same for one folder. */
  ownKey(): string;
  /** Id of the account's default structure. */
  structureId: string;
  /** Puts the same application behind a port. */
  serve(options: { host: string; port: number }): Promise<OpenPort>;
  close(): void;
}

/** @throws UsageError for a bad fault, or when the database binding is not installed. */
export async function openSandbox(options: SandboxOptions): Promise<Sandbox> {
  const clock = options.clock ?? realClock;
  const faultsOf = planFaults(options.faults ?? []);
  const store = await openStore(options.folder, clock.now(), options.region);
  const gate = gateOf(store, {
    hourly: options.hourlyLimit ?? defaultLimits.hourly,
    windowSeconds: options.windowSeconds ?? defaultLimits.windowSeconds,
    monthly: options.monthlyLimit,
    blockAfter: options.blockAfter ?? defaultLimits.blockAfter,
    blockSeconds: options.blockSeconds ?? defaultLimits.blockSeconds,
  });
  const app = createApp({ store, gate, takeTurn: turnsOn(store.database), clock });
  const closing = new AbortController();
  const service = serviceOf(app, faultsOf, clock, closing.signal);
  const apiKey = ownKeyOf(store, clock.now());
  return {
    transport: insideDoor(service),
    ownKey: () => apiKey,
    structureId: store.structures.all()[0]!._id,
    async serve(place) {
      const { openPort } = await import("./transports/http.ts");
      return openPort(service, place);
    },
    close() {
      closing.abort();
      store.database.close();
    },
  };
}
