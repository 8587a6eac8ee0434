/**
 * An account's state folder in PostgreSQL: fetched before a slice, and stored during and after it. What
 * was stored is known by its hash: where a file has only grown, only what is new is sent.
 */
import { createHash, type Hash } from "node:crypto";
import { mkdir, open, readdir, stat } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Database, Transaction } from "./database.ts";

/** What says who is at work on this machine is nothing for another one; the sandbox is nobody's account. */
const leftBehind = /(^|\/)(locks|\.[^/]+\.locks|under-way|sandbox)(\/|$)/;
/** Read first: a journal that is older than its plan has lost lines, one that is newer names lines that are not there. */
const first = /\/journal$|^suppressions\//;
const partBytes = 4 * 2 ** 20;

interface Stored {
  bytes: number;
  modified: number;
  /** Over the first `bytes` of the file. */
  hash: Hash;
}

/** What PostgreSQL has of a folder, as far as this slice knows. */
export type StoredFiles = Map<string, Stored>;

/** Writes the account's state into an empty folder. */
export async function fetchState(database: Database, account: string, folder: string): Promise<StoredFiles> {
  const files: StoredFiles = new Map();
  const { rows: places } = await database.query<{ path: string; start: string }>(
    "SELECT path, start FROM fleet.state_part WHERE account = $1 ORDER BY path, start",
    [account],
  );
  for (const { path, start } of places) {
    const { rows } = await database.query<{ content: Buffer }>(
      "SELECT content FROM fleet.state_part WHERE account = $1 AND path = $2 AND start = $3",
      [account, path, start],
    );
    const content = rows[0]!.content;
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const handle = await open(file, "a", 0o600);
    await handle.writeFile(content);
    const { mtimeMs: modified } = await handle.stat();
    await handle.close();
    const stored = files.get(path) ?? { bytes: 0, modified, hash: createHash("sha256") };
    stored.hash.update(content);
    files.set(path, { ...stored, bytes: stored.bytes + content.length, modified });
  }
  return files;
}

/**
 * Stores what has changed since, in the transaction that the lease guards.
 * @returns what PostgreSQL has once the transaction is committed, and how many bytes were sent
 */
export async function storeState(
  transaction: Transaction,
  account: string,
  folder: string,
  stored: StoredFiles,
): Promise<{ files: StoredFiles; bytesSent: number }> {
  const paths = await listFiles(folder);
  const files: StoredFiles = new Map();
  let bytesSent = 0;
  for (const path of paths) {
    const before = stored.get(path);
    const result = await storeFile(transaction, account, { folder, path, before });
    if (!result) continue;
    files.set(path, result);
    bytesSent += result.sent;
  }
  const gone = [...stored.keys()].filter((path) => !files.has(path));
  await transaction.query("DELETE FROM fleet.state_part WHERE account = $1 AND path = ANY ($2)", [
    account,
    gone,
  ]);
  return { files, bytesSent };
}

async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll(sep, "/"),
    )
    .filter((path) => !leftBehind.test(path))
    .sort((one, other) => Number(first.test(other)) - Number(first.test(one)) || (one < other ? -1 : 1));
}

interface FileToStore {
  folder: string;
  path: string;
  before: Stored | undefined;
}

/** @returns undefined where the file has gone meanwhile */
async function storeFile(
  transaction: Transaction,
  account: string,
  { folder, path, before }: FileToStore,
): Promise<(Stored & { sent: number }) | undefined> {
  const file = join(folder, path);
  const { size, mtimeMs: modified } = await stat(file).catch(() => ({ size: -1, mtimeMs: 0 }));
  if (size < 0) return undefined;
  if (before && before.bytes === size && before.modified === modified) return { ...before, sent: 0 };
  const start = before && (await hasGrown(file, before, size)) ? before.bytes : 0;
  const hash = start > 0 ? before!.hash.copy() : createHash("sha256");
  if (start === 0) {
    await transaction.query("DELETE FROM fleet.state_part WHERE account = $1 AND path = $2", [account, path]);
  }
  let bytes = start;
  for await (const part of readParts(file, start, size)) {
    await transaction.query("INSERT INTO fleet.state_part VALUES ($1, $2, $3, $4)", [
      account,
      path,
      bytes,
      part,
    ]);
    hash.update(part);
    bytes += part.length;
  }
  // An empty file is a file too: some say something by being there.
  if (bytes === 0) {
    await transaction.query("INSERT INTO fleet.state_part VALUES ($1, $2, 0, '')", [account, path]);
  }
  return { bytes, modified, hash, sent: bytes - start };
}

/** Whether the file still begins with all that was stored of it. */
async function hasGrown(file: string, { bytes, hash }: Stored, size: number): Promise<boolean> {
  if (bytes === 0 || size < bytes) return false;
  const now = createHash("sha256");
  for await (const part of readParts(file, 0, bytes)) now.update(part);
  return now.digest("hex") === hash.copy().digest("hex");
}

async function* readParts(file: string, start: number, end: number): AsyncGenerator<Buffer> {
  const handle = await open(file, "r");
  try {
    for (let at = start; at < end; ) {
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(Math.min(partBytes, end - at)),
        0,
        Math.min(partBytes, end - at),
        at,
      );
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}
