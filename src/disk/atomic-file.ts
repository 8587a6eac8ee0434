/** Files that appear whole or not at all. What is written here throws the system's errors. */
import {
  closeSync,
  existsSync,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";

const privateMode = 0o600;
/** Text is written in pieces of about this many characters. */
const pieceLength = 64 * 1024;

/** A file that is written beside its place, synced to the disk, then renamed. */
export class AtomicFile {
  private readonly path: string;
  private readonly temporary: string;
  private readonly mode: number;
  private descriptor: number | undefined;
  private pending = "";

  /** @param mode its rights, whatever the process's mask is; default: its owner's alone */
  constructor(path: string, mode: number = privateMode) {
    this.path = path;
    this.mode = mode;
    this.temporary = join(dirname(path), `.${basename(path).slice(0, 100)}.${createRandomName()}.tmp`);
    this.descriptor = openSync(this.temporary, "wx", privateMode);
  }

  append(data: string | Uint8Array): void {
    if (typeof data === "string") {
      this.pending += data;
      if (this.pending.length >= pieceLength) this.flush();
    } else {
      this.flush();
      writeFileSync(this.descriptor!, data);
    }
  }

  /** Writes what is pending. @returns where the file lies until it is committed */
  flush(): string {
    const text = this.pending;
    this.pending = "";
    if (text !== "") writeFileSync(this.descriptor!, text);
    return this.temporary;
  }

  /**
   * Gives the file its name, in place of an earlier one.
   * @param isLasting false for what may be lost with the power, such as a cache: the disk is not waited for
   */
  commit(isLasting = true): void {
    this.flush();
    if (this.mode !== privateMode) fchmodSync(this.descriptor!, this.mode);
    if (isLasting) fsyncSync(this.descriptor!);
    this.close();
    renameSync(this.temporary, this.path);
    if (isLasting) syncFolder(dirname(this.path));
  }

  /** Removes what is not committed; an earlier file stays unchanged. Never throws. */
  discard(): void {
    try {
      this.close();
      rmSync(this.temporary, { force: true });
    } catch {
      // A temporary file is left behind.
    }
  }

  private close(): void {
    const descriptor = this.descriptor;
    this.descriptor = undefined;
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Writes a file whole; where that fails, an earlier one is unchanged. */
export function writeAtomically(path: string, data: string, mode?: number, isLasting?: boolean): void {
  const file = new AtomicFile(path, mode);
  try {
    file.append(data);
    file.commit(isLasting);
  } catch (error) {
    file.discard();
    throw error;
  }
}

/**
 * Creates an empty file where there is none, for its owner alone from the first moment. One that is there is
 * not opened: closing any descriptor of a file ends the locks that this process holds on it (POSIX).
 */
export function createIfMissing(path: string): void {
  try {
    if (!existsSync(path)) writeFileSync(path, "", { mode: privateMode, flag: "wx" });
  } catch (error) {
    // Another process may have been quicker.
    if (!existsSync(path)) throw error;
  }
}

/** Whether a name in a folder is of a file that is being written, or was when its process was killed. */
export function isTemporaryName(name: string): boolean {
  return /^\..*\.[0-9a-f]{12}\.tmp$/.test(name);
}

/** A new name survives a power cut only when its folder was synced; not every platform can. */
function syncFolder(folder: string): void {
  try {
    const descriptor = openSync(folder, "r");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The file itself is on the disk.
  }
}

/** 12 hexadecimal digits. The global `crypto` is loaded at its first use, `node:crypto` with every help. */
export function createRandomName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(6))).toString("hex");
}
