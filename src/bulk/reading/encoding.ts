/** Reading: which encoding a file is in: told, marked, or found out; never a silent guess. */
import { UsageError } from "../../errors.ts";
import { lineBreaksIn } from "./csv.ts";
import { createDecoder, decodeAll, encodingNamed } from "./decode.ts";
import { type Inspection, lineOfByte } from "./inspect.ts";
import { likeness } from "./likeness.ts";
import { readBytes } from "./source.ts";

export interface FoundEncoding {
  encoding: string;
  /** Length of the byte-order mark. */
  markBytes: number;
  /** Found by the look of its bytes: to be said with a sample. */
  isGuess: boolean;
  /** The first line with a letter beyond ASCII, as decoded. */
  firstForeign?: { line: number; text: string };
}

const marks: { bytes: number[]; encoding: string }[] = [
  { bytes: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
  { bytes: [0xff, 0xfe], encoding: "utf-16le" },
  { bytes: [0xfe, 0xff], encoding: "utf-16be" },
];

/**
 * `--encoding`, byte-order mark, UTF-8, UTF-16 by its zero bytes, ISO-2022-JP by its escapes, then a statistical guess that must
 * decode the whole file cleanly.
 *
 * @throws UsageError with the place, when the bytes are in no encoding that can be told or was told
 */
export async function findEncoding(
  inspection: Inspection,
  requested: string | undefined,
): Promise<FoundEncoding> {
  const { path, start } = inspection;
  const mark = marks.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte));
  if (start.length >= 4 && start.readUInt32LE(0) === 0xfeff) {
    throw new UsageError(`${path} is in UTF-32, which is not read`, "save it as UTF-8");
  }
  if (requested !== undefined) {
    const encoding = await encodingNamed(requested);
    return requireClean(inspection, encoding, mark?.encoding === encoding ? mark.bytes.length : 0);
  }
  if (mark) return requireClean(inspection, mark.encoding, mark.bytes.length);
  if (inspection.firstNul !== undefined) {
    const encoding = wideEncoding(start);
    if (encoding) return { ...(await requireClean(inspection, encoding, 0)), isGuess: true };
    await refuseNul(path, inspection.firstNul);
  }
  if (inspection.isUtf8) {
    if (
      inspection.isAscii &&
      inspection.hasEscape &&
      /\x1b(?:\$[@B]|\([JI])/.test(start.toString("latin1"))
    ) {
      return { ...(await requireClean(inspection, "iso-2022-jp", 0)), isGuess: true };
    }
    return requireClean(inspection, "utf-8", 0);
  }
  return guessEncoding(inspection);
}

/** @throws UsageError with line and offset of the first bytes that are not in this encoding */
async function requireClean(
  inspection: Inspection,
  encoding: string,
  markBytes: number,
): Promise<FoundEncoding> {
  const { path } = inspection;
  if (encoding === "utf-8") {
    if (inspection.firstNul !== undefined) await refuseNul(path, inspection.firstNul);
    if (!inspection.isUtf8) throw await brokenUtf8(path, (await surveyUtf8(path)).firstBad);
    return { encoding, markBytes, isGuess: false };
  }
  const wrong = encoding.startsWith("utf-") ? broken : brokenOrPrivate;
  const check = await checkDecoding(path, encoding, markBytes, wrong);
  if (check.badLine !== undefined) {
    throw new UsageError(
      `${path}:${check.badLine}: the bytes of this line are not ${encoding}`,
      "name the file's encoding with --encoding, or save it as UTF-8",
    );
  }
  return { encoding, markBytes, isGuess: false, firstForeign: check.firstForeign };
}

async function refuseNul(path: string, offset: number): Promise<never> {
  throw new UsageError(
    `${path}:${await lineOfByte(path, offset)}: a zero byte (offset ${offset}), which no text holds`,
    "the file is damaged, or not a table; export it again",
  );
}

async function brokenUtf8(path: string, offset: number): Promise<UsageError> {
  return new UsageError(
    `${path}:${await lineOfByte(path, offset)}: byte ${offset} is not UTF-8, while the rest of the file is`,
    "mend that line; --encoding reads the whole file in another encoding",
  );
}

/** UTF-16 without a mark: addresses are ASCII, and the zero bytes of ASCII all stand at odd, or all at even places. */
function wideEncoding(start: Buffer): "utf-16le" | "utf-16be" | undefined {
  let even = 0;
  let odd = 0;
  const length = Math.min(start.length, 16_384) & ~1;
  for (let index = 0; index < length; index += 2) {
    if (start[index] === 0) even += 1;
    if (start[index + 1] === 0) odd += 1;
  }
  const enough = Math.max(4, length / 2 / 4);
  if (odd > enough && even <= odd / 50) return "utf-16le";
  if (even > enough && odd <= even / 50) return "utf-16be";
  return undefined;
}

interface DecodingCheck {
  badLine?: number;
  firstForeign?: { line: number; text: string };
}

/** What was not decodable. */
const broken = /[\ufffd\u0000]/;
/** Outside Unicode's own encodings, private use is what a vendor added: nobody else can read it. */
const brokenOrPrivate = /[\ufffd\u0000\ue000-\uf8ff]/;
/** And characters that no table of people holds, which show a wrong guess: C1 controls, private use. */
const unclean = /[\ufffd\u0080-\u009f\ue000-\uf8ff\u0000]/;

/** Decodes the whole file and looks at what comes out. */
async function checkDecoding(
  path: string,
  encoding: string,
  markBytes: number,
  wrong: RegExp,
): Promise<DecodingCheck> {
  const decoder = await createDecoder(encoding);
  const check: DecodingCheck = {};
  let line = 1;
  let open = "";
  const look = (text: string) => {
    const bad = text.search(wrong);
    if (bad !== -1) check.badLine ??= line + lineBreaksIn(text.slice(0, bad));
    const foreign = check.firstForeign ? -1 : text.search(/[^\x00-\x7f]/);
    if (foreign !== -1) {
      const from = Math.max(text.lastIndexOf("\n", foreign), text.lastIndexOf("\r", foreign)) + 1;
      const row = /^[^\r\n]*/.exec(text.slice(from))![0];
      check.firstForeign = { line: line + lineBreaksIn(text.slice(0, from)), text: row.slice(0, 60) };
    }
    line += lineBreaksIn(text);
  };
  for await (const chunk of readBytes(path, markBytes)) {
    const text = open + decoder.write(chunk);
    // Whole lines at a time, so that neither a row nor a CRLF is cut.
    const end = text.lastIndexOf("\n") + 1 || (text.length > 1024 * 1024 ? text.length : 0);
    look(text.slice(0, end));
    open = text.slice(end);
    if (check.badLine !== undefined) return check;
  }
  look(open + decoder.end());
  return check;
}

interface Survey {
  /** Characters beyond ASCII that are well-formed UTF-8, and bytes that are not. */
  good: number;
  bad: number;
  firstBad: number;
  /** Cells that hold a byte beyond ASCII, one on each line. */
  cells: Buffer;
}

const surveyBytes = 64 * 1024;

/** Looks at a file that is not UTF-8: how far from it, and the cells that make it so. */
async function surveyUtf8(path: string): Promise<Survey> {
  const survey = { good: 0, bad: 0, firstBad: -1 };
  const cells: Buffer[] = [];
  let collected = 0;
  let open: Buffer = Buffer.alloc(0);
  let offset = 0;
  const look = (bytes: Buffer) => {
    for (let at = 0; at < bytes.length; at += 1) {
      if (bytes[at]! < 0x80) continue;
      const length = sequenceLength(bytes, at);
      if (length > 0) {
        survey.good += 1;
        at += length - 1;
      } else {
        if (survey.bad === 0) survey.firstBad = offset + at;
        survey.bad += 1;
      }
    }
    if (collected < surveyBytes) {
      const found = foreignCells(bytes);
      cells.push(found);
      collected += found.length;
    }
    offset += bytes.length;
  };
  for await (const chunk of readBytes(path)) {
    const bytes = open.length > 0 ? Buffer.concat([open, chunk]) : chunk;
    // Whole lines at a time, so that no character is cut.
    const end = bytes.lastIndexOf(10) + 1 || bytes.lastIndexOf(13) + 1;
    look(bytes.subarray(0, end));
    open = bytes.subarray(end);
  }
  look(open);
  return { ...survey, cells: Buffer.concat(cells) };
}

/** Bytes of the well-formed UTF-8 character that starts here; 0 when none does. */
function sequenceLength(bytes: Buffer, at: number): number {
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

/** Comma, semicolon, tab and line breaks are no second byte of a character in any encoding that is left here. */
const separators = new Set([0x2c, 0x3b, 0x09, 0x0a, 0x0d]);

function foreignCells(chunk: Buffer): Buffer {
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
];
/** A text that no language explains better than this is not understood. */
const leastLikeness = 0.4;
/** They know pairs of letters, but need more text than a few names. */
const weightOfStatistics = 0.5;

/** @throws UsageError when it is UTF-8 but for some bytes, or when no guess makes sense */
async function guessEncoding({ path }: Inspection): Promise<FoundEncoding> {
  const survey = await surveyUtf8(path);
  if (survey.good > 0 && survey.good >= survey.bad) throw await brokenUtf8(path, survey.firstBad);
  for (const encoding of await rankedGuesses(survey.cells)) {
    const check = await checkDecoding(path, encoding, 0, unclean);
    if (check.badLine === undefined) {
      return { encoding, markBytes: 0, isGuess: true, firstForeign: check.firstForeign };
    }
  }
  const line = await lineOfByte(path, survey.firstBad);
  throw new UsageError(
    `${path}:${line}: the encoding cannot be told; byte ${survey.firstBad} is not UTF-8`,
    "name it, such as --encoding windows-1252, or save the file as UTF-8",
  );
}

/** Encodings in which the cells decode cleanly, the likeliest first. */
async function rankedGuesses(cells: Buffer): Promise<string[]> {
  // By its default export: a bundled CommonJS package has no other.
  const { default: chardet } = await import("chardet");
  const statistics = chardet.analyse(cells).filter(({ name }) => !/^(?:utf|ascii|iso-2022)/i.test(name));
  const guesses = new Map<string, number>();
  for (const { name, confidence } of [
    ...statistics,
    ...candidates.map((name) => ({ name, confidence: 0 })),
  ]) {
    const encoding = await encodingNamed(name).catch(() => undefined);
    if (encoding === undefined || guesses.has(encoding)) continue;
    const text = await decodeAll(cells, encoding);
    const score = unclean.test(text) ? 0 : likeness(text);
    guesses.set(encoding, score < leastLikeness ? 0 : score + (confidence / 100) * weightOfStatistics);
  }
  return [...guesses]
    .filter(([, score]) => score > 0)
    .sort(([, one], [, other]) => other - one)
    .map(([encoding]) => encoding);
}
