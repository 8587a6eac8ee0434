/** What the page at /__sandbox/ shows of the account: by names, not by ids. */
import { campaignRecord } from "../rules/campaigns.ts";
import { pageOf, type StoredCampaign } from "../store/documents.ts";
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
  const everyone = [{ structureId: structure._id, statuses: [], lists: [] }];
  const { total } = store.search.find(everyone, 0, 1);
  const newest = store.search
    .find(everyone, Math.max(0, total - maxContacts), maxContacts)
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
    campaigns: pageOf(
      store.campaigns.all().map((each) => describeCampaign(each, now)),
      { page: 1, size: maxCampaigns, sort: "updatedAt:desc" },
    ).records,
    templates: store.templates.all().map(({ name }) => ({ name })),
    domains: store.domains.all().map(({ name, missing }) => ({ name, missing })),
  };
}

function describeCampaign(campaign: StoredCampaign, now: number) {
  const { opens } = (campaign.report ?? {}) as { opens?: { unique?: number } };
  const record = campaignRecord(campaign, now);
  return { ...record, sent: record.sentCount, opened: opens?.unique ?? 0 };
}
