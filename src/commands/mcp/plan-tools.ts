/** Tools that plan a change of the account, and the one that carries a plan out. */
import type { FileFolder } from "./files.ts";
import type { Invoke } from "./invoke.ts";
import { importTool } from "./plan-import-tool.ts";
import { listSyncTool } from "./plan-list-sync-tool.ts";
import { targetTools } from "./plan-target-tools.ts";
import { createApplyTool, createPlanTool } from "./plan-then-apply.ts";
import type { Plans } from "./plans.ts";
import { createResumeTool, undoTool } from "./run-tools.ts";
import type { Tool } from "./tool.ts";

/**
 * @param plans of this session
 * @param files undefined where no file may be read: then no tool takes one
 */
export function createPlanTools(invoke: Invoke, plans: Plans, files: FileFolder | undefined): Tool[] {
  const tools = [
    ...[importTool(files), ...targetTools(files), ...(files ? [listSyncTool(files)] : [])],
    undoTool(invoke),
  ];
  return [
    ...tools.map((tool) => createPlanTool(invoke, plans, tool)),
    createApplyTool(invoke, plans),
    createResumeTool(invoke),
  ];
}
