/** A failure → stderr: one JSON line where JSON was asked for, else `error:` and `hint:`. */
import { toSystemError } from "../disk/disk-errors.ts";
import { EcmError, exitCodes, failedError } from "../errors.ts";
import { formatHint } from "../hint.ts";
import { escapeControls, escapeControlsInLines, escapeJson } from "./escape.ts";
import { fitMessage } from "./message-lines.ts";
import { createStyle, type Style } from "./style.ts";
import type { Terminal } from "./terminal.ts";

/** Writes the failure and returns its exit code. Anything that is not an `EcmError` is a defect of ours. */
export function reportError(terminal: Terminal, error: unknown, asJson: boolean): number {
  const ecmError = error instanceof EcmError ? error : toInternalError(error);
  const columns = terminal.isStderrTerminal ? terminal.stderrColumns : undefined;
  const text = asJson
    ? formatJsonError(ecmError)
    : formatError(ecmError, createStyle(terminal.isColored.err), columns);
  terminal.stderr.write(terminal.mask(text));
  return ecmError.exitCode;
}

function formatJsonError(error: EcmError): string {
  return `${escapeJson(JSON.stringify({ error: toErrorObject(error) }))}\n`;
}

/** The members of a JSON error: those that are always there, then those that are known. */
export function toErrorObject(error: EcmError): Record<string, unknown> {
  const {
    status,
    field,
    fieldId,
    hint,
    retryAfterSeconds,
    resumableAt,
    limit,
    applied,
    retryable = false,
  } = error.details;
  return {
    type: error.type,
    message: error.message,
    status,
    field,
    fieldId,
    exitCode: error.exitCode,
    hint: hint === undefined ? undefined : formatHint(hint),
    retryable,
    retryAfterSeconds,
    resumableAt,
    limit,
    applied,
  };
}

function formatError(error: EcmError, style: Style, columns: number | undefined): string {
  const { hint } = error.details;
  const title = isOwnDecision(error, columns !== undefined) ? "" : "error: ";
  const fitted = (text: string, title: string) =>
    columns === undefined ? text : fitMessage(text, columns, title.length);
  const painted = title === "" ? "" : `${style.red(style.bold("error:"))} `;
  const first = `${fitted(`${painted}${escapeControls(error.message)}`, title)}\n`;
  if (!hint) return first;
  return `${first}${style.dim("hint:")} ${fitted(`hint: ${escapeControlsInLines(formatHint(hint))}`, "hint: ").slice("hint: ".length)}\n`;
}

/** A no, or Ctrl-C at a terminal, is no failure to the person who said it. */
function isOwnDecision(error: EcmError, isTerminal: boolean): boolean {
  // A run that can be resumed reports it with another hint.
  if (error.kind === "declined") return true;
  return isTerminal && error.exitCode === exitCodes.interrupted;
}

function toInternalError(error: unknown): EcmError {
  const ofSystem = toSystemError(error);
  if (ofSystem) return ofSystem;
  const message = error instanceof Error ? error.message : String(error);
  return failedError(
    `Internal error: ${message}`,
    "This is a defect of ecm; ECM_DEBUG=1 shows where it happened",
    { type: "InternalError", cause: error },
  );
}
