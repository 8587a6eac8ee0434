import fc from "fast-check";
import stringWidth from "fast-string-width";
import { describe, expect, it } from "vitest";
import { renderRecord, renderTable as tableText } from "../../src/terminal/table.ts";
import { cut } from "../../src/terminal/text-width.ts";

const renderTable = (header: string[], rows: string[][], width: number, isColored: boolean) => {
  const columns = header.map((name) => ({ name }));
  return tableText(columns, rows, width, isColored);
};

const measureWidths = (text: string) =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => stringWidth(line));

describe("renderTable", () => {
  it("aligns columns under their headers", () => {
    expect(
      renderTable(
        ["name", "total"],
        [
          ["Newsletter", "12"],
          ["VIP", "3"],
        ],
        80,
        false,
      ),
    ).toBe("name        total\nNewsletter  12\nVIP         3\n");
  });

  it("aligns wide and combining characters by the room they take", () => {
    const table = renderTable(
      ["name", "n"],
      [
        ["髙橋花子", "1"],
        ["e\u0301te\u0301", "2"],
        ["👩‍💻 dev", "3"],
      ],
      80,
      false,
    );
    const [header, ...rows] = table.trimEnd().split("\n");
    const offset = stringWidth(header!) - 1;
    for (const [index, row] of rows.entries()) {
      expect(stringWidth(row.slice(0, row.lastIndexOf(String(index + 1))))).toBe(offset);
    }
  });

  it("aligns characters that are younger than most width tables", () => {
    const table = renderTable(
      ["name", "n"],
      [
        ["🫠🫠", "1"],
        ["\u{16fe0}", "2"],
        ["ab", "3"],
      ],
      80,
      false,
    );
    const [, ...rows] = table.trimEnd().split("\n");
    expect(rows.map((row) => stringWidth(row.slice(0, -1)))).toEqual([6, 6, 6]);
  });

  it("cuts the widest columns first, so that a line fits the screen", () => {
    const table = renderTable(
      ["key", "note"],
      [["ada@example.com", "a very long note ".repeat(10)]],
      40,
      false,
    );
    expect(Math.max(...measureWidths(table))).toBeLessThanOrEqual(40);
    expect(table).toContain("ada@example.com");
    expect(table).toContain("…");
  });

  it("cuts nothing where the width does not matter", () => {
    const long = "x".repeat(500);
    expect(renderTable(["a"], [[long]], Number.POSITIVE_INFINITY, false)).toContain(long);
  });

  it("never breaks a line or moves the cursor, whatever a cell holds", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.string({ unit: "binary" }), { minLength: 2, maxLength: 2 }), { maxLength: 5 }),
        fc.integer({ min: 22, max: 120 }),
        (rows, width) => {
          const table = renderTable(["one", "two"], rows, width, false);
          expect(table.split("\n").length).toBe(rows.length + 2);
          expect(table.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
          expect(Math.max(...measureWidths(table))).toBeLessThanOrEqual(width);
        },
      ),
    );
  });

  it("gives each row a block of its own where the columns cannot stand side by side", () => {
    const header = ["key", "First Name", "Last Name", "lists"];
    const rows = [
      ["ada.lovelace@example.com", "Ada", "Lovelace", "Newsletter"],
      ["grace@example.com", "Grace", "Hopper", ""],
    ];
    expect(renderTable(header, rows, 30, false)).toBe(
      [
        "key         ada.lovelace@example.com",
        "First Name  Ada",
        "Last Name   Lovelace",
        "lists       Newsletter",
        "",
        "key         grace@example.com",
        "First Name  Grace",
        "Last Name   Hopper",
        "lists",
        "",
      ].join("\n"),
    );
  });

  it("shows a header alone when there are no rows", () => {
    expect(renderTable(["key", "lists"], [], 80, false)).toBe("key  lists\n");
  });

  it("paints nothing but the header, and only when colour is wanted", () => {
    expect(renderTable(["a"], [["b"]], 80, true)).toBe("\u001b[1ma\u001b[22m\nb\n");
  });
});

describe("renderRecord", () => {
  it("puts each name beside its value", () => {
    expect(
      renderRecord(
        [
          ["key", "ada@example.com"],
          ["First Name", "Ada"],
        ],
        80,
        false,
      ),
    ).toBe("key         ada@example.com\nFirst Name  Ada\n");
  });

  it("breaks a long value between words, below its beginning, and never a word", () => {
    const link = `https://example.com/${"x".repeat(30)}`;
    expect(renderRecord([["a", `one two three ${link} four`]], 16, false)).toBe(
      `a  one two three\n   ${link}\n   four\n`,
    );
  });

  it("is not held up by a long run of blanks", () => {
    const value = `${" ".repeat(300_000)}x`;
    expect(renderRecord([["a", value]], 80, false)).toBe(`a  ${value}\n`);
  });
});

describe("cut", () => {
  it("cuts at whole characters", () => {
    expect(cut("髙橋花子", 5)).toBe("髙橋…");
    expect(cut("👩‍💻👩‍💻👩‍💻", 4)).toBe("👩‍💻…");
  });
});
