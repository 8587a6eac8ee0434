/** The tools that plan a change of the account. Who is subscribed is not theirs to decide. */
import type { RunView } from "../../bulk/index.ts";
import { quotedCsvLine } from "../../delimited-lines.ts";
import { usageError } from "../../errors.ts";
import type { FileFolder } from "./files.ts";
import {
  type Completion,
  createApplyTool,
  createPlanTool,
  type Planned,
  type Plans,
  type PlanTool,
} from "./plans.ts";
import { findRun, readOwnRuns, selectionOffers } from "./read-tools.ts";
import { maxRows, type Tool, type Toolkit, textSchema } from "./tool.ts";

/** All tools that write: each plans, and one carries a plan out. @param plans of this session */
export function createPlanTools(toolkit: Toolkit, plans: Plans): Tool[] {
  const { files, invoke } = toolkit;
  const tools = [importTool(files), changeTool(files), ...(files ? [listSyncTool] : [])];
  return [
    ...tools.map((tool) => createPlanTool(toolkit, plans, tool)),
    createRunTool(toolkit, plans),
    createApplyTool(invoke, plans),
  ];
}

/** How the consent columns of a file are read. Only a person can say what a yes means: ask. */
const consentInput = {
  consent_column: textSchema("a column that says who is subscribed"),
  consent: {
    type: "object",
    additionalProperties: { enum: ["opt-in", "opt-out"] },
    description: "{ column: what a yes means }: opt-in: subscribed, opt-out: not. Ask the user, do not guess",
  },
};

/** For messages of a command. */
const consentNames = [["--consent-column", "consent"]] as const;

interface ConsentInput {
  consent_column?: string;
  consent?: Record<string, string>;
}

function toConsentFlags({ consent_column, consent = {} }: ConsentInput): string[] {
  return [
    ...(consent_column === undefined ? [] : [`--consent-column=${consent_column}`]),
    ...Object.entries(consent).map(([column, reading]) => `--consent-column=${column}=${reading}`),
  ];
}

const mapInput = {
  map: {
    type: "object",
    additionalProperties: { enum: ["key", "consent"] },
    description: "{ column of the file: key or consent }",
  },
};

interface MapInput {
  map?: Record<string, string>;
}

function toMapFlags({ map = {} }: MapInput): string[] {
  return Object.entries(map).map(([column, target]) => `--map=${column}=${target}`);
}

/** @param files undefined where no file may be read: then only rows are taken */
function importTool(files: FileFolder | undefined): PlanTool {
  return {
    name: "plan_import",
    title: "Plan an import",
    description: `Creates and updates contacts from ${files ? "a file (CSV, Excel or JSON) or from rows" : "rows"}. Lists and tags are only added. Who is marked as not subscribed, or is suppressed, is left out.`,
    path: ["import"],
    offers: [
      ...["<file>", "--map", "--list", "--tag", "--create-missing", "--mode", "--blank"],
      ...["--ignore-unmapped", "--sheet"],
    ],
    own: { ...rowsInput, ...consentInput },
    ownNames: consentNames,
    complete: completeImport,
  };
}

const rowsInput = {
  rows: {
    type: "array",
    minItems: 1,
    maxItems: maxRows,
    items: { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } },
    description: "contacts as { column: value }, in place of a file; the first is line 2 of the plan",
  },
};

interface ImportInput extends ConsentInput, MapInput {
  file?: string;
  rows?: Record<string, string | number | boolean | null>[];
}

async function completeImport(input: ImportInput): Promise<Completion> {
  const { file, rows } = input;
  if ((file === undefined) === (rows === undefined)) {
    throw usageError("An import needs either file or rows", "Pass one of the two");
  }
  requireConsentKept(input);
  const flags = toConsentFlags(input);
  if (!rows) return { flags };
  requireExactNumbers(rows);
  return { flags: [...flags, "--delimiter=,", "--encoding=utf-8"], args: ["-"], stdin: formatCsv(rows) };
}

/**
 * Who left stays out, whatever a client was told: a column that says so cannot be put aside by it, or read
 * the other way round.
 * @throws UsageError
 */
function requireConsentKept({ map = {}, consent_column }: ImportInput): void {
  const ignored = Object.entries(map).find(([, target]) => target.trim().toLowerCase() === "ignore");
  if (ignored) {
    throw usageError(
      `map: a tool cannot put the column ${JSON.stringify(ignored[0])} aside`,
      "Leave out columns that match no field with ignore_unmapped; whoever owns the account can put others aside with ecm import",
    );
  }
  if (/=opt-(?:in|out)$/i.test(consent_column ?? "")) {
    throw usageError(
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
      throw usageError(
        `rows[${index}]: the number in ${JSON.stringify(column)} has more digits than a JSON number keeps`,
        "Pass it as a string",
      );
    }
  }
}

function formatCsv(given: NonNullable<ImportInput["rows"]>): string {
  const rows = given.map((row) => new Map(Object.entries(row)));
  const columns = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = [columns, ...rows.map((row) => columns.map((column) => row.get(column)))];
  return lines
    .map((cells) => `${quotedCsvLine(cells.map((quoteCell) => String(quoteCell ?? "")))}\n`)
    .join("");
}

const listSyncTool: PlanTool = {
  name: "plan_list_sync",
  title: "Plan a list sync",
  description:
    "Makes a list's members exactly the keys of a file: adds first, removals after. Refused for more than 10% removals unless max_remove says so.",
  path: ["lists", "sync"],
  offers: ["<list>", "<file>", "--max-remove", "--create"],
  own: { ...consentInput, ...mapInput },
  ownNames: consentNames,
  required: ["list", "file"],
  complete: async (input: ConsentInput & MapInput) => ({
    flags: [...toConsentFlags(input), ...toMapFlags(input)],
  }),
};

const changeFlags = ["--set", "--add-tag", "--remove-tag", "--add-list", "--remove-list"];
const commandsByAction = { change: "mutate", unsubscribe: "unsubscribe", delete: "delete" } as const;

/** Two flags that exclude each other. */
const markedRowsInput = {
  rows: {
    enum: ["marked", "all"],
    description:
      "to unsubscribe or delete, where keys_file marks only some rows as not subscribed: those, or everyone. Ask the user",
  },
};

interface ChangeInput extends ConsentInput, MapInput {
  action?: keyof typeof commandsByAction;
  rows?: "marked" | "all";
  set?: Record<string, string>;
  add_tags?: string[];
  remove_tags?: string[];
  add_lists?: string[];
  remove_lists?: string[];
}

/** The same change of every chosen contact. @param files undefined where no file may be read */
function changeTool(files: FileFolder | undefined): PlanTool {
  const action = {
    enum: Object.keys(commandsByAction),
    default: "change",
    description: "unsubscribe: set to Inactive, for good; delete: for good, after a backup",
  };
  return {
    name: "plan_change",
    title: "Plan a change of contacts",
    description:
      "The same change of fields, tags and lists on every chosen contact; or, by action, their unsubscription or deletion.",
    path: ["contact", "mutate"],
    offers: [...selectionOffers, "--all", "--keys", ...changeFlags],
    own: { action, ...(files ? { ...consentInput, ...mapInput, ...markedRowsInput } : {}) },
    ownNames: consentNames,
    complete: completeChange,
  };
}

async function completeChange(input: ChangeInput): Promise<Completion> {
  const { action = "change", rows, set = {} } = input;
  const { add_tags = [], remove_tags = [], add_lists = [], remove_lists = [] } = input;
  const unclear = Object.keys(set).find((field) => field.includes("="));
  if (unclear !== undefined) {
    throw usageError(`The label ${JSON.stringify(unclear)} has a "="`, "Name the field by its id");
  }
  const changes = [...Object.keys(set), ...add_tags, ...remove_tags, ...add_lists, ...remove_lists];
  if (action === "change" && changes.length === 0)
    throw usageError("No change given", "Pass set, add_tags or another change; or an action");
  if (action !== "change" && changes.length > 0)
    throw usageError(`action ${action} takes no other change`, "Leave out set, tags and lists to change");
  if (action === "change" && rows) throw usageError("rows goes with unsubscribe or delete", "Leave it out");
  return {
    path: ["contact", commandsByAction[action]],
    flags: ["--bulk", ...(rows ? [`--${rows}-rows`] : []), ...toConsentFlags(input), ...toMapFlags(input)],
  };
}

interface RunInput {
  run: string;
  action: "undo" | "resume";
  delete_created?: boolean;
  sample?: number;
}

/** An undo is planned as any change; of a run that goes on, its plan is there already. */
function createRunTool(toolkit: Toolkit, plans: Plans): Tool {
  const { invoke } = toolkit;
  const undo = createPlanTool(toolkit, plans, {
    name: "plan_run",
    title: "Plan to undo or resume a run",
    description:
      "undo: puts back the values, lists and tags that a bulk run changed and that nobody has changed since; an unsubscription cannot be undone; contacts that the run created stay, unless delete_created. resume: goes on with a run that a limit, a cancelled call or a lost connection stopped: what its plan still has, and nothing else.",
    path: ["runs", "undo"],
    offers: ["<run>", "--delete-created"],
    own: { action: { enum: ["undo", "resume"] } },
    required: ["run", "action"],
    complete: async ({ run: id }: RunInput, signal) => {
      const { run } = findRun(await readOwnRuns(invoke, signal), id);
      return { flags: [], args: [run] };
    },
  });
  return {
    ...undo,
    async call(input: RunInput, signal, talk) {
      if (input.action === "undo") return undo.call(input as never, signal, talk);
      if (input.delete_created !== undefined) {
        throw usageError("delete_created goes with undo", "Leave it out");
      }
      return planResume(findRun(await readOwnRuns(invoke, signal), input.run), plans);
    },
  };
}

/** Nothing is sent: what is left of the run is known. @throws UsageError for a run that is done */
function planResume(run: RunView, plans: Plans): object {
  if (run.status === "completed" || run.status === "superseded") {
    throw usageError(`Run ${run.run} is done: there is nothing to resume`, "See runs_list");
  }
  const pending = run.rows?.pending;
  const planned: Planned = {
    words: ["runs", "resume", "--yes", "--no-wait", "--", run.run],
    writes: pending,
    deletions: run.kind === "delete" ? (pending ?? 0) : 0,
    remove: async () => {},
  };
  return { ...plans.keep(planned), run, counts: { pending: pending ?? null } };
}
