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

export interface MailEvents {
  figures(span: Span): MailFigures;
  /** When events of a type happened. @param first only the first of a contact in a campaign */
  times(span: Span, type: string, first?: boolean): { at: number; isSoft: boolean }[];
  links(campaignId: string): LinkFigures[];
  /** Events of these types by campaign. */
  byCampaign(campaignIds: string[], type: string): Map<string, number>;
}

const campaignInSql = "details ->> '$.emailCampaignId'";
const softInSql = "type = 'email-bounced' AND lower(details ->> '$.emailBounceType') IS 'transient'";
/** What counts as often as it happens, and what counts once for each contact in a campaign. */
const counted = { sent: "email-sent", delivered: "email-delivered", totalBounces: "email-bounced" };
const countedOnce = {
  uniqueOpens: "email-opened",
  uniqueClicks: "email-clicked",
  unsubscribes: "contact-unsubscribed",
  complaints: "email-complaint",
};

const ofCampaign = (campaignId: string | undefined) =>
  campaignId === undefined ? "" : ` AND details IS NOT NULL AND ${campaignInSql} = ?`;

/** Each event of these types. */
const eventsInSql = ({ campaignId }: Span) =>
  `SELECT type, happened_at AS at, ${softInSql} AS soft FROM events
    WHERE type IN (SELECT value FROM json_each(?))${ofCampaign(campaignId)}`;

/** The first of these events of each contact in each campaign, of all that ever happened. */
const firstsInSql = ({ campaignId }: Span) =>
  `SELECT type, min(happened_at) AS at, 0 AS soft FROM events
    WHERE type IN (SELECT value FROM json_each(?))${ofCampaign(campaignId)}
    GROUP BY type, contact_id, ${campaignInSql}`;

function valuesOf(types: string[], { campaignId, from, to }: Span): Value[] {
  return [JSON.stringify(types), ...(campaignId === undefined ? [] : [campaignId]), from, to];
}

export function mailEventsIn(database: Database): MailEvents {
  const countsOf = (sql: string, types: string[], span: Span) =>
    database.all<{ type: string; soft: number; count: number }>(
      `SELECT type, soft, count(*) AS count FROM (${sql}) WHERE at >= ? AND at <= ? GROUP BY type, soft`,
      ...valuesOf(types, span),
    );
  return {
    figures(span) {
      const rows = [
        ...countsOf(eventsInSql(span), Object.values(counted), span),
        ...countsOf(firstsInSql(span), Object.values(countedOnce), span),
      ];
      const sumOf = (type: string, soft?: boolean) =>
        rows
          .filter((row) => row.type === type && (soft === undefined || (row.soft === 1) === soft))
          .reduce((sum, { count }) => sum + count, 0);
      const named = Object.entries({ ...counted, ...countedOnce }).map(([name, type]) => [name, sumOf(type)]);
      return {
        ...(Object.fromEntries(named) as Omit<MailFigures, "hardBounces" | "softBounces">),
        hardBounces: sumOf(counted.totalBounces, false),
        softBounces: sumOf(counted.totalBounces, true),
      };
    },
    times(span, type, first = false) {
      const sql = first ? firstsInSql(span) : eventsInSql(span);
      return database
        .all<{ at: number; soft: number }>(
          `SELECT at, soft FROM (${sql}) WHERE at >= ? AND at <= ? ORDER BY at`,
          ...valuesOf([type], span),
        )
        .map(({ at, soft }) => ({ at, isSoft: soft === 1 }));
    },
    links: (campaignId) =>
      database.all<LinkFigures & Record<string, string | number | null>>(
        `SELECT details ->> '$.emailLinkId' AS linkId, details ->> '$.emailTargetUrl' AS url, count(*) AS clicks,
          count(DISTINCT contact_id) AS uniqueClicks FROM events
          WHERE type = 'email-clicked' AND details IS NOT NULL AND ${campaignInSql} = ?
          GROUP BY linkId, url ORDER BY clicks DESC, url`,
        campaignId,
      ),
    byCampaign(campaignIds, type) {
      const rows = database.all<{ campaign: string; count: number }>(
        `SELECT ${campaignInSql} AS campaign, count(*) AS count FROM events
          WHERE type = ? AND details IS NOT NULL AND ${campaignInSql} IN (SELECT value FROM json_each(?)) GROUP BY campaign`,
        type,
        JSON.stringify(campaignIds),
      );
      return new Map(rows.map(({ campaign, count }) => [campaign, count]));
    },
  };
}
