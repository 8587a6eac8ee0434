import { defineConfig } from "vitest/config";
import { quick } from "./vitest.config.ts";

const slow = {
  ...quick,
  tagsFilter: ["slow or trials"],
  // The disk is a part of what is tested here: temporary files are where the system has them.
  env: { PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? "5" },
};

/** What needs minutes: `npm run test:slow`. */
export default defineConfig({ test: slow });
