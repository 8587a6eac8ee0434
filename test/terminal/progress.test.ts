import { expect, it } from "vitest";
import { showProgress } from "../../src/terminal/progress.ts";
import type { Terminal } from "../../src/terminal/terminal.ts";
import { inputFile, manyRows, startSandbox } from "../kit.ts";

function fakeTerminal(parts: Partial<Terminal>) {
  let text = "";
  const stderr = {
    write(piece: string) {
      text += piece;
    },
  };
  const terminal = {
    stderr,
    isStderrTerminal: true,
    isAccessible: false,
    quiet: false,
    stderrColumns: 20,
    env: {},
    mask: (shown: string) => shown,
    note(message: string) {
      terminal.drawing?.clear();
      stderr.write(`${message}\n`);
      terminal.drawing?.draw();
    },
    ...parts,
  } as unknown as Terminal;
  return { terminal, text: () => text };
}

it("the progress line is drawn at once, cut to one line, cleared for messages, and gone at the end", () => {
  const { terminal, text } = fakeTerminal({});
  const progress = showProgress(terminal, () => ["a line that is longer than the terminal is wide"]);
  expect(text()).toBe("a line that is lon…");
  terminal.note("a message");
  progress.close();
  expect(text()).toBe("a line that is lon…\r\x1b[2Ka message\na line that is lon…\r\x1b[2K");
});

it("the progress line may be several lines, and all of their rows go, also on a screen that was made narrower", () => {
  const { terminal, text } = fakeTerminal({});
  const progress = showProgress(terminal, () => ["half done", "waiting for an hour"]);
  expect(text()).toBe("half done\nwaiting for an hour");
  Object.assign(terminal, { stderrColumns: 10 });
  progress.close();
  expect(text()).toBe("half done\nwaiting for an hour\x1b[2A\r\x1b[J");
});

it("the progress line lets no foreign text move the cursor", () => {
  const { terminal, text } = fakeTerminal({ stderrColumns: 80 });
  showProgress(terminal, () => ["file \x1b[2Jname\r\n"]).close();
  expect(text()).toContain("file \\x1b[2Jname\\r\\n");
});

it.each([
  ["a screen reader", { isAccessible: true }],
  ["no terminal", { isStderrTerminal: false }],
])("the progress line redraws nothing for %s", (_name, parts) => {
  const { terminal, text } = fakeTerminal(parts);
  const progress = showProgress(terminal, () => ["far along"]);
  terminal.note("begun");
  progress.close();
  expect(text()).toBe("begun\n");
});

it("a wait, where nothing is redrawn, is said once, when it begins", () => {
  const { terminal, text } = fakeTerminal({ isStderrTerminal: false });
  let wait: string | undefined;
  let line = "half done";
  const readWait = () => wait;
  const progress = showProgress(terminal, () => [line], readWait);
  progress.refresh();
  expect(text()).toBe("");
  [wait, line] = ["hour", "paused for 9 s"];
  progress.refresh();
  line = "paused for 8 s";
  progress.refresh();
  expect(text()).toBe("paused for 9 s\n");
  wait = undefined;
  progress.refresh();
  [wait, line] = ["next hour", "paused again"];
  progress.refresh();
  progress.close();
  expect(text()).toBe("paused for 9 s\npaused again\n");
});

it("an import is silent between its beginning and its report where nobody watches, but for the price", async () => {
  const { ecm } = await startSandbox();
  const result = await ecm(["import", await inputFile(manyRows(30))]);
  expect(result.stderr.trim().split("\n")).toEqual([
    expect.stringMatching(/^Importing /),
    expect.stringMatching(/^To send: 30 requests/),
    expect.stringMatching(/^30 rows in .+: 30 created/),
    "30 requests sent, after 2 to read the account",
    expect.stringMatching(/^Undo: ecm runs undo /),
    expect.stringMatching(/^rate-limit: /),
  ]);
});
