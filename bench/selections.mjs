/**
 * What a selection costs: requests by list and by --where, CPU per contact of a condition, start of the expression's library.
 * Usage: node scripts/build.mjs && node bench/selections.mjs
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../bin/ecm.js", import.meta.url));
const probe = new URL("./probe.mjs", import.meta.url).href;
const folder = await mkdtemp(join(tmpdir(), "ecm-bench-"));
const pageSize = 1000;

try {
  await conditions();
  await requests();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** The library alone: what a start with `--where` adds, and what a contact costs. */
async function conditions() {
  const before = performance.now();
  const { Environment } = await import("@marcbachmann/cel-js");
  const environment = new Environment();
  for (const name of ["key", "City"]) environment.registerVariable(name, "string");
  environment.registerVariable("tags", "list<string>");
  environment.registerVariable("createdAt", "google.protobuf.Timestamp");
  const program = environment.parse(
    'City == "Oslo" && "VIP" in tags && createdAt > timestamp("2026-01-01T00:00:00Z")',
  );
  program.check();
  report("CEL: load, parse and check", performance.now() - before, "ms", true, "");
  const count = 200_000;
  const start = performance.now();
  for (let index = 0; index < count; index++) {
    const createdAt = new Date(1_767_225_600_000 + index);
    program({
      key: `p${index}`,
      City: index % 2 ? "Oslo" : "Rome",
      tags: index % 3 ? ["VIP"] : [],
      createdAt,
    });
  }
  const each = ((performance.now() - start) * 1000) / count;
  report("CEL: one contact", each, "µs", each < 20, "under 20");
}

/** Pages, and a write for each; nothing is read twice. */
async function requests() {
  const rows = 20_000;
  const lines = ["Email,First Name,lists"];
  for (let index = 0; index < rows; index++) {
    lines.push(`p${index}@example.com,${index % 4},${index % 2 === 0 ? "Even" : "Odd"}`);
  }
  const file = join(folder, "people.csv");
  await writeFile(file, `${lines.join("\n")}\n`);
  const service = await sandbox();
  try {
    await ecm(["import", file, "--create-missing", "--json"], service);
    // The structure and its lists, by name.
    const names = 2;
    const byList = ["contact", "unsubscribe", "--list", "Even", "--yes", "--json"];
    await measured("unsubscribe 10,000 by --list", byList, service, 10 + 10_000 + names);
    const byWhere = [
      "contact",
      "delete",
      "--where",
      'First_Name == "1" || First_Name == "3"',
      "--yes",
      "--json",
    ];
    await measured("delete 10,000 by --where", byWhere, service, rows / pageSize + 10_000 + names);
    const rest = ["contact", "delete", "--list", "Even", "--yes", "--json"];
    await measured("delete 10,000 by --list", rest, service, 10 + 10_000 + names);
  } finally {
    await service.stop();
  }
}

async function measured(what, args, service, most) {
  const dry = await ecm([...args, "--dry-run"], service);
  const real = await ecm(args, service);
  const { total, retried } = real.summary.requests;
  report(
    what,
    total,
    `requests (${retried} retried), ${Math.round(real.seconds)} s`,
    total <= most,
    `at most ${most}`,
  );
  const said = dry.summary.estimate.requests;
  report("  its dry run said", said, "requests", said === total, "the same");
  report("  its peak memory", real.peakMib, "MiB", real.peakMib <= 200, "at most 200");
}

async function sandbox() {
  const args = ["sandbox", "start", "--data", join(folder, "service")];
  args.push("--hourly-limit", "1000000000", "--monthly-limit", "1000000000");
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const line = await new Promise((resolve) => child.stdout.once("data", resolve));
  const { baseUrl, apiKey } = JSON.parse(line);
  return {
    env: { ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey },
    async stop() {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await ended;
    },
  };
}

async function ecm(args, { env }) {
  const usage = join(folder, `usage-${Math.random()}`);
  const home = Object.fromEntries(
    ["CONFIG", "STATE", "CACHE"].map((each) => [`ECM_${each}_DIR`, join(folder, each)]),
  );
  const started = performance.now();
  const child = spawn(process.execPath, ["--import", probe, program, ...args], {
    env: { PATH: process.env.PATH, BENCH_USAGE: usage, ...home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (text) => {
    stdout += text;
  });
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const code = await new Promise((resolve) => child.once("close", resolve));
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}\n${stderr}`);
  const seconds = (performance.now() - started) / 1000;
  return { summary: JSON.parse(stdout), seconds, ...JSON.parse(await readFile(usage, "utf8")) };
}

function report(what, value, unit, isGood, target) {
  const number = String(Math.round(value * 100) / 100).padStart(10);
  console.log(`${isGood ? " " : "!"} ${what.padEnd(36)} ${number} ${unit}${target ? `  (${target})` : ""}`);
}
