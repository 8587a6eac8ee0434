/**
 * What is remembered of an account's names: seen in what goes over its line, kept for later commands, and
 * taken in place of fetching it while names are recalled and fresh.
 */
import type { ContactList, SendEvent } from "../wire.ts";
import {
  type CachedNames,
  cacheAllLists,
  cacheAnswer,
  dropOutdated,
  type FreshNames,
  isNamesChange,
  maxCacheAgeSeconds,
  readSince,
  tellsNames,
} from "./cached-names.ts";

/** The file behind it, which other processes read and update too. */
export interface NamesFile {
  read(): CachedNames;
  update(change: (cached: CachedNames) => CachedNames): void;
}

const noFile: NamesFile = { read: () => ({}), update: () => {} };

export class NamesCache {
  readonly now: () => number;
  readonly #file: NamesFile;
  /** Tells the API key from any other: under the same profile it may be of another account. */
  readonly #key: string;
  /** Not saved yet. */
  #changes: ((cached: CachedNames) => CachedNames)[] = [];
  #recalled: FreshNames | undefined;
  #isUsed = false;

  /** Without a file nothing is remembered. */
  constructor(file: NamesFile = noFile, key = "", now: () => number = () => 0) {
    this.#file = file;
    this.#key = key;
    this.now = now;
  }

  /** Whether something was taken since names are recalled. */
  get isUsed(): boolean {
    return this.#isUsed;
  }

  /** Looks at what happens below `send`. */
  see(event: SendEvent): void {
    if (event.kind === "sent" && isNamesChange(event.request)) {
      // At once, and once more with the answer: other processes ask meanwhile, and this one may be killed.
      this.#dropOutdated();
      this.save();
    }
    if ((event.kind === "answered" || event.kind === "lost") && isNamesChange(event.request))
      this.#dropOutdated();
    if (event.kind !== "answered" || event.status >= 300 || !tellsNames(event.request)) return;
    const { request, text } = event;
    const requestedAt = this.now() - event.milliseconds;
    this.#changes.push((cached) => cacheAnswer(cached, request, text, requestedAt));
  }

  /** @param requestedAt when the first of their pages was asked for, in milliseconds since the epoch */
  keepLists(structureId: string, lists: readonly ContactList[], requestedAt: number): void {
    this.#changes.push((cached) => cacheAllLists(cached, structureId, lists, requestedAt));
  }

  save(): void {
    const changes = this.#changes;
    if (changes.length === 0) return;
    this.#changes = [];
    this.#file.update((cached) => changes.reduce(applyChange, this.#toOwn(cached)));
  }

  /** From now on names are taken that are fresh enough for a read or a write. */
  recall(effect: keyof typeof maxCacheAgeSeconds): void {
    this.save();
    const now = this.now();
    this.#recalled = readSince(this.#toOwn(this.#file.read()), now - maxCacheAgeSeconds[effect] * 1000, now);
    this.#isUsed = false;
  }

  /** @returns undefined unless it is remembered, and names are recalled at present */
  take<T>(part: (recalled: FreshNames) => T | undefined): T | undefined {
    const found = this.#recalled && part(this.#recalled);
    this.#isUsed ||= found !== undefined;
    return found;
  }

  /** Nothing more is taken; what was taken still counts. */
  stopRecalling(): void {
    this.#recalled = undefined;
  }

  /** The same, and nothing was taken. */
  endRecalling(): void {
    this.stopRecalling();
    this.#isUsed = false;
  }

  #dropOutdated(): void {
    const changedAt = this.now();
    this.#changes.push((cached) => dropOutdated(cached, changedAt));
  }

  #toOwn(cached: CachedNames): CachedNames {
    return cached.key === this.#key ? cached : { key: this.#key };
  }
}

/**
 * An answer that is not as published is not remembered; the command that got it says what is wrong with it.
 */
function applyChange(names: CachedNames, change: (names: CachedNames) => CachedNames): CachedNames {
  try {
    return change(names);
  } catch {
    return names;
  }
}
