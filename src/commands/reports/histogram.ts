import { type Command, Option } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { fetchHistogram, readBars, reportedEvents } from "../../service/reports.ts";
import { isForPeople } from "../../terminal/format.ts";
import { checkColumns, hasColumns, presentList, presentValue } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { barView, showBars } from "./shared/bars.ts";
import { addSpanFlags, type SpanFlags, saySpan, spanFrom } from "./shared/span.ts";

interface HistogramFlags extends SpanFlags, OutputFileFlags {
  event?: string;
}

export function registerReportsHistogram(parent: Command, context: Context): void {
  const command = parent
    .command("histogram")
    .description("show one type of event by days")
    .addOption(
      new Option(
        "--event <type>",
        "type of event; of openings and the like a contact's first in a campaign counts",
      ).choices(reportedEvents),
    )
    .action((flags: HistogramFlags) => runReportsHistogram(context, flags));
  describeCommand(addOutputFileFlags(addSpanFlags(command)), {
    examples: [
      "ecm reports histogram --event email-opened",
      "ecm reports histogram --event email-bounced --days 90 -o csv",
    ],
    output:
      "One row per day with its number, at a terminal with a bar; in JSON formats the service's own object.",
  });
}

async function runReportsHistogram(context: Context, flags: HistogramFlags): Promise<void> {
  const { terminal } = context;
  const output = context.output(flags);
  const view = barView();
  checkColumns(output, view);
  const span = spanFrom(flags);
  if (flags.event === undefined) {
    throw new UsageError("Name the type of event with --event", "Such as --event email-opened");
  }
  const { send } = await context.connect();
  const histogram = await fetchHistogram(send, span, flags.event);
  if (!hasColumns(output) && output.format !== "id") return presentValue(terminal, output, histogram, "");
  saySpan(context, span);
  if (isForPeople(output)) {
    return showBars(context, output, histogram, span.timeZone);
  }
  await presentList(terminal, output, readBars(histogram), view);
}
