/** Fills the account with campaigns, templates and domains, by names; a campaign that is sent makes events of its contacts. */
import { letDueHappen, planMails } from "../rules/sending.ts";
import type { StoredContact } from "../store/contacts.ts";
import type { DocumentKind, StoredDocument } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { type CheckedSeed, type SeedCampaign, timeOf, within, wrong } from "./bodies.ts";

interface MailReport {
  campaigns?: { created: number; updated: number };
  templates?: { created: number; updated: number };
  domains?: { created: number; updated: number };
}

/** When each campaign of the seed is sent; null: it stays a draft. @throws Refusal that names the place of what is wrong */
export function sendingTimes({ campaigns = [] }: CheckedSeed, now: number): (number | null)[] {
  return campaigns.map(({ status, sentAt }, index) => {
    const place = `${within("campaigns", index)}.sentAt`;
    const at = sentAt === undefined ? undefined : timeOf(sentAt, place);
    if (status === "draft" && at !== undefined) throw wrong(place, "cannot be given with the status draft");
    if (status === "scheduled" && at === undefined)
      throw wrong(place, "is required with the status scheduled");
    if (status === "scheduled" && at! <= now) throw wrong(place, "must be in the future");
    if (status === "sent" && at !== undefined && at > now) throw wrong(place, "must not be in the future");
    return at ?? (status === "sent" ? now : null);
  });
}

/**
 * The caller is in a transaction, and undoes it when this throws; contacts and lists are in the account already.
 * @param times of `sendingTimes` @param idOfList throws for a name that is none
 * @throws Refusal that names the place of what is wrong
 */
export function applyMailSeed(
  store: Store,
  seed: CheckedSeed,
  times: readonly (number | null)[],
  { now, idOfList }: { now: number; idOfList(name: string, place: string): string },
): MailReport {
  const report: MailReport = {};
  if (seed.templates) {
    const put = putterOf(store, "template", now);
    for (const [index, { name, subject = name }] of seed.templates.entries())
      put(name, within("templates", index), { subject });
    report.templates = put.report;
  }
  if (seed.domains) {
    const put = putterOf(store, "domain", now);
    for (const [index, { domain, provider = "custom", missing = [] }] of seed.domains.entries())
      put(domain, within("domains", index), { provider, missing });
    report.domains = put.report;
  }
  if (seed.campaigns) {
    const put = putterOf(store, "campaign", now);
    for (const [index, campaign] of seed.campaigns.entries()) {
      const place = within("campaigns", index);
      const listIds = campaign.lists?.map((name, at) => idOfList(name, within(`${place}.lists`, at)));
      const stored = put(campaign.name, place, { ...contentOf(campaign), listIds }, times[index]);
      if (stored) planMails(store, stored, recipientsOf(store, listIds));
    }
    report.campaigns = put.report;
    letDueHappen(store, now);
  }
  return report;
}

function contentOf({ name, subject = name, from = "news@example.com", previewText = "" }: SeedCampaign) {
  return { from, subject, previewText };
}

/**
 * Creates one thing after the other, or changes the one of its name that was there before the seed: within a seed, two may have one name.
 * What was sent already, or is scheduled, is not sent a second time.
 */
function putterOf(store: Store, kind: DocumentKind, now: number) {
  const byName = new Map<string, StoredDocument[]>();
  for (const document of store.documents.all(kind)) {
    const name = document.name.toLowerCase();
    byName.set(name, [...(byName.get(name) ?? []), document]);
  }
  const report = { created: 0, updated: 0 };
  /** @returns the campaign, where this is what sends it */
  function put(
    name: string,
    place: string,
    content: StoredDocument["content"],
    sentAt: number | null = null,
  ): StoredDocument | undefined {
    const [before, ...others] = byName.get(name.toLowerCase()) ?? [];
    if (others.length > 0) throw wrong(place, `has the name of several: ${JSON.stringify(name)}`);
    report[before ? "updated" : "created"] += 1;
    const stored: StoredDocument = {
      id: before?.id ?? store.newIds(now, 1)[0]!,
      kind,
      name,
      sentAt: before?.sentAt ?? sentAt,
      createdAt: before?.createdAt ?? Math.min(now, sentAt ?? now),
      updatedAt: Math.min(now, sentAt ?? now),
      content,
    };
    store.documents.put(stored);
    return sentAt === null || before?.sentAt != null ? undefined : stored;
  }
  return Object.assign(put, { report });
}

/** Who is active; in any of the lists, where some are named. */
function* recipientsOf(store: Store, listIds: string[] | undefined): Iterable<StoredContact> {
  for (const contact of store.contacts.all()) {
    const isActive = contact.status.primary.toLowerCase() === "active";
    const isListed = listIds === undefined || contact.lists.some((id) => listIds.includes(id));
    if (isActive && isListed) yield contact;
  }
}
