/**
 * Standard output: pieces are written as fast as the reader takes them, and a reader who leaves ends nothing.
 */
import type { Writable } from "node:stream";

export interface OutputStream {
  /** The reader has left, or writing has failed. */
  readonly isClosed: boolean;
  /** Done as soon as there is room for more. */
  write(text: string): Promise<void>;
  /**
   * Done when everything is written, or cannot be.
   * @returns what failed, other than that the reader has left
   */
  flush(): Promise<Error | undefined>;
}

const allWritten = Symbol("everything is written");

export function createOutputStream(stream: Writable): OutputStream {
  let isClosed = false;
  let failure: Error | undefined;
  /** Pieces that the stream has not taken yet. */
  let unwritten = 0;
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") failure ??= error;
    isClosed = true;
  });
  stream.on("close", () => {
    isClosed = true;
  });

  /** Listens to all of them until the first. */
  function waitForFirst(...events: (string | symbol)[]): Promise<void> {
    return new Promise((resolve) => {
      const settle = () => {
        for (const event of events) stream.off(event, settle);
        resolve();
      };
      for (const event of events) stream.on(event, settle);
    });
  }

  return {
    get isClosed() {
      return isClosed;
    },
    write(text) {
      if (isClosed || text === "") return Promise.resolve();
      unwritten++;
      const hasRoom = stream.write(text, () => {
        unwritten--;
        if (unwritten === 0) stream.emit(allWritten);
      });
      return hasRoom ? Promise.resolve() : waitForFirst("drain", "close", "error");
    },
    async flush() {
      if (unwritten > 0 && !isClosed) await waitForFirst(allWritten, "close", "error");
      return failure;
    },
  };
}
