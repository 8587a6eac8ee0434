/** The embedded service: the whole account, for requests of this process or behind a port. */
import { realClock } from "../clock.ts";
import { isKind } from "../errors.ts";
import type { Transport } from "../wire.ts";
import { createAccount, type SandboxAccountOptions } from "./account.ts";
import type { SandboxAdmin } from "./admin.ts";
import { worldsRoot } from "./admin-api/access.ts";
import { findDamage } from "./database.ts";
import { planFaults } from "./faults.ts";
import type { ResetOptions } from "./public-types.ts";
import { refusalAnswer } from "./request.ts";
import type { Service } from "./service.ts";
import { discardStore, openMemoryStore, openStore } from "./store/index.ts";
import { isKeyValue, keyRegion, ownKeyInFolder } from "./store/keys.ts";
import type { OpenPort, PortOptions } from "./transports/http.ts";
import { type AdminApi, inProcessTransport } from "./transports/in-process.ts";
import { variantsFrom } from "./variants.ts";
import { missingWorld, Worlds } from "./worlds.ts";

export interface SandboxOptions extends SandboxAccountOptions {
  /**
   * Holds the database; made when it does not exist. Several processes may use one at once. Absent: all is in
   * memory, and goes with the sandbox.
   */
  folder?: string;
}

export interface Sandbox {
  /** For requests of this process: no network. Any base address will do. */
  transport: Transport;
  /** A working key for this process's own use, with every scope. Stays the same for one folder. */
  ownKey(): string;
  /** Id of the account's default structure. */
  structureId: string;
  /** What the owner and a test may do, apart from sending requests. */
  admin: SandboxAdmin;
  /** Further accounts, each with an application of its own. */
  worlds: Worlds;
  /** Puts the same application behind a port. */
  serve(options: PortOptions): Promise<OpenPort>;
  /** Closing twice does nothing. */
  close(): void;
}

/** @throws UsageError for a bad fault or variant, or when the database binding is not installed */
export async function openSandbox({ folder, ...options }: SandboxOptions): Promise<Sandbox> {
  const { clock = realClock, region, seed, adminToken } = options;
  // Before a folder is made.
  variantsFrom(options.variants ?? {});
  planFaults(options.faults ?? []);
  const account = { region, seed };
  const store =
    folder === undefined
      ? await openMemoryStore(clock.now(), account)
      : await openStore(folder, clock.now(), account);
  const worlds = new Worlds(store, options);
  const main = createAccount(store, options);
  // Loads with the first request to it.
  const adminApi: AdminApi = async (request, bindings) => {
    const { answerAdmin } = await import("./admin-api/routes.ts");
    return answerAdmin(request, { ...bindings, main, worlds, adminToken });
  };
  const accounts = { service: routeToAccounts(main.service, worlds), adminApi };
  return {
    transport: inProcessTransport(accounts),
    ownKey: () => main.apiKey,
    structureId: store.structures.all()[0]!._id,
    admin: main.admin,
    worlds,
    async serve(place) {
      const { openPort } = await import("./transports/http.ts");
      return openPort(accounts, place);
    },
    close: () => {
      worlds.end();
      main.close();
    },
  };
}

const worldForm = new RegExp(`^${worldsRoot}/([^/?]*)`);

/** A world answers below its own path. */
function routeToAccounts(main: Service, worlds: Worlds): Service {
  return async (request) => {
    const id = worldForm.exec(request.target)?.[1];
    if (id === undefined) return main(request);
    if (!worlds.isOpen(id)) return { answer: refusalAnswer(missingWorld(id)) };
    const { root, service } = worlds.get(id);
    return service({ ...request, target: request.target.slice(root.length) || "/", root });
  };
}

/**
 * Empties the account of a folder, also where its data cannot be read any more: then it is deleted, and of
 * what was there only the folder's own key stays.
 * @returns why it was deleted, if it was: `damaged`
 */
export async function resetFolder(
  options: SandboxOptions & { folder: string },
  wanted: ResetOptions,
): Promise<string | undefined> {
  const { folder } = options;
  try {
    await resetReadable(options, wanted);
    return undefined;
  } catch (error) {
    const state = isKind(error, "unreadable data") ? error.details.about : findDamage(error) && "damaged";
    if (state === undefined) throw error;
    discardStore(folder);
    const kept = ownKeyInFolder(folder).read() ?? "";
    const own = isKeyValue(kept) ? { apiKey: kept, region: keyRegion(kept) } : {};
    await resetReadable({ ...options, ...own }, wanted);
    return state;
  }
}

async function resetReadable(options: SandboxOptions, wanted: ResetOptions): Promise<void> {
  const { admin, close } = await openSandbox(options);
  try {
    admin.reset(wanted);
    admin.compact();
  } finally {
    close();
  }
}
