/** Where data goes: stdout, or a file that appears whole or not at all. */
import { randomBytes } from "node:crypto";
import { chmod, copyFile, type FileHandle, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { OutputOptions } from "./format.ts";
import { cannotWrite, outputTarget } from "./output-target.ts";
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
  // Tried before anything is read from the account: a folder that may not be written is found now.
  await (await fileSink(file)).discard();
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
      await moveFile(partFile, file);
    },
    async discard() {
      await handle.close().catch(() => undefined);
    },
  };
}

/** By a copy beside the target and a rename: the two may be on different file systems. */
async function moveFile(from: string, file: string): Promise<void> {
  const { path, temporary, handle } = await openBeside(file);
  try {
    const { mode } = await handle.stat();
    await handle.close();
    await copyFile(from, temporary);
    await chmod(temporary, mode);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function fileSink(file: string): Promise<Sink> {
  const { path, temporary, handle } = await openBeside(file);
  return {
    async write(text) {
      await handle.write(text);
    },
    isClosed: false,
    async commit() {
      await handle.sync();
      await handle.close();
      await rename(temporary, path);
    },
    async discard() {
      await handle.close().catch(() => undefined);
      await rm(temporary, { force: true });
    },
  };
}

/** An empty file in the target's folder, with the rights that the target has or would get. @throws UsageError */
async function openBeside(file: string): Promise<{ path: string; temporary: string; handle: FileHandle }> {
  const { path, mode } = outputTarget(file);
  const temporary = join(dirname(path), `.ecm-${randomBytes(6).toString("hex")}.tmp`);
  try {
    const handle = await open(temporary, "wx");
    if (mode !== undefined) await handle.chmod(mode);
    return { path, temporary, handle };
  } catch (error) {
    throw cannotWrite(file, (error as NodeJS.ErrnoException).code ?? (error as Error).message);
  }
}
