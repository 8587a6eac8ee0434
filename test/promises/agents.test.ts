/** What programs that cannot ask are told: which command leads on, when to come back, what was left out. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { addFlagsToCommand } from "../../src/commands/help/command-line.ts";
import { findFacts } from "../../src/commands/help/help-text.ts";
import { listLeaves, toWords } from "../../src/commands/help/tree.ts";
import type { Settings } from "../../src/config/settings.ts";
import { createContext } from "../../src/context.ts";
import { createTree } from "../../src/program.ts";
import { version } from "../../src/version.ts";
import { ecmWith, type Result, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const root = join(import.meta.dirname, "../..");

interface ErrorLine {
  message: string;
  hint?: string;
  retryAfterSeconds?: number;
  resumableAt?: string;
}

function readError({ stderr }: Result): ErrorLine {
  return JSON.parse(stderr.split("\n").findLast((line) => line.startsWith('{"error"'))!).error;
}

describe("a bulk run that meets the hour", () => {
  it("says when to come back, with which command, and which program it was", async () => {
    const { ecm } = await startSandbox({ hourlyLimit: 6 });
    const keys = Array.from({ length: 9 }, (_, index) => `p${index}@example.com`);
    const stopped = await ecm(["import", "-", "--no-wait", "--json"], {
      stdin: ["Email", ...keys].join("\n"),
    });
    expect(stopped.code).toBe(7);
    const summary = JSON.parse(stopped.stdout);
    expect(summary).toMatchObject({ program: version, stoppedBy: "hour" });
    const { hint, retryAfterSeconds, resumableAt } = readError(stopped);
    expect(hint).toContain(`ecm runs resume ${summary.run}`);
    expect(retryAfterSeconds).toBeGreaterThan(0);
    expect(resumableAt).toBe(summary.resumableAt);
  });
});

it("an error says nothing of a key that was typed", async () => {
  const ecm = ecmWith(await temporaryHome());
  const typed = await ecm([
    "--profile",
    "sandbox",
    "lists",
    "list",
    "--json",
    "--api-key",
    "ecm_us_0123456789abcdef",
  ]);
  expect(typed.code).toBe(2);
  expect(typed.stderr).not.toContain("0123456789abcdef");
});

it("a list that is shown in part says so in JSON, with the flags that show the rest", async () => {
  const { ecm, sandbox } = await startSandbox();
  sandbox.admin.seed({ contacts: ["a", "b", "c"].map((name) => ({ key: `${name}@example.com` })) });
  const readPart = ({ stderr }: Result) => stderr.split("\n").find((line) => line.startsWith('{"part"'));
  const first = await ecm(["contact", "search", "--json", "--page-size", "2"]);
  expect(JSON.parse(readPart(first)!)).toEqual({ part: { shown: 2, total: 3, more: ["--page", "2"] } });
  expect(readPart(await ecm(["contact", "search", "--json", "--all"]))).toBeUndefined();
  expect(readPart(await ecm(["contact", "search", "-o", "tsv", "--page-size", "2"]))).toBeUndefined();
});

it("a command that asks the service is advised with the flags of its account, no other one is", async () => {
  const stream = new PassThrough().resume();
  const streams = { stdin: stream, stdout: stream, stderr: stream, env: await temporaryHome() };
  const tree = createTree(createContext(streams as never, new AbortController().signal), async () => 0);
  await tree.loadAll();
  const commands = listLeaves(tree.root).map((command) => ({
    words: toWords(command),
    isLocal: findFacts(command)?.isLocal ?? !findFacts(command),
  }));
  const profile = { value: "shop", source: "flag" };
  // A server and a sandbox are no advice for one account, and of auth only what asks the service is.
  const asking = commands.filter(
    ({ words: [group], isLocal }) => !isLocal && !/^(?:auth|mcp|sandbox)$/.test(group!),
  );
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
  expect(JSON.parse(stderr).error).toMatchObject({
    type: "RuntimeVersionError",
    exitCode: 2,
    requirement: engines.node,
    actual: "20.18.3",
  });
  expect(start("lists", "list").stderr).toMatch(/^error: ecm needs Node\.js 20\.19 .*\nhint: .+\n$/);
});
