/**
 * Contacts of the account, read page by page and kept in a file: 40 bytes of memory for each, however many fields it
 * has. A snapshot outlives a stop: the pages that are there are not read again.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { createInterface } from "node:readline";
import type { Contact } from "../../wire.ts";
import { hashOf } from "../input/identities.ts";

export interface SnapshotPage {
  page: number;
  pageSize: number;
  total: number;
  /** Milliseconds since the epoch. */
  at: number;
  contacts: Partial<Contact>[];
}

export interface Snapshot {
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

export async function openSnapshot(file: string, options: SnapshotOptions): Promise<Snapshot> {
  const kept = options.isTemporary ? { pages: [], end: 0 } : await readKept(file);
  const descriptor = openSync(file, options.isTemporary ? "w+" : "a+", 0o600);
  if (options.isTemporary) unlinkEarly(file);
  else if (fstatSync(descriptor).size > kept.end) ftruncateSync(descriptor, kept.end);
  let end = kept.end;
  const pages = new Set<number>();
  const totals = new Set<number>();
  let pageSize: number | undefined;
  let count = 0;
  let takenAt = Number.POSITIVE_INFINITY;
  let isClosed = false;
  let index = createIndex();
  let ids = createIndex();

  function note(header: Omit<SnapshotPage, "contacts">, entries: Entry[]): void {
    pages.add(header.page);
    totals.add(header.total);
    pageSize = header.pageSize;
    takenAt = Math.min(takenAt, header.at);
    for (const entry of entries) {
      ids.add(entry.idHash, entry.offset, entry.length);
      index.add(entry.keyHash, entry.offset, entry.length);
      count++;
    }
  }

  for (const page of kept.pages) {
    const entries = page.contacts.map(({ contact, offset, length }) => entryOf(contact, offset, length));
    note(page, entries);
  }
  kept.pages.length = 0;

  function entryOf(contact: Partial<Contact>, offset: number, length: number): Entry {
    const keyHash = hashOf(options.identityOf(contact.key ?? ""));
    return { keyHash, idHash: hashOf(contact._id ?? ""), offset, length };
  }

  function read(slot: number, through = index): Partial<Contact> {
    const length = through.lengthAt(slot);
    const buffer = Buffer.allocUnsafe(length);
    readSync(descriptor, buffer, 0, length, through.offsetAt(slot));
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
      return totals.size === 1 && totals.has(count) && ids.distinct() === count;
    },
    find(identity, prefers) {
      let first: Partial<Contact> | undefined;
      for (const slot of index.slotsOf(hashOf(identity))) {
        const contact = read(slot);
        if (options.identityOf(contact.key ?? "") !== identity) continue;
        if (prefers(contact)) return contact;
        first ??= contact;
      }
      return first;
    },
    findById(id) {
      for (const slot of ids.slotsOf(hashOf(id))) {
        const contact = read(slot, ids);
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
      index = createIndex();
      ids = createIndex();
    },
  };
}

interface Entry {
  keyHash: number;
  idHash: number;
  offset: number;
  length: number;
}

/** Hash → places in the file, by open addressing in typed arrays. */
function createIndex() {
  let hashes = new Float64Array(1024);
  let offsets = new Float64Array(1024);
  let lengths = new Uint32Array(1024);
  let size = 0;
  let table: Int32Array | undefined;

  function build(): Int32Array {
    const slots = new Int32Array(2 ** Math.ceil(Math.log2(Math.max(16, size * 2)))).fill(-1);
    for (let entry = 0; entry < size; entry++) {
      let at = hashes[entry]! % slots.length;
      while (slots[at] !== -1) at = (at + 1) % slots.length;
      slots[at] = entry;
    }
    return slots;
  }

  return {
    get size() {
      return size;
    },
    add(hash: number, offset: number, length: number) {
      if (size === hashes.length) {
        hashes = grown(hashes);
        offsets = grown(offsets);
        lengths = grown(lengths);
      }
      hashes[size] = hash;
      offsets[size] = offset;
      lengths[size] = length;
      size++;
      table = undefined;
    },
    /** How many different hashes there are. */
    distinct(): number {
      const sorted = hashes.slice(0, size).sort();
      let count = size === 0 ? 0 : 1;
      for (let at = 1; at < size; at++) if (sorted[at] !== sorted[at - 1]) count++;
      return count;
    },
    offsetAt: (slot: number) => offsets[slot]!,
    lengthAt: (slot: number) => lengths[slot]!,
    *slotsOf(hash: number) {
      table ??= build();
      for (let at = hash % table.length; table[at] !== -1; at = (at + 1) % table.length) {
        if (hashes[table[at]!] === hash) yield table[at]!;
      }
    },
  };
}

function grown<T extends Float64Array | Uint32Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(array.length * 2);
  larger.set(array);
  return larger;
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
    // A torn line: what stands before it is whole.
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
