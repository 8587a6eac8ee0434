/** Campaigns, templates, sending domains and reports, fetched as the published reference describes them. */
import { foldCase, isId, resolveName } from "../api/names.ts";
import { findRecords, type Records, textMember } from "../api/records.ts";
import { hasStatus, notFoundError, unreadableAnswerError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { ApiAnswer, Send } from "../wire.ts";
import { type ReadPage, readRepeatedly, recordsPerPage, toRecordIdentity } from "./pages.ts";

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

async function fetchObject(send: Send, resource: Resource): Promise<Record<string, unknown>> {
  const { body, status } = await fetchResource(send, resource);
  if (isObject(body)) return body;
  throw unreadableAnswerError(`The answer is not ${resource.what}`, undefined, { status });
}

async function fetchRecords(send: Send, resource: Resource): Promise<Records> {
  const { body, status } = await fetchResource(send, resource);
  const records = findRecords(body);
  if (records) return records;
  throw unreadableAnswerError(`The answer is not ${resource.what}`, undefined, { status });
}

/**
 * Every record of every page, each once. `total` is what the service announced; 0 where it announced nothing.
 */
export async function readAllRecords(
  read: ReadPage<unknown>,
): Promise<{ records: unknown[]; total: number }> {
  const { items, total } = await readRepeatedly(read, { size: recordsPerPage }, toRecordIdentity);
  return { records: items, total };
}

/** Campaigns, the last changed first. @param status as the service names it; the service may ignore it */
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
  if (named.length === 0) throw notFoundError(`No domain is named ${JSON.stringify(wanted)}`);
  return resolveName(wanted, named, ({ name }) => name, "domain").record;
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
