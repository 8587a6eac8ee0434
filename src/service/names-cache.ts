/**
 * What is remembered of an account's structures and lists, kept for later commands, and taken in place of
 * fetching it. Completions take names however old they are, commands while they are fresh. Names and ids
 * alone: nothing that tells of a contact.
 */

import type { ContactList, ContactStructure, SendEvent } from "../wire.ts";

/**
 * How long a command relies on a remembered name, in seconds: a name means what it meant at most so long ago.
 */
const maxCacheAgeSeconds = { read: 600, write: 60 } as const;

interface CachedNames {
  /** A hash of the API key that saw them: under the same profile, another key may be of another account. */
  key?: string;
  /** When this machine last changed structures or lists: what was asked for before is outdated. */
  changedAt?: number;
  /**
   * `structures`; `structure ID`, which was read by itself: a listing may leave out its tags; `lists ID`: all
   * lists of a structure. Times are milliseconds since the epoch, of the request; 0 is for completions alone.
   */
  parts?: Record<string, { seenAt: number; names: unknown }>;
}

/** What is behind it, and shared with other processes of this machine. */
interface NamesStore {
  read(): CachedNames;
  write(names: CachedNames): void;
  /** One process at a time creates names of a structure. @throws LockedError when another takes too long */
  creating<T>(structureId: string, perform: () => Promise<T>): Promise<T>;
}

const nothingShared: NamesStore = {
  read: () => ({}),
  write: () => undefined,
  creating: (_structureId, perform) => perform(),
};

export class NamesCache {
  readonly now: () => number;
  readonly creating: NamesStore["creating"];
  readonly #store: NamesStore;
  readonly #key: string;
  /** Not saved yet. */
  #seen: Pick<CachedNames, "changedAt" | "parts"> = {};
  #recalled: CachedNames["parts"];
  #isUsed = false;

  /** Without a store nothing is remembered. */
  constructor(store = nothingShared, key = "", now: () => number = Date.now) {
    this.#store = store;
    this.creating = store.creating;
    this.#key = key;
    this.now = now;
  }

  /** Whether something was taken since names are recalled. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Notices every request that changes structures or lists. */
  see({ kind, request: { effect, path } }: SendEvent): void {
    if (effect !== "write" || !path.startsWith("/api/contact-structure") || kind === "waiting") return;
    // As it leaves, and once more with the answer: other processes ask meanwhile, and this one may be killed.
    this.#seen.changedAt = this.now();
    this.save();
  }

  /** @param requestedAt when it was asked for, in milliseconds since the epoch */
  keep(part: string, names: unknown, requestedAt: number): void {
    this.#seen.parts = { ...this.#seen.parts, [part]: { seenAt: requestedAt, names } };
  }

  save(): void {
    const { changedAt, parts } = this.#seen;
    if (changedAt === undefined && parts === undefined) return;
    const own = this.#readOwn();
    this.#store.write({
      key: this.#key,
      changedAt: Math.max(changedAt ?? 0, own.changedAt ?? 0),
      parts: { ...own.parts, ...parts },
    });
    this.#seen = {};
  }

  /** From now on names are taken that are fresh enough for a read or a write. */
  recall(effect: keyof typeof maxCacheAgeSeconds): void {
    this.save();
    const now = this.now();
    const { changedAt = 0, parts = {} } = this.#readOwn();
    const since = Math.max(now - maxCacheAgeSeconds[effect] * 1000, changedAt + 1);
    // A clock may have been set back.
    const isFresh = (seenAt: number) => seenAt >= since && seenAt <= now;
    this.#recalled = Object.fromEntries(Object.entries(parts).filter(([, { seenAt }]) => isFresh(seenAt)));
    this.#isUsed = false;
  }

  /** @returns undefined unless it is remembered, and names are recalled at present */
  take(part: string): unknown {
    const found = this.#recalled?.[part]?.names;
    this.#isUsed ||= found !== undefined;
    return found;
  }

  /** Nothing more is taken; `isUsed` stays as it is. */
  stopRecalling(): void {
    this.#recalled = undefined;
  }

  /** Nothing more is taken, and nothing counts as taken. */
  endRecalling(): void {
    this.#recalled = undefined;
    this.#isUsed = false;
  }

  #readOwn(): CachedNames {
    const cached = this.#store.read();
    return cached.key === this.#key ? cached : {};
  }
}

/** Labels and names for completions. */
export interface KnownNames {
  structures: string[];
  fields: string[];
  tags: string[];
  lists: string[];
}

/** All names, however old. */
export function listKnownNames({ parts = {} }: CachedNames): KnownNames {
  const collect = (prefix: string) =>
    Object.entries(parts).flatMap(([part, { names }]) => (part.startsWith(prefix) ? names : []));
  const listed = collect("structures") as ContactStructure[];
  const alone = collect("structure ") as ContactStructure[];
  const structures = listed.map((each) => ({
    ...each,
    tags: each.tags ?? alone.find(({ _id }) => _id === each._id)?.tags ?? [],
  }));
  const toUnique = (names: string[]) => [...new Set(names)];
  return {
    structures: toUnique(structures.map(({ label }) => label)),
    fields: toUnique(structures.flatMap(({ fields }) => fields.map(({ label }) => label))),
    tags: toUnique(structures.flatMap(({ tags }) => tags.map(({ label }) => label))),
    lists: toUnique((collect("lists ") as ContactList[]).map(({ name }) => name)),
  };
}
