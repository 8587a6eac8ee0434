/** Campaigns, templates and sending domains, to look at (published reference). */
import type { DocumentPage, StoredDocument } from "../store/documents.ts";
import { statusAt } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import {
  campaignAnswer,
  campaignPageAnswer,
  domainAnswer,
  domainsAnswer,
  templatePageAnswer,
} from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { campaignsQuery, templatesQuery } from "./mail-requests.ts";
import { sizeOf } from "./pages.ts";
import { notFound } from "./refusal.ts";

export const campaignEndpoints = [
  endpoint({
    id: "listCampaigns",
    method: "get",
    path: "/api/email/campaign",
    summary: "List a page of the campaigns, those changed last first",
    scope: "campaigns:read",
    query: campaignsQuery,
    result: campaignPageAnswer,
    answer({ store, query: { page, size, sort, status }, now, variants }) {
      const [by, direction] = sortFrom(sort);
      const wanted = { page, size: sizeOf(size, "size", variants), sort: by, direction, status, now };
      const { total, documents } = store.documents.page("campaign", wanted);
      return { total, records: campaignRecords(store, documents, now) };
    },
  }),
  endpoint({
    id: "getCampaign",
    method: "get",
    path: "/api/email/campaign/:campaignId",
    summary: "Read one campaign",
    scope: "campaigns:read",
    result: campaignAnswer,
    answer: ({ store, parameter, now }) =>
      campaignRecords(store, [campaignOf(store, parameter("campaignId"))], now)[0]!,
  }),
  endpoint({
    id: "listTemplates",
    method: "get",
    path: "/api/email/template",
    summary: "List a page of the templates",
    scope: "campaigns:read",
    query: templatesQuery,
    result: templatePageAnswer,
    answer({ store, query: { page, size }, now, variants }) {
      const wanted = { page, size: sizeOf(size, "size", variants), now };
      const { total, documents } = store.documents.page("template", {
        ...wanted,
        sort: "updatedAt",
        direction: "desc",
      });
      return {
        total,
        records: documents.map(({ id, name, content, createdAt, updatedAt }) => ({
          _id: id,
          name,
          subject: content.subject as string,
          createdAt: new Date(createdAt).toISOString(),
          updatedAt: new Date(updatedAt).toISOString(),
        })),
      };
    },
  }),
  endpoint({
    id: "listDomains",
    method: "get",
    path: "/api/email/domain",
    summary: "List the sending domains, with what they need in DNS",
    scope: "domains:read",
    result: domainsAnswer,
    answer: ({ store }) => store.documents.all("domain").map(domainRecord),
  }),
  endpoint({
    id: "getGreyLabelDomain",
    method: "get",
    path: "/api/email/domain/grey-label",
    summary: "Read the account's grey-label domain",
    scope: "domains:read",
    result: domainAnswer,
    answer({ store }) {
      const domain = store.documents.all("domain").find(({ content }) => content.provider === "grey-label");
      if (!domain) throw notFound("Domain");
      return domainRecord(domain);
    },
  }),
];

/** @throws Refusal 404 'Campaign not found' */
export function campaignOf(store: Store, id: string): StoredDocument {
  const found = store.documents.get("campaign", id);
  if (!found) throw notFound("Campaign");
  return found;
}

/** Campaigns with what was sent of them: counted from the events. */
export function campaignRecords(store: Store, campaigns: readonly StoredDocument[], now: number) {
  const ids = campaigns.map(({ id }) => id);
  const sent = store.mailEvents.byCampaign(ids, "email-sent");
  const skipped = store.mailEvents.byCampaign(ids, "email-skipped");
  const unsent = store.upcoming.unsent(ids);
  return campaigns.map((campaign) => {
    const { id, name, content, sentAt, createdAt, updatedAt } = campaign;
    const [sentCount, failedCount] = [sent.get(id) ?? 0, skipped.get(id) ?? 0];
    const status = statusAt(campaign, now);
    return {
      _id: id,
      name,
      from: content.from as string,
      subject: content.subject as string,
      previewText: content.previewText as string,
      previewImageUrl: `https://example.com/previews/${id}.png`,
      status,
      sentCount,
      failedCount,
      recipientCount: sentCount + failedCount + (unsent.get(id) ?? 0),
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(status === "sent" ? Math.max(updatedAt, sentAt!) : updatedAt).toISOString(),
    };
  });
}

function sortFrom(text = "updatedAt:desc"): [DocumentPage["sort"], DocumentPage["direction"]] {
  const [by, direction = "asc"] = text.split(":") as [DocumentPage["sort"], DocumentPage["direction"]?];
  return [by, direction];
}

/** What a domain needs in DNS, by part. */
function dnsRecords(domain: string, id: string) {
  const ttl = 3600;
  return {
    dkim: [1, 2].map((number) => ({
      name: `k${number}._domainkey.${domain}`,
      type: "CNAME",
      value: `k${number}.${id}.dkim.example.net`,
      ttl,
    })),
    dmarc: [{ name: `_dmarc.${domain}`, type: "TXT", value: "v=DMARC1; p=none;", ttl }],
    spf: [{ name: `mail.${domain}`, type: "TXT", value: "v=spf1 include:spf.example.net ~all", ttl }],
    linkTracking: [{ name: `links.${domain}`, type: "CNAME", value: "links.example.net", ttl }],
  };
}

function domainRecord({ id, name: domain, content, createdAt, updatedAt }: StoredDocument) {
  const missing = content.missing as string[];
  const statusOf = (part: string) => (missing.includes(part) ? "pending" : "verified");
  const records = dnsRecords(domain, id);
  const partOf = (part: keyof typeof records) => ({
    status: statusOf(part),
    records: records[part],
    verificationInfo: {},
  });
  const isReady = statusOf("dkim") === "verified" && statusOf("spf") === "verified";
  const status = isReady ? "verified" : "pending";
  return {
    _id: id,
    domain,
    provider: content.provider as string,
    nameServer: "ns1.example.net",
    isReadyForSending: isReady,
    createdAt: new Date(createdAt).toISOString(),
    lastCheckedAt: new Date(updatedAt).toISOString(),
    sslCertStatus: statusOf("linkTracking"),
    dkim: partOf("dkim"),
    dmarc: partOf("dmarc"),
    spf: partOf("spf"),
    linkTracking: partOf("linkTracking"),
    identity: {
      status,
      verificationStatus: status,
      mailFrom: { status: statusOf("spf"), subdomain: `mail.${domain}` },
      verificationInfo: {},
    },
  };
}
