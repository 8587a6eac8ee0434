/** The time zone that a report counts its days in, and times as people say them there. */
import { Option } from "commander";
import { UsageError } from "../../errors.ts";

export function zoneOption(
  description = "in whose days it counts, such as Europe/Oslo (this machine's)",
): Option {
  return new Option("--timezone <zone>", description).argParser(requireZone);
}

function requireZone(text: string): string {
  // An offset is no name of a zone: it knows no summer time.
  if (/^[a-z]/i.test(text) && isKnown(text)) return text;
  throw new UsageError(
    `--timezone: ${JSON.stringify(text)} is not a time zone`,
    "Name one, such as --timezone Europe/Oslo or --timezone UTC",
  );
}

function isKnown(timeZone: string): boolean {
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
  return timeZone && isKnown(timeZone) ? timeZone : "UTC";
}

/** `2 Nov 2026, 14:02 CET`. A day alone, and anything that is no time, stays as it is. */
export function timeInZone(text: string, timeZone: string): string {
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
