/** Hints as values: words for people, in which commands stand as arrays of words. */
import { expect, it } from "vitest";
import { advise, ecm, formatCommand, formatHint, joinHints, mapCommands, toOperands } from "../src/hint.ts";

it("takes a value as one word of a command, and an array as several", () => {
  const { words } = ecm`lists merge ${["A B", "C"]} --into ${"it's"} --data=${"x y"} ${[]}`;
  expect(words).toEqual(["lists", "merge", "A B", "C", "--into", "it's", "--data=x y"]);
  expect(formatCommand({ words })).toBe("ecm lists merge 'A B' C --into 'it'\\''s' '--data=x y'");
  expect(ecm`lists delete ${toOperands("-x")}`.words).toEqual(["lists", "delete", "--", "-x"]);
  const mutate = ecm`contact mutate LIST… --set FIELD=VALUE`;
  expect(formatCommand(mutate)).toBe("ecm contact mutate LIST… --set FIELD=VALUE");
  expect(ecm`contact get ${""}`.words).toEqual(["contact", "get", ""]);
});

it("is one text for people, however its parts were put together", () => {
  const inner = advise`see ${ecm`runs list`}`;
  expect(formatHint(advise`${3} rows; ${inner}, or wait`)).toBe("3 rows; see ecm runs list, or wait");
  expect(formatHint(joinHints("Why", undefined, inner)!)).toBe("Why\nsee ecm runs list");
  expect(joinHints(undefined)).toBeUndefined();
  const elsewhere = mapCommands(inner, ({ words }) => ({ words: ["--profile", "shop", ...words] }));
  expect(formatHint(elsewhere)).toBe("see ecm --profile shop runs list");
});
