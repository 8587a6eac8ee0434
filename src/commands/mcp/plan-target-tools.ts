/**
 * Tools that plan the same change of every chosen contact: `plan_change`, `plan_unsubscribe`, `plan_delete`.
 */
import { UsageError } from "../../errors.ts";
import type { FileFolder } from "./files.ts";
import { repeatedFlag, valueFlag } from "./flag-words.ts";
import {
  type ConsentInput,
  consentInput,
  findFile,
  mapInput,
  toConsentFlags,
  toMapFlags,
} from "./plan-inputs.ts";
import type { PlannedCommand, PlanTool } from "./plan-then-apply.ts";
import { type SelectionInput, selectionInput, toSelectionWords } from "./read-tools.ts";
import { textSchema, textsSchema } from "./tool.ts";

/** @param files undefined where no file may be read: then no tool takes one */
export function targetTools(files: FileFolder | undefined): PlanTool[] {
  const targets = files ? { ...targetInput, ...keysFileInput } : targetInput;
  const markedTargets = files ? { ...targets, ...markedRowsInput } : targets;
  return [
    {
      name: "plan_change",
      title: "Plan a change of contacts",
      description: "The same change of fields, tags and lists on every chosen contact.",
      properties: { ...targets, ...changeInput, ...consentInput, map: mapInput },
      command: async (input: ChangeInput) =>
        toTargetCommand(files, ["contact", "mutate"], input, toChangeFlags(input)),
    },
    {
      name: "plan_unsubscribe",
      title: "Plan an unsubscription",
      description:
        "Sets the chosen contacts to Inactive, Unsubscribe. Nobody can be subscribed again by API.",
      properties: markedTargets,
      command: async (input: MarkedRowsInput) =>
        toTargetCommand(files, ["contact", "unsubscribe"], input, toMarkedRowsFlags(input)),
    },
    {
      name: "plan_delete",
      title: "Plan a deletion",
      description: "Deletes the chosen contacts for good; a backup is written first.",
      properties: markedTargets,
      command: async (input: MarkedRowsInput) =>
        toTargetCommand(files, ["contact", "delete"], input, toMarkedRowsFlags(input)),
    },
  ];
}

const targetInput = {
  ...selectionInput,
  all: { type: "boolean", description: "every contact of the structure" },
};

interface TargetInput extends SelectionInput {
  keys_file?: string;
  all?: boolean;
}

const markedRowsInput = {
  rows: {
    enum: ["marked", "all"],
    description: "where keys_file marks only some rows as not subscribed: those, or everyone. Ask the user",
  },
};

interface MarkedRowsInput extends TargetInput {
  rows?: "marked" | "all";
}

function toMarkedRowsFlags({ rows }: MarkedRowsInput): string[] {
  return rows ? [`--${rows}-rows`] : [];
}

const keysFileInput = { keys_file: textSchema("a file with a key or id on each line") };

const changeInput = {
  set: {
    type: "object",
    additionalProperties: { type: "string" },
    description: "{ field: value }; fields by label or id",
  },
  add_tags: textsSchema("by label or id"),
  remove_tags: textsSchema("by label or id"),
  add_lists: textsSchema("by name or id"),
  remove_lists: textsSchema("by name or id"),
};

interface ChangeInput extends TargetInput, ConsentInput {
  map?: Record<string, string>;
  set?: Record<string, string>;
  add_tags?: string[];
  remove_tags?: string[];
  add_lists?: string[];
  remove_lists?: string[];
}

function toChangeFlags(input: ChangeInput): string[] {
  const { set = {} } = input;
  const unclear = Object.keys(set).find((field) => field.includes("="));
  if (unclear !== undefined) {
    throw new UsageError(`The label ${JSON.stringify(unclear)} has a "="`, "Name the field by its id");
  }
  const flags = [
    ...Object.entries(set).map(([field, value]) => `--set=${field}=${value}`),
    ...repeatedFlag("--add-tag", input.add_tags),
    ...repeatedFlag("--remove-tag", input.remove_tags),
    ...repeatedFlag("--add-list", input.add_lists),
    ...repeatedFlag("--remove-list", input.remove_lists),
  ];
  if (flags.length === 0) throw new UsageError("No change given", "Pass set, add_tags or another change");
  return [...flags, ...toConsentFlags(input), ...toMapFlags(input.map)];
}

async function toTargetCommand(
  files: FileFolder | undefined,
  path: string[],
  input: TargetInput,
  changes: string[],
): Promise<PlannedCommand> {
  const { keys_file, all } = input;
  const flags = [
    ...[...changes, "--bulk", ...toSelectionWords(input)],
    ...valueFlag("--keys", keys_file === undefined ? undefined : await findFile(files, keys_file)),
    ...(all ? ["--all"] : []),
  ];
  return { path, flags };
}
