/** What requests for campaigns, templates and reports must look like (published reference). */
import * as v from "valibot";
import { pageQuery, pastDays, sortedPageQuery, text } from "./requests.ts";

export const campaignsQuery = v.object({ ...sortedPageQuery, status: v.optional(text) });
export const templatesQuery = v.object(pageQuery);

const timezone = v.optional(
  v.pipe(v.string("must be given once"), v.check(isTimeZone, "must be a time zone such as Europe/Oslo")),
  "UTC",
);
export const dashboardQuery = v.object({ pastDays, timezone });
const histogramTypes = [
  "email-sent",
  "email-delivered",
  "email-bounced",
  "first-contact-unsubscribed",
  "first-email-complaint",
  "first-email-opened",
  "first-email-clicked",
] as const;
export const histogramQuery = v.object({
  ...dashboardQuery.entries,
  eventType: v.picklist(histogramTypes, `must be one of ${histogramTypes.join(", ")}`),
});
const periods = ["24hours", "week", "month"] as const;
export const engagementQuery = v.object({
  period: v.optional(v.picklist(periods, `must be one of ${periods.join(", ")}`), "week"),
  timezone,
});

function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    // Offsets are no names of zones.
    return /^[A-Za-z]/.test(text);
  } catch {
    return false;
  }
}
