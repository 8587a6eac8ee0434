/** Reading: how much a decoded text looks like something that people write. Tells encodings apart that all decode. */

/** Letters beyond ASCII by language; where two languages explain a text equally well, the earlier one does. */
const alphabets = [
  "äöüß", // German
  "áéíóúñüªº¿¡", // Spanish
  "àâæçèéêëîïôœùûüÿ", // French
  "ãõáéíóúâêôçàªº", // Portuguese
  "àèéìíòóù", // Italian
  "åäöéü", // Swedish, Finnish
  "æøåéö", // Danish, Norwegian
  "ëïéèöüêôáó", // Dutch
  "ąćęłńóśźż", // Polish
  "áčďéěíňóřšťúůýž", // Czech
  "çğıİi̇öşüâî", // Turkish
  "áéíóöőúüű", // Hungarian
  "ăâîșțşţ", // Romanian
  "čćđšž", // Croatian
  "áäčďéíĺľňóôŕšťúýž", // Slovak
  "ąčęėįšųūž", // Lithuanian
  "āčēģīķļņšūž", // Latvian
  "äöõüšž", // Estonian
  "áéíóúýþæöð", // Icelandic
].map((letters) => new Set(letters));

const typography = new Set("’‘“”„–—…€«»°®©™·£\u00a0");

const cased = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const caseless = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]/u;
const letter = /\p{L}/u;
/** A word of two scripts is half accented letters of a Latin word, read in a wrong encoding. */
const mixedWord = /[A-Za-z](?!\p{Script=Latin})\p{L}|(?!\p{Script=Latin})\p{L}[A-Za-z]/gu;
/** Syllables are a stronger sign than ideographs: nearly every pair of high bytes is an ideograph somewhere. */
const syllables = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー々・]/u;
const ideographs = /[\p{Script=Han}\u3000-\u303f\uff00-\uff60]/u;

/** 0 to 1: the share of characters beyond ASCII that one language explains. */
export function likeness(text: string): number {
  const foreign = text.match(/[^\x00-\x7f]/gu) ?? [];
  if (foreign.length === 0) return 0;
  const shares = [latin(foreign), ownScript(foreign, text), eastAsian(foreign, text)];
  return Math.max(...shares);
}

function shareOf(characters: string[], holds: (character: string) => boolean): number {
  return characters.filter(holds).length / characters.length;
}

function latin(foreign: string[]): number {
  const lower = foreign.map((character) => character.toLowerCase());
  return Math.max(
    ...alphabets.map(
      (letters, rank) => shareOf(lower, (each) => letters.has(each) || typography.has(each)) - rank * 0.002,
    ),
  );
}

/** Alphabets with capitals: a wrong one of them shows in words that begin small, or change their size inside. */
function ownScript(foreign: string[], text: string): number {
  const isOwn = (each: string) => letter.test(each) && (cased.test(each) || caseless.test(each));
  const share = shareOf(foreign, (each) => isOwn(each) || typography.has(each)) - shareOfMixed(foreign, text);
  if (share <= 0 || !foreign.some(isOwn)) return 0;
  const words = (text.match(/\p{L}+/gu) ?? []).filter((word) => cased.test(word));
  if (words.length === 0) return share;
  const oddness = words.reduce((sum, word) => sum + oddnessOf(word), 0) / words.length;
  return share * (1 - oddness);
}

/** Rows hold names, which begin large; prose begins small, and neither changes its size inside a word. */
function oddnessOf(word: string): number {
  if (/\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u.test(word)) return 1;
  if (/^\p{Ll}/u.test(word)) return 0.15;
  return /^\p{Lu}{2}/u.test(word) ? 0.2 : 0;
}

function eastAsian(foreign: string[], text: string): number {
  const strong = shareOf(foreign, (each) => syllables.test(each));
  const weak = shareOf(foreign, (each) => ideographs.test(each));
  return strong + weak * 0.9 - shareOfMixed(foreign, text);
}

function shareOfMixed(foreign: string[], text: string): number {
  return (text.match(mixedWord)?.length ?? 0) / foreign.length;
}
