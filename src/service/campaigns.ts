/** Campaigns and templates: options → request, answer → result (published reference). */

import { foldCase, isId, resolveName } from "../api/names.ts";
import type { Send } from "../wire.ts";
import type { ReadPage } from "./pages.ts";
import {
  readAllRecords,
  readMember,
  readObject,
  readRecords,
  readRequest,
  sendScoped,
  textMember,
} from "./records.ts";

const scope = "campaigns:read";
const campaigns = "/api/email/campaign";

/**
 * Those changed last first.
 * @param status as the service names it; a service that does not look at it is looked after here
 */
export function campaignPages(send: Send, status?: string): ReadPage<unknown> {
  return async (page, size) => {
    const request = readRequest(campaigns, [
      ["page", String(page)],
      ["size", String(size)],
      ["sort", "updatedAt:desc"],
      ...(status === undefined ? [] : [["status", status] as [string, string]]),
    ]);
    return readRecords(await sendScoped(send, request, scope), "a list of campaigns");
  };
}

/** Whether a campaign is told to have another status than this. */
export function hasOtherStatus(campaign: unknown, status: string): boolean {
  const own = readMember(campaign, "status");
  return typeof own === "string" && foldCase(own) !== foldCase(status);
}

export async function fetchCampaign(send: Send, id: string): Promise<Record<string, unknown>> {
  const request = readRequest(`${campaigns}/${encodeURIComponent(id)}`);
  return readObject(await sendScoped(send, request, scope), "a campaign");
}

/**
 * The id of the campaign that is meant: an id is taken as it is, a name is looked up in every page.
 * @throws NotFoundError; UsageError where several have the name
 */
export async function resolveCampaign(send: Send, wanted: string): Promise<{ _id: string; name?: string }> {
  if (isId(wanted)) return { _id: wanted };
  const { records } = await readAllRecords(campaignPages(send));
  const named = records.flatMap((campaign) => {
    const _id = textMember(campaign, "_id");
    return _id === undefined ? [] : [{ _id, name: textMember(campaign, "name") ?? _id }];
  });
  return resolveName(wanted, named, ({ name }) => name, "campaign");
}

export function templatePages(send: Send): ReadPage<unknown> {
  return async (page, size) => {
    const query: [string, string][] = [
      ["page", String(page)],
      ["size", String(size)],
    ];
    const answer = await sendScoped(send, readRequest("/api/email/template", query), scope);
    return readRecords(answer, "a list of templates");
  };
}
