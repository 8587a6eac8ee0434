/** Standard input, kept so that a run can be taken up again. */
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { UsageError } from "../../errors.ts";

/** Writes all of a stream to a file that its owner alone can read, and has it on the disk. @throws UsageError; the signal's reason */
export async function spool(input: Readable, file: string, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(input, createWriteStream(file, { mode: 0o600, flags: "wx" }), { signal });
    const handle = await open(file, "r+");
    await handle.sync();
    await handle.close();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new UsageError(`cannot keep standard input in ${file}: ${(error as Error).message}`);
  }
}
