/** What the page at /__sandbox/ shows of the account: by names, not by ids. */
import { campaignRecords } from "../rules/campaigns.ts";
import { letDueHappen } from "../rules/sending.ts";
import type { Store } from "../store/index.ts";

export interface AccountOverview {
  total: number;
  /** The newest first. */
  contacts: {
    key: string;
    status: { primary: string; secondary?: string };
    fields: Record<string, string>;
    lists: string[];
    tags: string[];
  }[];
  lists: { name: string; contacts: number }[];
  /** The newest first. */
  campaigns: { name: string; status: string; sent: number; opened: number }[];
  templates: { name: string }[];
  domains: { name: string; missing: string[] }[];
}

const mostContacts = 100;

/** @param now the service's time, in milliseconds since the epoch */
export function accountOverview(store: Store, now: number): AccountOverview {
  store.database.transaction(() => letDueHappen(store, now));
  const structure = store.structures.all()[0]!;
  const lists = store.lists.all(structure._id);
  const names = new Map(
    [...structure.fields, ...structure.tags, ...lists].map((each) => [
      each._id,
      "name" in each ? each.name : each.label,
    ]),
  );
  const nameOf = (id: string) => names.get(id) ?? id;
  const everyone = [{ structureId: structure._id, keyCase: "fold" as const, groups: [] }];
  const { total } = store.search(everyone, 0, 0);
  const newest = store.search(everyone, Math.max(0, total - mostContacts), mostContacts).contacts.reverse();
  return {
    total,
    contacts: newest.map(({ key, status, fields, lists, tags }) => ({
      key,
      status,
      fields: Object.fromEntries(fields.map(({ _id, value }) => [nameOf(_id), value])),
      lists: lists.map(nameOf),
      tags: tags.map(nameOf),
    })),
    lists: lists.map(({ name, totalContacts }) => ({ name, contacts: totalContacts })),
    campaigns: campaignsOf(store, now),
    templates: store.documents.all("template").map(({ name }) => ({ name })),
    domains: store.documents
      .all("domain")
      .map(({ name, content }) => ({ name, missing: content.missing as string[] })),
  };
}

function campaignsOf(store: Store, now: number): AccountOverview["campaigns"] {
  const page = { page: 1, size: mostContacts, sort: "updatedAt", direction: "desc", now } as const;
  return campaignRecords(store, store.documents.page("campaign", page).documents, now).map((campaign) => ({
    name: campaign.name,
    status: campaign.status,
    sent: campaign.sentCount,
    opened: store.mailEvents.figures({ from: 0, to: now, campaignId: campaign._id }).uniqueOpens,
  }));
}
