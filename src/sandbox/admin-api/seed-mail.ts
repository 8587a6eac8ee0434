/**
 * Fills the account with campaigns, templates and domains, by names; a
 * campaign that is sent makes events of its contacts.
 */
import type { SeedReport } from "../public-types.ts";
import { applyDueEvents, planMails } from "../rules/sending.ts";
import type { StoredContact } from "../store/contacts.ts";
import type { DocumentKind, StoredDocument } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import { type CheckedSeed, invalidAt, joinPlace, parseTime, type SeedCampaign } from "./bodies.ts";

/**
 * When each campaign of the seed is sent; null: it stays a draft.
 * @throws Refusal that names the place of what is wrong
 */
export function sendingTimes({ campaigns = [] }: CheckedSeed, now: number): (number | null)[] {
  return campaigns.map(({ status, sentAt }, index) => {
    const place = `${joinPlace("campaigns", index)}.sentAt`;
    const at = sentAt === undefined ? undefined : parseTime(sentAt, place);
    const problem = findTimeProblem(status, at, now);
    if (problem !== undefined) throw invalidAt(place, problem);
    return at ?? (status === "sent" ? now : null);
  });
}

function findTimeProblem(
  status: SeedCampaign["status"],
  at: number | undefined,
  now: number,
): string | undefined {
  if (at === undefined) return status === "scheduled" ? "is required with the status scheduled" : undefined;
  if (status === "draft") return "cannot be given with the status draft";
  if (status === "scheduled" && at <= now) return "must be in the future";
  if (status === "sent" && at > now) return "must not be in the future";
  return undefined;
}

interface SeedContext {
  now: number;
  /** Of `sendingTimes`. */
  times: readonly (number | null)[];
  /** Throws for a name that is none. */
  resolveList(name: string, place: string): string;
}

/**
 * The caller is in a transaction, and undoes it when this throws;
 * contacts and lists are in the account already.
 * @throws Refusal that names the place of what is wrong
 */
export function applyMailSeed(
  store: Store,
  { templates, domains, campaigns }: CheckedSeed,
  context: SeedContext,
): Omit<SeedReport, "contacts"> {
  const report: Omit<SeedReport, "contacts"> = {};
  if (templates) {
    const seeder = new DocumentSeeder(store, "template", context.now);
    for (const [index, { name, subject = name }] of templates.entries())
      seeder.put(name, joinPlace("templates", index), { subject });
    report.templates = seeder.report;
  }
  if (domains) {
    const seeder = new DocumentSeeder(store, "domain", context.now);
    for (const [index, { domain, provider = "custom", missing = [] }] of domains.entries())
      seeder.put(domain, joinPlace("domains", index), { provider, missing });
    report.domains = seeder.report;
  }
  if (campaigns) report.campaigns = seedCampaigns(store, campaigns, context);
  return report;
}

function seedCampaigns(
  store: Store,
  campaigns: SeedCampaign[],
  { now, times, resolveList }: SeedContext,
): SeedReport["campaigns"] {
  const seeder = new DocumentSeeder(store, "campaign", now);
  for (const [index, campaign] of campaigns.entries()) {
    const place = joinPlace("campaigns", index);
    const listIds = campaign.lists?.map((name, at) => resolveList(name, joinPlace(`${place}.lists`, at)));
    const stored = seeder.put(campaign.name, place, { ...campaignContent(campaign), listIds }, times[index]);
    if (stored) planMails(store, stored, recipients(store, listIds));
  }
  applyDueEvents(store, now);
  return seeder.report;
}

function campaignContent({
  name,
  subject = name,
  from = "news@example.com",
  previewText = "",
}: SeedCampaign): StoredDocument["content"] {
  return { from, subject, previewText };
}

/**
 * Creates one thing after the other, or changes the one of its name that was there before the seed: within a
 * seed, two may have one name. What was sent already, or is scheduled, is not sent a second time.
 */
class DocumentSeeder {
  readonly report = { created: 0, updated: 0 };
  private readonly store: Store;
  private readonly kind: DocumentKind;
  private readonly now: number;
  private readonly byName = new Map<string, StoredDocument[]>();

  constructor(store: Store, kind: DocumentKind, now: number) {
    this.store = store;
    this.kind = kind;
    this.now = now;
    for (const document of store.documents.all(kind)) {
      const name = document.name.toLowerCase();
      this.byName.set(name, [...(this.byName.get(name) ?? []), document]);
    }
  }

  /** @returns the campaign, where this is what sends it */
  put(
    name: string,
    place: string,
    content: StoredDocument["content"],
    sentAt: number | null = null,
  ): StoredDocument | undefined {
    const [before, ...others] = this.byName.get(name.toLowerCase()) ?? [];
    if (others.length > 0) throw invalidAt(place, `has the name of several: ${JSON.stringify(name)}`);
    this.report[before ? "updated" : "created"] += 1;
    const changedAt = Math.min(this.now, sentAt ?? this.now);
    const stored: StoredDocument = {
      id: before?.id ?? this.store.newIds(this.now, 1)[0]!,
      kind: this.kind,
      name,
      sentAt: before?.sentAt ?? sentAt,
      createdAt: before?.createdAt ?? changedAt,
      updatedAt: changedAt,
      content,
    };
    this.store.documents.put(stored);
    return sentAt === null || before?.sentAt != null ? undefined : stored;
  }
}

/** Who is active; in any of the lists, where some are named. */
function* recipients(store: Store, listIds: string[] | undefined): Iterable<StoredContact> {
  for (const contact of store.contacts.all()) {
    const isActive = contact.status.primary.toLowerCase() === "active";
    const isListed = listIds === undefined || contact.lists.some((id) => listIds.includes(id));
    if (isActive && isListed) yield contact;
  }
}
