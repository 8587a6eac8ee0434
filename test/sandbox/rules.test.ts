/** docs/sandbox-rules.md names a test for each rule, and each of them exists. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));
const page = readFileSync(new URL("../../docs/sandbox-rules.md", import.meta.url), "utf8");

function titlesInTests(): Set<string> {
  const titles = new Set<string>();
  for (const name of readdirSync(folder).filter((file) => file.endsWith(".test.ts"))) {
    const source = readFileSync(folder + name, "utf8");
    // A title is the first text after `test(`, or after the table of `test.each(…)(`.
    for (const [, title] of source.matchAll(
      /(?:^test\(|^\]\)\(|^\)\(|^test\.each\([^\n]*\)\()\s*"((?:[^"\\]|\\.)*)"/gm,
    )) {
      titles.add(title!);
    }
  }
  return titles;
}

test("every test that docs/sandbox-rules.md names exists", () => {
  const known = titlesInTests();
  const rows = page.split("\n").filter((line) => /^\|.*\|$/.test(line) && !/^\| (rule|---)/.test(line));
  const named = rows.map((row) => /`((?:[^`])*)` \|$/.exec(row)?.[1]);
  expect(named.length).toBeGreaterThan(70);
  expect(named.filter((title) => title === undefined || !known.has(title))).toEqual([]);
});
