/** What most tests of commands need: `ecm`, the embedded service, a service of one's own, files and summaries. */
export * from "./bulk/kit.ts";
export * from "./bulk/plan-kit.ts";
export * from "./support/ecm.ts";
export * from "./support/http-server.ts";
export * from "./support/sandbox.ts";
export * from "./support/service.ts";
