import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files in memory are real files, and are not waited for: the disk took up to half of the time. */
const memory = "/dev/shm";
const leastRoom = 2 * 2 ** 30;
function temporaryFiles(): string {
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize >= leastRoom && runsScripts(memory) ? memory : tmpdir();
}

/** Containers often mount it so that nothing in it can be run. */
function runsScripts(folder: string): boolean {
  const home = mkdtempSync(join(folder, "ecm-test-"));
  try {
    const script = join(home, "script");
    writeFileSync(script, "#!/bin/sh\n", { mode: 0o700 });
    return spawnSync(script).status === 0;
  } finally {
    rmSync(home, { recursive: true });
  }
}

/** The fleet waits minutes for heartbeats: begun in the middle, it would end alone. */
class FleetFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => (moduleId.endsWith("/fleet.slow.test.ts") ? 0 : 1);
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/** More trials of the properties (`test/support/runs.ts`) take as much longer. */
const { PROPERTY_RUNS = "1" } = process.env;
// A net for what hangs, not a measure: a busy machine takes its time.
const timeout = 120_000 * Number(PROPERTY_RUNS);

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/environment.ts"],
    testTimeout: timeout,
    hookTimeout: timeout,
    expect: { poll: { timeout: timeout / 2 } },
    env: { TMPDIR: temporaryFiles() },
    // What was compiled is kept on disk from run to run.
    experimental: { fsModuleCache: true },
    pool: "forks",
    // A worker keeps the program it has loaded from file to file: loading it anew for each was half of the time.
    isolate: false,
    // Most code runs a few times: to optimize it as early as usual takes a sixth more of the processors. Newer
    // versions of Node have no such flag.
    execArgv: process.version.startsWith("v20.") ? ["--interrupt-budget=1000000"] : [],
    // Many tests wait for child processes: one file more at once than there are processors.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: FleetFirst },
  },
});
