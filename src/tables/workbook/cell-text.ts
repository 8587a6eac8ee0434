/** Reading: a workbook's cell → the text that a person sees in it. The only file that knows numfmt. */

import type { format as formatNumber, isDateFormat } from "numfmt";
import { toUnknownCell } from "../cells.ts";
import { unescapeText } from "./parts.ts";

interface NumberFormats {
  format: typeof formatNumber;
  isDateFormat: typeof isDateFormat;
}

/** Loaded when a workbook is read. */
export function loadNumberFormats(): Promise<NumberFormats> {
  return import("numfmt");
}

const dayMilliseconds = 86_400_000;
/** Day 0 of the two calendars that workbooks count by, as Unix time. */
const epochs = { 1900: Date.UTC(1899, 11, 30), 1904: Date.UTC(1904, 0, 1) };
const maxDateSerial = 2_958_465;
const lateDate = "(a date beyond 9999)";
const earlyDate = "(a date before the calendar begins)";

/** The year in which a workbook's calendar begins. */
type Epoch = keyof typeof epochs;

/** @returns undefined for a cell that refers to a text that is not there */
export type CellReader = (type: string, style: string | undefined, value: string) => string | undefined;

export function createCellReader(
  formats: NumberFormats,
  epoch: Epoch,
  styles: readonly string[],
  texts: readonly string[],
): CellReader {
  return (type, style = "0", value) => {
    if (type === "e") return toUnknownCell(value.trim() || "error");
    if (value === "") return "";
    switch (type) {
      case "s":
        return /^\s*\d+\s*$/.test(value) ? texts[Number(value)] : undefined;
      case "str":
        return unescapeText(value);
      case "b":
        return booleanTexts.get(value.trim()) ?? value;
      case "d":
        // An ISO date, as some programs write it.
        if (/^[+-]?\d{5,}-/.test(value)) return toUnknownCell(value);
        return value.replace(/T00:00:00(?:\.0+)?Z?$/, "").replace(/(T[\d:]+)\.\d+Z?$/, "$1");
      case "n":
        return formatNumericCell(value, styles[Number(style)] ?? "General", epoch, formats);
      default:
        return value;
    }
  };
}

const booleanTexts = new Map(Object.entries({ 1: "TRUE", true: "TRUE", 0: "FALSE", false: "FALSE" }));

/** More digits than a number of the program can hold: it would become another, such as somebody else's. */
const longInteger = /^-?\d{16,}$/;

/**
 * A number as it is shown: by its format, so that leading zeros stay; but whole, where the format would
 * shorten it. Dates are `YYYY-MM-DD`, with a time `YYYY-MM-DDTHH:MM:SS`.
 * @param digits as the file has them
 */
function formatNumericCell(
  digits: string,
  pattern: string,
  epoch: Epoch,
  { format, isDateFormat }: NumberFormats,
): string {
  const value = Number(digits);
  if (digits.trim() === "" || !Number.isFinite(value)) return digits;
  if (longInteger.test(digits.trim())) return digits.trim();
  if (/^(?:general|@)$/i.test(pattern) || /e[+-]/i.test(removeTexts(pattern)))
    return formatWholeNumber(value);
  if (isDateFormat(pattern)) {
    const date = formatDate(value, pattern, epoch);
    if (date !== undefined) return date;
  }
  try {
    const text = format(pattern, value).trim();
    // A format that shows nothing hides the number from the eye; it is there all the same.
    return text === "" || /\dE[+-]\d/.test(text) ? formatWholeNumber(value) : text;
  } catch {
    return formatWholeNumber(value);
  }
}

/** Without exponent, to a workbook's 15 digits of precision: a telephone number is no measurement. */
function formatWholeNumber(value: number): string {
  if (!Number.isInteger(value) || Math.abs(value) >= 1e100) return String(Number(value.toPrecision(15)));
  if (Number.isSafeInteger(value)) return String(value + 0);
  const [digits = "", exponent] = value.toExponential(14).split("e+");
  return digits.replace(".", "").padEnd(Number(exponent) + (value < 0 ? 2 : 1), "0");
}

function formatDate(serial: number, pattern: string, epoch: Epoch): string | undefined {
  const codes = removeTexts(pattern);
  const hasDay = /[dy]/i.test(codes) || /^[^hs]*m[^hs]*$/i.test(codes);
  if (!hasDay && (serial >= 1 || serial < 0)) return undefined;
  if (serial < 0) return toUnknownCell(earlyDate);
  if (serial >= maxDateSerial + 1) return toUnknownCell(lateDate);
  // The calendar of 1900 has a 29th of February: days before it count one too few.
  const days = epoch === 1900 && serial < 60 ? serial + 1 : serial;
  const time = new Date(epochs[epoch] + Math.round(days * 86_400) * 1000);
  const text = time.toISOString().slice(0, 19);
  if (time.getUTCFullYear() > 9999) return toUnknownCell(lateDate);
  if (!hasDay) return text.slice(11);
  // Its day 0 is what a formula makes of a blank cell, and no date.
  const shown = text.replace(/^1899-12-31/, "1900-01-00");
  return time.getTime() % dayMilliseconds === 0 ? shown.slice(0, 10) : shown;
}

/** A format without its literal text; times that have passed, such as `[h]`, stay. */
function removeTexts(pattern: string): string {
  return pattern.replace(/"[^"]*"|\\.|\[(?![hms]+\])[^\]]*\]|_./g, "");
}

/** The formats that a workbook names by number alone. */
export const builtInFormats: Record<number, string> = {
  0: "General",
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "m/d/yy",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "m/d/yy h:mm",
  37: "#,##0 ;(#,##0)",
  38: "#,##0 ;[Red](#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;[Red](#,##0.00)",
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mmss.0",
  48: "##0.0E+0",
  49: "@",
  // Dates of East Asian calendars.
  ...Object.fromEntries([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, "yyyy-mm-dd"])),
};
