/** What the account has besides contacts, as JSON: structures, lists, campaigns, templates, domains, reports. */
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

/** Times are milliseconds since the epoch. */
export interface Dated {
  _id: string;
  name: string;
  createdAt: number;
  updatedAt: number;
}

export interface StoredCampaign extends Dated {
  subject: string;
  from: string;
  previewText: string;
  listIds?: string[];
  /** When it is or was sent; absent: a draft. */
  sentAt?: number;
  /** Its figures, as a seed gives them. */
  report?: Record<string, unknown>;
}

export interface StoredTemplate extends Dated {
  subject: string;
}

export interface StoredDomain extends Dated {
  provider: string;
  /** Of its DNS records. */
  missing: string[];
}

/** The figures of a report. */
interface StoredReport {
  _id: string;
  figures: unknown;
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
}

type ListDocument = Omit<StoredList, "totalContacts" | "totalCampaigns"> & { structureId: string };

class ListStore extends Tables {
  private readonly documents: DocumentStore<ListDocument>;
  private readonly campaigns: DocumentStore<StoredCampaign>;

  constructor(database: Database, campaigns: DocumentStore<StoredCampaign>) {
    super(database);
    this.documents = new DocumentStore(database, "list");
    this.campaigns = campaigns;
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
    const campaigns = this.campaigns.all();
    return lists.map(({ structureId: _structureId, ...list }) => ({
      ...list,
      totalContacts: this.database.get<{ total: number }>(
        "SELECT count(*) AS total FROM members WHERE list_id = ?",
        list._id,
      )!.total,
      totalCampaigns: campaigns.filter(({ listIds }) => listIds?.includes(list._id)).length,
    }));
  }
}

/** Of everything besides contacts, by kind. */
export function openDocuments(database: Database) {
  const campaigns = new DocumentStore<StoredCampaign>(database, "campaign");
  return {
    structures: new DocumentStore<StoredStructure>(database, "structure"),
    lists: new ListStore(database, campaigns),
    campaigns,
    templates: new DocumentStore<StoredTemplate>(database, "template"),
    domains: new DocumentStore<StoredDomain>(database, "domain"),
    reports: new DocumentStore<StoredReport>(database, "report"),
  };
}

/** A thing that is listed in pages; its times are all written in one way. */
interface Listed {
  name: string;
  createdAt: string | number;
  updatedAt: string | number;
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
  const rank = (listed: T) => {
    const value = by === "" ? 0 : listed[by as keyof Listed];
    return typeof value === "string" ? value.toLowerCase() : value;
  };
  const sorted = all.toSorted((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0));
  if (direction === "desc") sorted.reverse();
  return { total: all.length, records: sorted.slice((page - 1) * size, page * size) };
}
