/** What a writing command prints in place of sending: the request as it would leave. */
import type { ApiRequest } from "../wire.ts";
import { escapeControlsInLines } from "./escape.ts";
import type { OutputOptions } from "./format.ts";
import { presentValue } from "./present.ts";
import type { Terminal } from "./terminal.ts";

/**
 * What would happen, in words, and then the requests.
 * @param would what follows on `Would`, such as `create the list "Customers"`
 */
export function explainDryRun(
  terminal: Terminal,
  output: OutputOptions,
  would: string,
  ...requests: ApiRequest[]
): Promise<void> {
  terminal.note(`Would ${would}`);
  return presentDryRun(terminal, output, ...requests);
}

/**
 * `{ method, path, body }` in JSON formats (`body` null where there is none), an array of them for several
 * requests; else the same as a person reads it.
 */
export function presentDryRun(
  terminal: Terminal,
  output: OutputOptions,
  ...requests: ApiRequest[]
): Promise<void> {
  const printed = requests.map(({ method, path, body, rawBody }) => ({
    method,
    path,
    body: rawBody === undefined ? (body ?? null) : (JSON.parse(rawBody) as unknown),
  }));
  const text = printed.map(({ method, path, body }) => {
    const indented = body === null ? "" : `\n${JSON.stringify(body, null, 2)}`;
    return escapeControlsInLines(`${method} ${path}${indented}`);
  });
  terminal.note(requests.length === 1 ? "Dry run: this was not sent" : "Dry run: these were not sent");
  return presentValue(terminal, output, printed.length === 1 ? printed[0] : printed, text.join("\n"));
}
