/**
 * Every phrase of consent with negations and ends before and behind it: one of 31 of most of a million names.
 */
import { expect, test } from "vitest";
import { findConsentName } from "../../src/tables/consent/consent-names.ts";
import { isPhrase, namePhrases, negations } from "./consent-negations.ts";

const stride = 31;

test("none is left what it was, none is turned into an opt-in, none is passed over", () => {
  const wrong: string[] = [];
  for (const [place, [phrase, kind]] of [...namePhrases].entries()) {
    // From another one for each phrase: all of them are met.
    for (let n = place % stride; n < negations.length; n += stride) {
      for (const name of [`${negations[n]} ${phrase}`, `${phrase} ${negations[n]}`]) {
        if (isPhrase(name)) continue;
        const found = findConsentName(name);
        if (found === kind || found === "optIn") wrong.push(`${name}: ${found}`);
        if (found === undefined || found === "other") wrong.push(`${name}: passed over`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
