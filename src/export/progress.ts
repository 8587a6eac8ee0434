/**
 * What an export into a file has written so far, so that the same command goes on
 * after a stop: the data itself, and a journal with one line for each page. Both are
 * private; both are gone when the file is complete.
 */
import { createHash } from "node:crypto";
import { appendFile, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { formatCheckedLine, readCheckedLine } from "../disk/checked-line.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { readChunks } from "../disk/read-chunks.ts";
import { readChangeTime } from "../disk/walk.ts";
import { createExportState, type ExportState } from "./export.ts";
import { IdSet } from "./id-set.ts";

/** An account changes; what was read longer ago than this is not continued. In milliseconds. */
const maxPauseMilliseconds = 24 * 60 * 60 * 1000;
/** People's data that nobody came back for is deleted after this, in milliseconds. */
const maxAgeMilliseconds = 7 * maxPauseMilliseconds;

/** How much of a part file is good: its length in bytes, and the checksum over all of it. */
interface PartExtent {
  bytes: number;
  checksum: number;
}

export interface ExportProgress {
  state: ExportState;
  /** The file that holds the data so far, cut to what the journal vouches for. */
  partFile: string;
  extent: PartExtent;
  /** True when an earlier export is continued. */
  isContinued: boolean;
  /** True when pages that were written are read again, since the data or the journal is damaged or gone. */
  isDamaged: boolean;
  /** @param extent of the part file once all contacts of the page are in it, and on disk */
  recordPage(ids: string[], extent: PartExtent): Promise<void>;
  /** Removes everything. */
  finish(): Promise<void>;
}

interface PageLine extends PartExtent, Omit<ExportState, "seen"> {
  /** Of the contacts that the page brought anew. */
  ids: string[];
}

/** Of the lines of the journal: another one is not continued. */
const journalFormat = 2;

export interface ProgressOptions {
  /** Where the complete file will stand. */
  target: string;
  /** Everything that makes it the same export: account, structure, filters, columns, format, file. */
  identity: unknown;
  /** Milliseconds since the epoch. */
  now: number;
  /** An earlier export is not continued. */
  isFresh: boolean;
  /** The complete file is the data packed, and so of another size. */
  isPacked?: boolean;
}

/** The caller holds the lock on the output file. @param folder the state folder */
export async function openExportProgress(
  folder: string,
  { target, identity, now, isFresh, isPacked = false }: ProgressOptions,
): Promise<ExportProgress> {
  const name = createHash("sha256")
    .update(JSON.stringify([journalFormat, identity]))
    .digest("hex")
    .slice(0, 16);
  const home = join(folder, "exports", name);
  const journal = join(home, "journal");
  const partFile = join(home, "part");
  await removeOldExports(join(folder, "exports"), now);
  const isOld = now - (await readChangeTime(journal)) > maxPauseMilliseconds;
  if (isFresh || isOld || (await isInPlace(partFile, target, isPacked)))
    await rm(home, { recursive: true, force: true });
  makeFolder(home);
  const written = await readJournal(journal);
  const good = await findProvenLines(partFile, written.lines);
  const last = good.at(-1);
  const extent = { bytes: last?.bytes ?? 0, checksum: last?.checksum ?? 0 };
  await writeFile(partFile, "", { flag: "a", mode: 0o600 });
  await truncate(partFile, extent.bytes);
  // Whole lines of what is proven, and nothing else: what follows is appended.
  if (good.length < written.lines.length || written.hasMore) {
    await writeFile(journal, good.map(formatCheckedLine).join(""), { mode: 0o600, flush: true });
  }
  const state = last ? restoreState(last, good) : createExportState();
  return {
    state,
    partFile,
    extent,
    isContinued: last !== undefined,
    isDamaged: good.length < written.lines.length || written.isDamaged,
    async recordPage(ids, { bytes, checksum }) {
      const { seen: _seen, ...position } = state;
      const line: PageLine = { ...position, bytes, checksum, ids };
      await appendFile(journal, formatCheckedLine(line), { mode: 0o600, flush: true });
    },
    async finish() {
      await rm(home, { recursive: true, force: true });
    },
  };
}

function restoreState(last: PageLine, all: readonly PageLine[]): ExportState {
  const { bytes: _bytes, checksum: _checksum, ids: _ids, ...position } = last;
  return { ...position, seen: new IdSet(all.flatMap(({ ids }) => ids)) };
}

interface WrittenPages {
  /** Up to the first that is not what was written. */
  lines: PageLine[];
  /** Something stands behind them, if only a torn last line. */
  hasMore: boolean;
  isDamaged: boolean;
}

/** A torn last line is a page that will be read again; so is everything behind a damaged one. */
async function readJournal(file: string): Promise<WrittenPages> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  const pieces = text.split("\n");
  const torn = pieces.pop() ?? "";
  const lines: PageLine[] = [];
  for (const piece of pieces) {
    const line = readCheckedLine<PageLine>(piece);
    if (!line) return { lines, hasMore: true, isDamaged: true };
    lines.push(line);
  }
  return { lines, hasMore: torn !== "", isDamaged: false };
}

/** The pages whose contacts stand in the part file as they were written. */
async function findProvenLines(partFile: string, lines: PageLine[]): Promise<PageLine[]> {
  const length = await stat(partFile).then(
    ({ size }) => size,
    () => 0,
  );
  let checksum = 0;
  let from = 0;
  for (const [index, { bytes, checksum: expected }] of lines.entries()) {
    if (bytes > length) return lines.slice(0, index);
    if (bytes > from) {
      for await (const piece of readChunks(partFile, { from, to: bytes })) checksum = crc32(piece, checksum);
    }
    if (checksum !== expected) return lines.slice(0, index);
    from = bytes;
  }
  return lines;
}

/** Killed after the complete file was put in its place: what is asked for now is a new export. */
async function isInPlace(partFile: string, target: string, isPacked: boolean): Promise<boolean> {
  try {
    const [part, whole] = await Promise.all([stat(partFile), stat(target)]);
    return (isPacked || whole.size === part.size) && whole.mtimeMs >= part.mtimeMs;
  } catch {
    return false;
  }
}

async function removeOldExports(exportsFolder: string, now: number): Promise<void> {
  for (const name of await readdir(exportsFolder).catch(() => [] as string[])) {
    const home = join(exportsFolder, name);
    const times = await Promise.all([readChangeTime(home), readChangeTime(join(home, "journal"))]);
    if (now - Math.max(...times) > maxAgeMilliseconds) await rm(home, { recursive: true, force: true });
  }
}
