/** The days that a report covers. */
import type { Command } from "commander";
import type { Context } from "../../../context.ts";
import { UsageError } from "../../../errors.ts";
import { longestReport, type ReportSpan } from "../../../service/reports.ts";
import { wholeNumberOption } from "../../shared/flags.ts";
import { ownZone, zoneOption } from "../../shared/zone.ts";

const usualDays = 30;

export interface SpanFlags {
  days?: number;
  timezone?: string;
}

export function addSpanFlags(command: Command): Command {
  return command
    .addOption(
      wholeNumberOption("--days <n>", `how far to look back, at most ${longestReport} (${usualDays})`),
    )
    .addOption(zoneOption());
}

/** @throws UsageError for more days than the service looks back */
export function spanFrom({ days = usualDays, timezone = ownZone() }: SpanFlags): ReportSpan {
  if (days <= longestReport) return { days, timeZone: timezone };
  throw new UsageError(
    `--days: reports look back ${longestReport} days at most`,
    `Give --days ${longestReport}`,
  );
}

export function saySpan({ terminal }: Context, { days, timeZone }: ReportSpan): void {
  terminal.note(`The last ${days === 1 ? "day" : `${days} days`}, in ${timeZone}`);
}
