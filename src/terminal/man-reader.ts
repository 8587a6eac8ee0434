/** A manual page in the reader's own `man`. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Terminal } from "./terminal.ts";

/**
 * @param name without its section, such as `ecm-lists`
 * @param source as `man` reads it
 * @returns false where there is no `man`, or no screen
 */
export function showManPage(terminal: Terminal, name: string, source: string): boolean {
  if (!terminal.isStdoutTerminal) return false;
  const folder = mkdtempSync(join(tmpdir(), "ecm-man-"));
  try {
    // A name with a slash is a file to every man.
    const file = join(folder, `${name}.1`);
    writeFileSync(file, source);
    const pager = terminal.usesPager ? {} : { MANPAGER: "cat" };
    const { error, status } = spawnSync("man", [file], {
      stdio: ["inherit", "inherit", "ignore"],
      env: { ...terminal.env, ...pager },
    });
    return error === undefined && status === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
