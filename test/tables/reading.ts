/** A test's own files, read as an import reads them. */
import { expect } from "vitest";
import { describeNote } from "../../src/commands/bulk/words.ts";
import type { EcmError } from "../../src/errors.ts";
import { formatHint } from "../../src/hint.ts";
import type { UnclearInput } from "../../src/tables/columns/unclear.ts";
import { readRows, type UnderstoodInput } from "../../src/tables/read-rows.ts";
import type { ReadOptions, ReadRow, RowKind } from "../../src/tables/rows.ts";
import type { InputFile } from "../../src/tables/source.ts";
import { requireUnderstood, understandInput } from "../../src/tables/understand.ts";
import type { ContactStructure } from "../../src/wire.ts";
import { inputFile } from "../bulk/kit.ts";

export const structure: ContactStructure = {
  _id: "64b000000000000000000001",
  label: "Default",
  keyName: "Email",
  keyType: "email",
  fields: [
    { _id: "f1", label: "First Name", dataType: "text", predefinedField: "firstName" },
    { _id: "f2", label: "Last Name", dataType: "text", predefinedField: "lastName" },
    { _id: "f3", label: "City", dataType: "text" },
  ],
  tags: [],
};

/** The content as a file, with these flags, for an account of this structure. */
async function toInput(
  content: string | Uint8Array,
  options: Partial<ReadOptions> = {},
  contactStructure: ContactStructure = structure,
  rowKind: RowKind = "contacts",
): Promise<Parameters<typeof understandInput>> {
  return [rowKind, toInputFile(await inputFile(content)), { map: [], ...options }, contactStructure];
}

type Input = Parameters<typeof toInput>;

export async function understand(...input: Input): Promise<UnderstoodInput> {
  return requireUnderstood(...(await toInput(...input)));
}

/** What is not clear of the content's columns. */
export async function readUnclear(...input: Input): Promise<UnclearInput> {
  const found = await understandInput(...(await toInput(...input)));
  if ("unclear" in found) return found;
  throw new Error("the file is clear");
}

export async function read(...input: Input) {
  const understood = await understand(...input);
  const all: ReadRow[] = [];
  for await (const row of readRows(understood)) all.push(row);
  return {
    understood,
    all,
    rows: all.filter((row) => row.kind === "row"),
    rejected: all.filter((row) => row.kind === "rejected"),
  };
}

export type ReadResult = Awaited<ReturnType<typeof read>>;

/** Each row by its line: its cells, behind the reason where it is rejected. */
export function outline({ all }: ReadResult): string[] {
  return all.map((row) => {
    const reason = row.kind === "row" ? "" : `${row.code} `;
    return `${row.line} ${reason}${row.cells.join("|")}`;
  });
}

/** What is said of how a file was read. */
export function notesOf({ facts }: UnderstoodInput): string[] {
  return facts.notes.map(describeNote);
}

type Words = string | RegExp;

/** It is refused, exit code 2, in these words, and with a next step. */
export async function refuses(work: Promise<unknown>, message: Words, hint: Words = /./): Promise<EcmError> {
  const error: EcmError = await work.then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  expect(error.message).toMatch(message);
  expect(formatHint(error.details.hint!)).toMatch(hint);
  expect(error.exitCode).toBe(2);
  return error;
}

/** A file under its own name. */
export function toInputFile(path: string): InputFile {
  return { path, name: path, scratch: `${path}.unpacked` };
}
