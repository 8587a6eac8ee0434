/**
 * Contacts of the account, read page by page and kept in a file: 28 bytes of memory for each, however many fields it
 * has. A snapshot outlives a stop: the pages that are there are not read again.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Contact } from "../../wire.ts";
import { identityHash } from "../read/identities.ts";
import { createSnapshotIndex, type Entry } from "./snapshot-index.ts";

export interface SnapshotPage {
  page: number;
  pageSize: number;
  total: number;
  /** Milliseconds since the epoch. */
  at: number;
  contacts: Partial<Contact>[];
}

export interface AccountSnapshot {
  add(page: SnapshotPage): void;
  has(page: number): boolean;
  readonly pageSize: number | undefined;
  readonly total: number | undefined;
  /** When its oldest page was read. */
  readonly takenAt: number;
  /** Every page said the same total, and that many different contacts were read: whoever is not here is not there. */
  isWhole(): boolean;
  find(identity: string, prefers: (contact: Partial<Contact>) => boolean): Partial<Contact> | undefined;
  findById(id: string): Partial<Contact> | undefined;
  /** Every contact, in the order in which it was read. */
  all(): Generator<Partial<Contact>>;
  /** May be called again. */
  close(): void;
}

export interface SnapshotOptions {
  /** Taken off the disk when it is closed, and at once where the platform can. */
  isTemporary: boolean;
  identityOf(key: string): string;
}

export async function openSnapshot(file: string, options: SnapshotOptions): Promise<AccountSnapshot> {
  const kept = options.isTemporary ? { pages: [], end: 0 } : await readKept(file);
  const descriptor = openSync(file, options.isTemporary ? "w+" : "a+", 0o600);
  if (options.isTemporary) unlinkEarly(file);
  else if (fstatSync(descriptor).size > kept.end) ftruncateSync(descriptor, kept.end);
  let end = kept.end;
  const pages = new Set<number>();
  const totals = new Set<number>();
  let pageSize: number | undefined;
  let takenAt = Number.POSITIVE_INFINITY;
  let isClosed = false;
  let index = createSnapshotIndex();

  function note(header: Omit<SnapshotPage, "contacts">, entries: Entry[]): void {
    pages.add(header.page);
    totals.add(header.total);
    pageSize = header.pageSize;
    takenAt = Math.min(takenAt, header.at);
    index.reserve(header.total);
    for (const entry of entries) index.add(entry);
  }

  for (const page of kept.pages) {
    const entries = page.contacts.map(({ contact, offset, length }) => entryOf(contact, offset, length));
    note(page, entries);
  }
  kept.pages.length = 0;

  function entryOf(contact: Partial<Contact>, offset: number, length: number): Entry {
    const keyHash = identityHash(options.identityOf(contact.key ?? ""));
    return { keyHash, idHash: identityHash(contact._id ?? ""), offset, length };
  }

  function read(slot: number): Partial<Contact> {
    const length = index.lengthAt(slot);
    const buffer = Buffer.allocUnsafe(length);
    readSync(descriptor, buffer, 0, length, index.offsetAt(slot));
    return JSON.parse(buffer.toString("utf8")) as Partial<Contact>;
  }

  return {
    add({ contacts, ...header }) {
      if (pages.has(header.page)) return;
      const lines: Buffer[] = [Buffer.from(`${JSON.stringify({ ...header, count: contacts.length })}\n`)];
      let offset = end + lines[0]!.length;
      const entries: Entry[] = [];
      for (const contact of contacts) {
        const line = Buffer.from(`${JSON.stringify(contact)}\n`);
        entries.push(entryOf(contact, offset, line.length - 1));
        lines.push(line);
        offset += line.length;
      }
      const bytes = Buffer.concat(lines);
      // A full disk takes a part of it first, without an error.
      for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      end = offset;
      note(header, entries);
    },
    has: (page) => pages.has(page),
    get pageSize() {
      return pageSize;
    },
    get total() {
      return totals.values().next().value;
    },
    get takenAt() {
      return takenAt;
    },
    isWhole() {
      return totals.size === 1 && totals.has(index.size) && index.countIds() === index.size;
    },
    find(identity, prefers) {
      if (index.size === 0) return undefined;
      let first: Partial<Contact> | undefined;
      for (const slot of index.slotsOfKey(identityHash(identity))) {
        const contact = read(slot);
        if (options.identityOf(contact.key ?? "") !== identity) continue;
        if (prefers(contact)) return contact;
        first ??= contact;
      }
      return first;
    },
    findById(id) {
      for (const slot of index.slotsOfId(identityHash(id))) {
        const contact = read(slot);
        if (contact._id === id) return contact;
      }
      return undefined;
    },
    *all() {
      for (let slot = 0; slot < index.size; slot++) yield read(slot);
    },
    close() {
      if (isClosed) return;
      isClosed = true;
      closeSync(descriptor);
      if (options.isTemporary) rmSync(file, { force: true });
      index = createSnapshotIndex();
    },
  };
}

interface KeptPage extends Omit<SnapshotPage, "contacts"> {
  contacts: { contact: Partial<Contact>; offset: number; length: number }[];
}

/** The whole pages of a file that an earlier invocation left; a torn last page is left out. */
async function readKept(file: string): Promise<{ pages: KeptPage[]; end: number }> {
  const pages: KeptPage[] = [];
  const handle = await open(file, "r").catch(() => undefined);
  if (!handle) return { pages, end: 0 };
  const { size } = await handle.stat();
  const lines = createInterface({ input: handle.createReadStream(), crlfDelay: 0 });
  let offset = 0;
  let end = 0;
  let current: (KeptPage & { count: number }) | undefined;
  try {
    for await (const line of lines) {
      const length = Buffer.byteLength(line);
      const start = offset;
      offset += length + 1;
      if (offset > size) break;
      const value = JSON.parse(line) as Partial<Contact> & Partial<KeptPage & { count: number }>;
      if (!current)
        current = {
          page: value.page!,
          pageSize: value.pageSize!,
          total: value.total!,
          at: value.at!,
          count: value.count!,
          contacts: [],
        };
      else {
        const { _id, key } = value;
        current.contacts.push({ contact: { _id, key }, offset: start, length });
      }
      if (current.contacts.length === current.count) {
        pages.push(current);
        current = undefined;
        end = offset;
      }
    }
  } catch {
    // A torn line: everything before it is whole.
  } finally {
    lines.close();
    await handle.close().catch(() => undefined);
  }
  return { pages, end };
}

/** An open file without a name is gone when its process is, however that ends. */
function unlinkEarly(file: string): void {
  try {
    rmSync(file);
  } catch {
    // Not possible everywhere; `close` removes it then.
  }
}
