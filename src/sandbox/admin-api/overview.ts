/** What the page at /__sandbox/ shows of the account: by names, not by ids. */
import { campaignRecord } from "../rules/campaigns.ts";
import type { Store } from "../store/index.ts";

const maxContacts = 100;
const maxCampaigns = 100;

/**
 * Contacts and campaigns: the newest first.
 * @param now the service's time, in milliseconds since the epoch
 */
export function accountOverview(store: Store, now: number) {
  const structure = store.structures.all()[0]!;
  const lists = store.lists.all(structure._id);
  const names = new Map(
    [...structure.fields, ...structure.tags, ...lists].map((each) => [
      each._id,
      "name" in each ? each.name : each.label,
    ]),
  );
  const nameById = (id: string) => names.get(id) ?? id;
  const allContacts = [{ structureId: structure._id, groups: [] }];
  const { total } = store.search.find(allContacts, 0, 0);
  const newest = store.search
    .find(allContacts, Math.max(0, total - maxContacts), maxContacts)
    .contacts.reverse();
  return {
    total,
    contacts: newest.map(({ key, status, fields, lists, tags }) => ({
      key,
      status,
      fields: Object.fromEntries(fields.map(({ _id, value }) => [nameById(_id), value])),
      lists: lists.map(nameById),
      tags: tags.map(nameById),
    })),
    lists: lists.map(({ name, totalContacts }) => ({ name, contacts: totalContacts })),
    campaigns: describeCampaigns(store, now),
    templates: store.documents.all("template").map(({ name }) => ({ name })),
    domains: store.documents
      .all("domain")
      .map(({ name, content }) => ({ name, missing: content.missing as string[] })),
  };
}

function describeCampaigns(store: Store, now: number) {
  const page = { page: 1, size: maxCampaigns, sort: "updatedAt", direction: "desc", now } as const;
  return store.documents.page("campaign", page).documents.map((campaign) => {
    const { name, status, sentCount } = campaignRecord(campaign, now);
    const { opens } = (campaign.content.report ?? {}) as { opens?: { unique?: number } };
    return { name, status, sent: sentCount, opened: opens?.unique ?? 0 };
  });
}
