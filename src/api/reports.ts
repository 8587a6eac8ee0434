/** What reports and sending domains tell: figures, and the DNS records that are missing. Pure. */
import { isObject } from "../json.ts";
import { listItems, listMembers, readMember } from "./records.ts";

/** As events are named → as reports are asked for them: where the first alone counts, its name says so. */
export const reportedEvents: Record<string, string> = {
  "email-sent": "email-sent",
  "email-delivered": "email-delivered",
  "email-bounced": "email-bounced",
  "email-opened": "first-email-opened",
  "email-clicked": "first-email-clicked",
  "email-complaint": "first-email-complaint",
  "contact-unsubscribed": "first-contact-unsubscribed",
};

/** One number of a report, with what it is compared with, as far as the service tells it. */
export interface Figure {
  /** Which part of the report tells it. */
  part: string;
  name: string;
  value?: unknown;
  previous?: unknown;
  /** Per cent against the same span before. */
  change?: unknown;
  rate?: unknown;
  rateChange?: unknown;
  /** The id of the campaign that it is about. */
  id?: unknown;
  time?: unknown;
}

/**
 * The forms of a figure: a bare number; `{ count, diff }`; `{ count: { value, prev, diff }, rate }`; `{
 * unique, rate }`. What has none of them is shown as it came.
 */
function readFigure(part: string, name: string, content: unknown): Figure {
  if (!isObject(content)) return { part, name, value: content };
  const { count = content, rate, diff } = content;
  const value = isObject(count) ? (count.value ?? count.unique ?? count.total) : count;
  return {
    part,
    name,
    value: value === undefined && rate === undefined ? content : value,
    previous: readMember(count, "prev"),
    change: readMember(count, "diff") ?? diff,
    rate: isObject(rate) ? (rate.value ?? rate) : rate,
    rateChange: readMember(rate, "diff"),
  };
}

/** Each member as a figure. */
function readFigures(part: string, content: unknown, except: readonly string[] = []): Figure[] {
  const members = listMembers(content).filter(([name]) => !except.includes(name));
  return members.map(([name, value]) => readFigure(part, name, value));
}

/** Every number of the dashboard and of the overall report. */
export function readReportFigures(dashboard: unknown, overall: unknown): Figure[] {
  return [
    ...readFigures("overall", readMember(overall, "stats")),
    ...readFigures("delivery times", readMember(overall, "deliveryTimeStats")),
    ...comparedCampaigns(overall).flatMap(readCampaignRates),
    ...readFigures("overall", overall, ["stats", "deliveryTimeStats", "campaignComparison"]),
    ...readFigures("dashboard", readMember(dashboard, "campaign")),
    ...readFigures("contacts", readMember(dashboard, "contact"), ["histogram"]),
    ...readDays("new contacts", readMember(dashboard, "contact", "histogram")),
    ...readFigures("dashboard", dashboard, ["campaign", "contact"]),
  ];
}

/** What the overall report compares: each campaign with its rates. */
export function comparedCampaigns(overall: unknown): unknown[] {
  return listItems(overall, "campaignComparison");
}

function readCampaignRates(campaign: unknown): Figure[] {
  const about = {
    name: toText(readMember(campaign, "name")),
    id: readMember(campaign, "_id"),
    time: readMember(campaign, "scheduledAt"),
  };
  const rates = readFigures("campaign", readMember(campaign, "rates"));
  return rates.map(({ part, name, rate, value }) => ({
    ...about,
    part: `${part} ${name}`,
    rate: rate ?? value,
  }));
}

/** Every number of a campaign's report, and of its engagement by days or hours. */
export function readCampaignFigures(report: unknown, engagement: unknown): Figure[] {
  return [
    ...readFigures("mails", report, ["linkActivity"]),
    ...readLinks(report),
    ...readDays("engagement", engagement),
  ];
}

const nameOfLink = ["url", "link", "href", "emailTargetUrl", "name", "linkId", "_id"];
const clicksOfLink = ["clicks", "total", "count", "uniqueClicks", "unique"];

/** Clicks by link: an array of objects, or an object with a member for each link. */
function readLinks(report: unknown): Figure[] {
  const links = readMember(report, "linkActivity");
  if (!Array.isArray(links)) return readFigures("links", links);
  return links.map((link) => {
    const first = (names: string[]) =>
      names.map((name) => readMember(link, name)).find((each) => each != null);
    const name = first(nameOfLink);
    return { part: "links", name: toText(name ?? link), value: first(clicksOfLink) };
  });
}

function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** The days or hours of a histogram; none where the answer has none. */
export function readDays(part: string, histogram: unknown): Figure[] {
  return listItems(histogram, "histogram").map((day) => {
    return { part, name: toText(readMember(day, "date")), value: readMember(day, "total") };
  });
}

export interface DnsRecord {
  part: string;
  /** The status of the part that needs it, in the service's words. */
  status: unknown;
  type: unknown;
  name: unknown;
  value: unknown;
  ttl: unknown;
  /** Its part is not said to be in order. */
  missing: boolean;
}

/** Which words mean that a part is in order is not published: what is none of these is shown as missing. */
const inOrder = /^(?:verified|valid|validated|success|succeeded|active|ok|passed|complete|completed|ready)$/i;

/** Every DNS record that a domain needs: of each of its parts that tells some. */
export function dnsRecords(domain: unknown): DnsRecord[] {
  return listMembers(domain).flatMap(([part, value]) => {
    const status = readMember(value, "status");
    const missing = status !== true && !(typeof status === "string" && inOrder.test(status));
    const records = listItems(value, "records").filter(isObject);
    return records.map(({ type, name, value, ttl }) => ({ part, status, type, name, value, ttl, missing }));
  });
}
