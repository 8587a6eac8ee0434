/** Tools that plan a change of the account, and the one that carries a plan out. */
import { importTool } from "./plan-import-tool.ts";
import { listSyncTool } from "./plan-list-sync-tool.ts";
import { targetTools } from "./plan-target-tools.ts";
import { createApplyTool, createPlanTool } from "./plan-then-apply.ts";
import type { Plans } from "./plans.ts";
import { createResumeTool, undoTool } from "./run-tools.ts";
import type { Tool } from "./tool.ts";
import type { Toolkit } from "./toolkit.ts";

/** @param plans of this session */
export function createPlanTools(toolkit: Toolkit, plans: Plans): Tool[] {
  const { files, invoke } = toolkit;
  const tools = [
    ...[importTool(files), ...targetTools(files), ...(files ? [listSyncTool] : [])],
    undoTool(invoke),
  ];
  return [
    ...tools.map((tool) => createPlanTool(toolkit, plans, tool)),
    createApplyTool(invoke, plans),
    createResumeTool(toolkit),
  ];
}
