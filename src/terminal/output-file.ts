/** Where data goes: stdout, or a file that appears whole or not at all. */
import { randomBytes } from "node:crypto";
import { copyFile, type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../errors.ts";
import type { OutputOptions } from "./format.ts";
import type { Terminal } from "./terminal.ts";

export interface Sink {
  write(text: string): Promise<void>;
  /** True when nobody reads any more. */
  readonly isClosed: boolean;
  /** Makes a file appear under its name. */
  commit(): Promise<void>;
  /** Leaves what stood under the name as it was. */
  discard(): Promise<void>;
}

/** @throws UsageError when the file cannot be written. */
export async function openOutput(terminal: Terminal, output: OutputOptions): Promise<Sink> {
  const sink = output.outputFile === undefined ? stdoutSink(terminal) : await fileSink(output.outputFile);
  if (wantsMark(output)) await sink.write("\ufeff");
  return sink;
}

/** A byte order mark is for spreadsheets; JSON may not begin with one. */
export function wantsMark({ bom, format }: OutputOptions): boolean {
  return bom === true && (format === "csv" || format === "tsv");
}

function stdoutSink(terminal: Terminal): Sink {
  return {
    write: (text) => terminal.write(text),
    get isClosed() {
      return terminal.isStdoutClosed;
    },
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}

/** A file that grows over several attempts and appears under its own name when it is complete. */
export interface GrowingSink extends Sink {
  /** Puts everything written so far on disk and says how long it is, in bytes. */
  flush(): Promise<number>;
}

/**
 * @param partFile what was written so far; it is moved to `file` at the end
 * @throws UsageError when `file` cannot be written
 */
export async function openGrowingFile(partFile: string, file: string): Promise<GrowingSink> {
  const target = resolve(file);
  // Tried before anything is read from the account: a folder that is not there is found now.
  const trial = await fileSink(file);
  await trial.discard();
  const handle = await open(partFile, "a");
  return {
    async write(text) {
      await handle.write(text);
    },
    isClosed: false,
    async flush() {
      await handle.datasync();
      return (await handle.stat()).size;
    },
    async commit() {
      await handle.sync();
      await handle.close();
      await moveFile(partFile, target);
    },
    async discard() {
      await handle.close().catch(() => undefined);
    },
  };
}

/** By a copy beside the target and a rename: the two may be on different file systems, and rights stay the target's own. */
async function moveFile(from: string, target: string): Promise<void> {
  const temporary = temporaryBeside(target);
  try {
    await copyFile(from, temporary);
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

function temporaryBeside(target: string): string {
  return join(dirname(target), `.ecm-${randomBytes(6).toString("hex")}.tmp`);
}

async function fileSink(file: string): Promise<Sink> {
  const target = resolve(file);
  const temporary = temporaryBeside(target);
  let handle: FileHandle;
  try {
    if ((await stat(target).catch(() => undefined))?.isDirectory()) throw new Error("it is a folder");
    handle = await open(temporary, "wx");
  } catch (error) {
    throw new UsageError(`--output-file: cannot write ${file}: ${(error as Error).message}`);
  }
  return {
    async write(text) {
      await handle.write(text);
    },
    isClosed: false,
    async commit() {
      await handle.sync();
      await handle.close();
      await rename(temporary, target);
    },
    async discard() {
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
    },
  };
}
