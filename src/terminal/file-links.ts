/** Links to files (OSC 8) in messages, where the terminal is known to show them. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { formatHint, type Hint } from "../hint.ts";
import { escapeControlsInLines } from "./escape.ts";
import { isKnownToShow } from "./known-terminals.ts";
import type { Terminal } from "./terminal.ts";

/** A message with its files as links, escaped; without links it is the same text. */
export function formatWithLinks(
  message: Hint,
  terminal: Pick<Terminal, "env" | "isAccessible" | "isColored" | "mask">,
  stream: "out" | "err",
): string {
  const { env, isAccessible, isColored, mask } = terminal;
  // Over ssh the file is on another machine than the screen.
  const isLocal = env.SSH_CONNECTION === undefined && env.SSH_TTY === undefined;
  const isShown = isColored[stream] && !isAccessible && isLocal && isKnownToShow("links", env);
  return formatHint(message, (text, file) => {
    const shown = escapeControlsInLines(mask(text));
    return file !== undefined && isShown ? linkTo(pathToFileURL(resolve(file)).href, shown) : shown;
  });
}

/** Notes a message with files in it. */
export function noteWithLinks(terminal: Terminal, message: Hint): void {
  terminal.note(formatWithLinks(message, terminal, "err"), "painted");
}

/** A text for stdout with links where it shows the files. */
export function linkFiles(
  text: string,
  files: readonly string[],
  terminal: Parameters<typeof formatWithLinks>[1],
): string {
  const toLink = (file: string) => formatWithLinks({ file, text: file }, terminal, "out");
  return files.reduce((shown, file) => shown.replace(file, () => toLink(file)), text);
}

function linkTo(url: string, text: string): string {
  return `\x1b]8;;${url}\x1b\\${text}\x1b]8;;\x1b\\`;
}
