/** Streams in memory, for commands that run other commands in this process. */
import { Readable, Writable } from "node:stream";

/** Keeps what is written. */
export function createCollector() {
  const pieces: Buffer[] = [];
  const stream = new Writable({
    write(piece, _encoding, done) {
      pieces.push(Buffer.from(piece));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(pieces).toString("utf8") };
}

/** Hands on what is written, line by line, as soon as a line is whole. */
export function createLineStream(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = "";
  const stream = new Writable({
    write(piece, _encoding, done) {
      const lines = (rest + decoder.decode(Buffer.from(piece), { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) onLine(line);
      done();
    },
  });
  return { stream, end: () => (rest === "" ? undefined : onLine(rest)) };
}

/** Standard input for several readers: it is read once, when the first of them reads. */
export function shareInput(stdin: () => Readable): () => Readable {
  let whole: Promise<Buffer> | undefined;
  const readWhole = async () => {
    const pieces: Buffer[] = [];
    for await (const piece of stdin()) pieces.push(Buffer.from(piece as Uint8Array | string));
    return Buffer.concat(pieces);
  };
  return () =>
    Readable.from(
      (async function* () {
        whole ??= readWhole();
        yield await whole;
      })(),
      { objectMode: false },
    );
}
