/** Where data goes: stdout, or a file that appears whole or not at all. */
import { resolve } from "node:path";
import { AtomicFile } from "../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../disk/disk-errors.ts";
import { failedError } from "../errors.ts";
import { cannotWriteError, resolveOutputTarget } from "./command-files.ts";
import type { OutputOptions } from "./format.ts";
import type { Terminal } from "./terminal.ts";

export interface Sink {
  write(data: string | Uint8Array): Promise<void>;
  /** In place of `write` where the file is a workbook: a row. */
  writeCells?(cells: readonly string[]): Promise<void>;
  /** True when the reader has closed the output. */
  readonly isClosed: boolean;
  /** Makes a file appear under its name. */
  commit(): Promise<void>;
  /** Leaves an earlier file of that name unchanged; does nothing after `commit`. */
  discard(): Promise<void>;
}

/** Writes to a sink and commits it. Where that fails, the sink is discarded. */
export async function fillSink<T>(sink: Sink, write: (sink: Sink) => T | Promise<T>): Promise<T> {
  try {
    const result = await write(sink);
    await sink.commit();
    return result;
  } finally {
    await sink.discard();
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

/**
 * With the rights of the file that is there; a new one is people's data, for its owner alone.
 * @throws UsageError when the file cannot be written; EcmError when the disk fails later
 */
export async function openFileOutput(
  file: string,
  options: { flag?: string } & Pick<OutputOptions, "isWorkbook" | "beforeRename"> = {},
): Promise<Sink> {
  const { flag, isWorkbook, beforeRename } = options;
  const target = createFile(file, flag);
  const workbook = isWorkbook && (await import("../disk/workbook.ts")).openWorkbook(target, "Sheet1");
  const orFail = async (act: () => void | Promise<void>) => {
    try {
      await act();
    } catch (error) {
      const message = `Cannot write ${file}: ${describeDiskError(error)}`;
      const details = { type: "OutputFileError", cause: error };
      throw failedError(message, diskFullHint(error, resolve(file)), details);
    }
  };
  return {
    write: (data) => orFail(() => target.append(data)),
    ...(workbook && { writeCells: (cells) => orFail(() => workbook.append(cells)) }),
    isClosed: false,
    commit: () =>
      orFail(async () => {
        if (workbook) await workbook.end();
        await beforeRename?.(target.flush());
        target.commit();
      }),
    discard: async () => target.discard(),
  };
}

function createFile(file: string, flag: string | undefined): AtomicFile {
  const { path, mode } = resolveOutputTarget(file, flag);
  try {
    return new AtomicFile(path, mode);
  } catch (error) {
    throw cannotWriteError(file, describeDiskError(error), flag);
  }
}
