import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/slow/**"],
    setupFiles: ["test/support/environment.ts"],
    // A net for what hangs, not a measure: a busy machine takes its time.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    pool: "forks",
    // A worker keeps the program it has loaded from file to file: loading it anew for each was half of the time.
    isolate: false,
    // Many tests wait for child processes: one file more at once than there are processors.
    maxWorkers: availableParallelism() + 1,
  },
});
