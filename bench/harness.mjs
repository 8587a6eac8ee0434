/**
 * What the measurements share: services and programs in processes of their own, whose CPU and memory are
 * measured; input files.
 */
import { spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const program = fileURLToPath(new URL("../bin/ecm.js", import.meta.url));
const probe = new URL("./probe.mjs", import.meta.url).href;
const children = new Set();

/** Where everything is written; gone when `measuring` ends. */
export const folder = await mkdtemp(join(tmpdir(), "ecm-bench-"));

/** Does the work; whatever happens, no process and no file is left. */
export async function measuring(work) {
  try {
    await work();
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  }
}

/** Starts a program of Node that serves. @returns the first line that it prints, and its end */
export async function serve(args, env) {
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  const line = String(await new Promise((resolve) => child.stdout.once("data", resolve)));
  const stop = async () => {
    children.delete(child);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
  };
  return { line, stop };
}

/** The embedded service behind a port, without limits unless the flags say so. */
export async function sandbox(flags = ["--hourly-limit", "1000000000", "--monthly-limit", "1000000000"]) {
  const data = await mkdtemp(join(folder, "service-"));
  const args = [program, "sandbox", "start", "--data", data, ...flags];
  const { line, stop } = await serve(args, homeIn(join(data, "home")));
  const { baseUrl, apiKey } = JSON.parse(line);
  return { env: { ECM_BASE_URL: baseUrl, ECM_API_KEY: apiKey }, stop };
}

/**
 * Contacts into a service, past its limits.
 * @param contactAt what the number stands for, as a seed takes it
 */
export async function seed({ env }, count, contactAt) {
  for (let from = 0; from < count; from += 10_000) {
    const contacts = Array.from({ length: Math.min(10_000, count - from) }, (_, at) => contactAt(from + at));
    const answer = await fetch(`${env.ECM_BASE_URL}/__sandbox/seed`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ contacts }),
    });
    if (!answer.ok) throw new Error(`seeding: ${answer.status} ${await answer.text()}`);
  }
}

/** The person of this number: the same in a seed and in a file of `people`. */
export const personAt = (index) => ({
  key: `p${index}@example.com`,
  fields: { "First Name": `First ${index}`, "Last Name": `Last name of number ${index}` },
});

/** A file of so many people. @returns its path */
export async function people(rows, name, first = (index) => `First ${index}`, prefix = "p") {
  const path = join(folder, name);
  const out = createWriteStream(path);
  out.write("Email,First Name,Last Name\n");
  for (let from = 0; from < rows; from += 10_000) {
    let text = "";
    for (let index = from; index < Math.min(rows, from + 10_000); index++) {
      text += `${prefix}${index}@example.com,${first(index)},Last name of number ${index}\n`;
    }
    if (!out.write(text)) await new Promise((resolve) => out.once("drain", resolve));
  }
  await new Promise((resolve) => out.end(resolve));
  return path;
}

/**
 * A bulk command that prints its summary.
 * @param state name of the folder that holds what it remembers
 * @returns summary, seconds, cpuSeconds, peakMib
 */
export async function ecm(args, service, state = "state") {
  const result = await run([program, ...args], service, state);
  return { ...result, summary: JSON.parse(result.stdout) };
}

/** Runs a program of Node to its end. @returns stdout, seconds, cpuSeconds, peakMib */
export async function run(args, { env }, state = "state") {
  const usage = join(folder, `usage-${Math.random()}`);
  const started = performance.now();
  const child = spawn(process.execPath, ["--import", probe, ...args], {
    env: { PATH: process.env.PATH, BENCH_USAGE: usage, ...homeIn(join(folder, state)), ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      texts[name] += text;
    });
  }
  const code = await new Promise((resolve) => child.once("close", resolve));
  children.delete(child);
  const seconds = (performance.now() - started) / 1000;
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}\n${texts.stderr}`);
  return { stdout: texts.stdout, seconds, ...JSON.parse(await readFile(usage, "utf8")) };
}

/** Of the runs, the one in the middle by this figure. */
export async function median(measure, figure, runs = 3) {
  const results = [];
  for (let count = 0; count < runs; count++) results.push(await measure());
  return results.sort((one, other) => one[figure] - other[figure])[Math.floor(runs / 2)];
}

/** A line of the report, marked where the value is not what it should be. */
export function report(what, value, unit, isGood = true, target = "") {
  const shown = String(round(value)).padStart(10);
  console.log(`${isGood ? " " : "!"} ${what.padEnd(44)} ${shown} ${unit}${target ? `  (${target})` : ""}`);
}

/** The one in the middle, rounded. */
export function middle(values) {
  return round(values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]);
}

export function round(value) {
  return Math.round(value * 100) / 100;
}

function homeIn(path) {
  return Object.fromEntries(
    ["CONFIG", "STATE", "CACHE"].map((each) => [`ECM_${each}_DIR`, join(path, each)]),
  );
}
