/**
 * What the engine and the sandbox cost beside their bare parts, as ratios in one run.
 * Usage: npm run build && node bench/ratios.mjs [--short] [NAME...]
 * --short takes a few seconds for each, and ends with 1 where a ratio is more than twice the one in
 * ratios.json: of CPU, memory and requests, never of time, which a busy machine takes.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  ecm,
  folder,
  measuring,
  median,
  people,
  personAt,
  program,
  round,
  run,
  sandbox,
  seed,
} from "./harness.mjs";

const words = process.argv.slice(2);
const isShort = words.includes("--short");
const names = words.filter((word) => word !== "--short");
const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const known = JSON.parse(readFileSync(file("ratios.json"), "utf8"));
/** Of the long form, and of the short one. */
const size = (whole, short) => (isShort ? short : whole);

const measures = { writtenRow, dryRun, exported, synced, undone, embedded, search };
const failed = [];

await measuring(async () => {
  console.log("| what | beside | measured | goal |\n| --- | --- | --- | --- |");
  for (const [name, measure] of Object.entries(measures)) {
    if (names.length === 0 || names.includes(name)) await measure();
  }
});
if (failed.length > 0) {
  console.error(`More than twice what it was: ${failed.join(", ")}`);
  process.exitCode = 1;
}

/**
 * Of each, the run that took the least CPU: whatever else the machine does only ever adds to it. They take
 * turns, so that a busy minute meets both.
 */
async function leastOfEach(bare, ours, rounds = size(3, 2)) {
  const results = [[], []];
  for (let round = 0; round < rounds; round++) {
    results[0].push(await bare());
    results[1].push(await ours());
  }
  return results.map((runs) => runs.toSorted((one, other) => one.cpuSeconds - other.cpuSeconds)[0]);
}

/** CPU of an import of new rows beside a loop that sends the same bodies. */
async function writtenRow() {
  const rows = size(10_000, 1000);
  const path = await people(rows, "written.csv");
  const cpu = async (measure) => {
    const service = await sandbox();
    const { cpuSeconds } = await measure(service);
    await service.stop();
    return { cpuSeconds };
  };
  const [bare, ours] = await leastOfEach(
    () => cpu((service) => run([file("floors.mjs"), "create", path], service)),
    () => cpu((service) => ecm(["import", path, "--json"], service)),
  );
  row("writtenRow", "CPU of a written row", "a bare undici loop", ours.cpuSeconds / bare.cpuSeconds, 2);
}

/** CPU and memory of a dry run over new rows beside csv-parse alone. */
async function dryRun() {
  const path = await people(size(1_000_000, 50_000), "large.csv");
  const service = await sandbox();
  const [bare, ours] = await leastOfEach(
    () => run([file("floors.mjs"), "read", path], service),
    () => ecm(["import", path, "--dry-run", "--json"], service),
  );
  const small = await people(10_000, "small.csv");
  const few = await median(() => ecm(["import", small, "--dry-run", "--json"], service), "peakMib");
  await service.stop();
  row(
    "dryRun",
    `CPU of a dry run of ${size("1,000,000", "50,000")} rows`,
    "csv-parse alone",
    ours.cpuSeconds / bare.cpuSeconds,
    3.5,
  );
  row("dryRunMemory", "its peak memory", "MiB", ours.peakMib, 150);
  row("dryRunGrowth", "the same", "that of 10,000 rows", ours.peakMib / few.peakMib, 1.6);
}

/** CPU and memory of an export of a whole account beside reading the same pages and writing the bytes. */
async function exported() {
  const count = size(1_000_000, 20_000);
  const service = await sandbox();
  await seed(service, count, personAt);
  const out = join(folder, "out.csv");
  const [bare, ours] = await leastOfEach(
    () => run([file("floors.mjs"), "export", `${out}.bare`], service),
    () => run([program, "export", "--output-file", out], service),
  );
  await service.stop();
  const lines = readFileSync(out, "latin1").split("\n").length - 2;
  if (lines !== count) throw new Error(`${lines} of ${count} contacts exported`);
  row(
    "exported",
    `CPU of an export of ${count.toLocaleString("en")} contacts`,
    "reading the same pages",
    ours.cpuSeconds / bare.cpuSeconds,
    2,
  );
  row("exportedMemory", "its peak memory", "MiB", ours.peakMib, 100);
}

/**
 * A list that is made equal to a file: everybody is added. Requests
 * beside the fewest; memory beside a tenth of it.
 */
async function synced() {
  await requestsAndMemory("synced", "lists sync", 1 / 1000, async (service, count) => {
    const path = await people(count, "members.csv");
    return ecm(["lists", "sync", "Everyone", path, "--json"], service, `state-${count}`);
  });
}

/**
 * The same taken back: each contact is read once more at the
 * very moment, so that nothing of others is undone.
 */
async function undone() {
  await requestsAndMemory("undone", "runs undo", 1, async (service, count) => {
    const path = await people(count, "members.csv");
    const state = `undo-${count}`;
    await ecm(["lists", "sync", "Everyone", path, "--json"], service, state);
    return ecm(["runs", "undo", "last", "--json"], service, state);
  });
}

/** @param reads requests for each contact, beside the write */
async function requestsAndMemory(name, command, reads, measure) {
  const results = [];
  for (const count of [size(10_000, 500), size(100_000, 1500)]) {
    const service = await sandbox();
    await seed(service, count, (index) => ({ ...personAt(index), lists: index === 0 ? ["Everyone"] : [] }));
    results.push({ count, ...(await measure(service, count)) });
    await service.stop();
  }
  const [few, many] = results;
  row(
    `${name}Requests`,
    `requests of ${command}, ${many.count.toLocaleString("en")} contacts`,
    reads < 1 ? "a page for 1,000, a write for each" : "a read and a write for each",
    many.summary.requests.total / (many.count * (1 + reads)),
    1.02,
  );
  row(
    `${name}Memory`,
    "its peak memory",
    `that of ${few.count.toLocaleString("en")}`,
    many.peakMib / few.peakMib,
    1.2,
  );
}

/** The sandbox behind a port beside a bare route with the same checks. */
async function embedded() {
  const args = [
    file("sandbox.mjs"),
    "--ratios",
    "--contacts",
    String(size(1_000_000, 20_000)),
    "--seconds",
    String(size(5, 1)),
  ];
  const { creates, gets, searches } = JSON.parse(
    execFileSync(process.execPath, args, { encoding: "utf8" }).trim().split("\n").at(-1),
  );
  row("creates", "sandbox, durable creates", "a bare route", creates, 0.5);
  row("gets", "sandbox, gets", "a bare route", gets, 0.6);
  row("searches", "sandbox, searches of 100 keys", "a second", searches, 2500);
}

/** A whole process that searches and prints a table. */
async function search() {
  const args = [file("startup.mjs"), size("21", "7"), "search"];
  const [, ratio] = execFileSync(process.execPath, args, { encoding: "utf8" }).match(/([\d.]+) × node -e 0/);
  row("search", "`contact search` as a table", "`node -e 0`", Number(ratio), 4);
}

/** One figure; less is better, but for the rates of the sandbox. */
function row(name, what, beside, value, goal) {
  console.log(`| ${what} | ${beside} | ${round(value)} | ${goal} |`);
  const before = known[name];
  if (isShort && before !== undefined && value > 2 * before)
    failed.push(`${name}: ${round(value)}, was ${before}`);
}
