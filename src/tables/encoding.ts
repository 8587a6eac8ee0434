/** Reading: which encoding a file is in: told, marked, or found out; never a silent guess. */
import { type EcmError, usageError } from "../errors.ts";
import { countLineBreaks } from "./csv.ts";
import { clearMargin, type Guess, rankGuesses, surveyUtf8, unclean } from "./encoding-score.ts";
import { findLineOfByte, type InputFile, type Inspection } from "./source.ts";
import { readWholeLines, resolveEncoding, type TextSource } from "./text.ts";

interface FoundEncoding {
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
 * `--encoding`, byte-order mark, UTF-8, UTF-16 by its zero bytes, ISO-2022-JP by its escapes, then a
 * statistical guess that must decode the whole file cleanly.
 *
 * @throws UsageError with the place, when the bytes are in no encoding that can be told or was told
 */
export async function findEncoding(
  inspection: Inspection,
  requested: string | undefined,
): Promise<FoundEncoding> {
  const { file, start, isUtf8, firstNul, bytes } = inspection;
  const mark = marks.find(({ bytes }) => bytes.every((byte, index) => start[index] === byte));
  if (requested !== undefined) {
    const encoding = await resolveEncoding(requested);
    if (mark?.encoding === "utf-8" && encoding !== "utf-8" && isUtf8)
      throw usageError(`${file.name} is marked as UTF-8, and is`, `Leave out --encoding ${requested}`);
    return requireClean(inspection, encoding, mark?.encoding === encoding ? mark.bytes.length : 0);
  }
  if (mark) return requireClean(inspection, mark.encoding, mark.bytes.length);
  const wide = firstNul === undefined ? undefined : findWideEncoding(start);
  const hasEscapes = isUtf8 && /\x1b(?:\$[@B]|\([JI])/.test(start.toString("latin1"));
  const shown = wide ?? (hasEscapes ? "iso-2022-jp" : undefined);
  if (shown) return { ...(await requireClean(inspection, shown, 0)), isGuess: true };
  if (isUtf8 || firstNul !== undefined) return requireClean(inspection, "utf-8", 0);
  if (!inspection.endsInCharacter) return guessEncoding(inspection);
  throw await createByteError(
    file,
    bytes,
    "the file ends in the middle of a UTF-8 character: it is probably incomplete",
    "Export it again; if it is whole, name its encoding, such as --encoding windows-1252",
  );
}

/** @throws UsageError with line and offset of the first bytes that are not in this encoding */
async function requireClean(
  inspection: Inspection,
  encoding: string,
  markBytes: number,
): Promise<FoundEncoding> {
  const { file, firstNul, isUtf8 } = inspection;
  if (encoding === "utf-8") {
    if (firstNul !== undefined)
      throw await createByteError(
        file,
        firstNul,
        `a zero byte (offset ${firstNul}), which text never contains`,
        "The file is damaged or not a table; export it again",
      );
    if (!isUtf8) throw await createUtf8Error(file, (await surveyUtf8(file)).firstBad);
    return { encoding, markBytes, isGuess: false };
  }
  const wrong = encoding.startsWith("utf-") ? broken : brokenOrPrivate;
  const { badLine, firstForeign } = await checkDecoding({ file, encoding, markBytes }, wrong);
  if (badLine === undefined) return { encoding, markBytes, isGuess: false, firstForeign };
  throw usageError(
    `${file.name}:${badLine}: the bytes of this line are not ${encoding}`,
    "Name the file's encoding with --encoding, or save it as UTF-8",
  );
}

async function createByteError(
  file: InputFile,
  offset: number,
  message: string,
  hint: string,
): Promise<EcmError> {
  return usageError(`${file.name}:${await findLineOfByte(file, offset)}: ${message}`, hint);
}

function createUtf8Error(file: InputFile, offset: number): Promise<EcmError> {
  const message = `byte ${offset} is not UTF-8, while the rest of the file is`;
  const hint = "Fix that line, or read the whole file in another encoding with --encoding";
  return createByteError(file, offset, message, hint);
}

/** UTF-16 without a mark: addresses are ASCII, whose zero bytes are all at odd, or all at even places. */
function findWideEncoding(start: Buffer): "utf-16le" | "utf-16be" | undefined {
  const length = Math.min(start.length, 16_384) & ~1;
  let [even, odd] = [0, 0];
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

/** Decodes the whole file and looks at what comes out, up to the first line that is wrong. */
async function checkDecoding(source: TextSource, wrong: RegExp): Promise<DecodingCheck> {
  const check: DecodingCheck = {};
  let line = 1;
  for await (const text of readWholeLines(source)) {
    const lineAt = (index: number) => line + countLineBreaks(text.slice(0, index));
    const foreign = check.firstForeign ? -1 : text.search(/[^\x00-\x7f]/);
    if (foreign !== -1) {
      const [before = ""] = /[^\r\n]*$/.exec(text.slice(0, foreign)) ?? [];
      const [after = ""] = /^[^\r\n]*/.exec(text.slice(foreign)) ?? [];
      check.firstForeign = { line: lineAt(foreign), text: (before + after).slice(0, 60) };
    }
    const bad = text.search(wrong);
    if (bad !== -1) return { ...check, badLine: lineAt(bad) };
    line = lineAt(text.length);
  }
  return check;
}

/** @throws UsageError when it is UTF-8 but for some bytes, or when no guess makes sense */
async function guessEncoding({ file }: Inspection): Promise<FoundEncoding> {
  const { good, bad, firstBad, cells } = await surveyUtf8(file);
  if (good > 0 && good >= bad) throw await createUtf8Error(file, firstBad);
  let best: (Guess & DecodingCheck) | undefined;
  for (const guess of await rankGuesses(cells)) {
    if (best && best.score - guess.score >= clearMargin) break;
    const check = await checkDecoding({ file, encoding: guess.encoding, markBytes: 0 }, unclean);
    if (check.badLine !== undefined) continue;
    if (best) throw undecidedEncodingError(file, best, guess);
    best = { ...guess, ...check };
  }
  if (best) return { encoding: best.encoding, markBytes: 0, isGuess: true, firstForeign: best.firstForeign };
  throw await createByteError(
    file,
    firstBad,
    `the encoding cannot be determined; byte ${firstBad} is not UTF-8`,
    "Pass it, such as --encoding windows-1252, or save the file as UTF-8",
  );
}

/** Two encodings give two texts, and either could be meant: the reader sees at once which one is. */
function undecidedEncodingError(file: InputFile, best: Guess & DecodingCheck, second: Guess): EcmError {
  const [texts, others] = [best, second].map(({ text }) => text.split("\n")) as [string[], string[]];
  const differing = texts.findIndex((text, index) => text !== others[index]);
  const [one, other] = [texts, others].map((lines) =>
    JSON.stringify(lines[Math.max(0, differing)]?.slice(0, 40)),
  );
  return usageError(
    `${file.name}:${best.firstForeign?.line ?? 1}: the encoding cannot be determined; it could be ${best.encoding} (${one}) or ${second.encoding} (${other})`,
    `Pass it, such as --encoding ${best.encoding}, or save the file as UTF-8`,
  );
}
