/** Reading: a name or a cell in the form in which words of consent are compared. */

/** Soft hyphens, zero-width marks, fillers, bidirectional marks, variation selectors. */
const invisible =
  /\p{Cf}|\u034f|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\u3164\uffa0]|[\ufe00-\ufe0f]/gu;
/**
 * Accents of Latin, Greek and Cyrillic letters, points of Hebrew and Arabic ones: often left out in writing.
 */
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g;
/** Behind the last word it says nothing; before a word, also with a dash between them, it may mean a no. */
const closingExclamations = /(?<=[\p{L}\p{N}][\s\p{P}]*)!+(?![\s\p{P}\p{S}]*[\p{L}\p{N}])/gu;
/** Other signs, such as `!` before a word, `≠` or `🚫`, may mean a no, and stay. */
const separators = /[\s¡\p{Pd}\u2212_.,:;/\\|()[\]{}"'’‘“”„«»‹›´`*?¿&#·•…、。・「」【】]+/gu;

/**
 * NFKC, without invisible marks, accents and letter case; dashes,
 * underscores, blanks and brackets are one blank.
 */
export function foldPhrase(text: string): string {
  return text
    .normalize("NFKC")
    .replace(invisible, "")
    .normalize("NFKD")
    .replace(accents, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\u0307/g, "")
    .replaceAll("ı", "i")
    .replaceAll("ς", "σ")
    .replaceAll("ß", "ss")
    .replace(closingExclamations, " ")
    .replace(separators, " ")
    .trim();
}

/** As words are looked up: `un-subscribed`, `Un subscribed` and `UNSUBSCRIBED` are one word. */
export function phraseKey(text: string): string {
  return foldPhrase(text).replaceAll(" ", "");
}

/** The words of a name as it is written, and where a capital begins one too: `hasOptedOut`. */
export function nameForms(name: string): string[][] {
  const text = name.normalize("NFKC").replace(invisible, "");
  const parted = text.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2").replace(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, "$1 $2");
  return [...new Set([text, parted].map(foldPhrase))].map((form) =>
    form.split(" ").filter((word) => word !== ""),
  );
}

/** Whether words of this script are written without blanks between them. */
export function isWithoutBlanks(text: string): boolean {
  return /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(text);
}
