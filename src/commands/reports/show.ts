import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { readMember } from "../../service/records.ts";
import {
  comparedCampaigns,
  type Figure,
  fetchDashboard,
  fetchOverall,
  readBars,
  readFigures,
} from "../../service/reports.ts";
import { isForPeople, type OutputOptions } from "../../terminal/format.ts";
import {
  checkColumns,
  hasColumns,
  presentList,
  presentOne,
  presentValue,
  type View,
} from "../../terminal/present.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { memberColumn, recordId, toCell } from "../shared/record-columns.ts";
import { timeInZone } from "../shared/zone.ts";
import { addSpanFlags, type SpanFlags, saySpan, spanFrom } from "./shared/span.ts";
import { figureView, inWords, screenView } from "./shared/view.ts";

interface Reports {
  dashboard: unknown;
  overall: unknown;
}

export function registerReportsShow(parent: Command, context: Context): void {
  const command = parent
    .command("show", { isDefault: true })
    .description("show the dashboard and all mails of the last days")
    .action((flags: SpanFlags & OutputFileFlags) => runReportsShow(context, flags));
  describeCommand(addOutputFileFlags(addSpanFlags(command)), {
    examples: ["ecm reports", "ecm reports show --days 7 --timezone Europe/Oslo", "ecm reports show -o csv"],
    output:
      "Counts and rates, each with its change against the span before; contacts; campaigns. Otherwise one row per number; in JSON { dashboard, overall }, the service's own objects. 2 requests.",
  });
}

async function runReportsShow(context: Context, flags: SpanFlags & OutputFileFlags): Promise<void> {
  const { terminal } = context;
  const output = context.output(flags);
  checkColumns(output, figureView);
  const span = spanFrom(flags);
  const { send } = await context.connect();
  const dashboard = await fetchDashboard(send, span);
  const reports = { dashboard, overall: await fetchOverall(send, span) };
  if (output.format === "id") {
    await presentList(terminal, output, comparedCampaigns(reports.overall), { columns: [], id: recordId });
    return;
  }
  if (!hasColumns(output)) return presentValue(terminal, output, reports, "");
  saySpan(context, span);
  if (isForPeople(output)) {
    return showScreen(context, output, reports, span.timeZone);
  }
  await presentList(terminal, output, allFigures(reports), figureView);
}

/** Every number of both reports. */
function allFigures({ dashboard, overall }: Reports): Figure[] {
  const days = readBars(readMember(dashboard, "contact", "histogram"));
  return [
    ...readFigures("overall", readMember(overall, "stats")),
    ...readFigures("delivery times", readMember(overall, "deliveryTimeStats")),
    ...comparedCampaigns(overall).flatMap(campaignFigures),
    ...readFigures("overall", overall, ["stats", "deliveryTimeStats", "campaignComparison"]),
    ...readFigures("dashboard", readMember(dashboard, "campaign")),
    ...readFigures("contacts", readMember(dashboard, "contact"), ["histogram"]),
    ...days.map(({ date, total }) => ({
      part: "new contacts",
      name: String(toCell(date) ?? ""),
      value: total,
    })),
    ...readFigures("dashboard", dashboard, ["campaign", "contact"]),
  ];
}

function campaignFigures(campaign: unknown): Figure[] {
  const name = String(toCell(readMember(campaign, "name")) ?? "");
  const about = {
    name,
    value: undefined,
    id: readMember(campaign, "_id"),
    time: readMember(campaign, "scheduledAt"),
  };
  const rates = readFigures("campaigns", readMember(campaign, "rates"));
  return rates.map((rate) => ({ ...about, part: `campaign ${rate.name}`, rate: rate.rate ?? rate.value }));
}

async function showScreen(
  { terminal }: Context,
  output: OutputOptions,
  { dashboard, overall }: Reports,
  timeZone: string,
): Promise<void> {
  const stats = readFigures("overall", readMember(overall, "stats"));
  const told = stats.map(({ name }) => name);
  const mails = [...stats, ...readFigures("dashboard", readMember(dashboard, "campaign"), told)];
  await presentList(terminal, output, mails, screenView("mails"));
  const further = [
    ...readFigures("overall", overall, ["stats", "deliveryTimeStats", "campaignComparison"]),
    ...readFigures("dashboard", dashboard, ["campaign", "contact"]),
  ];
  const lines = [
    ...contactLines(readMember(dashboard, "contact")),
    ["delivered", readFigures("", readMember(overall, "deliveryTimeStats")).map(inShort).join(" · ")],
    ...further.map(({ name, value }) => [inWords(name), toCell(value)]),
  ].map(([name, value]) => ({ name: String(name), value: () => value }));
  if (lines.some((line) => line.value())) {
    await terminal.write("\n");
    await presentOne(terminal, output, undefined, { columns: lines, id: () => "" });
  }
  const campaigns = comparedCampaigns(overall);
  if (campaigns.length === 0) return;
  await terminal.write("\n");
  await presentList(terminal, output, campaigns, comparisonView(timeZone));
}

/** How many there are, and how many of them are new. */
function contactLines(contact: unknown): [string, string | number | boolean | undefined][] {
  const days = readBars(readMember(contact, "histogram"));
  const added = days.reduce((sum, { total }) => sum + (typeof total === "number" ? total : 0), 0);
  const others = readFigures("contacts", contact, ["count", "histogram"]);
  return [
    ["contacts", toCell(readMember(contact, "count"))],
    ["new contacts", days.length === 0 ? undefined : added],
    ...others.map(({ name, value }): [string, ReturnType<typeof toCell>] => [inWords(name), toCell(value)]),
  ];
}

function inShort({ name, value }: Figure): string {
  return `${inWords(name)} ${typeof value === "number" ? value.toLocaleString("en-US") : (toCell(value) ?? "–")}`;
}

function comparisonView(timeZone: string): View<unknown> {
  return {
    columns: [
      memberColumn("name", { title: "campaign" }),
      memberColumn("opens", { title: "opens rate" }, ["rates", "opens"]),
      memberColumn("clicks", { title: "clicks rate" }, ["rates", "clicks"]),
      {
        name: "scheduled",
        value: (campaign) => timeInZone(String(toCell(readMember(campaign, "scheduledAt")) ?? ""), timeZone),
      },
      memberColumn("_id", { title: "id", isWhole: true, isAside: true }),
    ],
    id: recordId,
  };
}
