/**
 * Contacts of the account, read page by page and kept in a file: 40 bytes of memory for each, however many
 * fields it has. A snapshot outlives a stop: the pages that are there are not read again.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, rmSync } from "node:fs";
import { writeWhole } from "../../disk/atomic-file.ts";
import { withPath } from "../../disk/disk-errors.ts";
import { decodeLine, readLines } from "../../disk/log.ts";
import { TextIndex } from "../../text-index.ts";
import type { Contact } from "../../wire.ts";

export interface SnapshotPage {
  page: number;
  pageSize: number;
  total: number;
  /** Milliseconds since the epoch. */
  at: number;
  contacts: Partial<Contact>[];
}

export interface SnapshotOptions {
  /** Taken off the disk when it is closed, and at once where the platform can. */
  isTemporary: boolean;
  toIdentity(key: string): string;
}

/** Pages that an earlier invocation has read are read again after this. */
const maxAgeMilliseconds = 3_600_000;

export async function openSnapshot(file: string, options: SnapshotOptions): Promise<AccountSnapshot> {
  const storedPages = options.isTemporary ? { pages: [], end: 0 } : await readStoredPages(file);
  return new AccountSnapshot(file, options, storedPages);
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
  private keys = new TextIndex();
  private ids = new TextIndex();
  /** Where each contact is in the file, in bytes; in the order of the places in both indexes. */
  private offsets: number[] = [];
  private lengths: number[] = [];
  /** In bytes. */
  private end: number;
  private isClosed = false;

  /** @param kept what the file holds; its pages are taken out of it */
  constructor(file: string, options: SnapshotOptions, kept: KeptPages) {
    this.file = file;
    this.options = options;
    this.end = kept.end;
    this.descriptor = openSync(file, options.isTemporary ? "w+" : "a+", 0o600);
    if (options.isTemporary) unlinkEarly(file);
    else if (fstatSync(this.descriptor).size > kept.end) ftruncateSync(this.descriptor, kept.end);
    for (const page of kept.pages) this.note(page, page.contacts);
    kept.pages.length = 0;
  }

  add({ contacts, ...header }: SnapshotPage): void {
    if (this.pages.has(header.page)) return;
    const lines: Buffer[] = [Buffer.from(`${JSON.stringify({ ...header, count: contacts.length })}\n`)];
    let offset = this.end + lines[0]!.length;
    const entries: Entry[] = [];
    for (const contact of contacts) {
      const line = Buffer.from(`${JSON.stringify(contact)}\n`);
      entries.push({ contact, offset, length: line.length - 1 });
      lines.push(line);
      offset += line.length;
    }
    withPath(this.file, () => writeWhole(this.descriptor, Buffer.concat(lines)));
    this.end = offset;
    this.note(header, entries);
  }

  has(page: number): boolean {
    return this.pages.has(page);
  }

  get total(): number | undefined {
    return this.totals.values().next().value;
  }

  /**
   * Every page said the same total, and that many different
   * contacts were read: whoever is not here is not there.
   */
  isWhole(): boolean {
    const { totals, ids } = this;
    return totals.size === 1 && totals.has(ids.size) && !ids.hasRepeated;
  }

  /** Whether its pages may still be relied on. @param now in milliseconds since the epoch */
  isRecent(now: number): boolean {
    const age = now - this.takenAt;
    // A clock that was set back tells no age.
    return age >= 0 && age <= maxAgeMilliseconds;
  }

  find(identity: string, prefers: (contact: Partial<Contact>) => boolean): Partial<Contact> | undefined {
    let first: Partial<Contact> | undefined;
    for (const place of [...this.keys.find(identity)].reverse()) {
      const contact = this.read(place);
      if (this.options.toIdentity(contact.key ?? "") !== identity) continue;
      if (prefers(contact)) return contact;
      first ??= contact;
    }
    return first;
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

  /** May be called again. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    closeSync(this.descriptor);
    if (this.options.isTemporary) rmSync(this.file, { force: true });
    this.keys = new TextIndex();
    this.ids = new TextIndex();
    this.offsets = [];
    this.lengths = [];
  }

  private note(header: Omit<SnapshotPage, "contacts">, entries: readonly Entry[]): void {
    this.pages.add(header.page);
    this.totals.add(header.total);
    this.pageSize = header.pageSize;
    this.takenAt = Math.min(this.takenAt, header.at);
    for (const { contact, offset, length } of entries) {
      this.keys.add(this.options.toIdentity(contact.key ?? ""));
      this.ids.add(contact._id ?? "");
      this.offsets.push(offset);
      this.lengths.push(length);
    }
  }

  private read(place: number): Partial<Contact> {
    const length = this.lengths[place]!;
    const buffer = Buffer.allocUnsafe(length);
    readSync(this.descriptor, buffer, 0, length, this.offsets[place]!);
    return JSON.parse(buffer.toString("utf8")) as Partial<Contact>;
  }
}

/** A contact, and where it is in the file, in bytes. */
interface Entry {
  contact: Partial<Contact>;
  offset: number;
  length: number;
}

interface StoredPage extends Omit<SnapshotPage, "contacts"> {
  contacts: Entry[];
}

interface KeptPages {
  pages: StoredPage[];
  /** In bytes. */
  end: number;
}

/** The whole pages of a file that an earlier invocation left; a torn last page is left out. */
async function readStoredPages(file: string): Promise<KeptPages> {
  const pages: StoredPage[] = [];
  let offset = 0;
  let end = 0;
  let current: (StoredPage & { count: number }) | undefined;
  try {
    for await (const line of readLines(file)) {
      const { length } = line;
      const start = offset;
      offset += length + 1;
      const value = JSON.parse(decodeLine(line)) as Partial<Contact> &
        Partial<StoredPage & { count: number }>;
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
    // A damaged line: everything before it is whole.
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
