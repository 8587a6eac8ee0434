/** Where data goes: stdout, or a file that appears whole or not at all. */
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import { parseTsvCell } from "../delimited-lines.ts";
import { type AtomicFile, openAtomicFile } from "../disk/atomic-file.ts";
import { describeDiskError, diskFullHint } from "../disk/disk-errors.ts";
import { type EcmError, failedError } from "../errors.ts";
import { cannotWriteError, resolveOutputTarget } from "./command-files.ts";
import type { OutputOptions } from "./format.ts";
import type { Terminal } from "./terminal.ts";

export interface Sink {
  write(text: string): Promise<void>;
  /** True when the reader has closed the output. */
  readonly isClosed: boolean;
  /** Makes a file appear under its name. */
  commit(): Promise<void>;
  /** Leaves an earlier file of that name unchanged. */
  discard(): Promise<void>;
}

/** Writes to a sink and commits it. Where that fails, the sink is discarded. */
export async function fillSink<S extends Pick<Sink, "commit" | "discard">, T>(
  sink: S,
  write: (sink: S) => T | Promise<T>,
): Promise<T> {
  try {
    const result = await write(sink);
    await sink.commit();
    return result;
  } catch (error) {
    await sink.discard();
    throw error;
  }
}

/** Characters that are written to a file at once. */
const bufferLength = 64 * 1024;

/** @throws UsageError when the file cannot be written. */
export async function openOutput(terminal: Terminal, output: OutputOptions): Promise<Sink> {
  const { outputFile, ...outputState } = output;
  const sink =
    outputFile === undefined ? createStdoutSink(terminal) : await openFileOutput(outputFile, outputState);
  if (wantsMark(output)) await sink.write("\ufeff");
  return sink;
}

/** A byte order mark is for spreadsheets that read text; JSON may not begin with one. */
function wantsMark({ bom, format, isWorkbook }: OutputOptions): boolean {
  return bom === true && !isWorkbook && (format === "csv" || format === "tsv");
}

function createStdoutSink(terminal: Terminal): Sink {
  return {
    write: (text) => terminal.write(text),
    get isClosed() {
      return terminal.isStdoutClosed;
    },
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}

export interface FileOptions {
  /** The flag that names the file. Default: `--output-file`. */
  flag?: string;
  /** The text that is written are lines of tsv; the file is a workbook of them. */
  isWorkbook?: boolean;
  /** Is told where the whole file lies, before it appears under its name. */
  beforeRename?(written: string): Promise<void>;
}

/**
 * A file that grows at `part`, among our own files, and is copied to `file` when it is whole: the two may be
 * on different file systems.
 * @throws UsageError when `file` cannot be written
 */
export async function openGrowingFile(part: string, file: string, options: FileOptions): Promise<Sink> {
  // Tried before anything is read from the account: a folder that may not be written is found now.
  await (await openTarget(file, options)).discard();
  const handle = await open(part, "a");
  const gathered = createBufferedWriter((text) => withWriteErrors(part, () => handle.appendFile(text)));
  return {
    write: gathered.write,
    isClosed: false,
    async commit() {
      await gathered.rest();
      await handle.close();
      const target = await openTarget(file, options);
      await withWriteErrors(file, () =>
        fillSink(target, async () => {
          for await (const piece of createReadStream(part)) await target.append(piece as Buffer);
        }),
      );
    },
    async discard() {
      await handle.close().catch(() => undefined);
    },
  };
}

/** A file for bytes. @throws UsageError when it cannot be written */
export async function openBytesOutput(
  file: string,
): Promise<Pick<AtomicFile, "append" | "commit" | "discard">> {
  const { append, commit, discard } = await openTarget(file, {});
  return {
    append: (bytes) => withWriteErrors(file, () => append(bytes)),
    commit: () => withWriteErrors(file, commit),
    discard,
  };
}

/** @throws UsageError when the file cannot be written */
export async function openFileOutput(file: string, options: FileOptions = {}): Promise<Sink> {
  const target = await openTarget(file, options);
  const packed = options.isWorkbook ? await packLines(target) : target;
  const gathered = createBufferedWriter((text) => withWriteErrors(file, () => packed.append(text)));
  return {
    write: gathered.write,
    isClosed: false,
    async commit() {
      await gathered.rest();
      await withWriteErrors(file, () => packed.commit());
    },
    discard: () => packed.discard(),
  };
}

/** Takes whole lines of tsv, and makes a workbook of them. */
async function packLines(file: AtomicFile): Promise<Pick<AtomicFile, "append" | "commit" | "discard">> {
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

/** Short texts are written together: a file takes each write on its own, at some cost. */
function createBufferedWriter(writeOut: (text: string) => Promise<void>) {
  let pending = "";
  const takeRest = async () => {
    const text = pending;
    pending = "";
    if (text !== "") await writeOut(text);
  };
  return {
    async write(text: string): Promise<void> {
      pending += text;
      if (pending.length >= bufferLength) await takeRest();
    },
    /** Writes what is still held back. */
    rest: takeRest,
  };
}

/**
 * With the rights of the file that is there; a new one is people's data, for its owner alone.
 * @throws UsageError
 */
async function openTarget(file: string, { flag, beforeRename }: FileOptions): Promise<AtomicFile> {
  const { path, mode } = resolveOutputTarget(file, flag);
  return openAtomicFile(path, mode, beforeRename).catch((error: unknown) => {
    throw cannotWriteError(file, describeDiskError(error), flag);
  });
}

/** A disk that fails later says why. @throws EcmError */
async function withWriteErrors<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw unwrittenError(file, error);
  }
}

function unwrittenError(file: string, error: unknown): EcmError {
  return failedError(
    `Cannot write ${file}: ${describeDiskError(error)}`,
    diskFullHint(error, resolve(file)),
    { type: "OutputFileError", cause: error },
  );
}
