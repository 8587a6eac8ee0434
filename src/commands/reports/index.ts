import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { registerReportsCampaign } from "./campaign.ts";
import { registerReportsHistogram } from "./histogram.ts";
import { registerReportsShow } from "./show.ts";

export function registerReports(reports: Command, context: Context): void {
  registerReportsShow(reports, context);
  registerReportsCampaign(reports, context);
  registerReportsHistogram(reports, context);
}
