/** Campaigns, templates, sending domains and reports, fetched as the published reference describes them. */
import { foldCase, isId, resolveName } from "../api/names.ts";
import { findRecords, pathOf, type Records, readRequest, textMember } from "../api/records.ts";
import { hasStatus, notFoundError, unreadableAnswerError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { Send } from "../wire.ts";
import { type ReadPage, readRepeatedly, recordsPerPage, toRecordIdentity } from "./pages.ts";

/** The scope that a key needs is named where the key is refused, whatever the answer says. */
const resources = {
  campaign: { path: "/api/email/campaign", scope: "campaigns:read" },
  template: { path: "/api/email/template", scope: "campaigns:read" },
  domain: { path: "/api/email/domain", scope: "domains:read" },
  report: { path: "/api/reports", scope: "reports:read" },
} as const;

type Kind = keyof typeof resources;

/** @param read undefined for a body that is something else than `what`, in words for a message */
async function fetchResource<T>(
  send: Send,
  { kind, path, query }: { kind: Kind; path: string; query?: [string, string][] },
  what: string,
  read: (body: unknown) => T | undefined,
): Promise<T> {
  const { scope } = resources[kind];
  const { body, status } = await send(readRequest(path, query)).catch((error: unknown) => {
    if (hasStatus(error, 403) && !error.message.includes(scope))
      error.details.hint = `This takes a key with the scope ${scope}, and a service that offers it to API keys`;
    throw error;
  });
  const found = read(body);
  if (found !== undefined) return found;
  throw unreadableAnswerError(`The answer is not ${what}`, undefined, { status });
}

function fetchRecords(send: Send, kind: Kind, query: [string, string][] = []): Promise<Records> {
  return fetchResource(send, { kind, path: resources[kind].path, query }, `a list of ${kind}s`, findRecords);
}

function fetchObject(
  send: Send,
  kind: Kind,
  path: string,
  query: [string, string][] = [],
): Promise<Record<string, unknown>> {
  const read = (body: unknown) => (isObject(body) ? body : undefined);
  return fetchResource(send, { kind, path, query }, `a ${kind}`, read);
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
  const own: [string, string][] = status === undefined ? [] : [["status", status]];
  return readMailPages(send, "campaign", [["sort", "updatedAt:desc"], ...own]);
}

export function templatePages(send: Send): ReadPage<unknown> {
  return readMailPages(send, "template", []);
}

function readMailPages(send: Send, kind: Kind, more: [string, string][]): ReadPage<unknown> {
  return (page, size) => fetchRecords(send, kind, [["page", String(page)], ["size", String(size)], ...more]);
}

/** Whether a campaign is said to have another status than this. */
export function hasOtherStatus(campaign: unknown, status: string): boolean {
  const own = textMember(campaign, "status");
  return own !== undefined && foldCase(own) !== foldCase(status);
}

export function fetchCampaign(send: Send, id: string): Promise<Record<string, unknown>> {
  return fetchObject(send, "campaign", pathOf(resources.campaign.path, id));
}

/**
 * The id of the campaign that is meant: an id is taken as it is, a name is looked up in every page.
 * @throws NotFoundError; UsageError where several have the name
 */
export async function resolveCampaign(send: Send, wanted: string): Promise<string> {
  if (isId(wanted)) return wanted;
  const { records } = await readAllRecords(campaignPages(send));
  return findByMember(records, wanted, "name", "campaign")._id;
}

export async function fetchDomains(send: Send): Promise<unknown[]> {
  return (await fetchRecords(send, "domain")).items;
}

/** By its name or id. @throws NotFoundError; UsageError where several have the name */
export function findDomain(domains: readonly unknown[], wanted: string): unknown {
  return findByMember(domains, wanted, "domain", "domain").record;
}

function findByMember(records: readonly unknown[], wanted: string, member: string, kind: Kind) {
  const named = records.flatMap((record) => {
    const name = textMember(record, member);
    const _id = textMember(record, "_id") ?? name;
    return _id === undefined ? [] : [{ _id, name: name ?? _id, record }];
  });
  if (named.length === 0) throw notFoundError(`No ${kind} is named ${JSON.stringify(wanted)}`);
  return resolveName(wanted, named, ({ name }) => name, kind);
}

/** @param report the rest of its path @param query such as `pastDays` and `timezone` */
export function fetchReport(
  send: Send,
  report: string,
  query: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  return fetchObject(send, "report", `${resources.report.path}/${report}`, Object.entries(query));
}
