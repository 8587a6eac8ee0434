/** Reports (published reference): every number is counted from the events that the feeds show. */
import { statusAt } from "../store/documents.ts";
import type { Store } from "../store/index.ts";
import type { MailFigures, Span } from "../store/mail-figures.ts";
import {
  campaignReportAnswer,
  dashboardAnswer,
  engagementAnswer,
  histogramAnswer,
  overallAnswer,
} from "./answers.ts";
import { calendarOf, histogramOf } from "./calendar.ts";
import { campaignOf } from "./campaigns.ts";
import { endpoint } from "./endpoint.ts";
import { dashboardQuery, engagementQuery, histogramQuery } from "./mail-requests.ts";

const hourMilliseconds = 3_600_000;
const dayMilliseconds = 24 * hourMilliseconds;

/** The days up to now, as the feed of events counts them, and the same span before. */
function spansOf(now: number, pastDays: number): { span: Span; before: Span } {
  const length = pastDays * dayMilliseconds;
  return { span: { from: now - length, to: now }, before: { from: now - 2 * length, to: now - length - 1 } };
}

const rounded = (value: number) => Math.round(value * 100) / 100;

/** Per cent, of which there is nothing where the whole is nothing. */
function rateOf(part: number, whole: number): number {
  return whole === 0 ? 0 : rounded((100 * part) / whole);
}

/** Per cent against before; from nothing to something is 100. */
function diffOf(value: number, prev: number): number {
  if (prev === 0) return value === 0 ? 0 : 100;
  return rounded((100 * (value - prev)) / prev);
}

/** What the rate of a figure is a share of. */
const wholes: Record<keyof MailFigures, "sent" | "delivered"> = {
  sent: "sent",
  delivered: "sent",
  uniqueOpens: "delivered",
  uniqueClicks: "delivered",
  hardBounces: "sent",
  softBounces: "sent",
  totalBounces: "sent",
  unsubscribes: "delivered",
  complaints: "delivered",
};

function compared(now: MailFigures, before: MailFigures, name: keyof MailFigures) {
  const [value, prev] = [now[name], before[name]];
  const [rate, prevRate] = [rateOf(value, now[wholes[name]]), rateOf(prev, before[wholes[name]])];
  return {
    count: { value, prev, diff: diffOf(value, prev) },
    rate: { value: rate, prev: prevRate, diff: diffOf(rate, prevRate) },
  };
}

function campaignComparison(store: Store, { from, to }: Span) {
  return store.documents.sentBetween(from, to).map(({ id, name, sentAt }) => {
    const { uniqueOpens, uniqueClicks, delivered } = store.mailEvents.figures({
      from: 0,
      to,
      campaignId: id,
    });
    return {
      _id: id,
      name,
      rates: { opens: rateOf(uniqueOpens, delivered), clicks: rateOf(uniqueClicks, delivered) },
      scheduledAt: new Date(sentAt!).toISOString(),
    };
  });
}

/** At which time of their day mails were delivered. */
function deliveryTimes(store: Store, span: Span, timeZone: string) {
  const named = calendarOf(timeZone);
  const counts = { morning: 0, afternoon: 0, evening: 0, night: 0 };
  for (const { at } of store.mailEvents.times(span, "email-delivered")) {
    const quarter = Math.floor(named(at).hourOfDay / 6);
    counts[(["night", "morning", "afternoon", "evening"] as const)[quarter]!] += 1;
  }
  return counts;
}

const periods = { "24hours": 24 * hourMilliseconds, week: 7 * dayMilliseconds, month: 30 * dayMilliseconds };

export const reportEndpoints = [
  endpoint({
    id: "getDashboard",
    method: "get",
    path: "/api/reports/dashboard",
    summary: "Mails and contacts of the last days, against the same span before",
    scope: "reports:read",
    query: dashboardQuery,
    result: dashboardAnswer,
    answer({ store, query: { pastDays, timezone }, now }) {
      const { span, before } = spansOf(now, pastDays);
      const [figures, earlier] = [store.mailEvents.figures(span), store.mailEvents.figures(before)];
      const of = (name: keyof MailFigures) => {
        const { count, rate } = compared(figures, earlier, name);
        return {
          count: { value: count.value, diff: count.diff },
          rate: { value: rate.value, diff: rate.diff },
        };
      };
      const plain = (name: keyof MailFigures) => {
        const { value, diff } = of(name).count;
        return { count: value, diff };
      };
      const { total, created } = store.contacts.createdBetween(span.from, span.to);
      const contacts = histogramOf({ ...span, timeZone: timezone, unit: "day" }, created, () => null);
      return {
        campaign: {
          sent: plain("sent"),
          delivered: plain("delivered"),
          uniqueOpens: of("uniqueOpens"),
          uniqueClicks: of("uniqueClicks"),
        },
        contact: {
          count: total,
          histogram: {
            ...contacts,
            histogram: contacts.histogram.map(({ date, total: each }) => ({ date, total: each })),
          },
        },
      };
    },
  }),
  endpoint({
    id: "getOverallReport",
    method: "get",
    path: "/api/reports/email/overall",
    summary: "All mails of the last days, against the same span before",
    scope: "reports:read",
    query: dashboardQuery,
    result: overallAnswer,
    answer({ store, query: { pastDays, timezone }, now }) {
      const { span, before } = spansOf(now, pastDays);
      const [figures, earlier] = [store.mailEvents.figures(span), store.mailEvents.figures(before)];
      const names = Object.keys(wholes) as (keyof MailFigures)[];
      const stats = Object.fromEntries(names.map((name) => [name, compared(figures, earlier, name)]));
      return {
        campaignComparison: campaignComparison(store, span),
        deliveryTimeStats: deliveryTimes(store, span, timezone),
        stats: stats as Record<keyof MailFigures, ReturnType<typeof compared>>,
      };
    },
  }),
  endpoint({
    id: "getOverallHistogram",
    method: "get",
    path: "/api/reports/email/overall/histogram",
    summary: "One type of event by days",
    scope: "reports:read",
    query: histogramQuery,
    result: histogramAnswer,
    answer({ store, query: { pastDays, timezone, eventType }, now }) {
      const { span } = spansOf(now, pastDays);
      const [, first, type] = /^(first-)?(.*)$/.exec(eventType)!;
      const happened = store.mailEvents.times(span, type!, first !== undefined);
      const detailOf = (items: typeof happened): Record<string, number> => {
        if (type !== "email-bounced") return {};
        const softBounces = items.filter(({ isSoft }) => isSoft).length;
        return { hardBounces: items.length - softBounces, softBounces };
      };
      return histogramOf({ ...span, timeZone: timezone, unit: "day" }, happened, detailOf);
    },
  }),
  endpoint({
    id: "getCampaignReport",
    method: "get",
    path: "/api/reports/email/:campaignId",
    summary: "What became of a campaign's mails",
    scope: "reports:read",
    result: campaignReportAnswer,
    answer({ store, parameter, now }) {
      const { id: campaignId } = campaignOf(store, parameter("campaignId"));
      const figures = store.mailEvents.figures({ from: 0, to: now, campaignId });
      const { sent, delivered, uniqueOpens, uniqueClicks, totalBounces, hardBounces, softBounces } = figures;
      return {
        sent,
        delivered,
        opens: { unique: uniqueOpens, rate: rateOf(uniqueOpens, delivered) },
        clicks: { unique: uniqueClicks, rate: rateOf(uniqueClicks, delivered) },
        totalBounces,
        hardBounces,
        softBounces,
        linkActivity: store.mailEvents.links(campaignId),
      };
    },
  }),
  endpoint({
    id: "getCampaignEngagement",
    method: "get",
    path: "/api/reports/email/:campaignId/engagement",
    summary: "First opens and clicks of a campaign, from its sending on",
    scope: "reports:read",
    query: engagementQuery,
    result: engagementAnswer,
    answer({ store, parameter, query: { period, timezone }, now }) {
      const campaign = campaignOf(store, parameter("campaignId"));
      const isSent = statusAt(campaign, now) === "sent";
      const from = isSent ? campaign.sentAt! : now;
      const span: Span = { from, to: Math.min(now, from + periods[period]), campaignId: campaign.id };
      const opens = store.mailEvents.times(span, "email-opened", true);
      const clicks = store.mailEvents.times(span, "email-clicked", true);
      const happened = [
        ...opens.map(({ at }) => ({ at, isOpen: true })),
        ...clicks.map(({ at }) => ({ at, isOpen: false })),
      ];
      const unit = period === "24hours" ? "hour" : "day";
      return histogramOf({ ...span, timeZone: timezone, unit }, happened, (items) => {
        const uniqueOpens = items.filter(({ isOpen }) => isOpen).length;
        return { uniqueOpens, uniqueClicks: items.length - uniqueOpens };
      });
    },
  }),
];
