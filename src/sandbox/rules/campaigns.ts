/** Campaigns, templates and sending domains, to look at (published reference). */
import { pageOf, type StoredCampaign, type StoredDomain } from "../store/documents.ts";
import {
  campaignAnswer,
  campaignPageAnswer,
  domainAnswer,
  domainsAnswer,
  templatePageAnswer,
} from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { notFound, requireCampaign } from "./refusal.ts";
import { campaignsQuery, limitPageSize, templatesQuery } from "./requests.ts";

export const campaignEndpoints = [
  endpoint({
    id: "listCampaigns",
    method: "get",
    path: "/api/email/campaign",
    summary: "List a page of the campaigns, those changed last first",
    scope: "campaigns:read",
    query: campaignsQuery,
    result: campaignPageAnswer,
    answer({ store, query: { page, size, sort = "updatedAt:desc", status }, now, variants }) {
      const campaigns = store.campaigns
        .all()
        .map((each) => campaignRecord(each, now))
        .filter((each) => status === undefined || each.status === status.toLowerCase());
      return pageOf(campaigns, { page, size: limitPageSize(size, "size", variants), sort });
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
      campaignRecord(requireCampaign(store, parameter("campaignId")), now),
  }),
  endpoint({
    id: "listTemplates",
    method: "get",
    path: "/api/email/template",
    summary: "List a page of the templates",
    scope: "campaigns:read",
    query: templatesQuery,
    result: templatePageAnswer,
    answer({ store, query: { page, size }, variants }) {
      const templates = store.templates.all().map((template) => ({ ...template, ...isoTimes(template) }));
      const sort = "updatedAt:desc";
      return pageOf(templates, { page, size: limitPageSize(size, "size", variants), sort });
    },
  }),
  endpoint({
    id: "listDomains",
    method: "get",
    path: "/api/email/domain",
    summary: "List the sending domains, with what they need in DNS",
    scope: "domains:read",
    result: domainsAnswer,
    answer: ({ store }) => store.domains.all().map(domainRecord),
  }),
  endpoint({
    id: "getGreyLabelDomain",
    method: "get",
    path: "/api/email/domain/grey-label",
    summary: "Read the account's grey-label domain",
    scope: "domains:read",
    result: domainAnswer,
    answer({ store }) {
      const domain = store.domains.all().find(({ provider }) => provider === "grey-label");
      if (!domain) throw notFound("Domain");
      return domainRecord(domain);
    },
  }),
];

/**
 * A campaign as it is answered: its counts are those of the report that the seed gave it. The status follows
 * from the clock: a campaign whose time has come is sent, and was changed by that.
 */
export function campaignRecord(campaign: StoredCampaign, now: number) {
  const { _id, name, from, subject, previewText, report, sentAt, createdAt, updatedAt } = campaign;
  const { sent = 0 } = (report ?? {}) as { sent?: number };
  const status = sentAt === undefined ? "draft" : sentAt <= now ? "sent" : "scheduled";
  return {
    _id,
    name,
    from,
    subject,
    previewText,
    previewImageUrl: `https://example.com/previews/${_id}.png`,
    status: status as "draft" | "scheduled" | "sent",
    sentCount: sent,
    failedCount: 0,
    recipientCount: sent,
    ...isoTimes({ createdAt, updatedAt: status === "sent" ? Math.max(updatedAt, sentAt!) : updatedAt }),
  };
}

function isoTimes({ createdAt, updatedAt }: { createdAt: number; updatedAt: number }) {
  return { createdAt: new Date(createdAt).toISOString(), updatedAt: new Date(updatedAt).toISOString() };
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

function domainRecord({ _id, name: domain, provider, missing, createdAt, updatedAt }: StoredDomain) {
  const dnsStatus = (part: string) => (missing.includes(part) ? "pending" : "verified");
  const records = dnsRecords(domain, _id);
  const describePart = (part: keyof typeof records) => ({
    status: dnsStatus(part),
    records: records[part],
    verificationInfo: {},
  });
  const isReady = dnsStatus("dkim") === "verified" && dnsStatus("spf") === "verified";
  const status = isReady ? "verified" : "pending";
  return {
    _id,
    domain,
    provider,
    nameServer: "ns1.example.net",
    isReadyForSending: isReady,
    createdAt: new Date(createdAt).toISOString(),
    lastCheckedAt: new Date(updatedAt).toISOString(),
    sslCertStatus: dnsStatus("linkTracking"),
    dkim: describePart("dkim"),
    dmarc: describePart("dmarc"),
    spf: describePart("spf"),
    linkTracking: describePart("linkTracking"),
    identity: {
      status,
      verificationStatus: status,
      mailFrom: { status: dnsStatus("spf"), subdomain: `mail.${domain}` },
      verificationInfo: {},
    },
  };
}
