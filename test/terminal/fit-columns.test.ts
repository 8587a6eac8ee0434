import fc from "fast-check";
import stringWidth from "fast-string-width";
import { describe, expect, it } from "vitest";
import { formatShortDate } from "../../src/moments.ts";
import { fitColumns, formatShortNames, renderTable } from "../../src/terminal/table.ts";

const columns = [
  { name: "key", isWhole: true },
  { name: "name" },
  { name: "city", isAside: true },
  { name: "tags" },
  { name: "_id", isWhole: true, isAside: true },
];

describe("the columns of a table", () => {
  it("are those with content", () => {
    const rows = [["ada@example.com", "", "Oslo", "", "1"]];
    expect(fitColumns(columns, rows, 80).columns.map(({ name }) => name)).toEqual(["key", "city", "_id"]);
  });

  it("leave out asides first, then the last ones, and never the key", () => {
    const rows = [["ada.lovelace@example.com", "Ada", "Oslo", "vip", "6b02176d487c936d9c000008"]];
    const names = (width: number) => fitColumns(columns, rows, width).columns.map(({ name }) => name);
    expect(names(80)).toEqual(["key", "name", "city", "tags", "_id"]);
    expect(names(50)).toEqual(["key", "name", "city", "tags"]);
    expect(names(36)).toEqual(["key", "name", "tags"]);
    expect(names(20)).toEqual(["key"]);
    expect(fitColumns(columns, rows, 36).leftOut).toEqual(["city", "_id"]);
  });

  it("keep every table whose key fits within the screen, the key whole", () => {
    const cells = fc.array(fc.string({ maxLength: 30 }), { minLength: 4, maxLength: 4 });
    const table = fc.array(fc.tuple(fc.stringMatching(/^[a-z]{1,20}@x\.org$/), cells), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(table, fc.integer({ min: 30, max: 120 }), (people, width) => {
        const rows = people.map(([key, rest]) => [key, ...rest]);
        const fitted = fitColumns(
          columns.map((column) => ({ ...column, isWhole: column.name === "key" })),
          rows,
          width,
        );
        const text = renderTable(fitted.columns, fitted.rows, width, false);
        const lines = text.split("\n");
        for (const line of lines) expect(stringWidth(line)).toBeLessThanOrEqual(width);
        for (const [key] of people) expect(text).toContain(key);
      }),
    );
  });
});

describe("cells of a table", () => {
  it("show times as dates", () => {
    const now = new Date("2026-11-21T12:00:00Z");
    expect(formatShortDate("2026-11-21T08:00:00.000Z", now)).toBe("today");
    expect(formatShortDate("2026-11-02T08:00:00.000Z", now)).toBe("2 Nov");
    expect(formatShortDate("2025-03-02T08:00:00.000Z", now)).toBe("2 Mar 2025");
    expect(formatShortDate("soon", now)).toBe("soon");
  });

  it("show several names as a count where they are long", () => {
    expect(formatShortNames(["VIP"])).toBe("VIP");
    expect(formatShortNames(["VIP", "Press"])).toBe("VIP, Press");
    expect(formatShortNames(["Newsletter", "Tokyo, Japan", "Coffee lovers"])).toBe("Newsletter +2");
  });
});
