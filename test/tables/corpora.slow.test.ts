/**
 * Files by others, from a folder that is not part of the project: `ECM_CORPORA`, or a
 * neighbour of the checkout. Every file of it is read; what comes of it stands in
 * `corpora.table.txt`, to be looked at when it changes.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { readRecords } from "../../src/tables/csv.ts";
import { findEncoding } from "../../src/tables/encoding.ts";
import { createKeyReader } from "../../src/tables/keys.ts";
import { readRows, type UnderstoodInput } from "../../src/tables/read-rows.ts";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { inspectFile } from "../../src/tables/source.ts";
import { decodeAll, resolveEncoding } from "../../src/tables/text.ts";
import { requireUnderstood } from "../../src/tables/understand.ts";
import { inputFile } from "../bulk/kit.ts";
import { structure, toInputFile } from "./reading.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = process.env.ECM_CORPORA ?? join(root, "..", "shared", "corpora");
const isThere = existsSync(folder);

function filesBelow(path: string): string[] {
  return readdirSync(join(folder, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function json<T>(path: string): T {
  return JSON.parse(readFileSync(join(folder, path), "utf8"));
}

async function* oneChunk(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

async function readCells(text: string, delimiter: string): Promise<string[][]> {
  const cells: string[][] = [];
  for await (const batch of readRecords(oneChunk(text), { delimiter }))
    cells.push(...batch.map((record) => record.cells));
  return cells;
}

/** Records as objects, the way the expectations have them. */
async function readObjects(text: string): Promise<Record<string, string>[]> {
  const [header = [], ...rows] = await readCells(text, ",");
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] ?? ""])));
}

/** Of all records of a file, with the lines on which they start. */
async function digestRecords({ reading }: UnderstoodInput): Promise<string> {
  const hash = createHash("sha256");
  for await (const batch of reading.table.records()) {
    for (const { line, cells } of batch) hash.update(JSON.stringify([line, cells]));
  }
  return hash.digest("hex").slice(0, 8);
}

if (!isThere) test.skip(`the corpora are not at ${folder}: ECM_CORPORA names the folder`);

describe.runIf(isThere)("every file is read, or refused with a reason", () => {
  const anyTable = { ...structure, keyType: "text", fields: [] };
  /** On a line. Contact exports are read as they are meant; any other table by number, its first column the key. */
  async function readOutcome(path: string): Promise<string> {
    const isExport = path.includes("contact-exports");
    const options: ReadOptions = isExport
      ? { map: [], ignoreUnmapped: true }
      : { map: [["1", "key"]], ignoreUnmapped: true, hasNoHeader: true };
    const scratch = await mkdtemp(join(tmpdir(), "ecm-corpora-"));
    try {
      const file = { path, name: path, scratch };
      const account = isExport ? structure : anyTable;
      const understood = await requireUnderstood("contacts", file, options, account);
      const { form, delimiter, system } = understood.facts;
      const { startLine, headerLines } = understood.reading.table;
      const counts = new Map<string, number>();
      for await (const row of readRows(understood)) {
        const name = row.kind === "row" ? (row.mark?.reason ? "not_subscribed" : "rows") : row.code;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
      const counted = [...counts].map(([name, count]) => `${name} ${count}`).join(", ") || "no rows";
      const header = headerLines === 0 ? "" : `, ${system ?? "no system"}, header on line ${startLine}`;
      const records = await digestRecords(understood);
      return `${form.encoding} ${JSON.stringify(delimiter)}${header}: ${counted}; records ${records}`;
    } catch (error) {
      expect(error).toBeInstanceOf(EcmError);
      return `refused: ${(error as Error).message.replace(path, "").replace(/^:/, "line ").trim()}`;
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  test("the table holds", async () => {
    const lines: string[] = [];
    for (const path of filesBelow(".")) lines.push(`${relative(folder, path)}: ${await readOutcome(path)}`);
    expect(lines.length).toBeGreaterThan(300);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("corpora.table.txt");
  });

  test("no hostile file hangs or breaks it", async () => {
    const { files } = json<{ files: Record<string, string> }>("csv/duckdb/fuzz-pack.json");
    expect(Object.keys(files).length).toBeGreaterThan(200);
    for (const [name, base64] of Object.entries(files)) {
      const path = await inputFile(Buffer.from(base64, "base64"));
      expect(await readOutcome(path), name).toMatch(/; records \w+$|^refused: ./);
    }
  });
});

describe.runIf(isThere)("cells are what others expect", () => {
  test("csv-spectrum, all of it", async () => {
    const files = filesBelow("csv/csv-spectrum/csvs");
    expect(files).toHaveLength(12);
    for (const path of files) {
      const name = relative(folder, path).replace("/csvs/", "/json/");
      const expected = json<unknown>(name.replace(/\.csv$/, ".json"));
      // The copies of two files have lost the carriage returns that they are about.
      const text = readFileSync(path, "utf8");
      const read = await readObjects(path.endsWith("_crlf.csv") ? text.replace(/\r?\n/g, "\r\n") : text);
      // One expectation is an object in place of an array, with another telephone number than its table.
      if (path.endsWith("location_coordinates.csv")) {
        expect([{ ...read[0], "Contact Phone Number": "1234567890" }]).toEqual([expected]);
      } else expect(read, path).toEqual(expected);
    }
  });

  interface PapaCase {
    description: string;
    input: string;
    config?: Record<string, unknown>;
    expected: { data: unknown[]; errors: unknown[]; meta?: { delimiter?: string } };
  }

  /** Where we differ, and why. */
  const papaDifferences = [
    // Blanks before a quoted cell are as little part of it as those after it.
    "Quoted field with whitespace around quotes",
    // Any line break ends a record, also one of another kind than the first.
    "Mixed slash n and slash r should choose first as precident",
  ];

  test("papaparse, the cases that are about cells alone and expect no error", async () => {
    const cases = json<{ cases: PapaCase[] }>("csv/papaparse/cases.json").cases.filter(
      (each) =>
        Object.keys(each.config ?? {}).every((name) => name === "delimiter") &&
        /^[^\r\n"]$/.test(findDelimiter(each)) &&
        typeof each.input === "string" &&
        !each.description.includes("guessed") &&
        each.expected.errors.length === 0,
    );
    const differing: string[] = [];
    for (const each of cases) {
      const { description, input, expected } = each;
      const cells = await readCells(input.replace(/^\ufeff/, ""), findDelimiter(each)).catch(String);
      // They make a row of the nothing after the last line break.
      const data = /[\r\n]$/.test(input) ? expected.data.slice(0, -1) : expected.data;
      if (JSON.stringify(cells) !== JSON.stringify(data)) differing.push(description);
    }
    expect(cases.length).toBeGreaterThan(40);
    expect(differing.sort()).toEqual(papaDifferences.sort());
  });

  function findDelimiter({ config, expected }: PapaCase): string {
    return String(config?.delimiter || expected.meta?.delimiter || ",");
  }
});

describe.runIf(isThere)("encodings", () => {
  interface Label {
    label: string;
    sha256_utf8: string;
    textdecoder_node20: boolean;
    iconv_lite: boolean;
  }

  type Labels = { files: Record<string, Label> };
  const labels = () => Object.entries(json<Labels>("csv/encodings-node-chardet/LABELS.json").files);

  test("text decodes to what another decoder gives", async () => {
    const differing: string[] = [];
    for (const [name, { label, sha256_utf8, textdecoder_node20, iconv_lite }] of labels()) {
      if (!textdecoder_node20 && !iconv_lite) continue;
      const bytes = readFileSync(join(folder, "csv/encodings-node-chardet", name));
      const text = (await decodeAll(bytes, await resolveEncoding(label))).replace(/^\ufeff/, "");
      if (createHash("sha256").update(text).digest("hex") !== sha256_utf8)
        differing.push(`${name} as ${label}`);
    }
    expect(differing).toEqual([]);
  });

  /** Not found, and why not. */
  const notFound = [
    "utf16be", // Its mark says big-endian, its bytes are little-endian.
    "windows_1252", // A list of symbols, without a letter.
    "windows_1258", // Vietnamese is not among the languages that are known.
  ];

  test("encodings are found by the look of the bytes", async () => {
    const wrong: string[] = [];
    for (const [name, { label }] of labels()) {
      const inspection = await inspectFile(toInputFile(join(folder, "csv/encodings-node-chardet", name)));
      const found = await findEncoding(inspection, undefined).catch((error: Error) => ({
        encoding: error.message,
      }));
      const [one, other] = await Promise.all(
        [found.encoding, label].map(async (each) =>
          resolveEncoding(each)
            .then((name) => decodeAll(inspection.start, name))
            .catch(() => each),
        ),
      );
      if (one !== other) wrong.push(name);
    }
    expect(wrong).toEqual(notFound);
  });
});

describe.runIf(isThere)("addresses", () => {
  const readKey = createKeyReader("email");
  const isTaken = (address: string) => "key" in readKey(address);

  test("isemail: only what is deliverable mail is taken", () => {
    const { tests } = json<{ tests: { address: string; category: string }[] }>("email/isemail.json");
    const taken = tests.filter(({ address }) => {
      const reading = readKey(address);
      // Blanks and line breaks at the edges, and a dot after the domain,
      // are mended: what is sent is an address again.
      return "key" in reading && (reading.key.sent === address || reading.key.sent !== "test@iana.org");
    });
    const wronglyTaken = taken
      .filter(({ category }) => !/VALID|DNSWARN/.test(category))
      .map(({ address }) => address);
    const wronglyRefused = tests
      .filter(({ address, category }) => /VALID|DNSWARN/.test(category) && !isTaken(address))
      .map(({ address }) => address);
    expect(wronglyTaken).toEqual([]);
    // No mail reaches a domain without a name of two letters or more at its end, nor one that is too long.
    const isNamed = (address: string) => /@(?:[^@]+\.)?(?:[a-z]{2,63})$/.test(address);
    expect(wronglyRefused.filter((address) => isNamed(address) && address.length < 64)).toEqual(["test@io"]);
    expect(wronglyRefused).toHaveLength(4);
  });

  test("a strict validator's valid addresses are taken, its others refused", () => {
    type Corpus = Record<string, { address: string; ascii_domain?: string }[]>;
    const corpus = json<Corpus>("email/python-email-validator.json");
    for (const { address, ascii_domain } of corpus.valid!) {
      const reading = readKey(address);
      expect("key" in reading && reading.key.sent.split("@").at(-1), address).toBe(ascii_domain);
    }
    const invalid = [
      ...corpus.invalid!.map(({ address }) => address),
      ...(corpus.invalid_unsafe_unicode as unknown as string[]),
    ];
    expect(invalid.filter(isTaken)).toEqual([
      // Mended: what is sent is an address.
      "my@trailingdot.com.",
      "my@trailingfwdot.com．",
      "my@example.com\n",
      "\nmy@example.com",
      // A reserved form of names that nobody can register.
      "me@yy--0.tld",
    ]);
    for (const { address } of corpus.valid_if_smtputf8!) {
      expect(readKey(address), address).toMatchObject({ code: "key_non_ascii_local" });
    }
  });

  test("the encyclopedia's examples", () => {
    const corpus = json<Record<string, string[]>>("email/wikipedia-examples.json");
    expect(corpus.valid!.filter((address) => !isTaken(address))).toEqual([]);
    expect([...corpus.valid_but_unusual!, ...corpus.invalid!].filter(isTaken)).toEqual([]);
  });

  test("dots that old carriers allowed are refused, in quotes too", () => {
    type Corpus = { addresses: { address: string; quoted: string }[] };
    const { addresses } = json<Corpus>("email/japan-carrier.json");
    for (const { address, quoted } of addresses) {
      expect(readKey(address), address).toMatchObject({ code: "key_syntax" });
      expect(readKey(quoted), quoted).toMatchObject({ code: "key_quoted_local" });
    }
  });
});
