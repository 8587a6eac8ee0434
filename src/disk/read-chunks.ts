/**
 * A file in pieces, in the memory of one: a stream's own would wait for the garbage collector, each of them.
 */
import { open } from "node:fs/promises";

const chunkBytes = 256 * 1024;

/**
 * @returns pieces, each valid until the next is asked for
 * @throws the system's error
 */
export async function* readChunks(file: string): AsyncGenerator<Uint8Array> {
  const handle = await open(file, "r");
  try {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
