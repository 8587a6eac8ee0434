/** A name of a column is understood as a whole or not at all, in every language and however it is written. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { findConsentName } from "../../src/tables/consent/consent-names.ts";
import { listNameWords, phraseKey } from "../../src/tables/consent/words.ts";
import { runs } from "../support/runs.ts";
import { isPhrase, namePhrases, negations } from "./consent-negations.ts";

const optInNames = listNameWords(({ names }) => names.optIn);
const optOutNames = listNameWords(({ names }) => names.optOut);
const statusNames = listNameWords(({ names }) => names.status);
const aroundWords = listNameWords(({ names }) => names.around);
const reasonWords = listNameWords(({ names }) => names.reasons);

test("no phrase says two things", () => {
  const optOut = new Set(optOutNames.map(phraseKey));
  const statusKeys = new Set(statusNames.map(phraseKey));
  const both = optInNames.filter((phrase) => optOut.has(phraseKey(phrase)));
  const alsoStatus = [...optInNames, ...optOutNames].filter((phrase) => statusKeys.has(phraseKey(phrase)));
  expect({ both, alsoStatus }).toEqual({ both: [], alsoStatus: [] });
});

test("no word that says nothing is a negation, an end, or the start of one", () => {
  const phraseWords = new Set(negations.map(phraseKey));
  const wrong = [...aroundWords, ...reasonWords].filter((word) => phraseWords.has(phraseKey(word)));
  expect(wrong).toEqual([]);
});

const dashes = [..."-_ \u2010\u2011\u2013\u2014\u00a0\uff0d\ufe63", "  ", " - "];
const marks = ["\u00ad", "\u200b", "\u200d", "\u2060", "\ufeff", "\u200e"];

const upper = (text: string) => text.toUpperCase();
const turkish = (text: string) => text.toLocaleUpperCase("tr");
const title = (text: string) => text.replace(/(^|[\s-])(\p{L})/gu, (letters) => letters.toUpperCase());
const wide = (text: string) =>
  text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));

const letterCase = fc.constantFrom((each: string) => each, upper, turkish, title, wide);

/** A phrase as others write it, and what it says. */
const written = fc
  .tuple(
    fc.constantFrom(...namePhrases),
    fc.constantFrom(...dashes),
    letterCase,
    fc.option(fc.tuple(fc.nat(), fc.constantFrom(...marks))),
  )
  .map(([[phrase, kind], dash, toCase, mark]) => {
    const cased = toCase(phrase).replaceAll(" ", dash);
    const at = (mark?.[0] ?? 0) % (cased.length + 1);
    return [cased.slice(0, at) + (mark?.[1] ?? "") + cased.slice(at), kind];
  });

test("every phrase is understood, in any letter case, with any dash and any invisible mark", () => {
  const property = fc.property(written, ([name, kind]) => {
    expect(findConsentName(name!), JSON.stringify(name)).toBe(kind);
  });
  fc.assert(property, { numRuns: 1500 });
});

test.each(["email-!-subscribed", "newsletter_!_opt-in", "E-Mail !– Einwilligung"])(
  "a mark that may mean a no, between a word around and a phrase, leaves it unclear: %s",
  (name) => expect(findConsentName(name)).toBe("unclear"),
);

test("a negation or an end before or behind a phrase never leaves it what it was", () => {
  const around = ["", ...aroundWords];
  fc.assert(
    fc.property(
      fc.constantFrom(...namePhrases),
      fc.constantFrom(...negations),
      fc.constantFrom(...around),
      fc.constantFrom(...around),
      fc.boolean(),
      fc.constantFrom(...dashes),
      letterCase,
      ([phrase, kind], negation, before, after, isBefore, dash, letters) => {
        const middle = isBefore ? [negation, phrase] : [phrase, negation];
        const phraseWords = [before, ...middle, after].filter((word) => word !== "");
        if (isPhrase(middle.join(" "))) return;
        const name = letters(phraseWords.join(" ")).replaceAll(" ", dash);
        expect(findConsentName(name), JSON.stringify(name)).not.toBe(kind);
      },
    ),
    { numRuns: runs(800) },
  );
});
