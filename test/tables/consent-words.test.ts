/** Each language's file of words of consent: whole, without contradiction, and read as it says. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readConsentCell } from "../../src/tables/consent/cells.ts";
import { findConsentName, hasHint } from "../../src/tables/consent/consent-names.ts";
import type { ConsentWords } from "../../src/tables/consent/words.ts";
import { listCellWords, phraseKey, splitEntries, wordsByLanguage } from "../../src/tables/consent/words.ts";

const languages = Object.entries(wordsByLanguage) as [string, ConsentWords][];
const ambiguous = new Set(listCellWords("goneOrName").map(phraseKey));
const meanings = ["yes", "no", "active", "subscribed", "gone", "notSubscribed"] as const;
/** What speaks for itself is stronger than a yes or a no of another language. */
const strongerBy: Partial<Record<(typeof meanings)[number], readonly string[]>> = {
  yes: ["no", "active", "subscribed", "notSubscribed", "gone"],
  no: ["active", "subscribed", "notSubscribed", "gone"],
  active: ["subscribed", "notSubscribed", "gone"],
  subscribed: ["notSubscribed", "gone"],
  notSubscribed: ["gone"],
};

test("every file of the folder is a language, and every language has a file", () => {
  const files = readdirSync(new URL("../../src/tables/consent/words", import.meta.url));
  const names = ["index", ...languages.map(([language]) => language)];
  expect(files.sort()).toEqual(names.map((name) => `${name}.ts`).sort());
  expect(languages.length).toBeGreaterThan(30);
});

describe.each(languages)("%s", (_language, { cells, names, hints, channels }) => {
  const lines = { ...cells, ...names, ...hints, ...channels };

  test("has no empty line, and no entry twice on a line", () => {
    for (const [line, text] of Object.entries(lines)) {
      const entries = splitEntries(text);
      expect(entries, line).not.toHaveLength(0);
      expect(new Set(entries).size, line).toBe(entries.length);
    }
  });

  test.each(meanings)("a cell with a word of its line %s says that, or something stronger", (meaning) => {
    const wrong = splitEntries(cells[meaning]).filter((word) => {
      const said = readConsentCell(word);
      const stronger: readonly string[] = ["goneOrName", ...(strongerBy[meaning] ?? [])];
      return said !== meaning && !stronger.includes(said);
    });
    expect(wrong).toEqual([]);
  });

  test("words for gone are unmistakable but for those that are names, too", () => {
    const gone = splitEntries(cells.gone).map((word) => [phraseKey(word), readConsentCell(word)] as const);
    const keys = new Set(gone.map(([key]) => key));
    const orNames = splitEntries(cells.goneOrName ?? "").map(phraseKey);
    expect(orNames.filter((key) => !keys.has(key))).toEqual([]);
    const mistaken = gone.filter(
      ([key, said]) => said !== "gone" && !(said === "goneOrName" && ambiguous.has(key)),
    );
    expect(mistaken).toEqual([]);
  });

  test.each(["optIn", "optOut", "status"] as const)("a column of its line %s is that", (kind) => {
    expect(splitEntries(names[kind]).filter((name) => findConsentName(name) !== kind)).toEqual([]);
  });

  test("a hint in a name makes it worth a question", () => {
    const all = [...splitEntries(hints.anywhere), ...splitEntries(hints.alone)];
    expect(all.filter((hint) => !hasHint(hint))).toEqual([]);
  });
});
