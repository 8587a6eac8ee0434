/** What `bench/sandbox.mjs` measures, and what its floor is made of. */
export { createAdaptorServer } from "@hono/node-server";
export { Hono } from "hono";
export { openSandbox } from "../src/sandbox/index.ts";
export { check } from "../src/sandbox/rules/endpoint.ts";
export { createContact } from "../src/sandbox/rules/requests.ts";
export { startSandbox } from "../src/sandbox/start-sandbox.ts";
export { openStore } from "../src/sandbox/store/index.ts";
