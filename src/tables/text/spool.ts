/**
 * Input that can be read only once, such as standard input: written to a file, so that a run can be resumed.
 */
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  openSync,
  type ReadStream,
} from "node:fs";
import { open, stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describeDiskError, diskFullHint } from "../../disk/disk-errors.ts";
import { UsageError } from "../../errors.ts";

/**
 * The stream of a path that is no regular file: a FIFO, a process substitution (`/dev/fd/63`), `/dev/stdin`
 * behind a pipe. Undefined for a regular file, a folder, and a path that does not exist.
 */
export async function openStream(path: string, signal: AbortSignal): Promise<Readable | undefined> {
  const entry = await stat(path).catch(() => undefined);
  const isStream = entry?.isFIFO() || entry?.isCharacterDevice() || entry?.isSocket();
  if (!entry || !isStream) return undefined;
  signal.throwIfAborted();
  const stream = createReadStream(path);
  if (entry.isFIFO()) releaseOnAbort(stream, path, signal);
  return stream;
}

/**
 * Opening a FIFO waits for a writer, and the process cannot exit while
 * it waits: after an abort this is that writer.
 */
function releaseOnAbort(stream: ReadStream, fifo: string, signal: AbortSignal): void {
  let timer: NodeJS.Timeout | undefined;
  const writeNothing = () => {
    try {
      closeSync(openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // The reader has not come to its opening yet, or the FIFO is gone.
    }
  };
  const release = () => {
    timer = setInterval(writeNothing, releaseIntervalMilliseconds);
  };
  const ready = () => {
    signal.removeEventListener("abort", release);
    clearInterval(timer);
  };
  signal.addEventListener("abort", release, { once: true });
  stream.once("open", ready).once("close", ready);
}

const releaseIntervalMilliseconds = 10;

/**
 * Writes all of a stream to a file that its owner alone can read, and has it on the disk.
 * @throws UsageError; the signal's reason
 */
export async function spool(input: Readable, name: string, file: string, signal: AbortSignal): Promise<void> {
  try {
    await pipeline(input, createWriteStream(file, { mode: 0o600, flags: "wx" }), { signal });
    const handle = await open(file, "r+");
    await handle.sync();
    await handle.close();
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw new UsageError(
      `Cannot copy ${name} to ${file}: ${describeDiskError(error)}`,
      diskFullHint(error, file),
    );
  }
}
