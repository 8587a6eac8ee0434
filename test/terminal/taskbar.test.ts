/** Progress in the tab: only where the terminal is known to show it, and gone in the end. */
import { expect, it } from "vitest";
import { isKnownToShow } from "../../src/terminal/known-terminals.ts";
import { formatTaskbar } from "../../src/terminal/taskbar.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";

it.each([
  [{ WT_SESSION: "x" }, true],
  [{ ConEmuANSI: "ON" }, true],
  [{ TERM_PROGRAM: "ghostty" }, true],
  [{ TERM_PROGRAM: "Apple_Terminal" }, false],
  [{ WT_SESSION: "x", TMUX: "/tmp/tmux" }, false],
  [{}, false],
])("in %j: %s", (env, isShown) => {
  expect(isKnownToShow("taskbar", env)).toBe(isShown);
});

it("is a share, paused while a limit is waited for, or of unknown length", () => {
  expect(formatTaskbar({ done: 0.426, isWaiting: false })).toBe("\x1b]9;4;1;42\x07");
  expect(formatTaskbar({ done: 2, isWaiting: true })).toBe("\x1b]9;4;4;100\x07");
  expect(formatTaskbar({ done: undefined, isWaiting: false })).toBe("\x1b]9;4;3\x07");
  expect(formatTaskbar(undefined)).toBe("\x1b]9;4;0\x07");
});

it("of an import is taken away at its end, and is not there elsewhere", { tags: "slow" }, async () => {
  const stdin = "Email\nada@example.com\n";
  const runIn = async (env: Record<string, string>, terminalColumns?: number) => {
    const ecm = ecmWith({ ...(await temporaryHome()), ...env });
    return (await ecm(["--profile", "sandbox", "import", "-", "--yes"], { stdin, terminalColumns })).stderr;
  };
  const shown = await runIn({ WT_SESSION: "x" }, 80);
  expect(shown).toContain("\x1b]9;4;");
  expect(shown.lastIndexOf("\x1b]9;4;0\x07")).toBe(shown.lastIndexOf("\x1b]9;4;"));
  expect(await runIn({}, 80)).not.toContain("\x1b]9;4;");
  expect(await runIn({ WT_SESSION: "x" })).not.toContain("\x1b]9;4;");
});
