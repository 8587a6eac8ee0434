/** Reports (published reference): the figures that a seed has set, else zeros. */
import type { Store } from "../store/index.ts";
import {
  campaignReportAnswer,
  dashboardAnswer,
  engagementAnswer,
  histogramAnswer,
  overallAnswer,
} from "./answers.ts";
import { seeded } from "./campaigns.ts";
import { endpoint } from "./endpoint.ts";
import { requireCampaign } from "./refusal.ts";
import { dashboardQuery, engagementQuery, histogramQuery } from "./requests.ts";

const dayMilliseconds = 86_400_000;

/** The frame of a histogram. @param from like `to` in milliseconds since the epoch */
function span(from: number, to: number) {
  return { start: new Date(from).toISOString(), end: new Date(to).toISOString() };
}

function findReport(store: Store, name: "dashboard" | "overall" | "histogram"): unknown {
  return store.reports.get(name)?.given;
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
    summary: "First opens and clicks of a campaign",
    scope: "reports:read",
    query: engagementQuery,
    result: engagementAnswer,
    answer({ store, parameter, now }) {
      requireCampaign(store, parameter("campaignId"));
      return seeded(engagementAnswer, undefined, span(now, now));
    },
  }),
];
