/**
 * What an export into a file has written so far, so that the same command goes on after a stop: the data itself, and a
 * journal with one line for each page. Both are private; both are gone when the file is complete.
 */
import { createHash } from "node:crypto";
import { appendFile, mkdir, open, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type ExportState, freshExport } from "./export.ts";

/** An account changes; what was read longer ago than this is not continued. In milliseconds. */
const longestPause = 24 * 60 * 60 * 1000;

export interface ExportProgress {
  state: ExportState;
  /** The file that holds the data so far, cut to what the journal vouches for. */
  partFile: string;
  /** True when an earlier export is continued. */
  isContinued: boolean;
  /** @param bytes length of the part file once all contacts of the page are in it, and on disk */
  recordPage(ids: string[], bytes: number): Promise<void>;
  /** Removes everything. */
  finish(): Promise<void>;
}

interface PageLine {
  page: number;
  pageSize: number;
  pass: number;
  hasShrunk: boolean;
  total?: number;
  /** Contacts given so far. */
  given: number;
  bytes: number;
  ids: string[];
}

/**
 * @param folder the state folder
 * @param identity everything that makes it the same export: account, structure, filters, columns, format, file
 * @param now milliseconds since the epoch
 */
export async function openExportProgress(
  folder: string,
  identity: unknown,
  now: number,
  isFresh: boolean,
): Promise<ExportProgress> {
  const name = createHash("sha256").update(JSON.stringify(identity)).digest("hex").slice(0, 16);
  const home = join(folder, "exports", name);
  const journal = join(home, "journal.ndjson");
  const partFile = join(home, "part");
  const age = await stat(journal).then(
    (found) => now - found.mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  if (isFresh || age > longestPause) await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true, mode: 0o700 });
  const lines = await readJournal(journal);
  const last = lines.at(-1);
  const state = last ? { ...pick(last), seen: new Set(lines.flatMap((line) => line.ids)) } : freshExport();
  await writeFile(partFile, "", { flag: "a", mode: 0o600 });
  await truncate(partFile, last?.bytes ?? 0);
  return {
    state,
    partFile,
    isContinued: last !== undefined,
    async recordPage(ids, bytes) {
      const line: PageLine = { ...pick(state), bytes, ids };
      await appendFile(journal, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
    },
    async finish() {
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** Whole lines only: a torn last line is a page that will be read again. */
async function readJournal(file: string): Promise<PageLine[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  const end = text.lastIndexOf("\n") + 1;
  if (end < text.length) {
    const handle = await open(file, "r+");
    await handle.truncate(Buffer.byteLength(text.slice(0, end)));
    await handle.close();
  }
  return text
    .slice(0, end)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as PageLine);
}

function pick({ page, pageSize, pass, hasShrunk, total, given }: Omit<ExportState, "seen">) {
  return { page, pageSize, pass, hasShrunk, total, given };
}
