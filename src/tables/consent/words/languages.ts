/** The languages of the tables: each table has a line for each, for a native reader to check. */
export const languages = [
  "english",
  "german",
  "french",
  "spanish",
  "italian",
  "portuguese",
  "dutch",
  "swedish",
  "danish",
  "norwegian",
  "finnish",
  "polish",
  "czech",
  "slovak",
  "hungarian",
  "romanian",
  "bulgarian",
  "croatian",
  "slovenian",
  "greek",
  "turkish",
  "russian",
  "ukrainian",
  "lithuanian",
  "latvian",
  "estonian",
  "japanese",
  "chinese",
  "korean",
  "arabic",
  "hebrew",
  "vietnamese",
  "indonesian",
] as const;

export type Language = (typeof languages)[number];

/** Words or phrases of each language, parted by commas. */
export type WordTable = Record<Language, string>;

/** What the cells of a column say, in words or phrases of one language, parted by commas. */
export interface CellWords {
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
}

/** All entries of a table. German umlauts are also taken as they are written without them (`ue` for `ü`). */
export function listEntries(table: WordTable): string[] {
  return languages.flatMap((language) => {
    const entries = splitEntries(table[language]);
    if (language !== "german") return entries;
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
