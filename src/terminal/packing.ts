/** Files that hold their text packed: compressed, or as a workbook. */
import { once } from "node:events";
import { createGzip } from "node:zlib";
import { parseTsvCell } from "../delimited-lines.ts";
import type { AtomicFile } from "../disk/atomic-file.ts";

/** `workbook`: of lines in tsv. */
export type Packing = "gzip" | "workbook";

/** Takes text, as strings or as UTF-8, and writes it packed. */
interface PackedFile {
  append(text: string | Uint8Array): Promise<void>;
  /** Everything was appended; the file is not put in its place by this. */
  end(): Promise<void>;
  abandon(): void;
}

type WritePiece = (piece: Buffer) => Promise<void>;

async function openPacking(packing: Packing, write: WritePiece): Promise<PackedFile> {
  return packing === "gzip" ? openGzip(write) : openRows(write);
}

/** An atomic file whose text is packed on the way. */
export async function packFile(file: AtomicFile, packing: Packing): Promise<AtomicFile> {
  const packed = await openPacking(packing, (piece) => file.append(piece));
  const refuse = () => {
    throw new Error("a packed file is written in order");
  };
  return {
    append: packed.append,
    appendNow: refuse,
    clear: refuse,
    async commit() {
      try {
        await packed.end();
      } catch (error) {
        await file.discard();
        throw error;
      }
      await file.commit();
    },
    async discard() {
      packed.abandon();
      await file.discard();
    },
  };
}

/** The bytes of a whole packed text. */
export async function packText(text: string, packing: Packing): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const packed = await openPacking(packing, async (piece) => {
    pieces.push(piece);
  });
  await packed.append(text);
  await packed.end();
  return Buffer.concat(pieces);
}

function openGzip(write: WritePiece): PackedFile {
  const gzip = createGzip();
  const packed = (async () => {
    for await (const piece of gzip) await write(piece as Buffer);
  })();
  // Whoever writes next meets the failure.
  packed.catch(() => undefined);
  return {
    async append(text) {
      if (!gzip.write(text)) await Promise.race([once(gzip, "drain"), packed]);
    },
    async end() {
      gzip.end();
      await packed;
    },
    abandon: () => gzip.destroy(),
  };
}

/** Each line is a row; the breaks within a cell are escaped. */
async function openRows(write: WritePiece): Promise<PackedFile> {
  const { openWorkbook } = await import("../disk/workbook.ts");
  const workbook = await openWorkbook(write, { sheetName: "Sheet1" });
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let rest = "";
  const take = async (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop()!;
    for (const line of lines) await workbook.append(line.split("\t").map(parseTsvCell));
  };
  return {
    append: (text) => take(typeof text === "string" ? text : decoder.decode(text, { stream: true })),
    async end() {
      await take(rest === "" ? decoder.decode() : `${decoder.decode()}\n`);
      await workbook.end();
    },
    abandon: workbook.abandon,
  };
}
