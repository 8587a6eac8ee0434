/**
 * Further accounts in the process of a sandbox: each is a database in memory with an application of its own,
 * so that nothing that is done to one can be seen in another.
 */
import { randomBytes } from "node:crypto";
import { realClock } from "../clock.ts";
import { isKind } from "../errors.ts";
import { createAccount, type SandboxAccount, type SandboxAccountOptions } from "./account.ts";
import { worldsRoot } from "./admin-api/access.ts";
import { parseBody, worldBody } from "./admin-api/bodies.ts";
import { loadSnapshot } from "./admin-api/snapshots.ts";
import type { WorldOptions } from "./public-types.ts";
import { invalid, notFound, type Refusal } from "./rules/refusal.ts";
import { openMemoryStore, type Store } from "./store/index.ts";

/** A test suite that opens more at once has forgotten to close them. */
const maxWorlds = 1000;

export interface World extends SandboxAccount {
  id: string;
  /** The path below which it is served. */
  root: string;
  /** Id of the account's default structure. */
  structureId: string;
}

export class Worlds {
  private readonly main: Store;
  private readonly options: SandboxAccountOptions;
  private readonly open = new Map<string, World>();
  private isClosed = false;

  /** @param options of the sandbox: each world begins with them */
  constructor(main: Store, options: SandboxAccountOptions) {
    this.main = main;
    this.options = options;
  }

  /** @throws Refusal for an invalid option, and where too many are open */
  async create(given: WorldOptions = {}): Promise<World> {
    const { from, seed, variants } = parseBody(worldBody, given);
    if (this.open.size >= maxWorlds) {
      throw invalid(`At most ${maxWorlds} worlds are open at once: close those that are not used any more`);
    }
    const options = {
      ...this.options,
      region: this.options.region ?? this.main.account.read().region,
      seed: seed ?? this.options.seed,
      variants: { ...this.options.variants, ...variants },
      apiKey: undefined,
    };
    const id = randomBytes(6).toString("hex");
    const now = (options.clock ?? realClock).now();
    const store = await openMemoryStore(now, options);
    try {
      if (this.isClosed) throw new Error("The sandbox was closed");
      const account = checkVariants(() => createAccount(store, options));
      if (from !== undefined) loadSnapshot(store, from, this.main);
      const structureId = store.structures.all()[0]!._id;
      const world = { ...account, id, root: `${worldsRoot}/${id}`, structureId };
      this.open.set(id, world);
      return world;
    } catch (error) {
      store.database.close();
      throw error;
    }
  }

  /** @throws Refusal 404 */
  get(id: string): World {
    const world = this.open.get(id);
    if (!world) throw missingWorld(id);
    return world;
  }

  isOpen(id: string): boolean {
    return this.open.has(id);
  }

  /** @throws Refusal 404 */
  close(id: string): void {
    const world = this.get(id);
    this.open.delete(id);
    world.close();
  }

  /** Closes all worlds; no further world opens. */
  end(): void {
    this.isClosed = true;
    for (const id of this.open.keys()) this.close(id);
  }
}

export function missingWorld(id: string): Refusal {
  return notFound(`World ${id}`, "it was closed, or never opened");
}

/** Turns the error of an unknown variant into a refusal. */
function checkVariants<T>(create: () => T): T {
  try {
    return create();
  } catch (error) {
    if (!isKind(error, "usage")) throw error;
    const { message } = error;
    throw invalid(`variants: ${message.replace(/^--variant:? /, "")}`, { field: "variants" });
  }
}
