/**
 * Reading: the words of consent, one file a language, and the form in which names and cells are compared with
 * them: letter case, accents on Latin letters, blanks, dashes and underscores make no difference.
 */
import * as byLanguage from "./words/index.ts";

/** What one language says, in words or phrases that commas part. */
export interface ConsentWords {
  /** What a cell says. */
  cells: {
    /** Answers what the column's name asks, as `no` does; all others speak for themselves. */
    yes: string;
    no: string;
    /** As good as a yes, and a word of subscription besides. */
    active: string;
    /** The person is mailed. */
    subscribed: string;
    /** Unmistakably gone: such a word makes a status column a consent column. */
    gone: string;
    /** Not mailed, in a column that speaks of consent; in any other it may mean something else. */
    notSubscribed: string;
    /** Those of `gone` that are also names of places and people, or words of other trades. */
    goneOrName?: string;
    /** May stand around a word for gone and do not change it: `User unsubscribed via link on 3 May`. */
    aroundGone?: string;
  };
  /** What the name of a column says. Whole phrases, without the words of `around`. */
  names: {
    /** A yes means: this person may be mailed. */
    optIn: string;
    /** A yes means: this person must not be mailed. */
    optOut: string;
    /** The cells say what has become of a person. */
    status: string;
    /**
     * May stand before or behind a phrase of the lines above, and say nothing. No word may be here that is,
     * or can be taken for, a negation, an end or a prefix of one (`no`, `un`, `des`, `in`, `ab`, `a`, `de`):
     * a name that was written apart would be read the wrong way round.
     */
    around: string;
    /** Around a name of an opt-out alone: that there is a reason for it says that it has happened. */
    reasons: string;
    /**
     * Names of columns of something else, in which a word of subscription may be another word: Baja is a
     * city, and Spam a surname.
     */
    others: string;
  };
  /**
   * A name that holds one of them, and is no whole phrase, is not guessed at: if its cells could be answers,
   * a person is asked.
   */
  hints: {
    /** Parts of words, too: `abonn` is in `Abonnentenliste`. */
    anywhere: string;
    /** Names that may be of consent when they stand alone: as words within another name they say nothing. */
    alone: string;
    /** With a word of `email` in the same name they speak of consent: `Send me e-mails`, `No mail please`. */
    besideEmail?: string;
    email?: string;
  };
  /** Other ways to reach a person, and other things to consent to: these say nothing of e-mail. */
  channels: {
    words: string;
    /** Names of consent that are about another channel by themselves. */
    phrases?: string;
    /** With one of these a name speaks of e-mail too. */
    email: string;
  };
}

export const wordsByLanguage: Readonly<Record<keyof typeof byLanguage, ConsentWords>> = Object.fromEntries(
  Object.entries(byLanguage),
) as Record<keyof typeof byLanguage, ConsentWords>;

/** Signs of any language. They are compared as they are written. */
export const signs = {
  yes: "1, 1.0, x, ✓, ✔, √, ☑, ✅, ○, ◯, 〇, ●, ◎, +",
  no: "0, 0.0, ×, ✕, ❌, ☐, ☓",
  /** Written for "nothing here". */
  empty: "-, –, —, ―, n/a, na, null, none, nil, \\n, nan, (empty), (blank), (leer), (vide), (vacío), .",
};

/** The entries of one line of cells, in all languages. */
export function listCellWords(line: keyof ConsentWords["cells"]): string[] {
  return Object.values(wordsByLanguage).flatMap(({ cells }) => splitEntries(cells[line] ?? ""));
}

/** The entries of one line of names, in all languages. German umlauts may also be written `ue`. */
export function listNameWords(line: (words: ConsentWords) => string | undefined): string[] {
  return Object.values(wordsByLanguage).flatMap((words) => {
    const entries = splitEntries(line(words) ?? "");
    if (words !== wordsByLanguage.german) return entries;
    return [...new Set([...entries, ...entries.map(withoutUmlauts)])];
  });
}

export function splitEntries(line: string): string[] {
  return line
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function withoutUmlauts(word: string): string {
  return word.replace(/[äöü]/g, (letter) => ({ ä: "ae", ö: "oe", ü: "ue" })[letter]!);
}

/** Soft hyphens, zero-width marks, fillers, bidirectional marks, variation selectors. */
const invisible =
  /\p{Cf}|\u034f|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180f]|[\u3164\uffa0]|[\ufe00-\ufe0f]/gu;
/** Accents of Latin, Greek and Cyrillic letters, points of Hebrew and Arabic ones: often left out. */
const accents =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670]/g;
/** Behind the last word it says nothing; before a word, also with a dash between them, it may mean a no. */
const closingExclamations = /(?<=[\p{L}\p{N}][\s\p{P}]*)!+(?![\s\p{P}\p{S}]*[\p{L}\p{N}])/gu;
/** Other signs, such as `!` before a word, `≠` or `🚫`, may mean a no, and stay. */
const separators = /[\s¡\p{Pd}\u2212_.,:;/\\|()[\]{}"'’‘“”„«»‹›´`*?¿&#·•…、。・「」【】]+/gu;

/** NFKC without invisible marks, accents and case; dashes, underscores, blanks, brackets become a blank. */
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
