import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { expect, it } from "vitest";
import { showInPager } from "../../src/terminal/pager.ts";
import { createTerminal } from "../../src/terminal/terminal.ts";
import { temporaryFolder } from "../support/ecm.ts";

function createScreen(rows: number, env: Record<string, string>) {
  const sink = () =>
    Object.assign(new Writable({ write: (_chunk, _encoding, done) => done() }), { isTTY: true, rows });
  const terminal = createTerminal({ stdin: new PassThrough(), stdout: sink(), stderr: sink(), env });
  terminal.usesPager = true;
  return terminal;
}

const lines = (count: number) => "line\n".repeat(count);

it("shows in the pager what is longer than the screen, and nothing else", async () => {
  const file = join(await temporaryFolder(), "paged");
  const env = { PATH: process.env.PATH!, PAGER: `cat > '${file}'` };
  expect(showInPager(createScreen(24, env), lines(10))).toBe(false);
  expect(showInPager(createScreen(24, env), lines(30))).toBe(true);
  expect(await readFile(file, "utf8")).toBe(lines(30));
});

it("pages nothing where the screen's size is not known, where no pager is wanted, or where there is none", () => {
  const path = { PATH: process.env.PATH! };
  expect(createScreen(0, path).rows).toBeUndefined();
  expect(showInPager(createScreen(0, { ...path, PAGER: "false" }), lines(30))).toBe(false);
  expect(showInPager(createScreen(24, { ...path, PAGER: "cat" }), lines(30))).toBe(false);
  expect(showInPager(createScreen(24, { ...path, PAGER: "/nonexistent/pager 2>/dev/null" }), lines(30))).toBe(
    false,
  );
});

it("says in less how to come back, unless LESS is set", async () => {
  const file = join(await temporaryFolder(), "options");
  const env = { PATH: process.env.PATH!, PAGER: `cat > /dev/null; printf %s "$LESS" > '${file}'` };
  expect(showInPager(createScreen(24, env), lines(30))).toBe(true);
  expect(await readFile(file, "utf8")).toBe("FRXPsq to go back$");
  expect(showInPager(createScreen(24, { ...env, LESS: "R" }), lines(30))).toBe(true);
  expect(await readFile(file, "utf8")).toBe("R");
});
