/** All but contacts, as JSON: structures, lists, campaigns, templates, domains, reports. */
import type { ContactList, ContactStructure, FieldDefinition, TagDefinition } from "../../wire.ts";
import { type Database, Tables } from "../database.ts";

/** A structure as it is stored: every part is there. */
export interface StoredStructure extends ContactStructure {
  tags: TagDefinition[];
  fields: FieldDefinition[];
  __v: number;
}

export interface StoredList extends Required<ContactList> {
  type: "static";
  totalCampaigns: number;
}

/** A campaign, a template, a domain or a report. */
export interface StoredMail {
  _id: string;
  /** What is answered of it. */
  given: Record<string, unknown>;
  /** A campaign's own report. */
  report?: unknown;
}

/** All documents of one kind. */
export class DocumentStore<T extends { _id: string }> extends Tables {
  private readonly kind: string;

  constructor(database: Database, kind: string) {
    super(database);
    this.kind = kind;
  }

  /** In the order of their ids. */
  all(): T[] {
    return this.database
      .all<{ content: string }>("SELECT content FROM documents WHERE kind = ? ORDER BY id", this.kind)
      .map(({ content }) => JSON.parse(content));
  }

  get(id: string): T | undefined {
    const row = this.database.get<{ content: string }>(
      "SELECT content FROM documents WHERE kind = ? AND id = ?",
      this.kind,
      id,
    );
    return row && JSON.parse(row.content);
  }

  /** Adds it, or replaces the one of its id. */
  put(document: T): void {
    const content = JSON.stringify(document);
    this.database.run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?)", this.kind, document._id, content);
  }

  remove(id: string): void {
    this.database.run("DELETE FROM documents WHERE kind = ? AND id = ?", this.kind, id);
  }

  clear(): void {
    this.database.run("DELETE FROM documents WHERE kind = ?", this.kind);
  }
}

type ListDocument = Omit<StoredList, "totalContacts" | "totalCampaigns"> & { structureId: string };

class ListStore extends Tables {
  private readonly documents: DocumentStore<ListDocument>;

  constructor(database: Database) {
    super(database);
    this.documents = new DocumentStore(database, "list");
  }

  /** In the order of their ids. */
  all(structureId: string): StoredList[] {
    return this.counted(this.documents.all().filter((list) => list.structureId === structureId));
  }

  get(structureId: string, id: string): StoredList | undefined {
    const list = this.documents.get(id);
    return list?.structureId === structureId ? this.counted([list])[0] : undefined;
  }

  /** Whether there is such a list; quicker than to count its members. */
  has(structureId: string, id: string): boolean {
    return this.documents.get(id)?.structureId === structureId;
  }

  add(structureId: string, { _id, name, now }: { _id: string; name: string; now: number }): void {
    const time = new Date(now).toISOString();
    this.documents.put({ _id, name, type: "static", createdAt: time, updatedAt: time, __v: 0, structureId });
  }

  rename(id: string, name: string, now: number): void {
    const list = this.documents.get(id)!;
    this.documents.put({ ...list, name, updatedAt: new Date(now).toISOString(), __v: list.__v + 1 });
  }

  remove(id: string): void {
    this.documents.remove(id);
  }

  private counted(lists: ListDocument[]): StoredList[] {
    return lists.map(({ structureId: _structureId, ...list }) => ({
      ...list,
      totalContacts: this.database.get<{ total: number }>(
        "SELECT count(*) AS total FROM members WHERE list_id = ?",
        list._id,
      )!.total,
      totalCampaigns: 0,
    }));
  }
}

/** The stores of everything besides contacts. */
export function openDocuments(database: Database) {
  return {
    structures: new DocumentStore<StoredStructure>(database, "structure"),
    lists: new ListStore(database),
    campaigns: new DocumentStore<StoredMail>(database, "campaign"),
    templates: new DocumentStore<StoredMail>(database, "template"),
    domains: new DocumentStore<StoredMail>(database, "domain"),
    reports: new DocumentStore<StoredMail>(database, "report"),
  };
}

/** A thing that is listed in pages. */
interface Listed {
  name: string;
  createdAt: string;
  updatedAt: string;
}

/**
 * A page of what is there; texts are compared without regard to letter case.
 * @param page starts at 1
 * @param sort such as `name:asc`; default: the order in which they are given
 */
export function pageOf<T extends Listed>(
  all: T[],
  { page, size, sort = ":asc" }: { page: number; size: number; sort?: string },
): { total: number; records: T[] } {
  const [by, direction] = sort.split(":");
  const rank = (listed: T) => (by === "" ? "" : listed[by as keyof Listed].toLowerCase());
  const sorted = all.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
  if (direction === "desc") sorted.reverse();
  return { total: all.length, records: sorted.slice((page - 1) * size, page * size) };
}
