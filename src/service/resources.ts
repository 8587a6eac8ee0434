/** Campaigns, templates, sending domains and reports, fetched as the published reference describes them. */
import { isId, resolveName } from "../api/names.ts";
import { findRecords, pathOf, readRequest, textMember } from "../api/records.ts";
import { hasStatus, unreadableAnswerError } from "../errors.ts";
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
type Query = [string, string][];

/** @param rest the path below that of its kind @param read undefined for a body that is something else */
async function fetchResource<T>(
  send: Send,
  kind: Kind,
  { rest = "", query }: { rest?: string; query?: Query },
  read: (body: unknown) => T | undefined,
): Promise<T> {
  const { path, scope } = resources[kind];
  const { body, status } = await send(readRequest(`${path}${rest}`, query)).catch((error: unknown) => {
    if (hasStatus(error, 403) && !error.message.includes(scope))
      error.details.hint = `This takes a key with the scope ${scope}, and a service that offers it to API keys`;
    throw error;
  });
  const found = read(body);
  if (found !== undefined) return found;
  throw unreadableAnswerError(`The answer holds no ${kind}`, undefined, { status });
}

const readObject = (body: unknown) => (isObject(body) ? body : undefined);

/** Campaigns, the last changed first. @param status as the service names it; the service may ignore it */
export function campaignPages(send: Send, status?: string): ReadPage<unknown> {
  const own: Query = status === undefined ? [] : [["status", status]];
  return pagesOf(send, "campaign", [["sort", "updatedAt:desc"], ...own]);
}

export function templatePages(send: Send): ReadPage<unknown> {
  return pagesOf(send, "template");
}

function pagesOf(send: Send, kind: Kind, more: Query = []): ReadPage<unknown> {
  return (page, size) => {
    const query: Query = [["page", String(page)], ["size", String(size)], ...more];
    return fetchResource(send, kind, { query }, findRecords);
  };
}

/** Every record of every page, each once. `total`: what the service announced; 0 where that was nothing. */
export async function readAllRecords(
  read: ReadPage<unknown>,
): Promise<{ records: unknown[]; total: number }> {
  const { items, total } = await readRepeatedly(read, { size: recordsPerPage }, toRecordIdentity);
  return { records: items, total };
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

export function fetchCampaign(send: Send, id: string): Promise<unknown> {
  return fetchResource(send, "campaign", { rest: pathOf("", id) }, readObject);
}

export async function fetchDomains(send: Send): Promise<unknown[]> {
  return (await fetchResource(send, "domain", {}, findRecords)).items;
}

/** By its name or id. @throws as `resolveCampaign` */
export async function fetchDomain(send: Send, wanted: string): Promise<unknown> {
  return findByMember(await fetchDomains(send), wanted, "domain", "domain").record;
}

function findByMember(records: readonly unknown[], wanted: string, member: string, kind: Kind) {
  const named = records.flatMap((record) => {
    const name = textMember(record, member);
    const _id = textMember(record, "_id") ?? name;
    return _id === undefined ? [] : [{ _id, name: name ?? _id, record }];
  });
  return resolveName(wanted, named, ({ name }) => name, kind);
}

/** @param report the rest of its path @param query such as `pastDays` and `timezone` */
export function fetchReport(
  send: Send,
  report: string,
  query: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  return fetchResource(send, "report", { rest: `/${report}`, query: Object.entries(query) }, readObject);
}
