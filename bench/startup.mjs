/**
 * What a start of `ecm` costs, beside `node -e 0` in the same run: each pair in turn; the median of all
 * pairs' ratios, the lowest and the highest. Then the peak memory of a search over that of `node -e 0`.
 * `node bench/startup.mjs [RUNS] [CASE]`; needs a build. ECM_BENCH_PEER names another program's JavaScript
 * file to measure beside it, such as the one of resend-cli.
 */
import { spawnSync } from "node:child_process";
import { basename } from "node:path";
import { folder, measuring, middle, program, run, sandbox } from "./harness.mjs";

const [runs = "21", only = ""] = process.argv.slice(2);
// Where it is set, Node 20 reads the certificates at every start, which hides half of every difference.
const { NODE_EXTRA_CA_CERTS: _, ECM_BENCH_PEER: peer, ...inherited } = process.env;
const home = { HOME: folder, ECM_CONFIG_DIR: folder, ECM_STATE_DIR: folder, ECM_CACHE_DIR: folder };

await measuring(async () => {
  const service = await sandbox();
  const env = { ...inherited, ...home, ...service.env };
  const search = [program, "contact", "search", "--page-size", "20", "-o", "table"];
  milliseconds([program, "lists", "create", "Newsletter", "-q"], env);
  for (let number = 0; number < 20; number++) {
    const key = `person${number}@example.com`;
    milliseconds([program, "contact", "create", "--key", key, "--list", "Newsletter", "-q"], env);
  }
  const cases = {
    "--version": [program, "--version"],
    "--help": [program, "--help"],
    "contact --help": [program, "contact", "--help"],
    completion: [program, "__complete", "bash", "--", "contact", "se"],
    "contact search, as a table": search,
    ...(peer && { [`${basename(peer)} --version`]: [peer, "--version"] }),
    ...(peer && { [`${basename(peer)} --help`]: [peer, "--help"] }),
  };
  for (const [name, words] of Object.entries(cases).filter(([each]) => each.includes(only))) {
    const pairs = [];
    for (let run = -2; run < Number(runs); run++) {
      const pair = { ours: milliseconds(words, env), floor: milliseconds(["-e", "0"], env) };
      if (run >= 0) pairs.push(pair);
    }
    const times = `${middle(pairs.map(({ ours }) => ours))} ms : ${middle(pairs.map(({ floor }) => floor))} ms`;
    row(
      name,
      pairs.map(({ ours, floor }) => ours / floor),
      "× node -e 0",
      times,
    );
  }
  if (!only) {
    const above = [];
    for (let count = 0; count < 7; count++) {
      const [ours, floor] = [await run(search, { env }), await run(["-e", "0"], { env })];
      above.push(ours.peakMib - floor.peakMib);
    }
    row("memory of the search", above, "MiB over node -e 0");
  }
  await service.stop();
});

function milliseconds(args, env) {
  const start = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}: ${stderr}`);
  return Number(process.hrtime.bigint() - start) / 1e6;
}

function row(name, values, unit, note = "") {
  const [low, high] = [Math.min(...values), Math.max(...values)].map((each) => each.toFixed(2));
  const value = `${middle(values).toFixed(2)} ${unit}`;
  console.log(`${name.padEnd(28)} ${value.padEnd(26)} ${low}–${high}  ${note}`.trimEnd());
}
