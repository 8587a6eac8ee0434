/**
 * What a start of `ecm` costs, beside `node -e 0` in the same run: each pair in turn; the median of all
 * pairs' ratios, the lowest and the highest. Then the peak memory of a search over that of `node -e 0`.
 * `node bench/startup.mjs [RUNS] [CASE]`; needs a build. ECM_BENCH_PEER names another program's JavaScript
 * file to measure beside it, such as the one of resend-cli.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const [runs = 21, only = ""] = process.argv
  .slice(2)
  .map((word, index) => (index === 0 ? Number(word) : word));
const program = fileURLToPath(new URL("../bin/ecm.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ecm-bench-"));
// Where it is set, Node 20 reads the certificates at every start, which hides half of every difference.
const { NODE_EXTRA_CA_CERTS: _, ECM_BENCH_PEER: peer, ...inherited } = process.env;
const env = { ...inherited, HOME: home, ECM_CONFIG_DIR: home, ECM_STATE_DIR: home, ECM_CACHE_DIR: home };

const sandbox = spawn(
  process.execPath,
  [program, "sandbox", "start", "--data", join(home, "data"), "--hourly-limit", "100000"],
  { env, stdio: ["ignore", "pipe", "inherit"] },
);
try {
  const { baseUrl, apiKey } = JSON.parse(
    await new Promise((resolve) => sandbox.stdout.once("data", resolve)),
  );
  measure({ ...env, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey });
} finally {
  sandbox.kill();
  rmSync(home, { recursive: true, force: true });
}

function measure(online) {
  const list = [program, "lists", "create", "Newsletter", "-q"];
  milliseconds(list, online);
  for (let number = 0; number < 20; number++) {
    const key = `person${number}@example.com`;
    milliseconds([program, "contact", "create", "--key", key, "--list", "Newsletter", "-q"], online);
  }
  const search = [program, "contact", "search", "--page-size", "20", "-o", "table"];
  const cases = {
    "--version": [program, "--version"],
    "--help": [program, "--help"],
    "contact --help": [program, "contact", "--help"],
    completion: [program, "__complete", "bash", "--", "contact", "se"],
    "contact search, as a table": search,
  };
  if (peer) {
    for (const flag of ["--version", "--help"]) cases[`${basename(peer)} ${flag}`] = [peer, flag];
  }
  for (const [name, words] of Object.entries(cases).filter(([each]) => each.includes(only))) {
    const pairs = [];
    for (let run = -2; run < runs; run++) {
      const pair = { ours: milliseconds(words, online), floor: milliseconds(["-e", "0"], online) };
      if (run >= 0) pairs.push(pair);
    }
    const [low, middle, high] = spread(pairs.map(({ ours, floor }) => ours / floor));
    const [, ours] = spread(pairs.map((pair) => pair.ours));
    const [, floor] = spread(pairs.map((pair) => pair.floor));
    row(
      name,
      `${middle.toFixed(2)} × node -e 0`,
      low,
      high,
      `${ours.toFixed(1)} ms : ${floor.toFixed(1)} ms`,
    );
  }
  if (only) return;
  const above = Array.from(
    { length: 7 },
    () => peakMebibytes(search, online) - peakMebibytes(["-e", "0"], online),
  );
  const [low, middle, high] = spread(above);
  row("memory of the search", `${middle.toFixed(1)} MiB over node -e 0`, low, high);
}

function milliseconds(args, environment) {
  const start = process.hrtime.bigint();
  ended(args, spawnSync(process.execPath, args, { env: environment, stdio: ["ignore", "ignore", "pipe"] }));
  return Number(process.hrtime.bigint() - start) / 1e6;
}

/** The largest the process ever was, by its own account when it ends. */
function peakMebibytes(args, environment) {
  const tell = fileURLToPath(new URL("peak-memory.cjs", import.meta.url));
  const stdio = ["ignore", "ignore", "pipe", "pipe"];
  const child = spawnSync(process.execPath, ["--require", tell, ...args], { env: environment, stdio });
  ended(args, child);
  return Number(child.output[3]) / 1024;
}

function ended(args, { status, stderr }) {
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
}

function spread(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
}

function row(name, value, low, high, note = "") {
  console.log(
    `${name.padEnd(28)} ${value.padEnd(26)} ${low.toFixed(2)}–${high.toFixed(2)}  ${note}`.trimEnd(),
  );
}
