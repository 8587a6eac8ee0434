/** Reading: what kind of file an input is, by its first bytes. Gzip files are unpacked first. */
import { createReadStream, createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { isKind, usageError } from "../errors.ts";
import { textFormat } from "./delimited-text.ts";
import { jsonFormat } from "./json.ts";
import type { ReadOptions } from "./rows.ts";
import {
  type InputFile,
  type Inspection,
  inspectFile,
  isBomb,
  requireFile,
  requireUnchanged,
  tooLargeError,
} from "./source.ts";
import { type ChooseSheet, type Format, type OpenedInput, toScratchPath } from "./table.ts";
import { workbookFormat } from "./workbook/workbook.ts";

/** The first one that opens a file reads it. */
const formats: readonly Format[] = [workbookFormat, jsonFormat, textFormat];

/** @throws UsageError for a file that cannot be read or unpacked, or that holds no table */
export async function openInput(
  file: InputFile,
  options: ReadOptions,
  chooseSheet?: ChooseSheet,
): Promise<OpenedInput> {
  await requireFile(file);
  const inspection = await inspectFile(file);
  const { sha256, bytes } = inspection;
  const isGzip = inspection.start[0] === 0x1f && inspection.start[1] === 0x8b;
  const inner = isGzip ? await unpackGzip(inspection) : inspection;
  const format = formats.find(({ opens }) => opens(inner.start))!;
  if (options.sheet !== undefined && format !== workbookFormat)
    throw usageError(`--sheet applies to workbooks, but ${file.name} is not one`, "Leave out --sheet");
  return { file, sha256, bytes, ...(await format.open(inner, options, chooseSheet)) };
}

/**
 * The content of a gzip file, unpacked in flat memory.
 * @throws UsageError for a damaged file, and for one that unpacks to far more than it is
 */
async function unpackGzip(inspection: Inspection): Promise<Inspection> {
  const { file, bytes: packedBytes } = inspection;
  const { path, name } = file;
  const target = toScratchPath(file, "unpacked");
  let unpackedBytes = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpackedBytes += chunk.length;
      if (isBomb(packedBytes, unpackedBytes)) done(tooLargeError(name));
      else done(null, chunk);
    },
  });
  const gunzip = createGunzip();
  try {
    await pipeline(createReadStream(path), gunzip, limit, createWriteStream(target, { mode: 0o600 }));
    if (gunzip.bytesWritten < packedBytes) throw new Error("there is data behind its end");
  } catch (error) {
    if (isKind(error, "usage")) throw error;
    throw usageError(
      `${name} cannot be unpacked: ${(error as Error).message}`,
      "It is damaged or incomplete; download it again",
    );
  }
  await requireUnchanged(inspection);
  return inspectFile({ ...file, path: target });
}
