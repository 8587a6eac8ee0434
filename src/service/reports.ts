/** Reports: options → request, answer → rows (published reference). */
import { isObject } from "../is-object.ts";
import type { Send } from "../wire.ts";
import { listMembers, readMember, readObject, readRequest, sendScoped } from "./records.ts";

/** How far reports look back at most, in days. */
export const longestReport = 90;

export interface ReportSpan {
  /** 1 to 90. */
  days: number;
  /** IANA. */
  timeZone: string;
}

type Report = Record<string, unknown>;

async function fetchReport(send: Send, path: string, query: [string, string][] = []): Promise<Report> {
  return readObject(await sendScoped(send, readRequest(path, query), "reports:read"), "a report");
}

const spanQuery = ({ days, timeZone }: ReportSpan): [string, string][] => [
  ["pastDays", String(days)],
  ["timezone", timeZone],
];

export function fetchDashboard(send: Send, span: ReportSpan): Promise<Report> {
  return fetchReport(send, "/api/reports/dashboard", spanQuery(span));
}

export function fetchOverall(send: Send, span: ReportSpan): Promise<Report> {
  return fetchReport(send, "/api/reports/email/overall", spanQuery(span));
}

/** As events are named → as reports are asked for them: where the first alone counts, its name says so. */
const reportedAs: Record<string, string> = {
  "email-sent": "email-sent",
  "email-delivered": "email-delivered",
  "email-bounced": "email-bounced",
  "email-opened": "first-email-opened",
  "email-clicked": "first-email-clicked",
  "email-complaint": "first-email-complaint",
  "contact-unsubscribed": "first-contact-unsubscribed",
};
export const reportedEvents = Object.keys(reportedAs);

/** @param event one of `reportedEvents` */
export function fetchHistogram(send: Send, span: ReportSpan, event: string): Promise<Report> {
  const query: [string, string][] = [...spanQuery(span), ["eventType", reportedAs[event] ?? event]];
  return fetchReport(send, "/api/reports/email/overall/histogram", query);
}

export function fetchCampaignReport(send: Send, campaignId: string): Promise<Report> {
  return fetchReport(send, `/api/reports/email/${encodeURIComponent(campaignId)}`);
}

export function fetchEngagement(
  send: Send,
  campaignId: string,
  period: string,
  timeZone: string,
): Promise<Report> {
  return fetchReport(send, `/api/reports/email/${encodeURIComponent(campaignId)}/engagement`, [
    ["period", period],
    ["timezone", timeZone],
  ]);
}

/** One number of a report, with what it is compared with, as far as the service tells it. */
export interface Figure {
  /** Which part of the report tells it. */
  part: string;
  name: string;
  value: unknown;
  previous?: unknown;
  /** Per cent against the same span before. */
  change?: unknown;
  rate?: unknown;
  rateChange?: unknown;
  /** Of the campaign that it is about. */
  id?: unknown;
  time?: unknown;
}

/**
 * The forms of a figure: a bare number; `{ count, diff }`; `{ count: { value, prev, diff }, rate }`; `{
 * unique, rate }`.
 */
function readFigure(part: string, name: string, content: unknown): Figure {
  if (!isObject(content)) return { part, name, value: content };
  const { count = content, rate, diff } = content;
  const value = isObject(count) ? (count.value ?? count.unique ?? count.total) : count;
  return {
    part,
    name,
    // What has none of these forms is shown as it came.
    value: value === undefined && rate === undefined ? content : value,
    previous: readMember(count, "prev"),
    change: readMember(count, "diff") ?? diff,
    rate: isObject(rate) ? (rate.value ?? rate) : rate,
    rateChange: readMember(rate, "diff"),
  };
}

/** Each member as a figure. */
export function readFigures(part: string, content: unknown, except: readonly string[] = []): Figure[] {
  return listMembers(content)
    .filter(([name]) => !except.includes(name))
    .map(([name, value]) => readFigure(part, name, value));
}

/** What the overall report compares: each campaign with its rates. */
export function comparedCampaigns(overall: unknown): unknown[] {
  const campaigns = readMember(overall, "campaignComparison");
  return Array.isArray(campaigns) ? campaigns : [];
}

const nameOfLink = ["url", "link", "href", "emailTargetUrl", "name", "linkId", "_id"];
const clicksOfLink = ["clicks", "total", "count", "uniqueClicks", "unique"];

/** Clicks by link: an array of objects, or an object with a member for each link. */
export function readLinks(report: unknown): Figure[] {
  const links = readMember(report, "linkActivity");
  if (!Array.isArray(links)) return readFigures("links", links);
  return links.map((link) => {
    const first = (names: string[]) =>
      names.map((name) => readMember(link, name)).find((each) => each != null);
    const name = first(nameOfLink);
    return {
      part: "links",
      name: typeof name === "string" ? name : JSON.stringify(link),
      value: first(clicksOfLink),
    };
  });
}

export interface Bar {
  date: unknown;
  total: unknown;
  detail: unknown;
}

/** The days or hours of a histogram; none where the answer has none. */
export function readBars(histogram: unknown): Bar[] {
  const bars = readMember(histogram, "histogram");
  return (Array.isArray(bars) ? bars : []).map((bar) => ({
    date: readMember(bar, "date"),
    total: readMember(bar, "total"),
    detail: readMember(bar, "detail"),
  }));
}
