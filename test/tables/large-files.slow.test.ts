/** Large inputs in little memory: the heap of the child process is too small for the whole file. */
import { createWriteStream } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";
import { spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { read, refuses } from "./reading.ts";
import { createParts, workbook, zip } from "./workbooks.ts";

const count = 20_000;

function* ndjson(): Generator<string> {
  for (let at = 0; at < count; at += 1) {
    yield `{"Email":"person${at}@example.com","First Name":"First ${at}","Last Name":"${"x".repeat(2000)} ${at}"}\n`;
  }
}

async function rowsRead(path: string, heapMegabytes: number): Promise<number> {
  const env = { ...(await temporaryHome()), NODE_OPTIONS: `--max-old-space-size=${heapMegabytes}` };
  const child = spawnEcm(["--profile", "sandbox", "import", path, "--dry-run", "--json"], env);
  const { stdout, stderr } = await waitForResult(child);
  // More contacts than the month has requests; but a heap that is too small prints no summary.
  expect(stdout, stderr).toMatch(/^\{/);
  return JSON.parse(stdout).rows.read;
}

test("ndjson of 40 MB, packed, needs a heap of 64 MB", async () => {
  const folder = await temporaryFolder();
  const packed = join(folder, "people.ndjson.gz");
  await pipeline(Readable.from(ndjson()), createGzip({ level: 1 }), createWriteStream(packed));
  expect(await rowsRead(packed, 64)).toBe(count);
});

test("a workbook of 50,000 rows needs a heap of 72 MB, for the texts that its cells share", async () => {
  const shared = ["<si><t>Email</t></si>", "<si><t>First Name</t></si>"];
  const rows = ['<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'];
  for (let at = 0; at < 50_000; at += 1) {
    const [row, text] = [at + 2, shared.length];
    shared.push(`<si><t>person${at}@example.com</t></si>`, `<si><t>First ${at}</t></si>`);
    rows.push(
      `<row r="${row}"><c r="A${row}" t="s"><v>${text}</v></c><c r="B${row}" t="s"><v>${text + 1}</v></c></row>`,
    );
  }
  const path = join(await temporaryFolder(), "people.xlsx");
  await writeFile(path, workbook({ sheets: [{ name: "P", rows: rows.join("") }], sharedTexts: shared }));
  expect(await rowsRead(path, 72)).toBe(50_000);
});

test("a workbook whose sheet unpacks to far more than a list of contacts is refused", async () => {
  const blanks = Buffer.concat([Buffer.from("<worksheet>"), Buffer.alloc(65 * 1024 ** 2, 32)]);
  const parts = createParts({ sheets: [{ name: "People", rows: "" }] });
  await refuses(read(zip({ ...parts, "xl/worksheets/sheet1.xml": blanks })), "unpacks to far more");
});
