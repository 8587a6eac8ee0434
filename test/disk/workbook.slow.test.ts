/** Workbooks as they are written: what no sheet or no XML takes. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import sax from "sax";
import { expect, it } from "vitest";
import { type Entry, fromBuffer, type Options, type ZipFile } from "yauzl";
import { AtomicFile } from "../../src/disk/atomic-file.ts";
import { openWorkbook } from "../../src/disk/workbook.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { read } from "../tables/reading.ts";

async function write(rows: readonly (readonly string[])[]): Promise<Buffer> {
  const path = join(await temporaryFolder(), "people.xlsx");
  const file = new AtomicFile(path);
  const workbook = openWorkbook(file, "People");
  for (const row of rows) await workbook.append(row);
  await workbook.end();
  file.commit();
  return readFile(path);
}

it("every part has elements as their lists count them, and text in cells alone", async () => {
  const header = ["Email", "Text"];
  const parts = await readParts(await write([header, ["p@x.org", "one"]]));
  expect([...parts.keys()]).toContain("xl/styles.xml");
  for (const [name, text] of parts) {
    const parser = sax.parser(true, {});
    const open: { name: string; count?: string; children: number }[] = [];
    parser.onopentag = ({ name: tag, attributes }) => {
      const parent = open.at(-1);
      if (parent) parent.children += 1;
      open.push({ name: tag, count: attributes.count as string | undefined, children: 0 });
    };
    parser.onclosetag = () => {
      const { name: tag, count, children } = open.pop()!;
      if (count !== undefined) expect(children, `${name}: ${tag}`).toBe(Number(count));
    };
    parser.ontext = (between) => {
      if (!["t", "v", "Application"].includes(open.at(-1)?.name ?? "")) expect(between.trim(), name).toBe("");
    };
    parser.write(text).close();
  }
});

/** The files in a zip file, by their names. */
async function readParts(bytes: Buffer): Promise<Map<string, string>> {
  const open = promisify<Buffer, Options, ZipFile>(fromBuffer);
  const zip = await open(bytes, { lazyEntries: false, autoClose: false });
  const entries: Entry[] = [];
  zip.on("entry", (entry: Entry) => entries.push(entry));
  await new Promise<void>((resolve, reject) => zip.once("end", resolve).once("error", reject));
  const parts = new Map<string, string>();
  for (const entry of entries) {
    const stream = await promisify(zip.openReadStream.bind(zip) as typeof zip.openReadStream)(entry);
    const pieces: Buffer[] = [];
    for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
    parts.set(entry.fileName, Buffer.concat(pieces).toString());
  }
  zip.close();
  return parts;
}

it("rows and cells say where they are: not every program counts them", async () => {
  const wide = Array.from({ length: 28 }, (_, at) => `c${at}`);
  const parts = await readParts(await write([wide, wide]));
  const sheet = parts.get("xl/worksheets/sheet1.xml")!;
  const places = [...sheet.matchAll(/<(?:row|c) r="(\w+)"/g)].map(([, place]) => place);
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB"];
  const rows = ["1", "2"].flatMap((row) => [row, ...letters.map((column) => column + row)]);
  expect(places).toEqual(rows);
});

it("every text comes back as it was", async () => {
  const cell = fc.oneof(
    fc.string({ unit: "grapheme" }),
    fc.string({
      unit: fc.constantFrom("_", "x", "0", "A", "\r", "\n", "\t", "\u0001", "\ufffe", "<", "&", " "),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: 1, maxLength: 20 }), async (cells) => {
      const rows = cells.map((text, at) => [`p${at}@x.org`, text]);
      const book = await write([["Email", "Text"], ...rows]);
      const found = await read(book, { map: new Map([["Text", "First Name"]]) });
      expect(found.rows.map((row) => row.cells[1] ?? "")).toEqual(cells);
    }),
  );
});
