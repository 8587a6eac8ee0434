/** What follows from mails later, in the database: each waits there until the service's time has come to it. */
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

export interface Upcoming {
  add(events: readonly UpcomingEvent[]): void;
  /** Takes out the oldest of those whose time has come, some at once; none when there is none. */
  takeDue(now: number): UpcomingEvent[];
  /** Nothing more follows from this mail. */
  dropMail(campaignId: string, contactId: string): void;
  /** How many mails of each of these campaigns are not sent yet. */
  unsent(campaignIds: string[]): Map<string, number>;
}

interface UpcomingRow {
  id: number;
  campaign_id: string;
  contact_id: string;
  type: string;
  happens_at: number;
  details: string;
}

const portion = 1000;

export function upcomingIn(database: Database): Upcoming {
  return {
    add(events) {
      database.run(
        `INSERT INTO upcoming_events (campaign_id, contact_id, type, happens_at, details)
          SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value -> 4 FROM json_each(?)`,
        JSON.stringify(
          events.map(({ campaignId, contactId, type, at, details }) => [
            ...[campaignId, contactId, type, at, details],
          ]),
        ),
      );
    },
    takeDue(now) {
      const rows = database.all<UpcomingRow>(
        `SELECT * FROM upcoming_events WHERE happens_at <= ? ORDER BY happens_at, id LIMIT ${portion}`,
        now,
      );
      database.run(
        "DELETE FROM upcoming_events WHERE id IN (SELECT value FROM json_each(?))",
        JSON.stringify(rows.map(({ id }) => id)),
      );
      return rows.map((row) => ({
        campaignId: row.campaign_id,
        contactId: row.contact_id,
        type: row.type,
        at: row.happens_at,
        details: JSON.parse(row.details),
      }));
    },
    dropMail(campaignId, contactId) {
      database.run(
        "DELETE FROM upcoming_events WHERE campaign_id = ? AND contact_id = ?",
        campaignId,
        contactId,
      );
    },
    unsent(campaignIds) {
      const rows = database.all<{ campaign_id: string; count: number }>(
        `SELECT campaign_id, count(*) AS count FROM upcoming_events
          WHERE type = 'email-sent' AND campaign_id IN (SELECT value FROM json_each(?)) GROUP BY campaign_id`,
        JSON.stringify(campaignIds),
      );
      return new Map(rows.map((row) => [row.campaign_id, row.count]));
    },
  };
}
