/** Long output through the reader's pager, as `git` does. */
import { spawnSync } from "node:child_process";
import type { Terminal } from "./terminal.ts";

/**
 * `less` shows colours, leaves at once what fits the screen, does not clear it at its end, and says how to
 * leave it.
 */
const lessOptions = "FRXPsq to go back$";
/** What a shell answers for a program that it does not find, or may not run. */
const notFound = [126, 127];

/**
 * Shows the text in the pager where it is longer than the screen: `ECM_PAGER`, `PAGER`,
 * else `less`. An empty value or `cat` means none.
 * @returns false when it was not shown: it fits, paging is off, or the pager could not be started
 */
export function showInPager(terminal: Terminal, text: string): boolean {
  const { env, rows } = terminal;
  const pager = (env.ECM_PAGER ?? env.PAGER ?? "less").trim();
  if (!terminal.usesPager || rows === undefined || pager === "" || pager === "cat") return false;
  if (text.split("\n").length <= rows) return false;
  const { error, status } = spawnSync(pager, {
    shell: true,
    input: text,
    stdio: ["pipe", "inherit", "inherit"],
    env: { LESS: lessOptions, LV: "-c", ...env },
  });
  return error === undefined && !notFound.includes(status ?? 0);
}
