/** docs/sandbox-rules.md names a file of tests for each rule, and each of them exists. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const folder = fileURLToPath(new URL(".", import.meta.url));
const page = readFileSync(new URL("../../docs/sandbox-rules.md", import.meta.url), "utf8");

test("every file of tests that docs/sandbox-rules.md names exists", () => {
  const titles = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  const rows = page.split("\n").filter((line) => /^\|.*\|$/.test(line) && !/^\| (rule|---)/.test(line));
  const ruleNames = rows.map((row) => /`([^`]*)` \|$/.exec(row)?.[1] ?? row);
  expect(ruleNames.length).toBeGreaterThan(70);
  expect(ruleNames.filter((name) => !titles.includes(name))).toEqual([]);
});
