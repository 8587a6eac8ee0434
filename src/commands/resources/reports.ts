/** Reports: one campaign, all mails of some days, or one type of event by days. */

import { listItems } from "../../api/records.ts";
import {
  comparedCampaigns,
  type Figure,
  readCampaignFigures,
  readDays,
  readReportFigures,
  reportedEvents,
} from "../../api/reports.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { fetchReport, longestReport, resolveCampaign } from "../../service/resources.ts";
import { isForPeople, type OutputOptions } from "../../terminal/format.ts";
import { hasColumns, presentList, presentValue } from "../../terminal/present.ts";
import type { Send } from "../../wire.ts";
import { formatForAccount } from "../help/command-line.ts";
import type { PageFlags } from "../output/pages.ts";
import { createFigureScreen, figureView, histogramView, recordId } from "./views.ts";

export interface ResourceFlags extends PageFlags {
  status?: string;
  days?: number;
  timezone?: string;
  period?: string;
  event?: string;
}

/** A command that is carried out. */
export interface Call {
  context: Context;
  output: OutputOptions;
  send: Send;
  /** The argument; empty where the command takes none. */
  wanted: string;
  flags: ResourceFlags;
}

const usualDays = 30;

/** @throws UsageError for more days than the service looks back */
export function checkSpan({ days = usualDays }: ResourceFlags): void {
  if (days <= longestReport) return;
  throw usageError(`--days: reports look back ${longestReport} days at most`, `Give --days ${longestReport}`);
}

/** @throws UsageError where no event is named, too */
export function checkHistogram(flags: ResourceFlags): void {
  checkSpan(flags);
  if (flags.event !== undefined) return;
  throw usageError("Name the type of event with --event", "Such as --event email-opened");
}

interface Span {
  /** As the service takes it. */
  query: { pastDays: string; timezone: string };
  timeZone: string;
  /** In words. */
  text: string;
}

function toSpan({ days = usualDays, timezone: timeZone = ownZone() }: ResourceFlags): Span {
  return {
    query: { pastDays: String(days), timezone: timeZone },
    timeZone,
    text: `The last ${days === 1 ? "day" : `${days} days`}, in ${timeZone}`,
  };
}

export async function showReports({ context, output, send, flags }: Call): Promise<void> {
  const { terminal } = context;
  const { query, timeZone, text } = toSpan(flags);
  const dashboard = await fetchReport(send, "dashboard", query);
  const overall = await fetchReport(send, "email/overall", query);
  if (output.format === "id") {
    await presentList(terminal, output, comparedCampaigns(overall), { columns: [], id: recordId });
    return;
  }
  if (!hasColumns(output)) return presentValue(terminal, output, { dashboard, overall }, "");
  terminal.note(text);
  await showFigures({ context, output }, readReportFigures(dashboard, overall), timeZone);
}

export async function showCampaignReport(call: Call): Promise<void> {
  const { context, output, send, wanted } = call;
  const { period, timezone = ownZone() } = call.flags;
  const { terminal } = context;
  const { _id } = await resolveCampaign(send, wanted);
  const path = `email/${encodeURIComponent(_id)}`;
  const report = await fetchReport(send, path);
  const engagement =
    period === undefined ? undefined : await fetchReport(send, `${path}/engagement`, { period, timezone });
  if (output.format === "id") return presentValue(terminal, output, _id, _id);
  if (!hasColumns(output)) {
    return presentValue(terminal, output, engagement ? { report, engagement } : report, "");
  }
  if (engagement) terminal.note(`Times in ${timezone}`);
  await showFigures(call, readCampaignFigures(report, engagement), timezone);
  if (!isForPeople(output)) return;
  const leavers = advise`Who bounced or complained: ${leaversCommand(_id)}`;
  // It is copied: never broken to the width.
  if (!terminal.quiet) terminal.note(formatForAccount(leavers, context.settings), "verbatim");
}

/** A person looks at it before anything is sent. */
function leaversCommand(campaignId: string): Hint {
  const events = ecm`events --campaign ${campaignId} --type email-bounced --type email-complaint --days 90 --all -o csv --columns key`;
  return advise`${events} | ${ecm`contact unsubscribe --keys - --dry-run`}`;
}

/** To people the days of new contacts are one number. */
async function showFigures(
  { context, output }: Pick<Call, "context" | "output">,
  figures: readonly Figure[],
  timeZone: string,
): Promise<void> {
  if (!isForPeople(output)) {
    await presentList(context.terminal, output, figures, figureView);
    return;
  }
  const days = figures.filter(({ part }) => part === "new contacts");
  const value = days.reduce((sum, day) => sum + (typeof day.value === "number" ? day.value : 0), 0);
  const added = days.length > 0 ? [{ part: "contacts", name: "new contacts", value }] : [];
  const shown = [...figures.filter((figure) => !days.includes(figure)), ...added];
  const screen = createFigureScreen((text) => timeInZone(text, timeZone));
  await presentList(context.terminal, output, shown, screen);
}

export async function showHistogram({ context, output, send, flags }: Call): Promise<void> {
  const { terminal } = context;
  const { query, timeZone, text } = toSpan(flags);
  const eventType = reportedEvents[flags.event!]!;
  const histogram = await fetchReport(send, "email/overall/histogram", { ...query, eventType });
  if (!hasColumns(output) && output.format !== "id") return presentValue(terminal, output, histogram, "");
  terminal.note(text);
  if (isForPeople(output)) return showFigures({ context, output }, readDays("days", histogram), timeZone);
  await presentList(terminal, output, listItems(histogram, "histogram"), histogramView);
}

export function requireZone(text: string): string {
  // An offset is no name of a zone: it knows no summer time.
  if (/^[a-z]/i.test(text) && isKnownZone(text)) return text;
  throw usageError(
    `--timezone: ${JSON.stringify(text)} is not a time zone`,
    "Name one, such as --timezone Europe/Oslo or --timezone UTC",
  );
}

function isKnownZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
    return true;
  } catch {
    return false;
  }
}

/** With TZ empty, or no zone, a machine has `Etc/Unknown` or none, which no service knows. */
export function ownZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone && isKnownZone(timeZone) ? timeZone : "UTC";
}

/** `2 Nov 2026, 14:02 CET`. A day alone, and anything that is no time, stays as it is. */
function timeInZone(text: string, timeZone: string): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT/.test(text) || Number.isNaN(time.getTime())) return text;
  return new Intl.DateTimeFormat("en-GB", {
    timeZone,
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
  }).format(time);
}
