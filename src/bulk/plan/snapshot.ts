/**
 * Contacts of the account, read page by page and kept in a file: 40 bytes of memory for each, however many
 * fields it has. A snapshot outlives a stop: the pages that are there are not read again.
 */
import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { withPath } from "../../disk/disk-errors.ts";
import { decodeLine, readLines } from "../../disk/log.ts";
import { isServiceError, unreadableAnswerError } from "../../errors.ts";
import type { Behavior } from "../../service/behavior.ts";
import { createContactPages, isStatusUntold } from "../../service/contact-search.ts";
import type { KeySearch } from "../../service/key-search.ts";
import { maxPageSize, openPages, type Page } from "../../service/pages.ts";
import { TextIndex } from "../../text-index.ts";
import type { Clock, Contact, Filter, IdRef } from "../../wire.ts";
import type { PacedSend } from "../pace/paced-send.ts";

interface SnapshotOptions {
  /** Taken off the disk when it is closed, and at once where the platform can. */
  isTemporary: boolean;
  toIdentity(key: string): string;
}

/** The line below the contacts of a page. */
interface PageMark {
  page: number;
  pageSize: number;
  total: number;
  /** When it was read, in milliseconds since the epoch. */
  at: number;
}

/** A contact and the bytes of its line, with the break. */
type Stored = readonly [contact: Partial<Contact>, bytes: number];

/** Pages that an earlier invocation has read are read again after this. */
const maxAgeMilliseconds = 3_600_000;

/** With the whole pages that an earlier invocation left in the file. */
export async function openSnapshot(file: string, options: SnapshotOptions): Promise<AccountSnapshot> {
  const snapshot = new AccountSnapshot(file, options);
  if (!options.isTemporary) await snapshot.takeStored();
  return snapshot;
}

export class AccountSnapshot {
  pageSize: number | undefined;
  /** When its oldest page was read. */
  takenAt = Number.POSITIVE_INFINITY;

  private readonly file: string;
  private readonly options: SnapshotOptions;
  private readonly descriptor: number;
  private readonly pages = new Set<number>();
  private readonly totals = new Set<number>();
  private readonly keys = new TextIndex();
  private readonly ids = new TextIndex();
  /** Where each contact is in the file; in the order of the places in both indexes. */
  private readonly offsets: number[] = [];
  private readonly lengths: number[] = [];
  /** In bytes. */
  private end = 0;

  constructor(file: string, options: SnapshotOptions) {
    this.file = file;
    this.options = options;
    this.descriptor = openSync(file, options.isTemporary ? "w+" : "a+", 0o600);
    if (!options.isTemporary) return;
    try {
      // An open file without a name is gone when its process is, however that ends.
      rmSync(file);
    } catch {
      // Not possible everywhere; `close` removes it then.
    }
  }

  add(mark: PageMark, contacts: readonly Partial<Contact>[]): void {
    const lines = [...contacts, { mark }].map((each) => Buffer.from(`${JSON.stringify(each)}\n`));
    withPath(this.file, () => writeFileSync(this.descriptor, Buffer.concat(lines)));
    const stored = contacts.map((contact, place): Stored => [contact, lines[place]!.length]);
    this.note(mark, stored, lines.at(-1)!.length);
  }

  /** What follows the last whole page is cut off, also where a line is damaged. */
  async takeStored(): Promise<void> {
    let stored: Stored[] = [];
    try {
      for await (const line of readLines(this.file)) {
        const value = JSON.parse(decodeLine(line)) as Partial<Contact> & { mark?: PageMark };
        if (!value.mark) stored.push([value, line.length + 1]);
        else {
          this.note(value.mark, stored, line.length + 1);
          stored = [];
        }
      }
    } catch {
      // Everything before the damage is whole.
    }
    ftruncateSync(this.descriptor, this.end);
  }

  get total(): number | undefined {
    return this.totals.values().next().value;
  }

  /** Pages that are not read yet; once the first one is. */
  get missing(): number[] {
    const last = Math.ceil(this.total! / this.pageSize!);
    return Array.from({ length: last }, (_, index) => index + 1).filter((page) => !this.pages.has(page));
  }

  /**
   * Every page said the same total, and that many different
   * contacts were read: a contact that is not here is not there.
   */
  isWhole(): boolean {
    const { totals, ids } = this;
    return totals.size === 1 && totals.has(ids.size) && !ids.hasRepeated;
  }

  /** Whether its pages may still be relied on. @param now in milliseconds since the epoch */
  isRecent(now: number): boolean {
    return Math.abs(now - this.takenAt) <= maxAgeMilliseconds;
  }

  find(identity: string, prefers: (contact: Partial<Contact>) => boolean): Partial<Contact> | undefined {
    const found = [...this.keys.find(identity)]
      .reverse()
      .map((place) => this.read(place))
      .filter(({ key }) => this.options.toIdentity(key ?? "") === identity);
    return found.find(prefers) ?? found[0];
  }

  findById(id: string): Partial<Contact> | undefined {
    for (const place of this.ids.find(id)) {
      const contact = this.read(place);
      if (contact._id === id) return contact;
    }
    return undefined;
  }

  /** Every contact, in the order in which it was read. */
  *all(): Generator<Partial<Contact>> {
    for (let place = 0; place < this.offsets.length; place++) yield this.read(place);
  }

  close(): void {
    closeSync(this.descriptor);
    if (this.options.isTemporary) rmSync(this.file, { force: true });
  }

  /** @param markBytes of its line */
  private note({ page, total, pageSize, at }: PageMark, stored: readonly Stored[], markBytes: number): void {
    this.pages.add(page);
    this.totals.add(total);
    this.pageSize = pageSize;
    this.takenAt = Math.min(this.takenAt, at);
    for (const [{ _id = "", key = "" }, bytes] of stored) {
      this.keys.add(this.options.toIdentity(key));
      this.ids.add(_id);
      this.offsets.push(this.end);
      this.lengths.push(bytes - 1);
      this.end += bytes;
    }
    this.end += markBytes;
  }

  private read(place: number): Partial<Contact> {
    const length = this.lengths[place]!;
    const buffer = Buffer.allocUnsafe(length);
    readSync(this.descriptor, buffer, 0, length, this.offsets[place]!);
    return JSON.parse(buffer.toString("utf8")) as Partial<Contact>;
  }
}

/** Contacts that are looked up together. */
export const maxBlockSize = 100;

export interface PagesOptions {
  send: PacedSend;
  behavior: Behavior;
  keys: KeySearch;
  clock: Clock;
  structureId: string;
  source: string[];
  /** See `ContactSearch`. */
  readsStatus?: boolean;
  filters?: Filter[];
  /** Pages at once. */
  concurrency: number;
  /** Lists that every contact found is known to be in, should the answer not tell. */
  lists?: IdRef[];
}

/**
 * Reads every contact of the account into the snapshot when that takes
 * fewer requests than looking `contacts` keys up.
 * @param maxRequests pages that may be read now; where there are more,
 *   looking keys up gets on and reading pages does not
 * @returns whether the snapshot can be used
 */
export async function readAccountIfSmaller(
  snapshot: AccountSnapshot,
  contacts: number,
  { readsStatus, ...options }: PagesOptions,
  maxRequests: number,
): Promise<boolean> {
  const { keys, behavior } = options;
  const lookUps = Math.ceil(contacts / Math.min(maxBlockSize, keys.limit));
  // For one block, asking would cost as much as it can save; unless it has to be found out first how to ask.
  const mayAsk = contacts <= 1 || behavior.get("keys") !== undefined;
  if (lookUps <= 1 && mayAsk && snapshot.total === undefined) return false;
  try {
    await readFirstPage(snapshot, options);
  } catch (error) {
    // A service may refuse a search without a condition: then the keys are looked up.
    if (isServiceError(error) && error.details.status === 400) return false;
    throw error;
  }
  // To read everybody's status would take a request for each.
  if (readsStatus && isStatusUntold(behavior)) return false;
  const missing = snapshot.missing.length;
  if (missing >= Math.max(lookUps, 1) || missing > maxRequests) return false;
  await readMissingPages(snapshot, options);
  return true;
}

/** Reads every page that the snapshot does not hold yet. */
export async function readAllPages(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  await readFirstPage(snapshot, options);
  await readMissingPages(snapshot, options);
}

/** Tells how many there are. */
async function readFirstPage(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  if (snapshot.total !== undefined) return;
  const at = options.clock.now();
  const { behavior } = options;
  const { size, first } = await openPages(createPageReader(options), { size: maxPageSize, behavior });
  storePage(snapshot, { page: 1, pageSize: size, at }, first, options);
}

/** Reads several at once, and returns when all have ended: none may write to a file that is closed. */
async function readMissingPages(snapshot: AccountSnapshot, options: PagesOptions): Promise<void> {
  const pageSize = snapshot.pageSize!;
  const read = createPageReader(options);
  const next = snapshot.missing[Symbol.iterator]();
  const readNext = async () => {
    for (const page of next) {
      const at = options.clock.now();
      storePage(snapshot, { page, pageSize, at }, await read(page, pageSize), options);
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: options.concurrency }, readNext));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

function createPageReader({ send, behavior, structureId, source, readsStatus, filters = [] }: PagesOptions) {
  const search = { structureId, filters, source: ["_id", "key", ...source], readsStatus };
  return createContactPages(send.searches, search, behavior);
}

function storePage(
  snapshot: AccountSnapshot,
  place: Omit<PageMark, "total">,
  { items, total }: Page<Partial<Contact>>,
  { keys, lists }: PagesOptions,
): void {
  if (total === undefined) throw unreadableAnswerError("The answer to a search has no totalRecords");
  keys.note(items[0]);
  if (lists) for (const contact of items) contact.lists ??= lists;
  snapshot.add({ ...place, total }, items);
}
