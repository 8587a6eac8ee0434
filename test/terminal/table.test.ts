import fc from "fast-check";
import stringWidth from "fast-string-width";
import { expect, it } from "vitest";
import { formatShortDate } from "../../src/moments.ts";
import { fitColumns, formatShortNames, renderRecord, renderTable } from "../../src/terminal/table.ts";
import { cut } from "../../src/terminal/text-width.ts";
import { anyText, runs } from "../support/runs.ts";

/** Header and rows, their cells separated by bars. */
function draw(lines: readonly string[], width = 80): string {
  const [header = [], ...rows] = lines.map((line) => line.split("|"));
  const columns = header.map((name) => ({ name }));
  return renderTable(columns, rows, width, false);
}

/** How wide the widest line is. */
const measureWidth = (text: string) => Math.max(...text.split("\n").map((line) => stringWidth(line)));

it.each([
  ["aligns columns under their headers", ["name|total", "Newsletter|12", "VIP|3"]],
  ["aligns wide and combining characters", ["name|n", "髙橋花子|1", "e\u0301te\u0301|2", "👩‍💻 dev|3"]],
  ["aligns characters that are younger than most tables of widths", ["name|n", "🫠🫠|1", "\u{16fe0}|2"]],
  ["shows a header alone when there are no rows", ["key|lists"]],
])("a table %s", (_name, lines) => {
  const seconds = lines.map((line) => line.split("|")[1]!);
  const offsets = draw(lines)
    .trimEnd()
    .split("\n")
    .map((line, at) => stringWidth(line.slice(0, line.lastIndexOf(seconds[at]!))));
  const widest = Math.max(...lines.map((line) => stringWidth(line.split("|")[0]!)));
  expect(offsets).toEqual(lines.map(() => widest + 2));
});

it("a table cuts the widest columns first, so that a line fits the screen", () => {
  const table = draw(["key|note", `ada@example.com|${"a very long note ".repeat(10)}`], 40);
  expect(measureWidth(table)).toBeLessThanOrEqual(40);
  expect(table).toMatch(/ada@example.com .*…/);
  expect(draw(["a", "x".repeat(500)], Number.POSITIVE_INFINITY)).toContain("x".repeat(500));
});

it("a table never breaks a line or moves the cursor, whatever a cell holds", () => {
  const cells = fc.array(anyText(), { minLength: 2, maxLength: 2 });
  const header = [{ name: "one" }, { name: "two" }];
  fc.assert(
    fc.property(fc.array(cells, { maxLength: 5 }), fc.integer({ min: 22, max: 120 }), (rows, width) => {
      const table = renderTable(header, rows, width, false);
      expect(table.split("\n").length).toBe(rows.length + 2);
      expect(table.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      expect(measureWidth(table)).toBeLessThanOrEqual(width);
    }),
    { numRuns: runs(40) },
  );
});

it("a table gives each row a block of its own where the columns cannot stand side by side", () => {
  const lines = ["key|First Name|Last Name|lists", "ada.lovelace@example.com|Ada|Lovelace|Newsletter"];
  expect(draw([...lines, "grace@example.com|Grace|Hopper|"], 30)).toBe(
    [
      ...["key         ada.lovelace@example.com", "First Name  Ada", "Last Name   Lovelace"],
      ...["lists       Newsletter", "", "key         grace@example.com", "First Name  Grace"],
      ...["Last Name   Hopper", "lists", ""],
    ].join("\n"),
  );
});

it("a table paints nothing but the header, and only when colour is wanted", () => {
  expect(renderTable([{ name: "a" }], [["b"]], 80, true)).toBe("\u001b[1ma\u001b[22m\nb\n");
});

const link = `https://example.com/${"x".repeat(30)}`;
const blanks = `${" ".repeat(300_000)}x`;
it.each([
  ["puts a name beside its value", "key=x@y.z|First Name=Ada", 80, "key         x@y.z\nFirst Name  Ada\n"],
  ["breaks between words", `a=one two three ${link} four`, 16, `a  one two three\n   ${link}\n   four\n`],
  ["is not held up by a long run of blanks", `a=${blanks}`, 80, `a  ${blanks}\n`],
])("a record %s", (_name, text, width, expected) => {
  const pairs = text.split("|").map((pair) => pair.split("=") as [string, string]);
  expect(renderRecord(pairs, width, false)).toBe(expected);
});

const columns = [
  { name: "key", isWhole: true },
  { name: "name" },
  { name: "city", isAside: true },
  { name: "tags" },
  { name: "_id", isWhole: true, isAside: true },
];

const full = ["ada.lovelace@example.com", "Ada", "Oslo", "vip", "6b02176d487c936d9c000008"];
it.each([
  ["are those with content", ["ada@example.com", "", "Oslo", "", "1"], 80, "key city _id", ""],
  ["are all where there is room", full, 80, "key name city tags _id", ""],
  ["leave out the last aside first", full, 50, "key name city tags", "_id"],
  ["then the other asides", full, 36, "key name tags", "city _id"],
  ["then all but the key", full, 20, "key", "name city tags _id"],
])("the columns of a table %s", (_name, row, width, shown, leftOut) => {
  const fitted = fitColumns(columns, [row], width);
  expect(fitted.columns.map(({ name }) => name).join(" ")).toBe(shown);
  expect(fitted.leftOut.join(" ")).toBe(leftOut);
});

it("the columns of a table keep every table whose key fits within the screen, the key whole", () => {
  const cells = fc.array(fc.string({ maxLength: 30 }), { minLength: 4, maxLength: 4 });
  const row = fc.tuple(fc.stringMatching(/^[a-z]{1,20}@x\.org$/), cells);
  const table = fc.array(row, { minLength: 1, maxLength: 6 });
  const keyed = columns.map((column) => ({ ...column, isWhole: column.name === "key" }));
  fc.assert(
    fc.property(table, fc.integer({ min: 30, max: 120 }), (people, width) => {
      const rows = people.map(([key, rest]) => [key, ...rest]);
      const fitted = fitColumns(keyed, rows, width);
      const text = renderTable(fitted.columns, fitted.rows, width, false);
      expect(measureWidth(text)).toBeLessThanOrEqual(width);
      for (const [key] of people) expect(text).toContain(key);
    }),
    { numRuns: runs(40) },
  );
});

const now = new Date("2026-11-21T12:00:00Z");

it.each([
  [formatShortDate("2026-11-21T08:00:00.000Z", now), "today"],
  [formatShortDate("2026-11-02T08:00:00.000Z", now), "2 Nov"],
  [formatShortDate("2025-03-02T08:00:00.000Z", now), "2 Mar 2025"],
  [formatShortDate("soon", now), "soon"],
  [formatShortNames(["VIP"]), "VIP"],
  [formatShortNames(["VIP", "Press"]), "VIP, Press"],
  [formatShortNames(["Newsletter", "Tokyo, Japan", "Coffee lovers"]), "Newsletter +2"],
  [cut("髙橋花子", 5), "髙橋…"],
  [cut("👩‍💻👩‍💻👩‍💻", 4), "👩‍💻…"],
])("a cell of a table is short: %s", (shown, expected) => expect(shown).toBe(expected));
