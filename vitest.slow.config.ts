import { defineConfig } from "vitest/config";

/** What needs minutes: `npm run test:slow`. */
export default defineConfig({
  test: {
    include: [
      "test/slow/**/*.slow.ts",
      // Properties once more, with more trials.
      "test/bulk/read/{formats,keys,properties}.test.ts",
      "test/bulk/plan/plan-file.test.ts",
      "test/promises/flag-space.test.ts",
    ],
    env: { PROPERTY_RUNS: "5" },
    setupFiles: ["test/support/environment.ts"],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
