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

interface EventPage {
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
    const rows = this.database.all<Omit<StoredEvent, "details"> & { details: string | null }>(
      `SELECT contact_id AS contactId, type, happened_at AS at, details ${where}
        ORDER BY happened_at DESC, id DESC LIMIT ? OFFSET ?`,
      ...values,
      size,
      (page - 1) * size,
    );
    const events = rows.map(({ details, ...row }) => ({
      ...row,
      details: details === null ? undefined : JSON.parse(details),
    }));
    return { total, events };
  }
}
