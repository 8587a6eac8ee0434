/** `ecm events --summary`: how many events of each type there were, by days. */
import type { ContactEvent } from "../../api/events.ts";
import type { Context } from "../../context.ts";
import { isForPeople, type OutputOptions } from "../../terminal/format.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { presentBars } from "./bars.ts";

/** Events of one type on one day. */
export interface EventCount {
  /** `2026-11-22`, in the time zone that was asked for. */
  day: string;
  type: string;
  events: number;
}

export const eventCountView: View<EventCount> = {
  columns: [
    { name: "day", value: ({ day }) => day },
    { name: "type", value: ({ type }) => type },
    { name: "events", value: ({ events }) => events },
  ],
  id: ({ type }) => type,
  empty: "No events",
};

/** In the order of days, then of types. */
export function countEvents(events: readonly ContactEvent[], timeZone: string): EventCount[] {
  // This language writes days as data does.
  const days = new Intl.DateTimeFormat("sv-SE", { timeZone });
  const counts = new Map<string, EventCount>();
  for (const { timestamp, type } of events) {
    const time = Date.parse(timestamp);
    const day = Number.isNaN(time) ? "" : days.format(time);
    const key = `${day} ${type}`;
    const count = counts.get(key) ?? { day, type, events: 0 };
    counts.set(key, { ...count, events: count.events + 1 });
  }
  return [...counts.entries()].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, count]) => count);
}

/** To people one table of types and one of days, each with bars; else a row for each type and day. */
export async function presentEventCounts(
  context: Context,
  output: OutputOptions,
  counts: readonly EventCount[],
): Promise<void> {
  if (!isForPeople(output) || counts.length === 0) {
    await presentList(context.terminal, output, counts, eventCountView);
    return;
  }
  await presentSums(
    context,
    output,
    "type",
    sumBy(counts, ({ type }) => type).sort((one, other) => other.events - one.events),
  );
  await context.terminal.write("\n");
  await presentSums(context, output, "day", withEmptyDays(sumBy(counts, ({ day }) => day)));
}

interface Sum {
  name: string;
  events: number;
}

function sumBy(counts: readonly EventCount[], toName: (count: EventCount) => string): Sum[] {
  const sums = new Map<string, number>();
  for (const count of counts) sums.set(toName(count), (sums.get(toName(count)) ?? 0) + count.events);
  return [...sums].map(([name, events]) => ({ name, events }));
}

function presentSums(
  context: Context,
  output: OutputOptions,
  name: string,
  sums: readonly Sum[],
): Promise<void> {
  return presentBars(context, output, sums, {
    columns: [
      { name, value: (sum) => sum.name, isWhole: true },
      { name: "events", value: ({ events }) => events },
    ],
    id: (sum) => sum.name,
    measure: ({ events }) => events,
  });
}

/** Adds the days between the first and the last on which nothing happened. */
function withEmptyDays(sums: readonly Sum[]): Sum[] {
  const days: Sum[] = [];
  for (const sum of sums) {
    const before = days.at(-1)?.name;
    // Events whose time is no date have the day "".
    if (before)
      for (let day = dayAfter(before); day < sum.name; day = dayAfter(day))
        days.push({ name: day, events: 0 });
    days.push(sum);
  }
  return days;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(`${day}T12:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
