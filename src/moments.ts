/** Moments and lengths of time, as messages say them: local and relative. Data has RFC 3339. */

/** `under 1 s`, `45 s`, `12 min`, `3.4 h`, `11.6 days`. */
export function formatDuration(seconds: number): string {
  if (seconds < 1) return "under 1 s";
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${(seconds / 3600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} days`;
}

const minuteMilliseconds = 60_000;
const dayMilliseconds = 86_400_000;

/**
 * When something happens, in local time: `in 40 s`, `at 14:31 (in 42 min)`, `tomorrow at 00:10 (in 50 min)`,
 * `on 1 December at 01:00 (in 8 days)`.
 * @param at milliseconds since the epoch, as `now`; undefined, or beyond what a date can hold: not known
 * @returns undefined where it is not known
 */
export function formatMoment(at: number, now: number): string;
export function formatMoment(at: number | undefined, now: number): string | undefined;
export function formatMoment(at: number | undefined, now: number): string | undefined {
  // The next whole minute: a person who comes back then must not be refused again. A few seconds do not
  // count.
  const minutes = Math.ceil(((at ?? Number.NaN) - 5_000) / minuteMilliseconds);
  const moment = new Date(minutes * minuteMilliseconds);
  if (at === undefined || Number.isNaN(moment.getTime())) return undefined;
  const left = at - now;
  if (left < 90_000) return `in ${formatDuration(Math.max(1, left / 1000))}`;
  const time = [moment.getHours(), moment.getMinutes()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
  return `${formatDay(moment, new Date(now))}at ${time} (in ${formatLongDuration(left)})`;
}

/** Empty for today, `tomorrow `, `on 1 December `; with the year where that is another one. */
function formatDay(moment: Date, now: Date): string {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
  const days = Math.round((midnight(moment) - midnight(now)) / dayMilliseconds);
  if (days <= 1) return days === 1 ? "tomorrow " : "";
  const year = moment.getFullYear() === now.getFullYear() ? "" : ` ${moment.getFullYear()}`;
  return `on ${moment.getDate()} ${moment.toLocaleString("en-US", { month: "long" })}${year} `;
}

/** Beside an exact time, whole days are enough. */
function formatLongDuration(milliseconds: number): string {
  const days = milliseconds / dayMilliseconds;
  return days < 2 ? formatDuration(milliseconds / 1000) : `${Math.round(days)} days`;
}

/**
 * A time as people say it: `today`, `2 Nov`, `2 Nov 2025`, in local time. Anything that is no time stays as
 * it is.
 */
export function formatShortDate(text: string, now: Date): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) return text;
  if (time.toDateString() === now.toDateString()) return "today";
  const day = `${time.getDate()} ${months[time.getMonth()]}`;
  return time.getFullYear() === now.getFullYear() ? day : `${day} ${time.getFullYear()}`;
}

/** `today, 10:11`, `2 Nov 2026, 14:02`, in local time. Anything that is no time stays as it is. */
export function formatDayAndTime(text: string, now: Date): string {
  const time = new Date(text);
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(time.getTime())) return text;
  const isToday = time.toDateString() === now.toDateString();
  const day = isToday ? "today" : `${time.getDate()} ${months[time.getMonth()]} ${time.getFullYear()}`;
  return `${day}, ${time.toTimeString().slice(0, 5)}`;
}

/** `2026-11-22 14:02 UTC`, of an RFC 3339 time: its reader may be elsewhere. */
export function formatUtcTime(text: string): string {
  return `${text.slice(0, 16).replace("T", " ")} UTC`;
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
