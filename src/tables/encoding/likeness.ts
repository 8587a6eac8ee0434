/**
 * Reading: how much a decoded text looks like something that people
 * write. Tells encodings apart that all decode.
 */
import { japanese, korean, simplifiedChinese, traditionalChinese } from "./common-characters.ts";

/**
 * Letters beyond ASCII by language; where two languages explain a text equally well, the earlier one does.
 */
const western = [
  "äöüß", // German
  "áéíóúñüªº¿¡", // Spanish
  "àâæçèéêëîïôœùûüÿ", // French
  "ãõáéíóúâêôçàªº", // Portuguese
  "àèéìíòóù", // Italian
  "åäöéü", // Swedish, Finnish
  "æøåéö", // Danish, Norwegian
  "ëïéèöüêôáó", // Dutch
].map(toLetterSet);
/** So rare that a text is Icelandic only when nothing else explains it. */
const icelandic = toLetterSet("áéíóúýþæöð");
const rarity = 0.15;
const central = [
  "äöüß", // German
  "ąćęłńóśźż", // Polish
  "áčďéěíňóřšťúůýž", // Czech
  "áéíóöőúüű", // Hungarian
  "ăâîșțşţ", // Romanian
  "čćđšž", // Croatian
  "áäčďéíĺľňóôŕšťúýž", // Slovak
].map(toLetterSet);
const turkish = ["çğıİi̇öşüâî"].map(toLetterSet);
const baltic = [
  "ąčęėįšųūž", // Lithuanian
  "āčēģīķļņšūž", // Latvian
  "äöõüšž", // Estonian
].map(toLetterSet);

function toLetterSet(text: string): ReadonlySet<string> {
  return new Set(text);
}

/** The languages that are written in an encoding of one byte for each character. */
const alphabets: Record<string, ReadonlySet<string>[]> = {
  "windows-1250": central,
  "iso-8859-2": central,
  "windows-1254": turkish,
  "windows-1257": baltic,
};

const commonCharacters: Record<string, ReadonlySet<string>> = {
  gb18030: simplifiedChinese,
  gbk: simplifiedChinese,
  big5: traditionalChinese,
  shift_jis: japanese,
  "euc-jp": japanese,
  "iso-2022-jp": japanese,
  "euc-kr": korean,
};

const typography = new Set("’‘“”„–—…€«»°®©™·£\u00a0");

const cased = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const caseless = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/u;
const letter = /\p{L}/u;
/** A word of two scripts is half accented letters of a Latin word, read in a wrong encoding. */
const mixedWord =
  /[A-Za-z](?!\p{Script=Latin})\p{L}|(?!\p{Script=Latin})\p{L}[A-Za-z]|\p{Script=Hangul}\p{Script=Han}|\p{Script=Han}\p{Script=Hangul}/gu;
/** What no name holds: each shows that an encoding is the wrong one. */
const oddities = [
  // A sign within a word; a dash is one only before a small letter.
  /\p{L}[^\x00-\x7f\p{L}\p{M}\p{Nd}’‐‑·–—・ー]+\p{L}/gu,
  /\p{L}[–—\u00a0]\p{Ll}/gu,
  // Quotation marks on the wrong side, or closed without being opened.
  /\p{L}[‘¿¡]|(?<![“„”][^\n]*)”/gu,
  /[®™¿¤¦§¨¬¯¶¸†‡•‰›£€¥¢][a-z]|\u00ad/gu,
  // A capital within a word that is not written in capitals.
  /\p{Ll}(?![A-Z])(?=\p{Script=Latin})\p{Lu}|\p{Lu}(?![A-Z])(?=\p{Script=Latin})\p{Lu}\p{Ll}/gu,
  // Letters where no language has them.
  /(?<![aeiouyäöüAEIOUÄÖÜ])ß|ß[^aeioutnlbg\W]|[aeou]á|[iu]á(?![bcdgjklmnrstvz])|\p{L}[ºª]|ç(?![aeiouâãáéêôóõAEIOU\W])|[ou]æ|[eio]œ|[uo]û|ì\p{L}/gu,
  /[A-Z][ﾞﾟ]/gu,
];

/** A word of accented letters alone, which is none in western languages. */
const accentedWord = /(?<!\p{L})(?:(?![a-zA-Z])\p{Script=Latin}){2,}(?!\p{L})/gu;

const kana = /[\p{Script=Hiragana}\p{Script=Katakana}ー々・]/u;
const halfWidthKana = /[\uff66-\uff9f]/;
/** Voicing marks follow certain letters alone: hardly any other encoding has its bytes so. */
const voicedKana = /[ｳｶ-ﾄﾊ-ﾎ]ﾞ|[ﾊ-ﾎ]ﾟ/;
const ideographs = /[\p{Script=Han}\p{Script=Hangul}]/u;
const wideSigns = /[\u3000-\u303f\uff00-\uff60]/;

/** 0 to 1: the share of characters beyond ASCII that a language of this encoding explains. */
export function computeLikeness(text: string, encoding: string): number {
  const foreign = text.match(/[^\x00-\x7f]/gu) ?? [];
  if (foreign.length === 0) return 0;
  const common = commonCharacters[encoding];
  const explained = common
    ? computeEastAsianLikeness(foreign, common, text)
    : Math.max(
        computeLatinLikeness(foreign, alphabets[encoding] ?? western),
        computeScriptLikeness(foreign, text),
      );
  const odd = oddities.reduce(
    (sum, pattern) => sum + countMatches(text, pattern),
    countMatches(text, mixedWord),
  );
  const accented = alphabets[encoding] ? 0 : countMatches(text, accentedWord);
  return explained - (odd + accented) / foreign.length;
}

function computeShare(characters: string[], holds: (character: string) => boolean): number {
  return characters.filter(holds).length / characters.length;
}

function computeLatinLikeness(foreign: string[], alphabets: ReadonlySet<string>[]): number {
  const lower = foreign.map((character) => character.toLowerCase());
  const computeShareIn = (letters: ReadonlySet<string>) =>
    computeShare(lower, (each) => letters.has(each) || typography.has(each));
  const shares = alphabets.map((letters, rank) => computeShareIn(letters) - rank * 0.002);
  if (alphabets === western) shares.push(computeShareIn(icelandic) - rarity);
  return Math.max(...shares);
}

/**
 * Alphabets with capitals: a wrong one of them shows in words that begin small, or change their size inside.
 */
function computeScriptLikeness(foreign: string[], text: string): number {
  const isOwn = (each: string) => letter.test(each) && (cased.test(each) || caseless.test(each));
  const share = computeShare(foreign, (each) => isOwn(each) || typography.has(each));
  if (share <= 0 || !foreign.some(isOwn)) return 0;
  const words = (text.match(/\p{L}+/gu) ?? []).filter((word) => cased.test(word));
  if (words.length === 0) return share;
  const oddness = words.reduce((sum, word) => sum + computeOddness(word), 0) / words.length;
  return share * (1 - oddness);
}

/** Rows hold names, which begin large; prose begins small, and neither changes its size inside a word. */
function computeOddness(word: string): number {
  if (/\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(word)) return 1;
  if (/^\p{Ll}/u.test(word)) return 0.15;
  return /^\p{Lu}{2}/u.test(word) ? 0.2 : 0;
}

/**
 * Nearly every pair of high bytes is an ideograph somewhere: those that
 * names are made of tell one encoding from another.
 */
function computeEastAsianLikeness(foreign: string[], common: ReadonlySet<string>, text: string): number {
  const halfWidth = common !== japanese ? 0 : voicedKana.test(text) ? 1 : 0.5;
  const weigh = (character: string): number => {
    if (common.has(character)) return 1;
    if (halfWidthKana.test(character)) return halfWidth;
    if (kana.test(character)) return common === japanese ? 1 : 0.2;
    if (wideSigns.test(character)) return 0.8;
    return ideographs.test(character) ? 0.5 : 0;
  };
  return foreign.reduce((sum, each) => sum + weigh(each), 0) / foreign.length;
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
