/** Records that are taken once, and read as often as they are needed: what is taken is what is read. */
import { appendFileSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cells, toUnknownCell } from "../../src/tables/cells.ts";
import type { TableRecord } from "../../src/tables/csv.ts";
import { inspectFile } from "../../src/tables/source.ts";
import { type ReadRecords, takeRecords } from "../../src/tables/table.ts";
import { inputFile } from "../bulk/kit.ts";
import { refuses, toInputFile } from "./reading.ts";

type Rows = readonly (readonly [line: number, cells: Cells])[];

async function* toBatches(rows: Rows, whileTaken: () => void): AsyncGenerator<TableRecord[]> {
  for (const [line, cells] of rows) yield [{ line, lines: 1, cells: [...cells] }];
  whileTaken();
}

async function take(rows: Rows, whileTaken: (path: string) => void = () => {}) {
  const file = toInputFile(await inputFile("Email\n"));
  const batches = toBatches(rows, () => whileTaken(file.path));
  return { records: await takeRecords(await inspectFile(file), "page", batches), file };
}

async function readAll(records: ReadRecords): Promise<TableRecord[]> {
  const all: TableRecord[] = [];
  for await (const batch of records()) all.push(...batch);
  return all;
}

const cells = ["a\tb\nc\\-", "", undefined, toUnknownCell("#N/A\t"), "\\?", "=1", "é😀", "\ufeff"];
const long = "é😀".repeat(20_000);

test.each<[string, Rows, boolean]>([
  [
    "cells are what they were: text, blank, missing, or of a value that nobody knows; few stay in memory",
    Array.of([1, ["Email", "x"]], [4, cells], [5, ["z", undefined]]),
    false,
  ],
  [
    "characters that two pieces share are whole; many are in a file",
    Array.from({ length: 20 }, (_, index) => [index + 1, [`x${long}`]] as const),
    true,
  ],
])("%s", async (_what, rows, isInFile) => {
  const { records, file } = await take(rows);
  for (const _pass of [1, 2])
    expect(await readAll(records)).toEqual(rows.map(([line, cells]) => ({ line, lines: 1, cells })));
  const path = join(file.scratch, "page");
  expect(existsSync(path)).toBe(isInFile);
  if (isInFile) expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each<[string, Rows, string]>([
  ["half of a character", [[1, ["a", "b\ud83d"]]], ":1: cell 2 contains a character that text cannot hold"],
  ["a zero byte", [[3, ["b\0"]]], ":3: cell 1 contains a character that text cannot hold"],
  ["a row that goes back", [[0, ["a"]]], "its rows are not in order"],
  ["no row", [], " is empty"],
])("is refused with its place: %s", async (_what, rows, message) => {
  await refuses(take(rows), message);
});

test("an interruption ends the reading", async () => {
  const file = {
    ...toInputFile(await inputFile("Email\n")),
    signal: AbortSignal.abort(new Error("stopped")),
  };
  const batches = toBatches([[1, ["a"]]], () => {});
  await expect(takeRecords(await inspectFile(file), "page", batches)).rejects.toThrow("stopped");
});

test("a file that grows while it is read is refused", async () => {
  const taken = take([[1, ["a"]]], (path) => appendFileSync(path, "x"));
  await expect(taken).rejects.toThrow("was changed while it was being read");
});
