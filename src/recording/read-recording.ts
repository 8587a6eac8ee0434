/** Reads recordings of ECM_RECORD. */
import { readFileSync } from "node:fs";
import { describeReadError } from "../disk/make-folder.ts";
import { UsageError } from "../errors.ts";
import { isObject } from "../is-object.ts";
import type { RecordedExchange } from "./exchange.ts";

export interface RecordingHead {
  version: 1;
  id: string;
  program: string;
}

export interface Recording {
  exchanges: RecordedExchange[];
  /** Lines that are none: cut off, or not written by `ecm`. */
  unreadable: number;
}

/** Undefined for a line that does not begin a recording. */
export function parseHead(line: string): RecordingHead | undefined {
  const { recording } = (parse(line) ?? {}) as { recording?: RecordingHead };
  const isHead = recording?.version === 1 && /^[0-9a-f]{16}$/.test(recording.id);
  return isHead ? recording : undefined;
}

/** @throws UsageError for a file that cannot be read, or is no recording */
export function readRecording(file: string): Recording {
  const text = readText(file);
  const [first = "", ...lines] = text.split("\n").filter((line) => line !== "");
  if (!parseHead(first)) {
    refuseNewer(file, first);
    throw new UsageError(`${file} is no recording`, "Make one with ECM_RECORD=FILE before a command");
  }
  // Commands that began the file at the same moment have each written a first line.
  const others = lines.filter((line) => !parseHead(line));
  const exchanges = others.map(parse).filter(isExchange);
  return { exchanges, unreadable: others.length - exchanges.length };
}

function refuseNewer(file: string, line: string): void {
  const { recording } = (parse(line) ?? {}) as { recording?: { version?: unknown; program?: unknown } };
  if (typeof recording?.version !== "number" || recording.version <= 1) return;
  throw new UsageError(
    `${file} was recorded by a newer version of ecm (format ${recording.version}; this one reads format 1)`,
    "Update ecm, then try again",
  );
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${describeReadError(error)}`);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}

/** A recording may come from anybody. What bodies and answers hold is looked into with care anyway. */
function isExchange(value: unknown): value is RecordedExchange {
  if (!isObject(value)) return false;
  const { method, path, status, query = [], headers = {}, notJson = [] } = value;
  return (
    typeof method === "string" &&
    isPath(path) &&
    (status === null || typeof status === "number") &&
    Array.isArray(query) &&
    query.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(isText)) &&
    isObject(headers) &&
    Array.isArray(notJson)
  );
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isPath(value: unknown): boolean {
  try {
    return isText(value) && decodeURIComponent(value) !== "";
  } catch {
    return false;
  }
}
