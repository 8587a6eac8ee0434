/** What a writing command prints in place of sending: the request as it would leave. */
import type { ApiRequest } from "../wire.ts";
import { escapeControlsInLines } from "./escape.ts";
import type { OutputOptions } from "./format.ts";
import { presentValue } from "./present.ts";
import type { Terminal } from "./terminal.ts";

/** `{ method, path, body }` in JSON formats; else the same as a person reads it. */
export function presentDryRun(terminal: Terminal, output: OutputOptions, request: ApiRequest): Promise<void> {
  const body = request.rawBody === undefined ? request.body : (JSON.parse(request.rawBody) as unknown);
  const shown = body === undefined ? "" : `\n${JSON.stringify(body, null, 2)}`;
  const text = escapeControlsInLines(`${request.method} ${request.path}${shown}`);
  terminal.note("dry run: this was not sent");
  return presentValue(terminal, output, { method: request.method, path: request.path, body }, text);
}
