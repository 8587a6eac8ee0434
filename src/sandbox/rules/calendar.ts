/** Days and hours of a time zone. Pure. */

export type Unit = "day" | "hour";

export interface Histogram<Detail> {
  start: string;
  end: string;
  peak: { startDate: string | null; endDate: string | null; total: number };
  histogram: { date: string; total: number; detail: Detail }[];
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

/** Names the day or the hour of a moment, such as `2026-11-21` or `2026-11-21T14:00:00+01:00`: no two hours have one name. */
export function calendarOf(timeZone: string) {
  const format = new Intl.DateTimeFormat("en-CA", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    timeZoneName: "longOffset",
  });
  // Every zone is off by whole quarters of an hour, so that what holds for one moment holds for its quarter.
  const known = new Map<number, { day: string; hour: string; hourOfDay: number }>();
  return (at: number) => {
    const quarter = Math.floor(at / quarterHour);
    const names = known.get(quarter);
    if (names) return names;
    const parts = Object.fromEntries(
      format.formatToParts(quarter * quarterHour).map(({ type, value }) => [type, value]),
    );
    const day = `${parts.year}-${parts.month}-${parts.day}`;
    const offset = parts.timeZoneName!.replace("GMT", "") || "+00:00";
    const made = { day, hour: `${day}T${parts.hour}:00:00${offset}`, hourOfDay: Number(parts.hour) };
    known.set(quarter, made);
    return made;
  };
}

/**
 * Counts by days or hours, those without any included.
 * @param happened when, and how each counts @param detailOf of the items of one day or hour
 */
export function histogramOf<Item extends { at: number }, Detail>(
  { from, to, timeZone, unit }: { from: number; to: number; timeZone: string; unit: Unit },
  happened: readonly Item[],
  detailOf: (items: Item[]) => Detail,
): Histogram<Detail> {
  const named = calendarOf(timeZone);
  const buckets = new Map<string, Item[]>();
  // Short enough that no day and no hour is passed over.
  const step = unit === "day" ? 24 * quarterHour : 2 * quarterHour;
  for (let at = from; at < to; at += step) buckets.set(named(at)[unit], []);
  buckets.set(named(to)[unit], []);
  for (const item of happened) buckets.get(named(item.at)[unit])?.push(item);
  const histogram = [...buckets].map(([date, items]) => ({
    date,
    total: items.length,
    detail: detailOf(items),
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
