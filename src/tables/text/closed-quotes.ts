/** Reading: a file that is cut off inside a quote, found before anything of the account is asked for. */

import type { FoundEncoding } from "../encoding/detect.ts";
import { delimiters, parseDelimiter } from "../header.ts";
import { toUnreadableError } from "../input-errors.ts";
import type { ReadOptions } from "../rows.ts";
import { recogniseSystem } from "../systems.ts";
import { CsvFault, readRecords } from "./csv.ts";
import type { Inspection } from "./inspect.ts";
import { readText } from "./text.ts";

/**
 * Looks at files with an odd number of quotes alone: closed quotes come in pairs.
 * @throws UsageError for a quote that is open at the end
 */
export async function requireClosedQuotes(
  { file, start, hasOddQuotes }: Inspection,
  { encoding, markBytes }: FoundEncoding,
  { delimiter, skipLines }: ReadOptions,
): Promise<void> {
  if (!hasOddQuotes || skipLines) return;
  const [first = ""] = start.toString("latin1", markBytes).split(/[\r\n]/, 1);
  // In our own tsv a quote is text; what a line before the header says of the delimiter is read later.
  if (recogniseSystem(first.split("\t"))?.name === "ecm" || /^"?sep=/i.test(first)) return;
  const usedDelimiters = delimiters.filter((each) => first.includes(each));
  // Of several it is the header that decides, and the header needs the account.
  if (delimiter === undefined && usedDelimiters.length > 1) return;
  const usedDelimiter = delimiter === undefined ? (usedDelimiters[0] ?? ",") : parseDelimiter(delimiter);
  try {
    for await (const _records of readRecords(readText({ file, encoding, markBytes }), {
      delimiter: usedDelimiter,
    }));
  } catch (error) {
    if (error instanceof CsvFault && error.kind === "unclosed_quote")
      throw toUnreadableError(file.name, error);
    if (!(error instanceof CsvFault)) throw error;
  }
}
