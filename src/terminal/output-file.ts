/** Where data goes: stdout, or a file that appears whole or not at all. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { UsageError } from "../errors.ts";
import type { OutputOptions } from "./present.ts";
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
  if (output.bom) await sink.write("\ufeff");
  return sink;
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

async function fileSink(file: string): Promise<Sink> {
  const target = resolve(file);
  const temporary = join(dirname(target), `.ecm-${randomBytes(6).toString("hex")}.tmp`);
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
