/** Reports (published reference): the figures that a seed has set, else zeros. */
import type { GenericSchema, InferInput } from "valibot";
import { isObject } from "../../json.ts";
import type { Store } from "../store/index.ts";
import {
  campaignReportAnswer,
  dashboardAnswer,
  engagementAnswer,
  histogramAnswer,
  overallAnswer,
} from "./answers.ts";
import { endpoint } from "./endpoint.ts";
import { requireCampaign } from "./refusal.ts";
import { dashboardQuery, engagementQuery, histogramQuery } from "./requests.ts";

const dayMilliseconds = 86_400_000;

/** The frame of a histogram. @param from like `to` in milliseconds since the epoch */
function span(from: number, to: number) {
  return { start: new Date(from).toISOString(), end: new Date(to).toISOString() };
}

/** A report in which nothing has happened: zeros, and no days. */
function zerosOf(schema: GenericSchema): unknown {
  if (schema.type === "number") return 0;
  if (schema.type === "array") return [];
  if (schema.type !== "object") return null;
  const { entries } = schema as GenericSchema & { entries: Record<string, GenericSchema> };
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, zerosOf(entry)]));
}

/** The members that the seed gives, over those of `report`. */
function withGiven(report: unknown, given: unknown): unknown {
  if (given === undefined) return report;
  if (!isObject(report) || !isObject(given)) return given;
  const merged = Object.entries(given).map(([name, value]) => [name, withGiven(report[name], value)]);
  return { ...report, ...Object.fromEntries(merged) };
}

/** @param known members that are no zeros, such as the time that the report is about */
function seeded<S extends GenericSchema>(schema: S, given: unknown, known: object = {}): InferInput<S> {
  return withGiven(withGiven(zerosOf(schema), known), given) as InferInput<S>;
}

function findReport(store: Store, name: "dashboard" | "overall" | "histogram"): unknown {
  return store.reports.get(name)?.figures;
}

export const reportEndpoints = [
  endpoint({
    id: "getDashboard",
    method: "get",
    path: "/api/reports/dashboard",
    summary: "Mails and contacts of the last days, against the same span before",
    scope: "reports:read",
    query: dashboardQuery,
    result: dashboardAnswer,
    answer: ({ store, query: { pastDays }, now }) =>
      seeded(dashboardAnswer, findReport(store, "dashboard"), {
        contact: { histogram: span(now - pastDays * dayMilliseconds, now) },
      }),
  }),
  endpoint({
    id: "getOverallReport",
    method: "get",
    path: "/api/reports/email/overall",
    summary: "All mails of the last days, against the same span before",
    scope: "reports:read",
    query: dashboardQuery,
    result: overallAnswer,
    answer: ({ store }) => seeded(overallAnswer, findReport(store, "overall")),
  }),
  endpoint({
    id: "getOverallHistogram",
    method: "get",
    path: "/api/reports/email/overall/histogram",
    summary: "One type of event by days",
    scope: "reports:read",
    query: histogramQuery,
    result: histogramAnswer,
    answer: ({ store, query: { pastDays }, now }) =>
      seeded(histogramAnswer, findReport(store, "histogram"), span(now - pastDays * dayMilliseconds, now)),
  }),
  endpoint({
    id: "getCampaignReport",
    method: "get",
    path: "/api/reports/email/:campaignId",
    summary: "What became of a campaign's mails",
    scope: "reports:read",
    result: campaignReportAnswer,
    answer: ({ store, parameter }) =>
      seeded(campaignReportAnswer, requireCampaign(store, parameter("campaignId")).report),
  }),
  endpoint({
    id: "getCampaignEngagement",
    method: "get",
    path: "/api/reports/email/:campaignId/engagement",
    summary: "First opens and clicks of a campaign, from its sending on",
    scope: "reports:read",
    query: engagementQuery,
    result: engagementAnswer,
    answer({ store, parameter, now }) {
      const { sentAt } = requireCampaign(store, parameter("campaignId"));
      return seeded(engagementAnswer, undefined, span(Math.min(sentAt ?? now, now), now));
    },
  }),
];
