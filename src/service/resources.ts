/** Campaigns, templates, sending domains and reports, fetched as the published reference describes them. */
import { foldCase, isId, resolveName } from "../api/names.ts";
import { findRecords, pathOf, type Records, readRequest, textMember } from "../api/records.ts";
import { hasStatus, notFoundError, unreadableAnswerError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { Send } from "../wire.ts";
import { type ReadPage, readRepeatedly, recordsPerPage, toRecordIdentity } from "./pages.ts";

interface Resource<T> {
  path: string;
  /** The scope that a key needs for it; named where the key is refused, whatever the answer says. */
  scope: "campaigns:read" | "domains:read" | "reports:read";
  /** For messages, such as `a report`. */
  what: string;
  query?: [string, string][];
  /** Undefined for a body that is something else. */
  read(body: unknown): T | undefined;
}

async function fetchResource<T>(send: Send, { path, scope, what, query, read }: Resource<T>): Promise<T> {
  const { body, status } = await send(readRequest(path, query)).catch((error: unknown) => {
    if (hasStatus(error, 403) && !error.message.includes(scope))
      error.details.hint = `This takes a key with the scope ${scope}, and a service that offers it to API keys`;
    throw error;
  });
  const found = read(body);
  if (found !== undefined) return found;
  throw unreadableAnswerError(`The answer is not ${what}`, undefined, { status });
}

const readObject = (body: unknown) => (isObject(body) ? body : undefined);

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

function readMailPages(
  send: Send,
  thing: "campaign" | "template",
  more: [string, string][],
): ReadPage<unknown> {
  const resource = {
    path: `/api/email/${thing}`,
    scope: "campaigns:read",
    what: `a list of ${thing}s`,
  } as const;
  return (page, size) =>
    fetchResource<Records>(send, {
      ...resource,
      query: [["page", String(page)], ["size", String(size)], ...more],
      read: findRecords,
    });
}

/** Whether a campaign is said to have another status than this. */
export function hasOtherStatus(campaign: unknown, status: string): boolean {
  const own = textMember(campaign, "status");
  return own !== undefined && foldCase(own) !== foldCase(status);
}

export function fetchCampaign(send: Send, id: string): Promise<Record<string, unknown>> {
  const path = pathOf("/api/email/campaign", id);
  return fetchResource(send, { path, scope: "campaigns:read", what: "a campaign", read: readObject });
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
  const resource = { path: "/api/email/domain", scope: "domains:read", what: "a list of domains" } as const;
  return (await fetchResource(send, { ...resource, read: findRecords })).items;
}

/** By its name or id. @throws NotFoundError; UsageError where several have the name */
export function findDomain(domains: readonly unknown[], wanted: string): unknown {
  return findByMember(domains, wanted, "domain", "domain").record;
}

function findByMember(
  records: readonly unknown[],
  wanted: string,
  member: string,
  kind: "campaign" | "domain",
) {
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
  const more = { query: Object.entries(query), read: readObject };
  return fetchResource(send, {
    path: `/api/reports/${report}`,
    scope: "reports:read",
    what: "a report",
    ...more,
  });
}
