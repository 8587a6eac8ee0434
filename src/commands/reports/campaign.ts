import { type Command, Option } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { resolveCampaign } from "../../service/campaigns.ts";
import {
  type Figure,
  fetchCampaignReport,
  fetchEngagement,
  readBars,
  readFigures,
  readLinks,
} from "../../service/reports.ts";
import { isForPeople, type OutputOptions } from "../../terminal/format.ts";
import { checkColumns, hasColumns, presentList, presentValue } from "../../terminal/present.ts";
import { formatForAccount } from "../shared/command-line.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { toCell } from "../shared/record-columns.ts";
import { ownZone, zoneOption } from "../shared/zone.ts";
import { showBars } from "./shared/bars.ts";
import { figureView, screenView } from "./shared/view.ts";

interface CampaignFlags extends OutputFileFlags {
  period?: string;
  timezone?: string;
}

export function registerReportsCampaign(parent: Command, context: Context): void {
  const command = parent
    .command("campaign")
    .description("show what became of a campaign's mails")
    .argument("<campaign>", "its id or name")
    .addOption(
      new Option("--period <period>", "also opens and clicks by hours or days from its sending on").choices([
        "24hours",
        "week",
        "month",
      ]),
    )
    .addOption(zoneOption())
    .action((wanted: string, flags: CampaignFlags) => runReportsCampaign(context, wanted, flags));
  describeCommand(addOutputFileFlags(command), {
    examples: [
      "ecm reports campaign 'Spring sale'",
      "ecm reports campaign 'Spring sale' --period week --json",
    ],
    output:
      "Counts and rates, clicks by link, and the command that names who bounced or complained. Otherwise one row per number; in JSON formats the service's own object, with --period { report, engagement }.",
  });
}

async function runReportsCampaign(context: Context, wanted: string, flags: CampaignFlags): Promise<void> {
  const { terminal } = context;
  const { period, timezone: timeZone = ownZone() } = flags;
  const output = context.output(flags);
  checkColumns(output, figureView);
  const { send } = await context.connect();
  const { _id } = await resolveCampaign(send, wanted);
  const report = await fetchCampaignReport(send, _id);
  const engagement = period === undefined ? undefined : await fetchEngagement(send, _id, period, timeZone);
  if (output.format === "id") return presentValue(terminal, output, _id, _id);
  if (!hasColumns(output)) {
    return presentValue(terminal, output, engagement ? { report, engagement } : report, "");
  }
  if (engagement) terminal.note(`Times in ${timeZone}`);
  const mails = readFigures("mails", report, ["linkActivity"]);
  const links = readLinks(report);
  if (isForPeople(output)) {
    await showScreen(context, output, { mails, links, engagement, timeZone });
    const leavers = formatForAccount(
      advise`Who bounced or complained: ${leaversCommand(_id)}`,
      context.settings,
    );
    // It is copied: never broken to the width.
    if (!terminal.quiet) terminal.note(leavers, "verbatim");
    return;
  }
  const days = engagement ? readBars(engagement).map(asFigure) : [];
  await presentList(terminal, output, [...mails, ...links, ...days], figureView);
}

/** A person looks at it before anything is sent. */
function leaversCommand(campaignId: string): Hint {
  const events = ecm`events --campaign ${campaignId} --type email-bounced --type email-complaint --days 90 --all -o csv --columns key`;
  return advise`${events} | ${ecm`contact unsubscribe --keys - --dry-run`}`;
}

function asFigure({ date, total }: { date: unknown; total: unknown }): Figure {
  return { part: "engagement", name: String(toCell(date) ?? ""), value: total };
}

interface Screen {
  mails: Figure[];
  links: Figure[];
  engagement: unknown;
  timeZone: string;
}

async function showScreen(
  context: Context,
  output: OutputOptions,
  { mails, links, engagement, timeZone }: Screen,
): Promise<void> {
  const { terminal } = context;
  await presentList(terminal, output, mails, screenView("mails"));
  if (links.length > 0) {
    await terminal.write("\n");
    const { columns, ...view } = screenView("link");
    // A link is an address, no name of a member.
    const asItIs = columns.map((column) =>
      column.name === "name" ? { ...column, value: ({ name }: Figure) => name } : column,
    );
    await presentList(terminal, output, links, { ...view, columns: asItIs });
  }
  if (engagement === undefined) return;
  await terminal.write("\n");
  await showBars(context, output, engagement, timeZone);
}
