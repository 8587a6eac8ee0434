/**
 * What follows from mails later, in the database: each event waits
 * there until the service's time has come to it.
 */
import type { Database } from "../database.ts";
import type { EventDetails } from "../public-types.ts";

export interface UpcomingEvent {
  campaignId: string;
  contactId: string;
  type: string;
  /** Milliseconds since the epoch. */
  at: number;
  details: EventDetails;
}

interface UpcomingRow {
  id: number;
  campaign_id: string;
  contact_id: string;
  type: string;
  happens_at: number;
  details: string;
}

const batchSize = 1000;

export class UpcomingStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  add(events: readonly UpcomingEvent[]): void {
    const rows = events.map((each) => [each.campaignId, each.contactId, each.type, each.at, each.details]);
    this.database.run(
      `INSERT INTO upcoming_events (campaign_id, contact_id, type, happens_at, details)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value -> 4 FROM json_each(?)`,
      JSON.stringify(rows),
    );
  }

  /** Takes out the oldest of those whose time has come, some at once; none when there is none. */
  takeDue(now: number): UpcomingEvent[] {
    const rows = this.database.all<UpcomingRow>(
      `SELECT * FROM upcoming_events WHERE happens_at <= ? ORDER BY happens_at, id LIMIT ${batchSize}`,
      now,
    );
    if (rows.length === 0) return [];
    this.database.run(
      "DELETE FROM upcoming_events WHERE id IN (SELECT value FROM json_each(?))",
      JSON.stringify(rows.map(({ id }) => id)),
    );
    return rows.map(readUpcoming);
  }

  /** Nothing more follows from this mail. */
  dropMail(campaignId: string, contactId: string): void {
    this.database.run(
      "DELETE FROM upcoming_events WHERE campaign_id = ? AND contact_id = ?",
      campaignId,
      contactId,
    );
  }

  /** How many mails of each of these campaigns are not sent yet. */
  countUnsent(campaignIds: string[]): Map<string, number> {
    const rows = this.database.all<{ campaign_id: string; count: number }>(
      `SELECT campaign_id, count(*) AS count FROM upcoming_events
        WHERE type = 'email-sent' AND campaign_id IN (SELECT value FROM json_each(?)) GROUP BY campaign_id`,
      JSON.stringify(campaignIds),
    );
    return new Map(rows.map((row) => [row.campaign_id, row.count]));
  }
}

function readUpcoming(row: UpcomingRow): UpcomingEvent {
  return {
    campaignId: row.campaign_id,
    contactId: row.contact_id,
    type: row.type,
    at: row.happens_at,
    details: JSON.parse(row.details),
  };
}
