/**
 * Runs tests with other lines of Node than the one that is installed: the newest that is supported, or, with
 * `--all`, every one. Without paths, all tests of what Node itself may do otherwise; `test` is the whole suite.
 * Needs a build. Usage: node scripts/test-lines.mjs [--all] [PATH…] [OPTION-OF-VITEST…]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchNode, supportedLines } from "./node-lines.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const words = process.argv.slice(2).filter((word) => word !== "--all");
/** What stands on Node's own network, files, streams, terminals and signals. */
const ofNode = [
  "test/disk",
  "test/http",
  "test/journeys/killed.slow.test.ts",
  "test/journeys/stops.slow.test.ts",
  "test/journeys/terminal.test.ts",
  "test/sandbox/transports.test.ts",
  "test/terminal",
];
if (!words.some((word) => !word.startsWith("-"))) words.push(...ofNode);
const lines = process.argv.includes("--all") ? supportedLines : supportedLines.slice(-1);

/** The path of a Node of this line; undefined where the registry has none for this machine. */
function had(line) {
  try {
    return fetchNode(line, folder);
  } catch (error) {
    console.log(`Node ${line} cannot be had here, its tests are skipped: ${error.message}`);
    return undefined;
  }
}

const folder = mkdtempSync(join(tmpdir(), "ecm-node-"));
try {
  for (const line of lines) {
    const node = had(line);
    if (node === undefined) continue;
    console.log(`Node ${line}`);
    // Programs that tests start take the Node that comes first in the path.
    const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` };
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const { status } = spawnSync(node, [vitest, "run", ...words], { cwd: root, env, stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
