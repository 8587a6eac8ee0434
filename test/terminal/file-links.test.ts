/** Links to files: only where the terminal is known to show them, and the same text without. */
import { expect, it } from "vitest";
import { advise } from "../../src/hint.ts";
import { formatWithLinks } from "../../src/terminal/file-links.ts";
import { isKnownToShow } from "../../src/terminal/known-terminals.ts";
import { fitMessage } from "../../src/terminal/message-lines.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";

const message = advise`Report: ${{ file: "/tmp/a b.html", text: "a b.html" }}`;
const link = "Report: \x1b]8;;file:///tmp/a%20b.html\x1b\\a b.html\x1b]8;;\x1b\\";

function draw(env: Record<string, string>, isColored = true, isAccessible = false): string {
  const colored = { out: isColored, err: isColored };
  return formatWithLinks(message, { env, isAccessible, isColored: colored, mask: (text) => text }, "err");
}

it.each([
  [{ TERM_PROGRAM: "iTerm.app" }, true],
  [{ TERM_PROGRAM: "WezTerm" }, true],
  [{ WT_SESSION: "x" }, true],
  [{ VTE_VERSION: "7600" }, true],
  [{ VTE_VERSION: "4800" }, false],
  [{ TERM: "xterm-kitty" }, true],
  [{ TERM: "xterm-256color" }, false],
  [{ ConEmuANSI: "ON" }, false],
  [{ TERM_PROGRAM: "WezTerm", TMUX: "/tmp/tmux" }, false],
])("in %j: %s", (env, isShown) => {
  expect(isKnownToShow("links", env)).toBe(isShown);
  expect(draw(env)).toBe(isShown ? link : "Report: a b.html");
});

it("are plain text for screen readers, without colours, and over ssh", () => {
  const env = { WT_SESSION: "x" };
  expect(draw(env, false)).toBe("Report: a b.html");
  expect(draw(env, true, true)).toBe("Report: a b.html");
  expect(draw({ ...env, SSH_TTY: "/dev/pts/0" })).toBe("Report: a b.html");
});

it("let no name of a file out of the link", () => {
  const file = "/tmp/\x1b]8;;evil\x07x";
  const shown = formatWithLinks(
    advise`${{ file, text: file }}`,
    {
      env: { WT_SESSION: "x" },
      isAccessible: false,
      isColored: { out: true, err: true },
      mask: (text) => text,
    },
    "out",
  );
  expect(shown).toBe("\x1b]8;;file:///tmp/%1B%5D8;;evil%07x\x1b\\/tmp/\\x1b]8;;evil\\x07x\x1b]8;;\x1b\\");
});

it("are never broken, and take the width of their text", () => {
  expect(fitMessage(link, 20)).toBe(link);
  expect(fitMessage(`${"word ".repeat(3)}${link}`, 24)).toBe(`word word word Report:\n  ${link.slice(8)}`);
});

it("lead to the rows that an import rejects, and to the folder of its run", { tags: "slow" }, async () => {
  const stdin = "Email\nnobody\nada@example.com\n";
  const runIn = async (env: Record<string, string>) => {
    const ecm = ecmWith({ ...(await temporaryHome()), ...env });
    const line = ["--profile", "sandbox", "import", "-", "--yes"];
    const at = { terminalColumns: 300, env: { FORCE_COLOR: "1" } };
    const { stderr } = await ecm(line, { stdin, ...at });
    return stderr + (await ecm(["runs", "show", "last"], at)).stdout;
  };
  const shown = await runIn({ WT_SESSION: "x" });
  expect(shown).toMatch(/folder.*\x1b\]8;;file:\/\/\/\S+runs\/[\d-]+\w+\x1b\\/);
  expect(shown).toMatch(
    /Rejected rows \(fix and import again\): \x1b\]8;;file:\/\/\/\S+rejects\.csv\x1b\\\S+rejects\.csv\x1b\]8;;\x1b\\/,
  );
  expect(await runIn({})).not.toContain("\x1b]8;;");
});
