/** Every phrase of consent with every negation and every end before and behind it: most of a million names. */
import { expect, test } from "vitest";
import { consentNameOf } from "../../src/bulk/read/consent-names.ts";
import { isPhrase, named, negations } from "../bulk/read/consent-negations.ts";

test("none is left what it was, none is turned into an opt-in, none is passed over", {
  timeout: 1_800_000,
}, () => {
  const wrong: string[] = [];
  for (const [phrase, kind] of named) {
    for (const negation of negations) {
      for (const name of [`${negation} ${phrase}`, `${phrase} ${negation}`]) {
        if (isPhrase(name)) continue;
        const found = consentNameOf(name);
        if (found === kind || found === "optIn") wrong.push(`${name}: ${found}`);
        if (found === undefined || found === "other") wrong.push(`${name}: passed over`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
