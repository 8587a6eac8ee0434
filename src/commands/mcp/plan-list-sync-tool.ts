/** `plan_list_sync`: a list made equal to a file. */
import type { FileFolder } from "./files.ts";
import { valueFlag } from "./flag-words.ts";
import { type ConsentInput, consentInput, mapInput, toConsentFlags, toMapFlags } from "./plan-inputs.ts";
import type { PlannedCommand, PlanTool } from "./plan-then-apply.ts";
import { textSchema } from "./tool.ts";

export function listSyncTool(files: FileFolder): PlanTool {
  return {
    name: "plan_list_sync",
    title: "Plan a list sync",
    description:
      "Makes a list's members exactly the keys of a file: adds first, removals after. Refused for more than 10% removals unless max_remove says so.",
    properties: {
      list: textSchema("name or id"),
      file: textSchema("CSV or one key per line"),
      max_remove: textSchema("N or N%"),
      create: { type: "boolean", description: "create contacts that do not exist" },
      ...consentInput,
      map: mapInput,
    },
    required: ["list", "file"],
    command: (input: SyncInput) => toSyncCommand(files, input),
  };
}

interface SyncInput extends ConsentInput {
  map?: Record<string, string>;
  list: string;
  file: string;
  max_remove?: string;
  create?: boolean;
}

async function toSyncCommand(files: FileFolder, input: SyncInput): Promise<PlannedCommand> {
  const { list, file, max_remove, create } = input;
  return {
    path: ["lists", "sync"],
    flags: [
      ...valueFlag("--max-remove", max_remove),
      ...(create ? ["--create"] : []),
      ...toConsentFlags(input),
      ...toMapFlags(input.map),
    ],
    args: [list, await files.find(file)],
  };
}
