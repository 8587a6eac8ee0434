/** Reports (published reference): the figures that a seed has set, else zeros. */
import { isObject } from "../../is-object.ts";
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

const figure = { count: { value: 0, diff: 0 }, rate: { value: 0, diff: 0 } };
const wholeFigure = { count: { value: 0, prev: 0, diff: 0 }, rate: { value: 0, prev: 0, diff: 0 } };

function emptyHistogram(from: number, to: number) {
  return {
    start: new Date(from).toISOString(),
    end: new Date(to).toISOString(),
    peak: { startDate: null, endDate: null, total: 0 },
    histogram: [],
  };
}

/** The members of the seed's report, and of `zeros` those that it leaves out. */
function withGiven<T>(zeros: T, given: unknown): T {
  if (given === undefined) return zeros;
  if (!isObject(zeros) || !isObject(given)) return given as T;
  const merged = Object.entries(given).map(([name, value]) => [
    name,
    withGiven((zeros as Record<string, unknown>)[name], value),
  ]);
  return { ...zeros, ...Object.fromEntries(merged) };
}

function seeded<T>(store: Store, name: "dashboard" | "overall" | "histogram", zeros: T): T {
  return withGiven(zeros, store.documents.get("report", name)?.content);
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
      seeded(store, "dashboard", {
        campaign: {
          sent: { count: 0, diff: 0 },
          delivered: { count: 0, diff: 0 },
          uniqueOpens: figure,
          uniqueClicks: figure,
        },
        contact: { count: 0, histogram: emptyHistogram(now - pastDays * dayMilliseconds, now) },
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
    answer: ({ store }) =>
      seeded(store, "overall", {
        campaignComparison: [],
        deliveryTimeStats: { morning: 0, afternoon: 0, evening: 0, night: 0 },
        stats: {
          sent: wholeFigure,
          delivered: wholeFigure,
          uniqueOpens: wholeFigure,
          uniqueClicks: wholeFigure,
          hardBounces: wholeFigure,
          softBounces: wholeFigure,
          totalBounces: wholeFigure,
          unsubscribes: wholeFigure,
          complaints: wholeFigure,
        },
      }),
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
      seeded(store, "histogram", emptyHistogram(now - pastDays * dayMilliseconds, now)),
  }),
  endpoint({
    id: "getCampaignReport",
    method: "get",
    path: "/api/reports/email/:campaignId",
    summary: "What became of a campaign's mails",
    scope: "reports:read",
    result: campaignReportAnswer,
    answer: ({ store, parameter }) =>
      withGiven(
        {
          sent: 0,
          delivered: 0,
          opens: { unique: 0, rate: 0 },
          clicks: { unique: 0, rate: 0 },
          totalBounces: 0,
          hardBounces: 0,
          softBounces: 0,
          linkActivity: [],
        },
        requireCampaign(store, parameter("campaignId")).content.report,
      ),
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
      return emptyHistogram(Math.min(sentAt ?? now, now), now);
    },
  }),
];
