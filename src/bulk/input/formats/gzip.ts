/** Reading: a gzip file → its content, in a file. */
import { createReadStream, createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { UsageError } from "../../../errors.ts";
import type { InputFile } from "../source.ts";
import { isBomb, tooLarge } from "./table.ts";

/** Unpacks in flat memory. @throws UsageError for a damaged file, and for one that unpacks to far more than it is */
export async function unpackGzip(
  { path, name }: InputFile,
  packedBytes: number,
  target: string,
): Promise<void> {
  let unpacked = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length;
      if (isBomb(packedBytes, unpacked)) done(tooLarge(name));
      else done(null, chunk);
    },
  });
  try {
    await pipeline(createReadStream(path), createGunzip(), limit, createWriteStream(target, { mode: 0o600 }));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${name} cannot be unpacked: ${(error as Error).message}`,
      "It is damaged or incomplete; download it again",
    );
  }
}
