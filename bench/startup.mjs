/**
 * What a start of `ecm` costs, as ratios to `node -e 0` in the same run: each pair in turn, the median of all pairs.
 * `node bench/startup.mjs [RUNS]`; needs a build.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const runs = Number(process.argv[2] ?? 21);
const program = fileURLToPath(new URL("../bin/ecm.js", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "ecm-bench-"));
// Where it is set, Node 20 reads the certificates at every start, which hides half of every difference.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
const env = { ...inherited, HOME: home, ECM_CONFIG_DIR: home, ECM_STATE_DIR: home, ECM_CACHE_DIR: home };

const sandbox = spawn(
  process.execPath,
  [program, "sandbox", "start", "--data", join(home, "data"), "--hourly-limit", "100000"],
  { env, stdio: ["ignore", "pipe", "inherit"] },
);
const { baseUrl, apiKey } = JSON.parse(await new Promise((resolve) => sandbox.stdout.once("data", resolve)));
const online = { ...env, ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey };
for (let number = 0; number < 20; number++) {
  spawnSync(process.execPath, [program, "contact", "create", "--key", `person${number}@example.com`, "-q"], {
    env: online,
  });
}

const cases = {
  "--version": [["--version"], env],
  "--help": [["--help"], env],
  completion: [["__complete", "--", "contact", "se"], env],
  "contact search, as a table": [["contact", "search", "--page-size", "20", "-o", "table"], online],
};
for (const [name, [args, environment]] of Object.entries(cases)) {
  const ratios = [];
  for (let run = -2; run < runs; run++) {
    const ecm = milliseconds([program, ...args], environment);
    const floor = milliseconds(["-e", "0"], environment);
    if (run >= 0) ratios.push({ ratio: ecm / floor, ecm, floor });
  }
  ratios.sort((one, other) => one.ratio - other.ratio);
  const median = ratios[Math.floor(ratios.length / 2)];
  const [low, high] = [ratios[0], ratios.at(-1)].map(({ ratio }) => ratio.toFixed(2));
  console.log(
    `${name.padEnd(28)} ${median.ratio.toFixed(2)} × node -e 0   (${low}–${high}; ${median.ecm.toFixed(0)} ms : ${median.floor.toFixed(0)} ms)`,
  );
}
sandbox.kill();
rmSync(home, { recursive: true, force: true });

function milliseconds(args, environment) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, {
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "ignore", "pipe"],
  });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}
