/**
 * Whatever a table holds: of the person nothing is left, and the others' rows are byte for byte as they were.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTableEraser, eraseObjects } from "../../src/privacy/erase-table.ts";
import { createRedactor } from "../../src/privacy/redaction.ts";
import { runs } from "../support/runs.ts";

const redactor = createRedactor(["ada@example.com"]);
const secret = "Byron-Lovelace";
const written = [
  "ada@example.com",
  "ADA@Example.com",
  "Ada <ada@example.com>",
  "mailto:ada@example.com",
  " ada@example.com. ",
];
const bytes = (text: string) => Buffer.from(text).toString("latin1");
const breaksIn = (text: string) => text.split("\n").length;

const cell = fc.oneof(
  fc.string({ unit: fc.constantFrom(..."ab é,;\t|\n\r\"'@.{}[]:"), maxLength: 12 }),
  fc.constantFrom("granada@example.com", "see bob@example.com", ""),
);
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const delimiters = fc.constantFrom(",", ";", "\t");

function erased(table: string, pieceLength: number, keepsRows: boolean): string {
  const erase = createTableEraser({ redactor, keyNames: [], keepsRows });
  let output = "";
  for (let at = 0; at < table.length; at += pieceLength)
    output += erase(table.slice(at, at + pieceLength), false);
  return output + erase("", true);
}

describe("a table", () => {
  const tables = fc.record({
    others: fc.array(fc.tuple(cell, cell), { maxLength: 12 }),
    place: fc.nat(12),
    key: fc.constantFrom(...written),
    note: cell,
    delimiter: delimiters,
    pieceLength: fc.integer({ min: 40, max: 400 }),
  });
  it.each([true, false])(
    "loses one person's row alone (its place stays: %j)",
    { tags: "slow" },
    (keepsRows) => {
      fc.assert(
        fc.property(tables, ({ others, place, key, note, delimiter, pieceLength }) => {
          const toLine = (cells: string[]) => bytes(`${cells.map(quoted).join(delimiter)}\n`);
          const header = toLine(["Name", "Email", "Note"]);
          const lines = others.map(([name, text], n) => toLine([name, `p${n}@example.com`, text]));
          const at = Math.min(place, lines.length);
          const theirs = toLine([secret, key, `${note}${secret}\n${secret}`]);
          const table = [header, ...lines.slice(0, at), theirs, ...lines.slice(at)].join("");
          const output = erased(table, Math.max(pieceLength, header.length), keepsRows);
          expect(output.toLowerCase()).not.toContain("lovelace");
          expect(redactor.isIn(output)).toBe(false);
          expect(output.startsWith(header + lines.slice(0, at).join(""))).toBe(true);
          expect(output.endsWith(lines.slice(at).join(""))).toBe(true);
          if (keepsRows) expect(breaksIn(output)).toBe(breaksIn(table));
          else expect(output).toBe([header, ...lines].join(""));
        }),
        { numRuns: runs(60) },
      );
    },
  );

  it("keeps somebody who only speaks of the person, and quotes that are text", () => {
    const table = `Email,Referrer,Size\nbob@example.com,ada@example.com,5" disk\nada@example.com,x,y\neve@example.com,,7" disk\n`;
    expect(erased(table, 4096, true)).toBe(
      `Email,Referrer,Size\nbob@example.com,erased---------,5" disk\nerased,,\neve@example.com,,7" disk\n`,
    );
  });

  it("is no table with quotes where one is never closed", () => {
    const table = `Email,Name\n"bob@example.com,Bob\nada@example.com,${secret}\neve@example.com,Eve\n`;
    expect(erased(table, 4096, true)).toBe(
      `Email,Name\n"bob@example.com,Bob\nerased,\neve@example.com,Eve\n`,
    );
  });
});

describe("JSON", () => {
  const values = fc.oneof(cell, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));
  it("loses the person's objects alone, on lines and in an array", { tags: "trials" }, () => {
    fc.assert(
      fc.property(
        fc.array(values, { maxLength: 8 }),
        fc.nat(8),
        fc.boolean(),
        fc.boolean(),
        (some, place, isArray, keepsRows) => {
          const others = some.map((value, n) =>
            JSON.stringify({ Email: `p${n}@example.com`, Note: value }).replace(
              /}$/,
              ',"n":12345678901234567890}',
            ),
          );
          const at = Math.min(place, others.length);
          const theirs = JSON.stringify({ Email: "ADA@example.com", Name: secret, deep: { of: [secret] } });
          const all = [...others.slice(0, at), theirs, ...others.slice(at)];
          const json = bytes(isArray ? `[\n${all.join(",\n")}\n]` : `${all.join("\n")}\n`);
          const output = eraseObjects(json, { redactor, keyNames: [], keepsRows });
          expect(output.toLowerCase()).not.toContain("lovelace");
          for (const other of others) expect(output).toContain(bytes(other));
          expect(breaksIn(output)).toBe(breaksIn(json));
          const objects: unknown[] = isArray
            ? JSON.parse(output)
            : output
                .trim()
                .split("\n")
                .map((line) => JSON.parse(line));
          expect(objects[at]).toMatchObject(keepsRows ? { Email: "erased", Name: "" } : { Email: "erased" });
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("finds the person inside a line of a plan, whose place stays", () => {
    const line = {
      line: 3,
      key: "ada@example.com",
      contactId: "1",
      action: "update",
      changes: [{ after: secret }],
    };
    const further = { line: 4, key: "bob@example.com", before: { key: "ada@example.com", fields: [secret] } };
    const output = eraseObjects(`${JSON.stringify(line)}\n${JSON.stringify(further)}\n`, {
      redactor,
      keyNames: [],
      keepsRows: false,
    });
    expect(
      output
        .trim()
        .split("\n")
        .map((each) => JSON.parse(each)),
    ).toEqual([
      { line: 3, key: "erased", contactId: "1", action: "update" },
      { line: 4, key: "bob@example.com", before: { key: "erased" } },
    ]);
  });
});
