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
const types: [
  name: Exclude<keyof MailFigures, "totalBounces">,
  type: string,
  first: boolean,
  soft: boolean,
][] = [
  ["sent", "email-sent", false, false],
  ["delivered", "email-delivered", false, false],
  ["uniqueOpens", "email-opened", true, false],
  ["uniqueClicks", "email-clicked", true, false],
  ["hardBounces", "email-bounced", false, false],
  ["softBounces", "email-bounced", false, true],
  ["unsubscribes", "contact-unsubscribed", true, false],
  ["complaints", "email-complaint", true, false],
];
const knownTypes = JSON.stringify([...new Set(types.map(([, type]) => type))]);

/** Each event with whether it is the first of its type, of its contact in its campaign: of all that ever happened. */
function eventsInSql(campaignId: string | undefined): string {
  const ofCampaign = campaignId === undefined ? "" : ` AND details IS NOT NULL AND ${campaignInSql} = ?`;
  return `SELECT type, happened_at AS at, lower(details ->> '$.emailBounceType') IS 'transient' AS soft,
    row_number() OVER (PARTITION BY type, contact_id, ${campaignInSql} ORDER BY happened_at, id) = 1 AS first
    FROM events WHERE type IN (SELECT value FROM json_each(?))${ofCampaign}`;
}

export function mailEventsIn(database: Database): MailEvents {
  const valuesOf = (wanted: string, { campaignId, from, to }: Span): Value[] => [
    wanted,
    ...(campaignId === undefined ? [] : [campaignId]),
    from,
    to,
  ];
  return {
    figures(span) {
      const rows = database.all<{ type: string; soft: number; first: number; count: number }>(
        `SELECT type, soft, first, count(*) AS count FROM (${eventsInSql(span.campaignId)})
          WHERE at >= ? AND at <= ? GROUP BY type, soft, first`,
        ...valuesOf(knownTypes, span),
      );
      const counted = Object.fromEntries(
        types.map(([name, type, onlyFirst, soft]) => [
          name,
          rows
            .filter((row) => row.type === type && (!onlyFirst || row.first === 1))
            .filter((row) => type !== "email-bounced" || (row.soft === 1) === soft)
            .reduce((sum, row) => sum + row.count, 0),
        ]),
      ) as Omit<MailFigures, "totalBounces">;
      return { ...counted, totalBounces: counted.hardBounces + counted.softBounces };
    },
    times: (span, type, first = false) =>
      database
        .all<{ at: number; soft: number }>(
          `SELECT at, soft FROM (${eventsInSql(span.campaignId)})
            WHERE at >= ? AND at <= ?${first ? " AND first" : ""} ORDER BY at`,
          ...valuesOf(JSON.stringify([type]), span),
        )
        .map(({ at, soft }) => ({ at, isSoft: soft === 1 })),
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
