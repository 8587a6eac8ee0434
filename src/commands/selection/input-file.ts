/** A file that a command reads whole before it does anything. */

import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Context } from "../../context.ts";
import { makeFolder } from "../../disk/make-folder.ts";
import type { InputFile } from "../../tables/index.ts";

/**
 * Standard input and pipes are copied first: they can be read only once.
 * @param file `-` for standard input
 * @throws UsageError when they cannot be read; what `use` throws
 */
export async function withInputFile<T>(
  { terminal, signal, files }: Context,
  file: string,
  use: (input: InputFile) => Promise<T>,
): Promise<T> {
  const { openStream, spool } = await import("../../tables/index.ts");
  if (file !== "-") files.reads(file, "the input file");
  const name = file === "-" ? "standard input" : file;
  const scratch = join(tmpdir(), `ecm-input-${randomBytes(6).toString("hex")}`);
  try {
    const stream = file === "-" ? terminal.stdin : await openStream(resolve(file), signal);
    if (!stream) return await use({ path: resolve(file), name, scratch });
    makeFolder(scratch);
    const path = join(scratch, "input");
    await spool(stream, name, path, signal);
    return await use({ path, name, scratch });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}
