/**
 * What is remembered of an account's structures and lists: seen in what goes over its line, kept for later
 * commands, and taken in place of fetching it. Completions take names however old they are, commands while
 * they are fresh. Names and ids alone: nothing that tells of a contact.
 */

import { findRecords, textMember } from "../api/records.ts";
import type { ApiRequest, ContactList, ContactStructure, SendEvent } from "../wire.ts";

/**
 * How long a command relies on a remembered name, in seconds: a name means what it meant at most so long ago.
 */
const maxCacheAgeSeconds = { read: 600, write: 60 } as const;

/** The file behind it, which other processes read and update too. */
export interface NamesFile {
  read(): CachedNames;
  update(change: (cached: CachedNames) => CachedNames): void;
}

const noFile: NamesFile = { read: () => ({}), update: () => {} };

export class NamesCache {
  readonly now: () => number;
  readonly #file: NamesFile;
  /** A hash of the API key: under the same profile, another key may be of another account. */
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

  /** Takes names from what `send` reports. */
  see(event: SendEvent): void {
    const { kind, request } = event;
    if (isNamesChange(request) && kind !== "waiting") {
      const changedAt = this.now();
      this.#changes.push((cached) => outdateNames(cached, changedAt));
      // At once, and once more with the answer: other processes ask meanwhile, and this one may be killed.
      if (kind === "sent") this.save();
    }
    if (kind !== "answered" || event.status >= 300 || !tellsNames(request)) return;
    const requestedAt = this.now() - event.milliseconds;
    this.#changes.push((cached) => addAnswer(cached, request, event.text, requestedAt));
  }

  /** @param requestedAt when the first of their pages was asked for, in milliseconds since the epoch */
  keepLists(structureId: string, lists: readonly ContactList[], requestedAt: number): void {
    this.#changes.push((cached) => addAllLists(cached, structureId, lists, requestedAt));
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

  /** Nothing more is taken; `isUsed` stays as it is. */
  stopRecalling(): void {
    this.#recalled = undefined;
  }

  /** Nothing more is taken, and nothing counts as taken. */
  endRecalling(): void {
    this.stopRecalling();
    this.#isUsed = false;
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

/**
 * Milliseconds since the epoch, of the request that was answered; 0: outdated, good for completions alone.
 */
interface Timed {
  seenAt: number;
}

export interface CachedNames {
  /** A hash of the API key that saw them. */
  key?: string;
  /** When this machine last changed structures or lists. What was asked for before that is outdated. */
  changedAt?: number;
  structures?: Timed & { items: ContactStructure[] };
  /** Structures that were read by themselves, by id: a listing may leave out their tags. */
  whole?: Record<string, Timed & { item: ContactStructure }>;
  /** By the structure's id. No list is missing, unless they are outdated. */
  lists?: Record<string, SeenLists>;
  /** Names alone, the last seen first: for completions. */
  campaigns?: string[];
  domains?: string[];
}

/** What was seen a short while ago. */
type FreshNames = Pick<CachedNames, "structures" | "whole" | "lists">;

/** Labels and names for completions. */
export interface KnownNames {
  structures: string[];
  fields: string[];
  tags: string[];
  lists: string[];
  campaigns: string[];
  domains: string[];
}

/** Paths whose answers tell names that completions offer, and the member that holds one. */
const furtherNames: Record<string, ["campaigns" | "domains", member: string]> = {
  "/api/email/campaign": ["campaigns", "name"],
  "/api/email/domain": ["domains", "domain"],
};
const maxFurtherNames = 1000;

/** Whether the answer to a request may tell names. */
function tellsNames({ path }: ApiRequest): boolean {
  return path.startsWith("/api/contact-structure") || Object.hasOwn(furtherNames, path);
}

const namesPath = /^\/api\/contact-structure(?:\/([^/]+)(\/lists(?:\/([^/]+))?)?)?$/;

/** Whether a request changes structures or lists: what is remembered is outdated once it has left. */
function isNamesChange(request: ApiRequest): boolean {
  return request.effect === "write" && request.path.startsWith("/api/contact-structure");
}

/**
 * What is remembered after an answer.
 * @param text of a 2xx answer
 * @param requestedAt when the request left, in milliseconds since the epoch
 * @throws TypeError, SyntaxError for an answer that is not as specified
 */
function addAnswer(cached: CachedNames, request: ApiRequest, text: string, requestedAt: number): CachedNames {
  const body: unknown = JSON.parse(text);
  const further = Object.hasOwn(furtherNames, request.path) && furtherNames[request.path];
  if (further) return addFurtherNames(cached, body, ...further);
  const [isMatch, structureId, isLists, listId] = namesPath.exec(request.path) ?? [];
  if (!isMatch || listId !== undefined || request.method === "DELETE") return cached;
  const seenAt = request.effect === "write" ? 0 : toSeenAt(cached, requestedAt);
  if (!isLists) return addStructures(cached, body, seenAt);
  const before = cached.lists?.[structureId!] ?? { seenAt: 0, items: [] };
  return putLists(cached, structureId!, readNamedLists(before, request, body, seenAt));
}

/** 0 for what was asked for before the last change. */
function toSeenAt({ changedAt = -1 }: CachedNames, requestedAt: number): number {
  return requestedAt <= changedAt ? 0 : requestedAt;
}

function addFurtherNames(
  cached: CachedNames,
  body: unknown,
  kind: "campaigns" | "domains",
  member: string,
): CachedNames {
  const names = (findRecords(body)?.items ?? []).flatMap((record) => textMember(record, member) ?? []);
  const all = [...new Set([...names, ...(cached[kind] ?? [])])];
  return { ...cached, [kind]: all.slice(0, maxFurtherNames) };
}

/** Every list of a structure: only the reader of its pages knows that none is missing. */
function addAllLists(
  cached: CachedNames,
  structureId: string,
  lists: readonly ContactList[],
  requestedAt: number,
): CachedNames {
  const seenAt = toSeenAt(cached, requestedAt);
  return putLists(cached, structureId, { seenAt, items: lists.map(toNamedList) });
}

/** Marks all names as outdated: structures or lists were changed. Completions still offer them. */
function outdateNames(cached: CachedNames, changedAt: number): CachedNames {
  const outdate = <T extends Timed>(entries: Record<string, T> = {}) =>
    Object.fromEntries(Object.entries(entries).map(([id, entry]) => [id, { ...entry, seenAt: 0 }]));
  return {
    ...cached,
    changedAt,
    ...(cached.structures && { structures: { ...cached.structures, seenAt: 0 } }),
    whole: outdate(cached.whole),
    lists: outdate(cached.lists),
  };
}

/**
 * What was seen since a moment, in milliseconds since the epoch, and not after `now`: a clock may have been
 * set back.
 */
function readSince(cached: CachedNames, since: number, now: number): FreshNames {
  const isFresh = ({ seenAt }: Timed) => seenAt >= since && seenAt <= now;
  const fresh = <T extends Timed>(entries: Record<string, T> = {}) =>
    Object.fromEntries(Object.entries(entries).filter(([, entry]) => isFresh(entry)));
  return {
    structures: cached.structures && isFresh(cached.structures) ? cached.structures : undefined,
    whole: fresh(cached.whole),
    lists: fresh(cached.lists),
  };
}

/** All names, however old. */
export function listKnownNames(cached: CachedNames): KnownNames {
  const { structures, whole = {}, lists = {}, campaigns = [], domains = [] } = cached;
  const each: ContactStructure[] = (structures?.items ?? []).map((item) => ({
    ...item,
    tags: item.tags ?? whole[item._id]?.item.tags,
  }));
  const ids = new Set(each.map(({ _id }) => _id));
  for (const { item } of Object.values(whole)) if (!ids.has(item._id)) each.push(item);
  const toUnique = (names: string[]) => [...new Set(names)];
  return {
    structures: toUnique(each.map(({ label }) => label)),
    fields: toUnique(each.flatMap(({ fields }) => fields.map(({ label }) => label))),
    tags: toUnique(each.flatMap(({ tags = [] }) => tags.map(({ label }) => label))),
    lists: toUnique(Object.values(lists).flatMap(({ items }) => items.map(({ name }) => name))),
    campaigns,
    domains,
  };
}

function addStructures(cached: CachedNames, body: unknown, seenAt: number): CachedNames {
  if (Array.isArray(body)) {
    return { ...cached, structures: { seenAt, items: (body as ContactStructure[]).map(toNamedStructure) } };
  }
  const item = toNamedStructure(body as ContactStructure);
  const whole = { ...cached.whole, [item._id]: { seenAt, item } };
  if (seenAt > 0 || !cached.structures) return { ...cached, whole };
  // Changed by a write: completions offer its new labels.
  const items = cached.structures.items.map((each) => (each._id === item._id ? item : each));
  return { ...cached, whole, structures: { ...cached.structures, items } };
}

type SeenLists = Timed & { items: ContactList[] };

function putLists(cached: CachedNames, structureId: string, seen: SeenLists): CachedNames {
  return { ...cached, lists: { ...cached.lists, [structureId]: seen } };
}

/** The known lists with those of one answer: of a creation, or a page. */
function readNamedLists(before: SeenLists, request: ApiRequest, body: unknown, seenAt: number): SeenLists {
  if (request.method !== "GET") {
    // The specification shows only `_id` in the answer to a creation.
    const made = toNamedList({ ...(request.body as ContactList | undefined), ...(body as ContactList) });
    return { seenAt: 0, items: mergeLists(before.items, [made]) };
  }
  const { items: records, total } = findRecords(body)!;
  const items = (records as ContactList[]).map(toNamedList);
  const page = request.query?.find(([name]) => name === "page")?.[1] ?? "1";
  if (page === "1" && total !== undefined && items.length >= total) return { seenAt, items };
  // One page adds names for completions. Only the reader of all pages knows that none is missing.
  return before.seenAt > 0 ? before : { seenAt: 0, items: mergeLists(before.items, items) };
}

function mergeLists(before: ContactList[], now: ContactList[]): ContactList[] {
  return [...new Map([...before, ...now].map((list) => [list._id, list])).values()];
}

/** @throws TypeError for something else than a structure */
function toNamedStructure(structure: ContactStructure): ContactStructure {
  const { _id, label, keyName, keyType, fields, tags, __v } = structure;
  if (typeof _id !== "string" || typeof label !== "string") throw new TypeError("not a structure");
  return {
    _id,
    label,
    keyName,
    keyType,
    fields: fields.map((field) => ({
      _id: field._id,
      label: field.label,
      dataType: field.dataType,
      ...(field.required !== undefined && { required: field.required }),
    })),
    ...(tags && { tags: tags.map((tag) => ({ _id: tag._id, label: tag.label })) }),
    ...(__v !== undefined && { __v }),
  };
}

/** @throws TypeError for something else than a list */
function toNamedList({ _id, name }: ContactList): ContactList {
  if (typeof _id !== "string" || typeof name !== "string") throw new TypeError("not a list");
  return { _id, name };
}
