/** Where data goes: stdout, or a file that appears whole or not at all. */
import { resolve } from "node:path";
import { parseTsvCell } from "../delimited-lines.ts";
import { type AtomicFile, openAtomicFile } from "../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../disk/disk-errors.ts";
import { failedError } from "../errors.ts";
import { cannotWriteError, resolveOutputTarget } from "./command-files.ts";
import type { OutputOptions } from "./format.ts";
import type { Terminal } from "./terminal.ts";

export interface Sink {
  write(data: string | Uint8Array): Promise<void>;
  /** True when the reader has closed the output. */
  readonly isClosed: boolean;
  /** Makes a file appear under its name. */
  commit(): Promise<void>;
  /** Leaves an earlier file of that name unchanged. */
  discard(): Promise<void>;
}

/** Writes to a sink and commits it. Where that fails, the sink is discarded. */
export async function fillSink<T>(sink: Sink, write: (sink: Sink) => T | Promise<T>): Promise<T> {
  try {
    const result = await write(sink);
    await sink.commit();
    return result;
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** @throws UsageError when the file cannot be written. */
export async function openOutput(terminal: Terminal, output: OutputOptions): Promise<Sink> {
  const { outputFile, bom, format, isWorkbook } = output;
  const sink =
    outputFile === undefined ? createStdoutSink(terminal) : await openFileOutput(outputFile, output);
  // A byte order mark is for spreadsheets that read text; JSON may not begin with one.
  if (bom && !isWorkbook && (format === "csv" || format === "tsv")) await sink.write("\ufeff");
  return sink;
}

function createStdoutSink(terminal: Terminal): Sink {
  return {
    write: (data) => terminal.write(data),
    get isClosed() {
      return terminal.isStdoutClosed;
    },
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}

interface FileOptions extends Pick<OutputOptions, "beforeRename"> {
  /** The flag that names the file. Default: `--output-file`. */
  flag?: string;
  /** The text that is written are lines of tsv; the file is a workbook of them. */
  isWorkbook?: boolean;
}

/** Characters that are written to a file at once: it takes each write on its own, at some cost. */
const bufferLength = 64 * 1024;

/**
 * With the rights of the file that is there; a new one is people's data, for its owner alone.
 * @throws UsageError when the file cannot be written; EcmError when the disk fails later
 */
export async function openFileOutput(file: string, options: FileOptions = {}): Promise<Sink> {
  const { flag, isWorkbook, beforeRename } = options;
  const { path, mode } = resolveOutputTarget(file, flag);
  const target = await openAtomicFile(path, mode, beforeRename).catch((error: unknown) => {
    throw cannotWriteError(file, describeDiskError(error), flag);
  });
  const packed = isWorkbook ? await packLines(target) : target;
  const withWriteErrors = (act: () => Promise<void>) =>
    act().catch((error: unknown) => {
      throw failedError(
        `Cannot write ${file}: ${describeDiskError(error)}`,
        diskFullHint(error, resolve(file)),
        {
          type: "OutputFileError",
          cause: error,
        },
      );
    });
  let pending = "";
  const flush = async () => {
    const text = pending;
    pending = "";
    if (text !== "") await packed.append(text);
  };
  return {
    write: (data) =>
      withWriteErrors(async () => {
        if (typeof data === "string") pending += data;
        if (typeof data !== "string" || pending.length >= bufferLength) await flush();
        if (typeof data !== "string") await packed.append(data);
      }),
    isClosed: false,
    commit: () =>
      withWriteErrors(async () => {
        await flush();
        await packed.commit();
      }),
    discard: () => packed.discard(),
  };
}

/** Takes whole lines of tsv, and makes a workbook of them. */
async function packLines(file: AtomicFile): Promise<AtomicFile> {
  const { openWorkbook } = await import("../disk/workbook.ts");
  const { append, ...ends } = await openWorkbook(file, "Sheet1");
  return {
    ...ends,
    async append(text) {
      for (const line of text.toString().split("\n").slice(0, -1))
        await append(line.split("\t").map(parseTsvCell));
    },
  };
}
