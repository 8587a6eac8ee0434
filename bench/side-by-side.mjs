/**
 * What one machine holds: imports into accounts of their own, side by side, as fast as the machine lets them, each beside
 * what an account's hour allows. Every account is a sandbox on this machine, whose CPU is measured apart.
 * Usage: node scripts/build.mjs && node bench/side-by-side.mjs [accounts, 1 4] [rows, 1200]
 */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../bin/ecm.js", import.meta.url));
const probe = new URL("./probe.mjs", import.meta.url).href;
const requestsPerHour = 3600;
const numbers = process.argv.slice(2).map(Number);
const counts = numbers.length > 0 ? numbers.slice(0, Math.max(1, numbers.length - 1)) : [1, 4];
const rows = numbers.length > 1 ? numbers.at(-1) : 1200;
if (counts.some((count) => !(count >= 1 && count <= 32)) || !(rows >= 1 && rows <= 3600)) {
  throw new Error("at most 32 accounts and 3600 rows");
}
const folder = await mkdtemp(join(tmpdir(), "ecm-bench-"));
const children = new Set();

try {
  const file = await people();
  console.log(`${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)} at the beginning`);
  for (const count of counts) await measure(count, file);
  await measureWaiting();
} finally {
  for (const child of children) child.kill();
  await rm(folder, { recursive: true, force: true });
}

/** One import of new contacts into each of so many accounts, all at the same time. */
async function measure(count, file) {
  const services = await Promise.all(
    Array.from({ length: count }, (_, index) => sandbox(`${count}-${index}`)),
  );
  const started = process.hrtime.bigint();
  const runs = await Promise.all(services.map((service) => importing(file, service)));
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  await Promise.all(services.map((service) => service.stop()));
  const requests = runs.map(({ summary }) => summary.requests.total);
  const total = requests.reduce((sum, each) => sum + each, 0);
  const cpuSeconds = runs.reduce((sum, each) => sum + each.cpuSeconds, 0);
  const perHour = (cpuSeconds / total) * requestsPerHour;
  console.log(`\n${count} account(s), ${rows} new contacts each`);
  report("requests in all", total, "");
  report("from the first start to the last end", seconds, "s");
  report(
    "requests a second, all accounts",
    total / seconds,
    `(one account's hour allows ${requestsPerHour / 3600})`,
  );
  report("CPU of an import process", cpuSeconds / count, "s");
  report("  for a whole hour's requests", perHour, "s");
  report("  of one processor, spread over that hour", (perHour / 3600) * 100, "%");
  report("largest memory of an import process", Math.max(...runs.map(({ peakMib }) => peakMib)), "MiB");
  for (const { summary } of runs) {
    const { created, rejected } = summary.rows;
    if (created !== rows || rejected !== 0) throw new Error(`wrong end: ${JSON.stringify(summary.rows)}`);
  }
}

/** A process that has used up the hour and waits for the next: what it costs to have it lie there for ten seconds. */
async function measureWaiting() {
  const service = await sandbox("waiting", ["--hourly-limit", "100", "--window", "10"]);
  const file = join(folder, "waiting.csv");
  await writeFile(
    file,
    `Email\n${Array.from({ length: 110 }, (_, index) => `w${index}@example.com\n`).join("")}`,
  );
  const { cpuSeconds, seconds } = await importing(file, service);
  await service.stop();
  console.log("\na wait of one window of 10 s in the middle of 110 rows");
  report("from start to end", seconds, "s");
  report("CPU of the import process, all in all", cpuSeconds, "s");
}

async function people() {
  const path = join(folder, "people.csv");
  const lines = Array.from(
    { length: rows },
    (_, index) => `p${index}@example.com,First ${index},Last ${index}\n`,
  );
  await writeFile(path, `Email,First Name,Last Name\n${lines.join("")}`);
  return path;
}

async function sandbox(name, flags = ["--hourly-limit", "1000000"]) {
  const home = join(folder, name);
  const args = ["sandbox", "start", "--data", join(home, "service"), ...flags];
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...homeOf(join(home, "service-home")) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const line = await new Promise((resolve) => child.stdout.once("data", resolve));
  const { baseUrl, apiKey } = JSON.parse(line);
  return {
    home,
    env: { ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey },
    async stop() {
      children.delete(child);
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill();
      await ended;
    },
  };
}

async function importing(file, { home, env }) {
  const usage = join(home, "usage.json");
  const started = process.hrtime.bigint();
  const child = spawn(process.execPath, ["--import", probe, program, "import", file, "--json"], {
    env: { PATH: process.env.PATH, BENCH_USAGE: usage, ...homeOf(home), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  const text = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].on("data", (chunk) => {
      text[name] += chunk;
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  children.delete(child);
  if (code !== 0) throw new Error(`the import ended with ${code}\n${text.stderr}`);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  return { seconds, summary: JSON.parse(text.stdout), ...JSON.parse(await readFile(usage, "utf8")) };
}

function homeOf(home) {
  return Object.fromEntries(
    ["CONFIG", "STATE", "CACHE"].map((each) => [`ECM_${each}_DIR`, join(home, each)]),
  );
}

function report(what, value, unit) {
  console.log(`  ${what.padEnd(44)} ${String(Math.round(value * 100) / 100).padStart(10)} ${unit}`);
}
