/**
 * Campaigns, templates, sending domains and reports, as the published reference describes them. No member of
 * an answer is promised: each is kept as it came, and what is read of it may be missing or of another type.
 */
import { foldCase, isId, resolveName } from "../api/names.ts";
import { hasStatus, NotFoundError, UnreadableAnswerError } from "../errors.ts";
import { isObject } from "../is-object.ts";
import type { ApiAnswer, Send } from "../wire.ts";
import { type ReadPage, readRepeatedly, recordsPerPage, toRecordIdentity } from "./pages.ts";

/** The member at this path; undefined where something on the way is no object. */
export function readMember(value: unknown, ...path: string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

export function textMember(value: unknown, ...path: string[]): string | undefined {
  const found = readMember(value, ...path);
  return typeof found === "string" ? found : undefined;
}

/** Name and value of each member; none of what is no object. */
export function listMembers(value: unknown): [name: string, value: unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

/** The array that is the member of this name; an empty one where it is something else. */
export function listItems(value: unknown, ...path: string[]): unknown[] {
  const found = readMember(value, ...path);
  return Array.isArray(found) ? found : [];
}

interface Resource {
  path: string;
  /** The scope that a key needs for it; named where the key is refused, whatever the answer says. */
  scope: "campaigns:read" | "domains:read" | "reports:read";
  /** For messages, such as `a report`. */
  what: string;
  query?: [string, string][];
}

async function fetchResource(send: Send, { path, scope, query = [] }: Resource): Promise<ApiAnswer> {
  try {
    return await send({ method: "GET", path, query, effect: "read" });
  } catch (error) {
    if (hasStatus(error, 403) && !error.message.includes(scope)) {
      error.details.hint = `This takes a key with the scope ${scope}, and a service that offers it to API keys`;
    }
    throw error;
  }
}

type Answer = Pick<ApiAnswer, "body" | "status">;

/** @throws UnreadableAnswerError when the answer is no object */
function requireObject({ body, status }: Answer, what: string): Record<string, unknown> {
  if (isObject(body)) return body;
  throw new UnreadableAnswerError(`The answer is not ${what}`, { status });
}

async function fetchObject(send: Send, resource: Resource): Promise<Record<string, unknown>> {
  return requireObject(await fetchResource(send, resource), resource.what);
}

async function fetchRecords(send: Send, resource: Resource): Promise<Records> {
  return readRecords(await fetchResource(send, resource), resource.what);
}

interface Records {
  items: unknown[];
  total?: number;
}

/** Takes `{ total, records }` and a bare array. @param what for the message @throws UnreadableAnswerError */
export function readRecords(answer: Answer, what: string): Records {
  if (Array.isArray(answer.body)) return { items: answer.body };
  const { records, total } = requireObject(answer, what);
  if (Array.isArray(records)) {
    const isCount = typeof total === "number" && Number.isSafeInteger(total) && total >= 0;
    return { items: records, total: isCount ? total : undefined };
  }
  throw new UnreadableAnswerError(`The answer is not ${what}`, { status: answer.status });
}

/** Every record of every page, each once; `total`: how many were announced, 0 where the service does not say. */
export async function readAllRecords(
  read: ReadPage<unknown>,
): Promise<{ records: unknown[]; total: number }> {
  const { items, total } = await readRepeatedly(read, { size: recordsPerPage }, toRecordIdentity);
  return { records: items, total };
}

/** Those changed last first. @param status as the service names it; it may be passed over */
export function campaignPages(send: Send, status?: string): ReadPage<unknown> {
  return readMailPages(send, "campaign", [
    ["sort", "updatedAt:desc"],
    ...(status === undefined ? [] : [["status", status] as [string, string]]),
  ]);
}

export function templatePages(send: Send): ReadPage<unknown> {
  return readMailPages(send, "template", []);
}

function readMailPages(
  send: Send,
  thing: "campaign" | "template",
  more: [string, string][],
): ReadPage<unknown> {
  return (page, size) =>
    fetchRecords(send, {
      path: `/api/email/${thing}`,
      scope: "campaigns:read",
      what: `a list of ${thing}s`,
      query: [["page", String(page)], ["size", String(size)], ...more],
    });
}

/** Whether a campaign is said to have another status than this. */
export function hasOtherStatus(campaign: unknown, status: string): boolean {
  const own = textMember(campaign, "status");
  return own !== undefined && foldCase(own) !== foldCase(status);
}

export function fetchCampaign(send: Send, id: string): Promise<Record<string, unknown>> {
  const path = `/api/email/campaign/${encodeURIComponent(id)}`;
  return fetchObject(send, { path, scope: "campaigns:read", what: "a campaign" });
}

export interface ResolvedCampaign {
  _id: string;
  name?: string;
}

/**
 * The id of the campaign that is meant: an id is taken as it is, a name is looked up in every page.
 * @throws NotFoundError; UsageError where several have the name
 */
export async function resolveCampaign(send: Send, wanted: string): Promise<ResolvedCampaign> {
  if (isId(wanted)) return { _id: wanted };
  const { records } = await readAllRecords(campaignPages(send));
  const named = records.flatMap((campaign) => {
    const _id = textMember(campaign, "_id");
    return _id === undefined ? [] : [{ _id, name: textMember(campaign, "name") ?? _id }];
  });
  return resolveName(wanted, named, ({ name }) => name, "campaign");
}

export async function fetchDomains(send: Send): Promise<unknown[]> {
  const resource = { path: "/api/email/domain", scope: "domains:read", what: "a list of domains" } as const;
  return (await fetchRecords(send, resource)).items;
}

/** By its name or id. @throws NotFoundError; UsageError where several have the name */
export function findDomain(domains: readonly unknown[], wanted: string): unknown {
  const named = domains.flatMap((record) => {
    const _id = textMember(record, "_id") ?? textMember(record, "domain");
    return _id === undefined ? [] : [{ _id, name: textMember(record, "domain") ?? _id, record }];
  });
  if (named.length === 0) throw new NotFoundError(`No domain is named ${JSON.stringify(wanted)}`);
  return resolveName(wanted, named, ({ name }) => name, "domain").record;
}

export interface DnsRecord {
  part: string;
  /** Of the part that needs it; as the service says it. */
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

/** How far reports look back at most, in days. */
export const longestReport = 90;

/** @param report the rest of its path @param query such as `pastDays` and `timezone` */
export function fetchReport(
  send: Send,
  report: string,
  query: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const path = `/api/reports/${report}`;
  return fetchObject(send, { path, scope: "reports:read", what: "a report", query: Object.entries(query) });
}

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
  /** Of the campaign that it is about. */
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
