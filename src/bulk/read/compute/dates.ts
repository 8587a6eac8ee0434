/** Dates as files write them → `YYYY-MM-DD`, by formats such as `DD.MM.YYYY`. No time zone takes part. */
import { compile, getDaysInMonth, preparse } from "date-and-time";
import { parser as twoDigitYear } from "date-and-time/plugins/two-digit-year";
import { UsageError } from "../../../errors.ts";

/** What a format may name, longest first; in brackets, and between them, stands what the cells have too. */
const token = /\[[^[\]]*\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|HH|H|hh|h|mm|m|ss|s|A|T|[^A-Za-z[\]]+/y;
const maxFormatCharacters = 100;
/** Files repeat the same days: all of a hundred years. */
const maxRemembered = 40_000;
/** A longer text may be a part of the file's, which it would keep in memory. */
const maxRememberedCharacters = 12;

const options = { plugins: [twoDigitYear] };

/** @throws UsageError for a format that names no whole date. @param place such as `people.yaml:4` */
export function requireDateFormat(format: string, place: string): void {
  const names = new Set<string>();
  token.lastIndex = 0;
  let end = 0;
  for (let found = token.exec(format); found; found = token.exec(format)) {
    if (names.has(found[0][0]!) && /[A-Za-z]/.test(found[0][0]!)) break;
    names.add(found[0][0]!);
    end = token.lastIndex;
  }
  const isWhole = ["Y", "M", "D"].every((name) => names.has(name)) && names.has("h") === names.has("A");
  const isClock = !names.has("m") || names.has("H") || names.has("h");
  if (format.length <= maxFormatCharacters && end === format.length && isWhole && isClock) return;
  const likely = format.replace(/y/g, "Y").replace(/d/g, "D").replace(/m/g, "M");
  const isLikely = likely !== format && /^[YMD\W]+$/.test(likely) && /Y/.test(likely) && /M/.test(likely);
  throw new UsageError(
    `${place}: ${JSON.stringify(format.slice(0, maxFormatCharacters))} is not a date format`,
    isLikely && /D/.test(likely)
      ? `Did you mean ${likely}?`
      : "Name day, month and year, such as DD.MM.YYYY, M/D/YY or D MMM YYYY; a time is HH:mm or hh:mm A",
  );
}

/** A cell → `YYYY-MM-DD`, with a time `YYYY-MM-DDTHH:MM:SS`; undefined for what is no such date. */
export type DateReader = (text: string) => string | undefined;

/** @param formats the first that fits counts */
export function createDateReader(formats: readonly string[]): DateReader {
  const compiled = formats.map((format) => compile(format));
  const remembered = new Map<string, string>();
  return (text) => {
    const known = remembered.get(text);
    if (known !== undefined) return known;
    const date = firstDate(text, compiled);
    const isKept = date !== undefined && text.length <= maxRememberedCharacters;
    if (isKept && remembered.size < maxRemembered) remembered.set(text, date);
    return date;
  };
}

function firstDate(text: string, formats: readonly ReturnType<typeof compile>[]): string | undefined {
  for (const format of formats) {
    const found = preparse(text, format, options);
    if (isDate(found)) return isoDate(found);
  }
  return undefined;
}

type Parts = ReturnType<typeof preparse>;

/** Whether the whole text was read, and such a day and time exist. */
function isDate({
  _index,
  _length,
  _match,
  Y = 0,
  M = 0,
  D = 0,
  H = 0,
  h = 12,
  m = 0,
  s = 0,
}: Parts): boolean {
  if (_match === 0 || _index !== _length) return false;
  const isDay = Y >= 1 && M >= 1 && M <= 12 && D >= 1 && D <= getDaysInMonth(Y, M);
  return isDay && H <= 23 && h >= 1 && h <= 12 && m <= 59 && s <= 59;
}

function isoDate({ Y = 0, M = 0, D = 0, H, h, A = 0, m = 0, s = 0 }: Parts): string {
  const date = `${padded(Y, 4)}-${padded(M)}-${padded(D)}`;
  if (H === undefined && h === undefined) return date;
  const hour = H ?? (h! % 12) + 12 * A;
  return `${date}T${padded(hour)}:${padded(m)}:${padded(s)}`;
}

function padded(number: number, digits = 2): string {
  return String(number).padStart(digits, "0");
}
