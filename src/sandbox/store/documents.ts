/** Campaigns, templates, domains and the figures of reports, as a seed has set them, in the database. */
import { Tables, type Value } from "../database.ts";

export type DocumentKind = "campaign" | "template" | "domain" | "report";

export interface StoredDocument {
  id: string;
  kind: DocumentKind;
  name: string;
  /** When a campaign is or was sent; null: a draft. Times are milliseconds since the epoch. */
  sentAt: number | null;
  createdAt: number;
  updatedAt: number;
  /** The further members, as they are answered. */
  content: Record<string, unknown>;
}

export type CampaignStatus = "draft" | "scheduled" | "sent";

export interface DocumentPage {
  /** Starts at 1. */
  page: number;
  size: number;
  sort: "name" | "createdAt" | "updatedAt";
  direction: "asc" | "desc";
  /** Campaigns that have this status at present. */
  status?: string;
  /** Milliseconds since the epoch. */
  now: number;
}

interface DocumentRow {
  id: string;
  kind: DocumentKind;
  name: string;
  sent_at: number | null;
  created_at: number;
  updated_at: number;
  content: string;
}

/** The status follows from the clock: a campaign whose time has come is sent. */
export function campaignStatus({ sentAt }: StoredDocument, now: number): CampaignStatus {
  if (sentAt === null) return "draft";
  return sentAt <= now ? "sent" : "scheduled";
}

// A campaign that was sent was changed by that.
const changedAt = "max(updated_at, CASE WHEN sent_at <= ? THEN sent_at ELSE 0 END)";
const status = "CASE WHEN sent_at IS NULL THEN 'draft' WHEN sent_at <= ? THEN 'sent' ELSE 'scheduled' END";
const columns = { name: "name COLLATE NOCASE", createdAt: "created_at", updatedAt: changedAt };

export class DocumentStore extends Tables {
  page(kind: DocumentKind, wanted: DocumentPage): { total: number; documents: StoredDocument[] } {
    const { page, size, sort, direction, now } = wanted;
    const where = `WHERE kind = ?${wanted.status === undefined ? "" : ` AND ${status} = lower(?)`}`;
    const values: Value[] = wanted.status === undefined ? [kind] : [kind, now, wanted.status];
    const total = this.database.get<{ total: number }>(
      `SELECT count(*) AS total FROM documents ${where}`,
      ...values,
    );
    const rows = this.database.all<DocumentRow>(
      `SELECT * FROM documents ${where}
        ORDER BY ${columns[sort]} ${direction}, id ${direction} LIMIT ? OFFSET ?`,
      ...values,
      ...(sort === "updatedAt" ? [now] : []),
      size,
      (page - 1) * size,
    );
    return { total: total?.total ?? 0, documents: rows.map(readDocument) };
  }

  /** In the order of their ids. */
  all(kind: DocumentKind): StoredDocument[] {
    return this.database
      .all<DocumentRow>("SELECT * FROM documents WHERE kind = ? ORDER BY id", kind)
      .map(readDocument);
  }

  get(kind: DocumentKind, id: string): StoredDocument | undefined {
    const row = this.database.get<DocumentRow>("SELECT * FROM documents WHERE kind = ? AND id = ?", kind, id);
    return row && readDocument(row);
  }

  /** Adds it, or replaces the one of its id. */
  put(document: StoredDocument): void {
    this.database.run(
      "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)",
      document.id,
      document.kind,
      document.name,
      document.sentAt,
      document.createdAt,
      document.updatedAt,
      JSON.stringify(document.content),
    );
  }
}

function readDocument({ id, kind, name, ...row }: DocumentRow): StoredDocument {
  return {
    id,
    kind,
    name,
    sentAt: row.sent_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    content: JSON.parse(row.content),
  };
}
