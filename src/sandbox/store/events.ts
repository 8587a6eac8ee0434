/** What happened to contacts, in the database. */
import { Tables } from "../database.ts";

export interface StoredEvent {
  contactId: string;
  type: string;
  /** Milliseconds since the epoch. */
  at: number;
  /** Absent: a request to the API was the cause. */
  details?: object;
}

export interface EventPage {
  /** Absent: those of every contact. */
  contactId?: string;
  /** Absent: all types. */
  types?: string[];
  /** Only those at or after this time, in milliseconds since the epoch. */
  since?: number;
  /** Starts at 1. */
  page: number;
  size: number;
}

interface EventRow {
  contact_id: string;
  type: string;
  happened_at: number;
  details: string | null;
}

export class EventStore extends Tables {
  /** Adds one; the caller is in a transaction. */
  add({ contactId, type, at, details }: StoredEvent): void {
    this.database.run(
      "INSERT INTO events (contact_id, type, happened_at, details) VALUES (?, ?, ?, ?)",
      contactId,
      type,
      at,
      details === undefined ? null : JSON.stringify(details),
    );
  }

  /** The newest come first. */
  page({ contactId, types, since = 0, page, size }: EventPage): {
    total: number;
    events: StoredEvent[];
  } {
    const where = `FROM events WHERE coalesce(contact_id = ?, true) AND happened_at >= ?
      AND (type IN (SELECT value FROM json_each(?)) OR ?)`;
    const values = [contactId ?? null, since, JSON.stringify(types ?? []), types ? 0 : 1];
    const { total } = this.database.get<{ total: number }>(`SELECT count(*) AS total ${where}`, ...values)!;
    const rows = this.database.all<EventRow>(
      `SELECT contact_id, type, happened_at, details ${where}
        ORDER BY happened_at DESC, id DESC LIMIT ? OFFSET ?`,
      ...values,
      size,
      (page - 1) * size,
    );
    return { total, events: rows.map(readEvent) };
  }
}

function readEvent(row: EventRow): StoredEvent {
  const event = { contactId: row.contact_id, type: row.type, at: row.happened_at };
  return row.details === null ? event : { ...event, details: JSON.parse(row.details) };
}
