/** Days and hours of a time zone. Pure. */

export type Unit = "day" | "hour";

export interface Histogram<Detail> {
  start: string;
  end: string;
  peak: { startDate: string | null; endDate: string | null; total: number };
  histogram: { date: string; total: number; detail: Detail }[];
}

/** The names of a moment. */
export interface CalendarNames {
  /** Such as `2026-11-21`. */
  day: string;
  /** Such as `2026-11-21T14:00:00+01:00`: no two hours have one name. */
  hour: string;
  hourOfDay: number;
}

const minute = 60_000;
const quarterHour = 15 * minute;

export function isTimeZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    // Offsets are no names of zones.
    return /^[A-Za-z]/.test(text);
  } catch {
    return false;
  }
}

/** Names the day and the hour of moments in a time zone. */
export class Calendar {
  private readonly format: Intl.DateTimeFormat;
  // Every zone is off by whole quarters of an hour, so that what holds for one moment holds for its quarter.
  private readonly known = new Map<number, CalendarNames>();

  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat("en-CA", {
      timeZone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      timeZoneName: "longOffset",
    });
  }

  names(at: number): CalendarNames {
    const quarter = Math.floor(at / quarterHour);
    const known = this.known.get(quarter);
    if (known) return known;
    const parts = Object.fromEntries(
      this.format.formatToParts(quarter * quarterHour).map(({ type, value }) => [type, value]),
    );
    const day = `${parts.year}-${parts.month}-${parts.day}`;
    const offset = parts.timeZoneName!.replace("GMT", "") || "+00:00";
    const names = { day, hour: `${day}T${parts.hour}:00:00${offset}`, hourOfDay: Number(parts.hour) };
    this.known.set(quarter, names);
    return names;
  }
}

/**
 * Counts by days or hours, those without any included.
 * @param happened when, and how each counts
 * @param describe the detail of the items of one day or hour
 */
export function createHistogram<Item extends { at: number }, Detail>(
  { from, to, timeZone, unit }: { from: number; to: number; timeZone: string; unit: Unit },
  happened: readonly Item[],
  describe: (items: Item[]) => Detail,
): Histogram<Detail> {
  const calendar = new Calendar(timeZone);
  const buckets = new Map<string, Item[]>();
  // Short enough that no day and no hour is passed over.
  const step = unit === "day" ? 24 * quarterHour : 2 * quarterHour;
  for (let at = from; at < to; at += step) buckets.set(calendar.names(at)[unit], []);
  buckets.set(calendar.names(to)[unit], []);
  for (const item of happened) buckets.get(calendar.names(item.at)[unit])?.push(item);
  const histogram = [...buckets].map(([date, items]) => ({
    date,
    total: items.length,
    detail: describe(items),
  }));
  const total = Math.max(0, ...histogram.map((each) => each.total));
  const date = total === 0 ? null : histogram.find((each) => each.total === total)!.date;
  return {
    start: new Date(from).toISOString(),
    end: new Date(to).toISOString(),
    peak: { startDate: date, endDate: date, total },
    histogram,
  };
}
