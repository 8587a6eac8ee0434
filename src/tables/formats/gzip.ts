/** Reading: a gzip file → its content, in a file. */
import { createReadStream, createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { UsageError } from "../../errors.ts";
import type { InputFile } from "../text/source.ts";
import { isBomb, tooLargeError } from "./table.ts";

/**
 * Unpacks in flat memory.
 * @throws UsageError for a damaged file, and for one that unpacks to far more than it is
 */
export async function unpackGzip(
  { path, name }: InputFile,
  packedBytes: number,
  target: string,
): Promise<void> {
  let unpacked = 0;
  const limit = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      unpacked += chunk.length;
      if (isBomb(packedBytes, unpacked)) done(tooLargeError(name));
      else done(null, chunk);
    },
  });
  const gunzip = createGunzip();
  try {
    await pipeline(createReadStream(path), gunzip, limit, createWriteStream(target, { mode: 0o600 }));
    if (gunzip.bytesWritten < packedBytes) await requirePadding(path, gunzip.bytesWritten);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `${name} cannot be unpacked: ${(error as Error).message}`,
      "It is damaged or incomplete; download it again",
    );
  }
}

/** Zero bytes may fill a file up; what is behind them would be passed over in silence. */
async function requirePadding(path: string, start: number): Promise<void> {
  for await (const chunk of createReadStream(path, { start }) as AsyncIterable<Buffer>) {
    if (chunk.some((byte) => byte !== 0)) throw new Error("there is data behind its end");
  }
}
