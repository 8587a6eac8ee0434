/** Reading: a file that is not UTF-8: how far from it, and which encodings would make sense of it. */

import { type InputFile, readBytes } from "../text/source.ts";
import { decodeAll, resolveEncoding } from "./decode.ts";
import { computeLikeness } from "./likeness.ts";

/**
 * What no table of people holds, and so shows a wrong guess: C1
 * controls, private use, what was not decodable.
 */
export const unclean = /[\ufffd\u0080-\u009f\ue000-\uf8ff\u0000]/;

export interface ByteSurvey {
  /** Characters beyond ASCII that are well-formed UTF-8, and bytes that are not. */
  good: number;
  bad: number;
  firstBad: number;
  /** Cells that hold a byte beyond ASCII, one on each line. */
  cells: Buffer;
}

const surveyBytes = 64 * 1024;
/** A file without line breaks is looked at in pieces. */
const maxLineBytes = 64 * 1024;

/** Looks at a file that is not UTF-8: how far from it, and the cells that make it so. */
export async function surveyUtf8(file: InputFile): Promise<ByteSurvey> {
  const survey = { good: 0, bad: 0, firstBad: -1 };
  const cells: Buffer[] = [];
  let collected = 0;
  let offset = 0;
  for await (const bytes of readWholeLines(file)) {
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at]! < 0x80) continue;
      const length = computeSequenceLength(bytes, at);
      if (length > 0) {
        survey.good += 1;
        at += length - 1;
      } else {
        if (survey.bad === 0) survey.firstBad = offset + at;
        survey.bad += 1;
      }
    }
    if (collected < surveyBytes) {
      const found = findForeignCells(bytes);
      cells.push(found);
      collected += found.length;
    }
    offset += bytes.length;
  }
  return { ...survey, cells: Buffer.concat(cells) };
}

/** The file in pieces of whole lines, so that no character is cut. */
async function* readWholeLines(file: InputFile): AsyncGenerator<Buffer> {
  let open: Buffer = Buffer.alloc(0);
  for await (const chunk of readBytes(file)) {
    const bytes = open.length > 0 ? Buffer.concat([open, chunk]) : chunk;
    const end =
      bytes.lastIndexOf(10) + 1 ||
      bytes.lastIndexOf(13) + 1 ||
      (bytes.length > maxLineBytes ? bytes.length : 0);
    yield bytes.subarray(0, end);
    open = bytes.subarray(end);
  }
  yield open;
}

/** Bytes of the well-formed UTF-8 character that starts here; 0 when none does. */
function computeSequenceLength(bytes: Buffer, at: number): number {
  const lead = bytes[at]!;
  const length =
    lead >= 0xc2 && lead <= 0xdf
      ? 2
      : lead >= 0xe0 && lead <= 0xef
        ? 3
        : lead >= 0xf0 && lead <= 0xf4
          ? 4
          : 0;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return 0;
  }
  return length;
}

/**
 * Comma, semicolon, tab and line breaks are no second byte of a character in any encoding that is left here.
 */
const separators = new Set([0x2c, 0x3b, 0x09, 0x0a, 0x0d]);

function findForeignCells(chunk: Buffer): Buffer {
  const cells: Buffer[] = [];
  let collected = 0;
  let start = 0;
  let isForeign = false;
  for (let at = 0; at <= chunk.length && collected < surveyBytes; at += 1) {
    const byte = chunk[at] ?? 0x0a;
    if (byte >= 0x80) isForeign = true;
    if (!separators.has(byte)) continue;
    if (isForeign) {
      cells.push(chunk.subarray(start, at), Buffer.from("\n"));
      collected += at - start + 1;
    }
    start = at + 1;
    isForeign = false;
  }
  return Buffer.concat(cells);
}

/** Tried whether or not the statistics think of them. */
const candidates = [
  ...[
    "windows-1252",
    "windows-1250",
    "windows-1254",
    "windows-1251",
    "shift_jis",
    "gb18030",
    "big5",
    "euc-kr",
  ],
  ...["euc-jp", "windows-1253", "windows-1255", "windows-1256", "windows-1257", "koi8-r", "iso-8859-2"],
  ...["ibm866", "cp850", "macintosh"],
];
/** A text that no language explains better than this is not understood. */
const minLikeness = 0.4;
/** They know pairs of letters, but need more text than a few names: so many bytes for their whole weight. */
const statisticsWeight = 0.4;
const bytesForStatistics = 2000;
const minShare = 0.4;
/** What a rarer encoding must be better by than a commoner one. */
const stepInRank = 0.004;
/** Of the first candidate. */
const mostCommonBonus = 0.08;

export interface Guess {
  encoding: string;
  /** The cells in this encoding. */
  text: string;
  /** About 0 to 1. */
  score: number;
}

/** So much better than any other text the best must be, or nobody can tell. */
export const clearMargin = 0.04;

/**
 * Encodings in which the cells decode cleanly, the likeliest
 * first; of those that give one text, the commonest.
 */
export async function rankGuesses(cells: Buffer): Promise<Guess[]> {
  const confidences = await readStatistics(cells);
  const weight = statisticsWeight * Math.max(minShare, Math.min(1, cells.length / bytesForStatistics));
  const byText = new Map<string, Guess>();
  for (const [rank, encoding] of [...new Set([...candidates, ...confidences.keys()])].entries()) {
    const text = await decodeAll(cells, encoding);
    const share = unclean.test(text) ? 0 : computeLikeness(text, encoding);
    if (share < minLikeness) continue;
    const bonus = rank === 0 ? mostCommonBonus : -rank * stepInRank;
    const score = share + (confidences.get(encoding) ?? 0) * weight + bonus;
    const sameText = byText.get(text);
    if (!sameText) byText.set(text, { encoding, text, score });
    else sameText.score = Math.max(sameText.score, score);
  }
  return [...byText.values()].sort((one, other) => other.score - one.score);
}

/** Encoding → confidence from 0 to 1, for those that can be decoded. */
async function readStatistics(cells: Buffer): Promise<Map<string, number>> {
  // By its default export: a bundled CommonJS package has no other.
  const { default: chardet } = await import("chardet");
  const confidences = new Map<string, number>();
  for (const { name, confidence } of chardet.analyse(cells)) {
    if (/^(?:utf|ascii|iso-2022)/i.test(name)) continue;
    const encoding = await resolveEncoding(name).catch(() => undefined);
    if (encoding !== undefined && !confidences.has(encoding)) confidences.set(encoding, confidence / 100);
  }
  return confidences;
}
