/** A command for one of several profiles: its words with the profile's name, and its result as rows. */
import type { Readable } from "node:stream";
import { isObject } from "../../../is-object.ts";
import { type CellValue, type Collect, type ColumnHead, collectValue } from "../../../terminal/collect.ts";
import { isJson, type OutputFormat } from "../../../terminal/format.ts";
import type { Terminal } from "../../../terminal/terminal.ts";
import { createCollector, createLineStream } from "../memory-stream.ts";
import type { CommandTree } from "../tree.ts";

export interface ProfileRow {
  /** What a JSON format shows: the profile's name first. */
  object: Record<string, unknown> & { profile: string };
  cells: ReadonlyMap<string, CellValue>;
  columns: readonly ColumnHead[];
}

export interface ProfileInvocation {
  run: CommandTree["run"];
  words: readonly string[];
  /** Those of them that name files. */
  files: ReadonlySet<string>;
  terminal: Terminal;
  signal: AbortSignal;
  stdin(): Readable;
}

interface ResultOptions {
  format: OutputFormat;
  /** A failure is a row too: who reads the receipt sees which accounts are missing. */
  isReceipt: boolean;
}

/** @returns its exit code, and what it presented */
export async function runForProfile(
  { run, words, files, terminal, signal, stdin }: ProfileInvocation,
  profile: string,
  { format, isReceipt }: ResultOptions,
): Promise<{ code: number; rows: ProfileRow[] }> {
  const rows: ProfileRow[] = [];
  const collect: Collect = ({ object, cells }, columns) =>
    rows.push({ object: Object.assign({ profile }, toObject(object), { profile }), cells, columns });
  const stdout = createCollector();
  let failure: string | undefined;
  const stderr = createLineStream((line) => {
    if (/^(?:\{"error":|error: )/.test(line)) failure = line;
    terminal.note(nameProfile(line, profile), "verbatim");
  });
  const code = await run({
    args: createWords({ words, files }, profile, format),
    streams: { stdin: stdin(), stdout: stdout.stream, stderr: stderr.stream, env: terminal.env },
    signal,
    observer: { collect },
  });
  stderr.end();
  collectText(collect, stdout.text(), format);
  if (isReceipt && rows.length === 0) collectValue(collect, { error: toError(failure, code) });
  return { code, rows };
}

/** In the names of files, `{profile}` is the profile's name; in a key or a value it is what was typed. */
function createWords(
  { words, files }: Pick<ProfileInvocation, "words" | "files">,
  profile: string,
  format: OutputFormat,
): string[] {
  const isFile = (word: string) => files.has(word) || files.has(word.replace(/^--[^=]+=/, ""));
  const own = words.map((word) => (isFile(word) ? word.replaceAll("{profile}", profile) : word));
  const end = own.indexOf("--");
  const at = end === -1 ? own.length : end;
  // People are shown one table of all; its columns are those of data.
  const output = isJson(format) ? [] : ["--output=tsv"];
  const added = [`--profile=${profile}`, ...output, "--no-input", "--yes", "--no-color", "--no-pager"];
  return [...own.slice(0, at), ...added, ...own.slice(at)];
}

/** Of a command that writes to stdout itself. */
function collectText(collect: Collect, text: string, format: OutputFormat): void {
  if (text.trim() === "") return;
  const lines = text.trimEnd().split("\n");
  collectValue(collect, isJson(format) ? parseJson(text, lines) : lines);
}

/** One value, or one a line. */
function parseJson(text: string, lines: readonly string[]): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return lines.map((line) => JSON.parse(line) as unknown);
  }
}

function toObject(value: unknown): object {
  return isObject(value) ? value : { result: value };
}

/** A failure in JSON stays a line of JSON. */
function nameProfile(line: string, profile: string): string {
  const start = '{"error":{';
  if (line.startsWith(start))
    return `${start}"profile":${JSON.stringify(profile)},${line.slice(start.length)}`;
  return `${profile}: ${line}`;
}

function toError(failure: string | undefined, code: number): unknown {
  if (failure?.startsWith("{")) return (JSON.parse(failure) as { error: unknown }).error;
  return failure?.slice("error: ".length) ?? `exit ${code}`;
}
