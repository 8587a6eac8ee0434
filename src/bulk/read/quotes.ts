/** Reading: where the quotes of a record open and close, followed on its own text. Pure. */

const quoteMark = '"';

/** Offsets in the record's text; `closed` is undefined for a quote that is never closed. */
export interface QuoteFault {
  opened: number;
  closed?: number;
}

/**
 * The cells of one record's text, without its line break at the end. Blanks between a quoted cell and its delimiters
 * belong to neither, although the standard has none there.
 */
export function splitQuoted(text: string, delimiter: string): { cells: string[] } | QuoteFault {
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = quotedCellAt(text, at, delimiter);
    if (quoted && "opened" in quoted) return quoted;
    const end = quoted?.end ?? endOfPlain(text, at, delimiter);
    cells.push(quoted?.value ?? text.slice(at, end));
    if (!text.startsWith(delimiter, end)) return { cells };
    at = end + delimiter.length;
  }
}

/** Undefined for a cell that is not quoted: also when only what follows blanks looks like a quoted cell and is none. */
function quotedCellAt(
  text: string,
  start: number,
  delimiter: string,
): { value: string; end: number } | QuoteFault | undefined {
  const opened = afterBlanks(text, start, delimiter);
  if (text[opened] !== quoteMark) return undefined;
  let closed = text.indexOf(quoteMark, opened + 1);
  while (closed !== -1 && text[closed + 1] === quoteMark) closed = text.indexOf(quoteMark, closed + 2);
  const end = afterBlanks(text, closed + 1, delimiter);
  if (closed !== -1 && isCellEnd(text, end, delimiter)) {
    return { value: text.slice(opened + 1, closed).replaceAll('""', quoteMark), end };
  }
  if (opened > start) return undefined;
  return closed === -1 ? { opened } : { opened, closed };
}

function afterBlanks(text: string, start: number, delimiter: string): number {
  let at = start;
  while ((text[at] === " " || text[at] === "\t") && text[at] !== delimiter) at += 1;
  return at;
}

function isCellEnd(text: string, at: number, delimiter: string): boolean {
  const next = text[at];
  return next === undefined || next === "\n" || next === "\r" || text.startsWith(delimiter, at);
}

function endOfPlain(text: string, start: number, delimiter: string): number {
  const next = text.indexOf(delimiter, start);
  if (next !== -1) return next;
  return text.length - (/(?:\r\n|\n|\r)$/.exec(text)?.[0].length ?? 0);
}

const quote = 34;
const lineFeed = 10;
const carriageReturn = 13;

/** Finds the end of a record without keeping it, chunk by chunk. */
export interface RecordScanner {
  /** Offset of the first byte after the record; undefined while it is not complete. */
  scan(bytes: Buffer): number | undefined;
  /** Line breaks inside the record so far. */
  readonly breaks: number;
  /** Line breaks before the quote that opened last; undefined when none was seen. */
  readonly openedAfter: number | undefined;
  readonly isQuoted: boolean;
}

/** @param delimiter in UTF-8; of a longer one only its last byte is looked at, which is enough to see where a cell begins */
export function createRecordScanner(delimiter: string): RecordScanner {
  const separator = Buffer.from(delimiter).at(-1)!;
  let state: "start" | "plain" | "quoted" | "closing" = "start";
  let breaks = 0;
  let openedAfter: number | undefined;
  let isAfterReturn = false;
  return {
    get breaks() {
      return breaks;
    },
    get openedAfter() {
      return openedAfter;
    },
    get isQuoted() {
      return state === "quoted";
    },
    scan(bytes) {
      for (let at = 0; at < bytes.length; at += 1) {
        const byte = bytes[at]!;
        const isBreak = byte === carriageReturn || byte === lineFeed;
        if (state === "quoted") {
          if (byte === quote) state = "closing";
          else if (isBreak && !(byte === lineFeed && isAfterReturn)) breaks += 1;
          isAfterReturn = byte === carriageReturn;
        } else if (byte === quote && state !== "plain") {
          if (state === "start") openedAfter = breaks;
          state = "quoted";
        } else if (isBreak) {
          const isPair = byte === carriageReturn && bytes[at + 1] === lineFeed;
          return at + (isPair ? 2 : 1);
        } else state = byte === separator ? "start" : "plain";
      }
      return undefined;
    },
  };
}
