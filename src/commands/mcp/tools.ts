/** The tools, at most 12: their commands, the flags that they offer, and the form of their answers. */
import type { RunView } from "../../bulk/index.ts";
import { exitCodes, notFoundError, usageError } from "../../errors.ts";
import type { Plans } from "./plans.ts";
import type { Call, CommandLine, ShownPage, ToolDeclaration } from "./tool.ts";

/** How many rows an answer has: at most, and by default. */
const maxRows = 200;
const defaultRows = 100;

const limitInput = { type: "integer", minimum: 1, maximum: maxRows, default: defaultRows };
const pageInput = { type: "integer", minimum: 1, default: 1 };
const paging = { limit: limitInput, page: pageInput };

interface Paged {
  limit?: number;
  page?: number;
}

/** The conditions of a selection, for every tool that chooses contacts. */
const selectionFlags = ["--key", "--list", "--tag", "--status", "--where"];

/** @param plans of this session; undefined where the server only reads */
export function listTools(plans: Plans | undefined): ToolDeclaration[] {
  const readers = [
    statusReader,
    structureReader,
    searchReader,
    contactReader,
    eventsReader,
    createRunsReader(plans),
    apiReader,
  ];
  if (!plans) return readers;
  const planners = [importPlanner, changePlanner, syncPlanner].map((each) => createPlanner(plans, each));
  return [...readers, ...planners, createRunPlanner(plans), createApplyTool(plans)];
}

/** A page of rows, with the total and the number of the next page. */
function toPage(name: string, rows: unknown, { total, hasMore }: ShownPage, page = 1) {
  // With conditions that `ecm` checks itself, the total is not known before all pages are read.
  return { [name]: rows, total: total ?? null, hasMore, ...(hasMore && { nextPage: page + 1 }) };
}

/** A page of rows that are all in memory. */
function cutPage(name: string, rows: readonly unknown[], { limit = defaultRows, page = 1 }: Paged) {
  const shown = { total: rows.length, hasMore: page * limit < rows.length };
  return toPage(name, rows.slice((page - 1) * limit, page * limit), shown, page);
}

const statusReader: ToolDeclaration = {
  name: "account_status",
  description:
    "Which account this server works with, whether its key works, and what is left of the hourly limit and the monthly quota. 1 request.",
  path: ["auth", "status"],
  async run({ line, invoke }) {
    const status = await invoke(line);
    return { ...(status.value as object), limits: (await invoke(["limits"])).value };
  },
};

const structureReader: ToolDeclaration = {
  name: "structure_get",
  description:
    "The fields and tags of contacts, and the lists with their numbers of contacts, a page at a time; with ids. 2 requests.",
  path: ["structure", "get"],
  offers: ["<structure>"],
  own: paging,
  async run({ line, invoke }, { limit = defaultRows, page = 1 }: Paged) {
    const structure = (await invoke(line)).value;
    // If the service's answer about the lists cannot be read, they are null.
    const lists = await invoke(["lists", "list", `--size=${limit}`, `--page=${page}`], {
      accepts: [exitCodes.failed],
    });
    return { structure, ...toPage("lists", lists.value, lists.page, page) };
  },
};

const searchReader: ToolDeclaration = {
  name: "contact_search",
  description:
    "Contacts that meet all given conditions; without conditions all contacts. Pages of at most 200, with the total. With count, only their number. What the ids in them mean: structure_get.",
  path: ["contact", "search"],
  offers: [
    ...[...selectionFlags, "--text", "--filter", "--source", "--count"],
    { flag: "--page-size", name: "limit", schema: limitInput },
    { flag: "--page", name: "page", schema: pageInput },
  ],
  async run({ line, invoke }, { count = false, page = 1 }: Paged & { count?: boolean }) {
    const found = await invoke(line);
    return count ? { count: found.value } : toPage("contacts", found.value, found.page, page);
  },
};

const contactReader: ToolDeclaration = {
  name: "contact_get",
  description: "One contact by its key or id, with all its data. What the ids in it mean: structure_get.",
  path: ["contact", "get"],
  offers: [{ flag: "<id-or-key>", name: "contact" }],
  required: ["contact"],
  run: async ({ line, invoke }) => ({ contact: (await invoke(line)).value }),
};

/** How many contacts are looked up for one answer, at most. */
const maxKeyLookups = 20;

const eventsReader: ToolDeclaration = {
  name: "events_list",
  description: `What happened to contacts, each with the contact's key: the newest events, oldest of them first. To see others, narrow by contact, types or days. Keys that no event tells cost 1 request each, at most ${maxKeyLookups}.`,
  path: ["events"],
  offers: [
    { flag: "<id-or-key>", name: "contact" },
    ...["--type", "--days", "--campaign"],
    { flag: "--limit", name: "limit", schema: limitInput },
  ],
  async run({ line, invoke }) {
    const { value, page } = await invoke(line);
    const events = value as { contactId?: string; emailTo?: string }[];
    // Keys are not kept for later answers: a person may be erased in between.
    const keys = new Map(events.flatMap(({ contactId, emailTo }) => (emailTo ? [[contactId, emailTo]] : [])));
    const unknown = new Set(events.flatMap(({ contactId: id }) => (id && !keys.has(id) ? [id] : [])));
    for (const id of [...unknown].slice(0, maxKeyLookups)) {
      const found = await invoke(["contact", "get", "--", id], { accepts: [exitCodes.notFound] });
      keys.set(id, (found.value as { key?: string } | null)?.key ?? "");
    }
    // Events have no next page.
    return {
      events: events.map((event) => ({ ...event, key: keys.get(event.contactId) || null })),
      total: page.total ?? null,
      hasMore: page.hasMore,
    };
  },
};

/** A run of the server's own account. @param wanted its id, or `last` @throws NotFoundError */
async function findRun(invoke: Call["invoke"], wanted: string): Promise<RunView> {
  const runs = await readOwnRuns(invoke);
  const found = wanted === "last" ? runs[0] : runs.find(({ run }) => run === wanted);
  if (found) return found;
  throw notFoundError(`This account has no run ${JSON.stringify(wanted)}`, "See runs_list");
}

async function readOwnRuns(invoke: Call["invoke"]): Promise<RunView[]> {
  return (await invoke(["runs", "list", "--own"])).value as RunView[];
}

function createRunsReader(plans: Plans | undefined): ToolDeclaration {
  return {
    name: "runs_list",
    description:
      "The bulk runs of this account on this machine, newest first. With run, that one; with changes, also what it did to each contact, as lines of a plan; with rejects, what it and its plan rejected. No request.",
    path: ["runs", "show"],
    offers: ["<run>", "--changes"],
    own: {
      rejects: { type: "boolean", description: "with run: also what was rejected, with the reason" },
      ...paging,
    },
    async run({ invoke }, input: Paged & { run?: string; changes?: boolean; rejects?: boolean }) {
      const { run: wanted, changes, rejects, ...paged } = input;
      if (wanted === undefined) return cutPage("runs", await readOwnRuns(invoke), paged);
      const run = await findRun(invoke, wanted);
      if (changes) {
        const lines = await invoke(["runs", "show", "--changes", "--", run.run], { isLines: true });
        return { run, ...cutPage("changes", lines.value as unknown[], paged) };
      }
      if (!rejects) return { run };
      const { value } = await invoke(["runs", "rejects", "--", run.run]);
      const rows = [...((await plans?.findRejects(run.run)) ?? []), ...((value ?? []) as object[])];
      return { run, ...cutPage("rejects", rows, paged) };
    },
  };
}

const apiReader: ToolDeclaration = {
  name: "api_get",
  description:
    "Sends GET to any path of the API, such as /api/email/campaign, /api/email/template, /api/email/domain, /api/reports/dashboard, and gives the answer as it came; of more rows than limit, a page of them. 1 request.",
  path: ["api"],
  offers: ["<path>", "--query"],
  own: paging,
  required: ["path"],
  async run({ line, invoke }, paged: Paged) {
    const { value } = await invoke({ ...line, args: ["GET", ...line.args] });
    if (Array.isArray(value)) return cutPage("answer", value, paged);
    const { records } = (value ?? {}) as { records?: unknown };
    if (!Array.isArray(records) || records.length <= (paged.limit ?? defaultRows)) return { answer: value };
    const { rows, ...shown } = cutPage("rows", records, paged) as Record<string, unknown>;
    return { answer: { ...(value as object), records: rows }, ...shown };
  },
};

// The tools that plan a change of the account.

/** A tool that plans, and the command of its dry run. */
interface Planner extends Omit<ToolDeclaration, "run"> {
  /** Adds to the command what the input says beyond its flags. @throws UsageError */
  complete?(line: CommandLine, input: never, call: Call): CommandLine | Promise<CommandLine>;
}

const defaultSampleRows = 20;

/** @param plans of this session */
function createPlanner(plans: Plans, { complete = (line) => line, ...planner }: Planner): ToolDeclaration {
  const sampleInput = { ...limitInput, minimum: 0, default: defaultSampleRows };
  return {
    ...planner,
    description: `${planner.description} Writes nothing: gives counts, a sample, a token for apply_plan.`,
    own: { ...planner.own, sample: { ...sampleInput, description: "lines of the plan to return" } },
    async run(call, input: { map?: Record<string, string>; sample?: number }) {
      requireConsentKept(input.map);
      const line = await complete(call.line, input as never, call);
      return plans.plan(call, line, input.sample ?? defaultSampleRows);
    },
  };
}

/** A column that says who has left cannot be ignored by a client. @throws UsageError */
function requireConsentKept(map: Record<string, string> = {}): void {
  const ignored = Object.entries(map).find(([, target]) => target.trim().toLowerCase() === "ignore");
  if (!ignored) return;
  throw usageError(
    `map: a tool cannot ignore the column ${JSON.stringify(ignored[0])}`,
    "Leave out columns that match no field with ignore_unmapped",
  );
}

/** How the consent columns of a file are read. */
const consentOffer = {
  flag: "--consent-column",
  name: "consent",
  schema: {
    type: "object",
    additionalProperties: { enum: ["opt-in", "opt-out"] },
    description: "{ column: what a yes means }: opt-in: subscribed, opt-out: not. Ask the user, do not guess",
  },
};

/** A larger number has lost digits before it arrives here; clients pass it as a string. */
const cellInput = {
  type: ["string", "number", "boolean", "null"],
  minimum: -Number.MAX_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
};

const importPlanner: Planner = {
  name: "plan_import",
  description:
    "Creates and updates contacts from rows, or from a file (CSV, Excel or JSON). Lists and tags are only added. Contacts that are marked as not subscribed, or are suppressed, are left out.",
  path: ["import"],
  offers: [
    ...["<file>", "--map", "--list", "--tag", "--create-missing", "--mode", "--blank"],
    ...["--ignore-unmapped", "--sheet", consentOffer],
  ],
  own: {
    rows: {
      type: "array",
      minItems: 1,
      maxItems: maxRows,
      items: { type: "object", additionalProperties: cellInput },
      description: "contacts as { column: value }, in place of a file; the first is line 1 of the plan",
    },
  },
  complete(line, { file, rows }: { file?: string; rows?: object[] }) {
    if ((file === undefined) === (rows === undefined)) {
      throw usageError("An import needs either file or rows", "Pass one of the two");
    }
    return rows ? { ...line, args: ["-"], stdin: JSON.stringify(rows) } : line;
  },
};

const syncPlanner: Planner = {
  name: "plan_list_sync",
  description:
    "Makes a list's members exactly the keys of a file: adds first, removals after. Refused for more than 10% removals unless max_remove says so.",
  path: ["lists", "sync"],
  offers: ["<list>", "<file>", "--max-remove", "--create", "--map", consentOffer],
  required: ["list", "file"],
};

const changeFlags = ["--set", "--add-tag", "--remove-tag", "--add-list", "--remove-list"];
const commandsByAction = { change: "mutate", unsubscribe: "unsubscribe", delete: "delete" } as const;

const changePlanner: Planner = {
  name: "plan_change",
  description:
    "The same change of fields, tags and lists on every chosen contact; or, by action, their unsubscription or deletion.",
  path: ["contact", "mutate"],
  offers: [...selectionFlags, "--all", "--keys", ...changeFlags, "--map", consentOffer],
  own: {
    action: {
      enum: Object.keys(commandsByAction),
      default: "change",
      description: "unsubscribe: set to Inactive, for good; delete: for good, after a backup",
    },
    rows: {
      enum: ["marked", "all"],
      description:
        "to unsubscribe or delete, where keys_file marks only some rows as not subscribed: those rows, or all. Ask the user",
    },
  },
  complete(line, input: { action?: keyof typeof commandsByAction; rows?: string; set?: object }) {
    const { action = "change", rows, set = {} } = input;
    // `--set FIELD=VALUE` is split at the first equals sign.
    const unclear = Object.keys(set).find((field) => field.includes("="));
    if (unclear !== undefined) {
      throw usageError(`The label ${JSON.stringify(unclear)} has a "="`, "Name the field by its id");
    }
    const more = ["--bulk", ...(rows ? [`--${rows}-rows`] : [])];
    return { ...line, path: ["contact", commandsByAction[action]], flags: [...line.flags, ...more] };
  },
};

/** Plans an undo by a dry run; a run that is to be resumed has its plan already. */
function createRunPlanner(plans: Plans): ToolDeclaration {
  const undo = createPlanner(plans, {
    name: "plan_run",
    description:
      "undo: puts back the values, lists and tags that a bulk run changed and that nobody has changed since; an unsubscription cannot be undone; contacts that the run created stay, unless delete_created. resume: goes on with a run that a limit, a cancelled call or a lost connection stopped: what its plan still has, and nothing else.",
    path: ["runs", "undo"],
    offers: ["<run>", "--delete-created"],
    own: { action: { enum: ["undo", "resume"] } },
    required: ["run", "action"],
    complete: async (line, { run }: { run: string }, { invoke }) => ({
      ...line,
      args: [(await findRun(invoke, run)).run],
    }),
  });
  return {
    ...undo,
    async run(call, input: { run: string; action: "undo" | "resume" }) {
      if (input.action === "undo") return undo.run(call, input as never);
      return plans.planResume(await findRun(call.invoke, input.run));
    },
  };
}

function createApplyTool(plans: Plans): ToolDeclaration {
  return {
    name: "apply_plan",
    description:
      "Carries out a plan of this session exactly as it was shown. Each contact is looked up again; one that has changed since is not written, but skipped with the code changed. A token works once, for 10 minutes. Returns the run's summary, and what the plan rejected.",
    own: { token: { type: "string", description: "from a plan_ tool" } },
    required: ["token"],
    writes: true,
    run: (call, { token }: { token: string }) => plans.apply(call, token),
  };
}
