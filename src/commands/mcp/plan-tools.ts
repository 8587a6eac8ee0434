/** Tools that plan a change of the account: which command each runs. */
import { quotedCsvLine } from "../../delimited-lines.ts";
import { UsageError } from "../../errors.ts";
import type { FileFolder } from "./files.ts";
import type { Invoke } from "./invoke.ts";
import { createApplyTool, createPlan, defaultSampleRows, type PlannedCommand } from "./plan-then-apply.ts";
import type { Plans } from "./plans.ts";
import { type SelectionInput, selectionInput, toSelectionWords } from "./read-tools.ts";
import {
  createInputSchema,
  type InputSchema,
  maxRows,
  readOnlyAnnotations,
  type Tool,
  textSchema,
  textsSchema,
} from "./tool.ts";

/** What every plan takes besides what is to be done. */
const sampleInput = {
  sample: {
    type: "integer",
    minimum: 0,
    maximum: maxRows,
    default: defaultSampleRows,
    description: "lines of the plan to return",
  },
};

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

/**
 * @param plans of this session
 * @param files undefined where no file may be read: then no tool takes one
 */
export function createPlanTools(invoke: Invoke, plans: Plans, files: FileFolder | undefined): Tool[] {
  const targets = files ? { ...targetInput, ...keysFileInput } : targetInput;
  const markedRows = files ? markedRowsInput : {};
  const target = (path: string[], input: TargetInput, more?: string[]) =>
    toTargetCommand(files, path, input, more);
  const createPlanTool = <Input>(
    name: string,
    title: string,
    description: string,
    properties: InputSchema["properties"],
    command: (input: Input) => Promise<PlannedCommand>,
    required: string[] = [],
  ): Tool => ({
    name,
    description: `${description} Sends no write: returns counts, a sample and the token for apply_plan.`,
    inputSchema: createInputSchema({ ...properties, ...sampleInput }, { required }),
    annotations: { title, ...readOnlyAnnotations, idempotentHint: false },
    call: async (input: Input & { sample?: number }, signal) =>
      createPlan(invoke, plans, { command: await command(input), sample: input.sample }, signal),
  });
  return [
    createPlanTool(
      "plan_import",
      "Plan an import",
      `Creates and updates contacts from ${files ? "a file (CSV, Excel or JSON) or from rows" : "rows"}. Lists and tags are only added. Who is marked as not subscribed, or is suppressed, is left out.`,
      files ? { file: textSchema("a file's path, in place of rows"), ...importInput } : importInput,
      (input: ImportInput) => toImportCommand(files, input),
    ),
    createPlanTool(
      "plan_change",
      "Plan a change of contacts",
      "The same change of fields, tags and lists on every chosen contact.",
      { ...targets, ...changeInput, ...consentInput, map: mapInput },
      (input: ChangeInput) => target(["contact", "mutate"], input, toChangeFlags(input)),
    ),
    createPlanTool(
      "plan_unsubscribe",
      "Plan an unsubscription",
      "Sets the chosen contacts to Inactive, Unsubscribe. Nobody can be subscribed again by API.",
      { ...targets, ...markedRows },
      (input: MarkedRowsInput) => target(["contact", "unsubscribe"], input, toMarkedRowsFlags(input)),
    ),
    createPlanTool(
      "plan_delete",
      "Plan a deletion",
      "Deletes the chosen contacts for good; a backup is written first.",
      { ...targets, ...markedRows },
      (input: MarkedRowsInput) => target(["contact", "delete"], input, toMarkedRowsFlags(input)),
    ),
    ...(files
      ? [
          createPlanTool(
            "plan_list_sync",
            "Plan a list sync",
            "Makes a list's members exactly the keys of a file: adds first, removals after. Refused for more than 10% removals unless max_remove says so.",
            {
              list: textSchema("name or id"),
              file: textSchema("CSV or one key per line"),
              max_remove: textSchema("N or N%"),
              create: { type: "boolean", description: "create contacts that do not exist" },
              ...consentInput,
              map: mapInput,
            },
            (input: SyncInput) => toSyncCommand(files, input),
            ["list", "file"],
          ),
        ]
      : []),
    createApplyTool(invoke, plans),
  ];
}

/** How the consent columns of a file are read. Only a person can say what a yes means: ask. */
const consentInput = {
  consent_column: textSchema("a column that says who is subscribed"),
  consent: {
    type: "object",
    additionalProperties: { enum: ["opt-in", "opt-out", "none"] },
    description:
      "{ column: what a yes in it means }: opt-in: subscribed, opt-out: not subscribed, none: neither. Ask the user, do not guess",
  },
};

interface ConsentInput {
  consent_column?: string;
  consent?: Record<string, string>;
}

function toConsentFlags({ consent_column, consent = {} }: ConsentInput): string[] {
  return [
    ...toOptionalFlag("--consent-column", consent_column),
    ...Object.entries(consent).map(([column, reading]) => `--consent-column=${column}=${reading}`),
  ];
}

const mapInput = {
  type: "object",
  additionalProperties: { enum: ["key", "consent"] },
  description: "{ column of the file: key or consent }",
};

function toMapFlags(map: Record<string, string> = {}): string[] {
  return Object.entries(map).map(([column, target]) => `--map=${column}=${target}`);
}

const importInput = {
  rows: {
    type: "array",
    minItems: 1,
    maxItems: maxRows,
    items: { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } },
    description: "contacts as { column: value }, in place of a file; the first is line 2 of the plan",
  },
  map: {
    type: "object",
    additionalProperties: { type: "string" },
    description: "{ column: target }; a target is key, lists, tags or a field",
  },
  lists: textsSchema("add every contact to these lists"),
  tags: textsSchema("give every contact these tags"),
  create_missing: { type: "boolean", description: "create lists and tags that do not exist" },
  mode: { enum: ["upsert", "create", "update"], default: "upsert" },
  blank: { enum: ["keep", "clear"], default: "keep" },
  ignore_unmapped: { type: "boolean", description: "leave out columns that match no field" },
  ...consentInput,
  sheet: textSchema("of a workbook: its name or number"),
};

interface ImportInput extends ConsentInput {
  file?: string;
  rows?: Record<string, string | number | boolean | null>[];
  map?: Record<string, string>;
  lists?: string[];
  tags?: string[];
  create_missing?: boolean;
  mode?: string;
  blank?: string;
  ignore_unmapped?: boolean;
  sheet?: string;
}

async function toImportCommand(files: FileFolder | undefined, input: ImportInput): Promise<PlannedCommand> {
  const { file, rows, map, lists = [], tags = [] } = input;
  if ((file === undefined) === (rows === undefined)) {
    throw new UsageError("An import needs either file or rows", "Pass one of the two");
  }
  requireConsentKept(input);
  const flags = [
    ...toMapFlags(map),
    ...lists.map((list) => `--list=${list}`),
    ...tags.map((tag) => `--tag=${tag}`),
    ...(input.create_missing ? ["--create-missing"] : []),
    ...(input.ignore_unmapped ? ["--ignore-unmapped"] : []),
    ...toOptionalFlag("--mode", input.mode),
    ...toOptionalFlag("--blank", input.blank),
    ...toConsentFlags(input),
    ...toOptionalFlag("--sheet", input.sheet),
  ];
  if (rows) {
    requireExactNumbers(rows);
    return {
      path: ["import"],
      flags: [...flags, "--delimiter=,", "--encoding=utf-8"],
      args: ["-"],
      stdin: formatCsv(rows),
    };
  }
  return { path: ["import"], flags, args: [await findFile(files, file!)] };
}

/**
 * Who left stays out, whatever a client was told: a column that says so cannot be put aside by it, or read
 * the other way round.
 * @throws UsageError
 */
function requireConsentKept({ map = {}, consent_column }: ImportInput): void {
  const ignored = Object.entries(map).find(([, target]) => target.trim().toLowerCase() === "ignore");
  if (ignored) {
    throw new UsageError(
      `map: a tool cannot put the column ${JSON.stringify(ignored[0])} aside`,
      "Leave out columns that match no field with ignore_unmapped; whoever owns the account can put others aside with ecm import",
    );
  }
  if (/=opt-(?:in|out)$/i.test(consent_column ?? "")) {
    throw new UsageError(
      "consent_column: a tool cannot say how the column is to be read",
      "Name the column alone; what a yes in it means goes into `consent`, once the user was asked",
    );
  }
}

/** Digits beyond what a JSON number holds were lost before they came here. @throws UsageError */
function requireExactNumbers(rows: NonNullable<ImportInput["rows"]>): void {
  for (const [index, row] of rows.entries()) {
    for (const [column, value] of Object.entries(row)) {
      if (typeof value !== "number" || Math.abs(value) <= Number.MAX_SAFE_INTEGER) continue;
      throw new UsageError(
        `rows[${index}]: the number in ${JSON.stringify(column)} has more digits than a JSON number keeps`,
        "Pass it as a string",
      );
    }
  }
}

function formatCsv(rows: NonNullable<ImportInput["rows"]>): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row[column]))];
  return lines
    .map((cells) => `${quotedCsvLine(cells.map((quoteCell) => String(quoteCell ?? "")))}\n`)
    .join("");
}

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
  const { set = {}, add_tags = [], remove_tags = [], add_lists = [], remove_lists = [] } = input;
  const unclear = Object.keys(set).find((field) => field.includes("="));
  if (unclear !== undefined) {
    throw new UsageError(`The label ${JSON.stringify(unclear)} has a "="`, "Name the field by its id");
  }
  const flags = [
    ...Object.entries(set).map(([field, value]) => `--set=${field}=${value}`),
    ...add_tags.map((tag) => `--add-tag=${tag}`),
    ...remove_tags.map((tag) => `--remove-tag=${tag}`),
    ...add_lists.map((list) => `--add-list=${list}`),
    ...remove_lists.map((list) => `--remove-list=${list}`),
  ];
  if (flags.length === 0) throw new UsageError("No change given", "Pass set, add_tags or another change");
  return [...flags, ...toConsentFlags(input), ...toMapFlags(input.map)];
}

async function toTargetCommand(
  files: FileFolder | undefined,
  path: string[],
  input: TargetInput,
  more: string[] = [],
): Promise<PlannedCommand> {
  const { keys_file, all } = input;
  const flags = [
    ...[...more, "--bulk", ...toSelectionWords(input)],
    ...toOptionalFlag("--keys", keys_file === undefined ? undefined : await findFile(files, keys_file)),
    ...(all ? ["--all"] : []),
  ];
  return { path, flags };
}

function findFile(files: FileFolder | undefined, name: string): Promise<string> {
  if (files) return files.find(name);
  throw new UsageError("This server reads no files", "Start it with: ecm mcp --files DIR");
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
      ...toOptionalFlag("--max-remove", max_remove),
      ...(create ? ["--create"] : []),
      ...toConsentFlags(input),
      ...toMapFlags(input.map),
    ],
    args: [list, await files.find(file)],
  };
}

function toOptionalFlag(flag: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${flag}=${value}`];
}
