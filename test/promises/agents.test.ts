/** What programs that cannot ask are told: which command leads on, which Node is needed. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { addFlagsToCommand } from "../../src/commands/help/command-line.ts";
import { findFacts } from "../../src/commands/help/help-text.ts";
import type { Settings } from "../../src/config/settings.ts";
import { loadLeaves } from "../support/command-tree.ts";

const root = join(import.meta.dirname, "../..");

it("a command that asks the service is advised with the flags of its account, no other one is", async () => {
  const commands = (await loadLeaves()).map(({ command, path }) => ({
    words: path.split(" "),
    isLocal: findFacts(command)?.isLocal ?? !findFacts(command),
  }));
  const profile = { value: "shop", source: "flag" };
  // A server and a sandbox are no advice for one account, and of auth only what asks the service is.
  const isApart = ([group]: string[]) => /^(?:auth|mcp|sandbox)$/.test(group!);
  const asking = commands.filter(({ words, isLocal }) => !isLocal && !isApart(words));
  // An account has a list of its own, which is on this machine.
  const groups = new Set([...asking.map(({ words }) => words[0]), "suppressions"]);
  for (const { words } of commands) {
    const isOnAccount = groups.has(words[0]) || ["auth login", "auth status"].includes(words.join(" "));
    const shown = addFlagsToCommand({ words }, { profile } as Settings).words;
    expect(shown, words.join(" ")).toEqual([...(isOnAccount ? ["--profile", "shop"] : []), ...words]);
  }
});

it("says on a Node that is too old which one it needs, in JSON too, before anything is loaded", () => {
  const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const old = 'Object.defineProperty(process.versions, "node", { value: "20.18.3" });';
  const start = (...words: string[]) =>
    spawnSync(process.execPath, ["-e", `${old} require("./bin/ecm.js")`, "x", ...words], {
      cwd: root,
      encoding: "utf8",
    });
  const { status, stdout, stderr } = start("lists", "list", "--json");
  expect([status, stdout]).toEqual([2, ""]);
  const versions = { requirement: engines.node, actual: "20.18.3" };
  expect(JSON.parse(stderr).error).toMatchObject({ type: "RuntimeVersionError", exitCode: 2, ...versions });
  expect(start("lists", "list").stderr).toMatch(/^error: ecm needs Node\.js 20\.19 .*\nhint: .+\n$/);
});
