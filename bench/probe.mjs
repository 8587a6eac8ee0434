/**
 * Loaded into a measured process by `--import`: writes its CPU time and peak memory to a file when it ends.
 */
import { writeFileSync } from "node:fs";

process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const usage = { cpuSeconds: (user + system) / 1e6, peakMib: process.resourceUsage().maxRSS / 1024 };
  writeFileSync(process.env.BENCH_USAGE, JSON.stringify(usage));
});
