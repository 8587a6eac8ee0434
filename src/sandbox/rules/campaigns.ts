/** Campaigns, templates and sending domains, to look at (published reference): what a seed says of them. */
import type { GenericSchema, InferInput } from "valibot";
import { isObject } from "../../json.ts";
import { type DocumentStore, pageOf, type StoredMail } from "../store/documents.ts";
import {
  campaignAnswer,
  campaignPageAnswer,
  domainAnswer,
  domainsAnswer,
  templateAnswer,
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
    answer({ store, query: { page, size, sort = "updatedAt:desc", status }, variants }) {
      const campaigns = answered(store.campaigns, campaignAnswer).filter(
        (each) => status === undefined || each.status.toLowerCase() === status.toLowerCase(),
      );
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
    answer: ({ store, parameter }) =>
      seeded(campaignAnswer, requireCampaign(store, parameter("campaignId")).given),
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
      const sort = "updatedAt:desc";
      const templates = answered(store.templates, templateAnswer);
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
    answer: ({ store }) => answered(store.domains, domainAnswer),
  }),
  endpoint({
    id: "getGreyLabelDomain",
    method: "get",
    path: "/api/email/domain/grey-label",
    summary: "Read the account's grey-label domain",
    scope: "domains:read",
    result: domainAnswer,
    answer({ store }) {
      const domains = answered(store.domains, domainAnswer);
      const domain = domains.find(({ provider }) => provider === "grey-label");
      if (!domain) throw notFound("Domain");
      return domain;
    },
  }),
];

function answered<S extends GenericSchema>(documents: DocumentStore<StoredMail>, schema: S): InferInput<S>[] {
  return documents.all().map(({ given }) => seeded(schema, given));
}

/**
 * What a seed gives, over zeros.
 * @param known members that are no zeros, such as the time that a report is about
 */
export function seeded<S extends GenericSchema>(
  schema: S,
  given: unknown,
  known: object = {},
): InferInput<S> {
  return withGiven(withGiven(zerosOf(schema), known), given) as InferInput<S>;
}

const zeros: Record<string, unknown> = { number: 0, string: "", boolean: false, array: [], record: {} };

/** An answer in which nothing is set. */
function zerosOf(schema: GenericSchema): unknown {
  if (schema.type !== "object") return zeros[schema.type] ?? null;
  const { entries } = schema as GenericSchema & { entries: Record<string, GenericSchema> };
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, zerosOf(entry)]));
}

/** The members that are given, over those of the answer. */
function withGiven(answer: unknown, given: unknown): unknown {
  if (given === undefined) return answer;
  if (!isObject(answer) || !isObject(given)) return given;
  const merged = Object.entries(given).map(([name, value]) => [name, withGiven(answer[name], value)]);
  return { ...answer, ...Object.fromEntries(merged) };
}
