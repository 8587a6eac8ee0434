/**
 * What one machine holds: imports into accounts of their own, side by side, as fast as the machine lets them,
 * each beside what an account's hour allows. Every account is a sandbox on this machine, whose CPU is
 * measured apart. Usage: node scripts/build.mjs && node bench/side-by-side.mjs [accounts, 1 4] [rows, 1200]
 */
import { availableParallelism, loadavg } from "node:os";
import { ecm, measuring, people, report, sandbox } from "./harness.mjs";

const requestsPerHour = 3600;
const numbers = process.argv.slice(2).map(Number);
const counts = numbers.length > 0 ? numbers.slice(0, Math.max(1, numbers.length - 1)) : [1, 4];
const rows = numbers.length > 1 ? numbers.at(-1) : 1200;
if (counts.some((count) => !(count >= 1 && count <= 32)) || !(rows >= 1 && rows <= 3600)) {
  throw new Error("at most 32 accounts and 3600 rows");
}

await measuring(async () => {
  const file = await people(rows, "people.csv");
  console.log(`${availableParallelism()} processors, load ${loadavg()[0].toFixed(1)} at the beginning`);
  for (const count of counts) await measure(count, file);
  await measureWaiting();
});

/** One import of new contacts into each of so many accounts, all at the same time. */
async function measure(count, file) {
  const services = await Promise.all(Array.from({ length: count }, () => sandbox()));
  const started = process.hrtime.bigint();
  const runs = await Promise.all(
    services.map((service, index) => ecm(["import", file, "--json"], service, `state-${count}-${index}`)),
  );
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

/**
 * A process that has used up the hour and waits for the next: what
 * it costs to have it lie there for ten seconds.
 */
async function measureWaiting() {
  const service = await sandbox(["--hourly-limit", "100", "--window", "10"]);
  const file = await people(110, "waiting.csv");
  const { cpuSeconds, seconds } = await ecm(["import", file, "--json"], service, "state-waiting");
  await service.stop();
  console.log("\na wait of one window of 10 s in the middle of 110 rows");
  report("from start to end", seconds, "s");
  report("CPU of the import process, all in all", cpuSeconds, "s");
}
