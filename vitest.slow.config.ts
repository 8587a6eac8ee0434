import { defineConfig } from "vitest/config";

/** What needs minutes: `npm run test:slow`. */
export default defineConfig({
  test: {
    include: ["test/slow/**/*.slow.ts"],
    setupFiles: ["test/support/environment.ts"],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
