/** What the recorded events say of mails: everything that a report tells is counted here. */
import type { Database, Value } from "../database.ts";

/** Which events: from `from` on, before or at `to`, in milliseconds since the epoch. */
export interface Span {
  from: number;
  to: number;
  /** Absent: of every campaign, and of none. */
  campaignId?: string;
}

export interface MailFigures {
  sent: number;
  delivered: number;
  /** The first opening of a mail by its contact. */
  uniqueOpens: number;
  uniqueClicks: number;
  hardBounces: number;
  softBounces: number;
  totalBounces: number;
  unsubscribes: number;
  complaints: number;
}

export interface LinkFigures {
  linkId: string | null;
  url: string | null;
  clicks: number;
  uniqueClicks: number;
}

export interface MailEventTime {
  /** Milliseconds since the epoch. */
  at: number;
  isSoft: boolean;
}

interface CountRow {
  type: string;
  soft: number;
  count: number;
}

const campaign = "details ->> '$.emailCampaignId'";
const isSoftBounce = "type = 'email-bounced' AND lower(details ->> '$.emailBounceType') IS 'transient'";
/** What counts as often as it happens, and what counts once for each contact in a campaign. */
const counted = { sent: "email-sent", delivered: "email-delivered", totalBounces: "email-bounced" };
const countedOnce = {
  uniqueOpens: "email-opened",
  uniqueClicks: "email-clicked",
  unsubscribes: "contact-unsubscribed",
  complaints: "email-complaint",
};

export class MailEventStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  figures(span: Span): MailFigures {
    const rows = [
      ...this.count(allEvents(span), Object.values(counted), span),
      ...this.count(firstEvents(span), Object.values(countedOnce), span),
    ];
    const sum = (wanted: (row: CountRow) => boolean) =>
      rows.filter(wanted).reduce((total, { count }) => total + count, 0);
    const named = Object.entries({ ...counted, ...countedOnce }).map(([name, type]) => [
      name,
      sum((row) => row.type === type),
    ]);
    return {
      ...(Object.fromEntries(named) as Omit<MailFigures, "hardBounces" | "softBounces">),
      hardBounces: sum(({ type, soft }) => type === counted.totalBounces && soft === 0),
      softBounces: sum(({ type, soft }) => type === counted.totalBounces && soft === 1),
    };
  }

  /** When events of a type happened. @param first only the first of a contact in a campaign */
  times(span: Span, type: string, first = false): MailEventTime[] {
    const events = first ? firstEvents(span) : allEvents(span);
    return this.database
      .all<{ at: number; soft: number }>(
        `SELECT at, soft FROM (${events}) WHERE at >= ? AND at <= ? ORDER BY at`,
        ...spanValues([type], span),
      )
      .map(({ at, soft }) => ({ at, isSoft: soft === 1 }));
  }

  links(campaignId: string): LinkFigures[] {
    return this.database.all<LinkFigures>(
      `SELECT details ->> '$.emailLinkId' AS linkId, details ->> '$.emailTargetUrl' AS url,
        count(*) AS clicks, count(DISTINCT contact_id) AS uniqueClicks FROM events
        WHERE type = 'email-clicked' AND details IS NOT NULL AND ${campaign} = ?
        GROUP BY linkId, url ORDER BY clicks DESC, url`,
      campaignId,
    );
  }

  /** How many events of a type each of these campaigns has. */
  countByCampaign(campaignIds: string[], type: string): Map<string, number> {
    const rows = this.database.all<{ campaign: string; count: number }>(
      `SELECT ${campaign} AS campaign, count(*) AS count FROM events
        WHERE type = ? AND details IS NOT NULL AND ${campaign} IN (SELECT value FROM json_each(?))
        GROUP BY campaign`,
      type,
      JSON.stringify(campaignIds),
    );
    return new Map(rows.map((row) => [row.campaign, row.count]));
  }

  private count(events: string, types: string[], span: Span): CountRow[] {
    return this.database.all<CountRow>(
      `SELECT type, soft, count(*) AS count FROM (${events}) WHERE at >= ? AND at <= ? GROUP BY type, soft`,
      ...spanValues(types, span),
    );
  }
}

/** A query for each event of some types. */
function allEvents({ campaignId }: Span): string {
  return `SELECT type, happened_at AS at, ${isSoftBounce} AS soft FROM events
    WHERE type IN (SELECT value FROM json_each(?))${inCampaign(campaignId)}`;
}

/** A query for the first of these events of each contact in each campaign, of all that ever happened. */
function firstEvents({ campaignId }: Span): string {
  return `SELECT type, min(happened_at) AS at, 0 AS soft FROM events
    WHERE type IN (SELECT value FROM json_each(?))${inCampaign(campaignId)}
    GROUP BY type, contact_id, ${campaign}`;
}

function inCampaign(campaignId: string | undefined): string {
  return campaignId === undefined ? "" : ` AND details IS NOT NULL AND ${campaign} = ?`;
}

/** The values of such a query, and of the span around it. */
function spanValues(types: string[], { campaignId, from, to }: Span): Value[] {
  return [JSON.stringify(types), ...(campaignId === undefined ? [] : [campaignId]), from, to];
}
