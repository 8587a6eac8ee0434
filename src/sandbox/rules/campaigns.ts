/** Campaigns, templates and sending domains, to look at (published reference). */
import { campaignStatus, type DocumentPage, type StoredDocument } from "../store/documents.ts";
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
    answer({ store, query: { page, size, sort, status }, now, variants }) {
      const [by, direction] = parseSort(sort);
      const wanted = { page, size: limitPageSize(size, "size", variants), sort: by, direction, status, now };
      const { total, documents } = store.documents.page("campaign", wanted);
      return { total, records: documents.map((each) => campaignRecord(each, now)) };
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
    answer({ store, query: { page, size }, now, variants }) {
      const wanted = { page, size: limitPageSize(size, "size", variants), now };
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

/** A campaign as it is answered: its counts are those of the report that the seed gave it. */
export function campaignRecord(campaign: StoredDocument, now: number) {
  const { id, name, content, sentAt, createdAt, updatedAt } = campaign;
  const { sent = 0 } = (content.report ?? {}) as { sent?: number };
  const status = campaignStatus(campaign, now);
  return {
    _id: id,
    name,
    from: content.from as string,
    subject: content.subject as string,
    previewText: content.previewText as string,
    previewImageUrl: `https://example.com/previews/${id}.png`,
    status,
    sentCount: sent,
    failedCount: 0,
    recipientCount: sent,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(status === "sent" ? Math.max(updatedAt, sentAt!) : updatedAt).toISOString(),
  };
}

function parseSort(text = "updatedAt:desc"): [DocumentPage["sort"], DocumentPage["direction"]] {
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
  const dnsStatus = (part: string) => (missing.includes(part) ? "pending" : "verified");
  const records = dnsRecords(domain, id);
  const describePart = (part: keyof typeof records) => ({
    status: dnsStatus(part),
    records: records[part],
    verificationInfo: {},
  });
  const isReady = dnsStatus("dkim") === "verified" && dnsStatus("spf") === "verified";
  const status = isReady ? "verified" : "pending";
  return {
    _id: id,
    domain,
    provider: content.provider as string,
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
