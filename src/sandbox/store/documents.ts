/** Campaigns, templates and domains in the database. */
import type { Database, Value } from "../database.ts";

export type DocumentKind = "campaign" | "template" | "domain";

export interface StoredDocument {
  id: string;
  kind: DocumentKind;
  name: string;
  /** Of a campaign: when it is or was sent; null: a draft. Times are milliseconds since the epoch. */
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

export interface Documents {
  page(kind: DocumentKind, wanted: DocumentPage): { total: number; documents: StoredDocument[] };
  /** In the order of their ids. */
  all(kind: DocumentKind): StoredDocument[];
  get(kind: DocumentKind, id: string): StoredDocument | undefined;
  /** Campaigns that were sent in this span, the newest first. */
  sentBetween(from: number, to: number): StoredDocument[];
  /** Adds it, or replaces the one of its id. */
  put(document: StoredDocument): void;
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
export function statusAt({ sentAt }: StoredDocument, now: number): CampaignStatus {
  if (sentAt === null) return "draft";
  return sentAt <= now ? "sent" : "scheduled";
}

// A campaign that was sent was changed by that.
const changedAt = "max(updated_at, CASE WHEN sent_at <= ? THEN sent_at ELSE 0 END)";
const statusInSql =
  "CASE WHEN sent_at IS NULL THEN 'draft' WHEN sent_at <= ? THEN 'sent' ELSE 'scheduled' END";

export function documentsIn(database: Database): Documents {
  return {
    page(kind, { page, size, sort, direction, status, now }) {
      const where = `WHERE kind = ?${status === undefined ? "" : ` AND ${statusInSql} = lower(?)`}`;
      const values: Value[] = status === undefined ? [kind] : [kind, now, status];
      const total = database.get<{ total: number }>(
        `SELECT count(*) AS total FROM documents ${where}`,
        ...values,
      );
      const column = { name: "name COLLATE NOCASE", createdAt: "created_at", updatedAt: changedAt }[sort];
      const rows = database.all<DocumentRow>(
        `SELECT * FROM documents ${where} ORDER BY ${column} ${direction}, id ${direction} LIMIT ? OFFSET ?`,
        ...values,
        ...(sort === "updatedAt" ? [now] : []),
        size,
        (page - 1) * size,
      );
      return { total: total?.total ?? 0, documents: rows.map(read) };
    },
    all: (kind) =>
      database.all<DocumentRow>("SELECT * FROM documents WHERE kind = ? ORDER BY id", kind).map(read),
    get(kind, id) {
      const row = database.get<DocumentRow>("SELECT * FROM documents WHERE kind = ? AND id = ?", kind, id);
      return row && read(row);
    },
    sentBetween: (from, to) =>
      database
        .all<DocumentRow>(
          "SELECT * FROM documents WHERE kind = 'campaign' AND sent_at >= ? AND sent_at <= ? ORDER BY sent_at DESC, id",
          from,
          to,
        )
        .map(read),
    put({ id, kind, name, sentAt, createdAt, updatedAt, content }) {
      database.run(
        "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)",
        id,
        kind,
        name,
        sentAt,
        createdAt,
        updatedAt,
        JSON.stringify(content),
      );
    },
  };
}

function read(row: DocumentRow): StoredDocument {
  const { id, kind, name } = row;
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
