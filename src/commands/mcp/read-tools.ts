/** Read-only tools. Each runs a command; a partial result has the total and how to get the rest. */
import type { ContactNames } from "./contact-names.ts";
import { repeatedFlag, valueFlag } from "./flag-words.ts";
import type { Invoke } from "./invoke.ts";
import { mailTools } from "./mail-tools.ts";
import { findRun, readOwnRuns } from "./own-runs.ts";
import { type Paged, part, readPage, type ShownPage } from "./pages.ts";
import {
  anySchema,
  createInputSchema,
  defaultRows,
  limitInput,
  nonEmptyTextsSchema,
  pageInput,
  readOnlyAnnotations,
  rowsSchema,
  type Tool,
  textSchema,
  textsSchema,
  thingSchema,
} from "./tool.ts";

/**
 * The conditions of a selection, as every tool that chooses
 * contacts takes them; all that are given must hold.
 */
export interface SelectionInput {
  keys?: string[];
  lists?: string[];
  tags?: string[];
  status?: string;
  where?: string;
}

export const selectionInput = {
  keys: nonEmptyTextsSchema("contacts with any of these keys or ids"),
  lists: nonEmptyTextsSchema("members of any of these lists, by name or id"),
  tags: nonEmptyTextsSchema("with any of these tags, by label or id"),
  status: textSchema("primary status, such as active"),
  where: textSchema(
    'CEL condition, such as City == "Oslo" && !("VIP" in tags); costs reading the other matches',
  ),
};

export function toSelectionWords({ keys, lists, tags, status, where }: SelectionInput): string[] {
  return [
    ...repeatedFlag("--key", keys),
    ...repeatedFlag("--list", lists),
    ...repeatedFlag("--tag", tags),
    ...valueFlag("--status", status),
    ...valueFlag("--where", where),
  ];
}

export function createReadTools(invoke: Invoke, names: ContactNames): Tool[] {
  return [
    createAccountTool(invoke),
    createStructureTool(invoke),
    createListsTool(invoke),
    createSearchTool(invoke, names),
    createContactTool(invoke, names),
    createEventsTool(invoke),
    ...mailTools(invoke),
    createRunsTool(invoke),
    createRunTool(invoke),
  ];
}

function createAccountTool(invoke: Invoke): Tool {
  return {
    name: "account_status",
    description:
      "Which account this server works with, whether its key works, and what is left of the hourly limit and the monthly quota. 1 request.",
    inputSchema: createInputSchema({}),
    outputSchema: anySchema,
    annotations: { title: "Account status", ...readOnlyAnnotations },
    async call(_input: never, signal) {
      const status = await invoke(["auth", "status"], { signal });
      const limits = await invoke(["limits"], { signal });
      return { ...(status.value as object), limits: limits.value };
    },
  };
}

function createStructureTool(invoke: Invoke): Tool {
  return {
    name: "structure_get",
    description: "The fields and tags of contacts, with their ids.",
    inputSchema: createInputSchema({ structure: textSchema("label or id; default: the one in use") }),
    outputSchema: thingSchema("structure"),
    annotations: { title: "Fields and tags", ...readOnlyAnnotations },
    async call({ structure }: { structure?: string }, signal) {
      const words = structure === undefined ? [] : ["--", structure];
      const { value } = await invoke(["structure", "get", ...words], { signal });
      return { structure: value };
    },
  };
}

function createListsTool(invoke: Invoke): Tool {
  return {
    name: "lists_list",
    description: "The lists, with ids and numbers of contacts, a page at a time.",
    inputSchema: createInputSchema({ limit: limitInput, page: pageInput }),
    outputSchema: rowsSchema("lists"),
    annotations: { title: "Lists", ...readOnlyAnnotations },
    async call({ limit = defaultRows, page = 1 }: Paged, signal) {
      const words = ["lists", "list", `--size=${limit}`, `--page=${page}`];
      return readPage(invoke, "lists", { words, page }, signal);
    },
  };
}

function createSearchTool(invoke: Invoke, names: ContactNames): Tool {
  return {
    name: "contact_search",
    description:
      "Contacts for which all given conditions hold; everyone without any. Pages of at most 200, with the total. With count, only their number.",
    inputSchema: createInputSchema({
      ...selectionInput,
      text: textSchema("words that the key or fields hold, such as a name; reads 1,000 contacts per request"),
      filters: textsSchema("COLUMN OPERATOR VALUE[,VALUE], such as CONTACT_STATUS EQ active"),
      source: textsSchema("parts of the contact to return, such as key, fields, lists, tags, status"),
      count: { type: "boolean", default: false },
      limit: limitInput,
      page: pageInput,
    }),
    outputSchema: {
      ...rowsSchema("contacts"),
      properties: {
        ...(rowsSchema("contacts").properties as object),
        names: { type: "object" },
        count: { type: "integer" },
      },
      required: [],
    },
    annotations: { title: "Search contacts", ...readOnlyAnnotations },
    async call(input: SearchInput, signal) {
      const { text, filters, source, count, limit = defaultRows, page = 1 } = input;
      const words = [
        ...["contact", "search", ...toSelectionWords(input)],
        ...valueFlag("--text", text),
        ...repeatedFlag("--filter", filters),
        ...(source === undefined ? [] : [`--source=${source.join(",")}`]),
      ];
      if (count) return { count: (await invoke([...words, "--count"], { signal })).value };
      words.push(`--page-size=${limit}`, `--page=${page}`);
      const found = await readPage(invoke, "contacts", { words, page }, signal);
      return { ...found, names: await names.find(found, signal) };
    },
  };
}

interface SearchInput extends SelectionInput, Paged {
  text?: string;
  filters?: string[];
  source?: string[];
  count?: boolean;
}

function createContactTool(invoke: Invoke, names: ContactNames): Tool {
  return {
    name: "contact_get",
    description: "One contact by its key or id, with all its data, and the labels of the ids in it.",
    inputSchema: createInputSchema({ contact: textSchema("key or id") }, { required: ["contact"] }),
    outputSchema: thingSchema("contact", "names"),
    annotations: { title: "Get a contact", ...readOnlyAnnotations },
    async call({ contact }: { contact: string }, signal) {
      const { value } = await invoke(["contact", "get", "--", contact], { signal });
      return { contact: value, names: await names.find(value, signal) };
    },
  };
}

function createEventsTool(invoke: Invoke): Tool {
  return {
    name: "events_list",
    description:
      "What happened to contacts: the newest events, oldest of them first. To see others, narrow by contact, types or days.",
    inputSchema: createInputSchema({
      contact: textSchema("key or id; default: the whole account"),
      types: textsSchema("such as contact-unsubscribed or email-bounced"),
      days: { type: "integer", minimum: 1, description: "how far to look back (30)" },
      campaign: textSchema("only events of its mails: name or id"),
      limit: limitInput,
    }),
    outputSchema: rowsSchema("events"),
    annotations: { title: "Events", ...readOnlyAnnotations },
    async call({ contact, types = [], days, campaign, limit = defaultRows }: EventsInput, signal) {
      const shown: ShownPage = { hasMore: false };
      const words = [
        ...["events", `--limit=${limit}`, ...types.map((type) => `--type=${type}`)],
        ...valueFlag("--days", days),
        ...valueFlag("--campaign", campaign),
        ...(contact === undefined ? [] : ["--", contact]),
      ];
      const { value } = await invoke(words, {
        signal,
        observer: { page: (page) => Object.assign(shown, page) },
      });
      return { events: value, total: shown.total ?? null, hasMore: shown.hasMore };
    },
  };
}

interface EventsInput {
  contact?: string;
  types?: string[];
  days?: number;
  campaign?: string;
  limit?: number;
}

function createRunsTool(invoke: Invoke): Tool {
  return {
    name: "runs_list",
    description: "The bulk runs of this account on this machine, newest first. No request.",
    inputSchema: createInputSchema({ limit: limitInput, page: pageInput }),
    outputSchema: rowsSchema("runs"),
    annotations: { title: "Bulk runs", ...readOnlyAnnotations, openWorldHint: false },
    async call(paged: Paged, signal) {
      return part("runs", await readOwnRuns(invoke, signal), paged);
    },
  };
}

function createRunTool(invoke: Invoke): Tool {
  return {
    name: "run_show",
    description:
      "One bulk run of this account; with changes, also what it did to each contact, as lines of a plan. No request for the run alone.",
    inputSchema: createInputSchema(
      {
        run: textSchema("its id, or last"),
        changes: { type: "boolean", default: false },
        limit: limitInput,
        page: pageInput,
      },
      { required: ["run"] },
    ),
    outputSchema: thingSchema("run"),
    annotations: { title: "Show a bulk run", ...readOnlyAnnotations },
    async call({ run, changes, ...paged }: Paged & { run: string; changes?: boolean }, signal) {
      const shown = findRun(await readOwnRuns(invoke, signal), run);
      if (!changes) return { run: shown };
      const lines = await invoke(["runs", "show", "--changes", "--", shown.run], { signal, isLines: true });
      return { run: shown, ...part("changes", lines.value as unknown[], paged) };
    },
  };
}
