import { defineConfig } from "vitest/config";
import { quick } from "./vitest.config.ts";

const slow = {
  ...quick,
  tagsFilter: ["slow or trials"],
  env: { ...quick.env, PROPERTY_RUNS: process.env.PROPERTY_RUNS ?? "5" },
};

/** What needs minutes: `npm run test:slow`. */
export default defineConfig({ test: slow });
