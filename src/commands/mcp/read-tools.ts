/** Read-only tools. Each runs a command; a partial result has the total and how to get the rest. */
import type { Offer } from "./arguments.ts";
import type { ContactNames } from "./contact-names.ts";
import { findRun, readOwnRuns } from "./own-runs.ts";
import { limitBy, type Paged, pagedBy, part, readPage } from "./pages.ts";
import { limitInput, pageInput, rowsSchema, type Tool, thingSchema } from "./tool.ts";
import { createReader, type Reader, type Toolkit } from "./toolkit.ts";

/** The conditions of a selection, as every tool that chooses contacts takes them; all that are given must hold. */
export const selectionOffers: Offer[] = ["--key", "--list", "--tag", "--status", "--where"];

export function readContactTools(toolkit: Toolkit, names: ContactNames): Tool[] {
  const readers: Reader[] = [
    {
      name: "account_status",
      title: "Account status",
      description:
        "Which account this server works with, whether its key works, and what is left of the hourly limit and the monthly quota. 1 request.",
      path: ["auth", "status"],
      output: { type: "object", properties: { limits: { type: "object" } }, required: ["limits"] },
      async read(words, _input, { invoke, signal }) {
        const status = await invoke(words, { signal });
        const limits = await invoke(["limits"], { signal });
        return { ...(status.value as object), limits: limits.value };
      },
    },
    {
      name: "structure_get",
      title: "Fields and tags",
      description: "The fields and tags of contacts, with their ids.",
      path: ["structure", "get"],
      offers: ["<structure>"],
      output: thingSchema("structure"),
      read: async (words, _input, { invoke, signal }) => ({
        structure: (await invoke(words, { signal })).value,
      }),
    },
    {
      name: "lists_list",
      title: "Lists",
      description: "The lists, with ids and numbers of contacts, a page at a time.",
      path: ["lists", "list"],
      offers: pagedBy("--size"),
      output: rowsSchema("lists"),
      read: (words, paged: Paged, { invoke, signal }) =>
        readPage(invoke, "lists", { words, ...paged }, signal),
    },
    searchReader(names),
    {
      name: "contact_get",
      title: "Get a contact",
      description: "One contact by its key or id, with all its data, and the labels of the ids in it.",
      path: ["contact", "get"],
      offers: [{ flag: "<id-or-key>", name: "contact" }],
      required: ["contact"],
      output: thingSchema("contact", "names"),
      async read(words, _input, { invoke, signal }) {
        const { value } = await invoke(words, { signal });
        return { contact: value, names: await names.find(value, signal) };
      },
    },
    {
      name: "events_list",
      title: "Events",
      description:
        "What happened to contacts: the newest events, oldest of them first. To see others, narrow by contact, types or days.",
      path: ["events"],
      offers: [
        { flag: "<id-or-key>", name: "contact" },
        ...["--type", "--days", "--campaign"],
        limitBy("--limit"),
      ],
      output: rowsSchema("events"),
      async read(words, _input, { invoke, signal }) {
        // Of events there is no next page.
        const { nextPage: _, ...shown } = await readPage(invoke, "events", { words }, signal);
        return shown;
      },
    },
  ];
  return readers.map((reader) => createReader(toolkit, reader));
}

function searchReader(names: ContactNames): Reader {
  const found = rowsSchema("contacts");
  return {
    name: "contact_search",
    title: "Search contacts",
    description:
      "Contacts for which all given conditions hold; everyone without any. Pages of at most 200, with the total. With count, only their number.",
    path: ["contact", "search"],
    offers: [...selectionOffers, "--text", "--filter", "--source", "--count", ...pagedBy("--page-size")],
    output: {
      ...found,
      properties: { ...(found.properties as object), names: { type: "object" }, count: { type: "integer" } },
      required: [],
    },
    async read(words, { count, ...paged }: Paged & { count?: boolean }, { invoke, signal }) {
      if (count) return { count: (await invoke(words, { signal })).value };
      const page = await readPage(invoke, "contacts", { words, ...paged }, signal);
      return { ...page, names: await names.find(page, signal) };
    },
  };
}

export function readRunTools(toolkit: Toolkit): Tool[] {
  const paging = { limit: limitInput, page: pageInput };
  const readers: Reader[] = [
    {
      name: "runs_list",
      title: "Bulk runs",
      description: "The bulk runs of this account on this machine, newest first. No request.",
      path: ["runs", "list"],
      own: paging,
      output: rowsSchema("runs"),
      isLocal: true,
      read: async (_words, paged: Paged, { invoke, signal }) =>
        part("runs", await readOwnRuns(invoke, signal), paged),
    },
    {
      name: "run_show",
      title: "Show a bulk run",
      description:
        "One bulk run of this account; with changes, also what it did to each contact, as lines of a plan. No request for the run alone.",
      path: ["runs", "show"],
      offers: ["<run>", "--changes"],
      own: paging,
      required: ["run"],
      output: {
        type: "object",
        properties: {
          run: { type: "object" },
          changes: { type: "array", items: { type: "object" } },
        },
        required: ["run"],
      },
      async read(
        _words,
        { run, changes, ...paged }: Paged & { run: string; changes?: boolean },
        { invoke, signal },
      ) {
        const shown = findRun(await readOwnRuns(invoke, signal), run);
        if (!changes) return { run: shown };
        const words = ["runs", "show", "--changes", "--", shown.run];
        const lines = await invoke(words, { signal, isLines: true });
        return { run: shown, ...part("changes", lines.value as unknown[], paged) };
      },
    },
  ];
  return readers.map((reader) => createReader(toolkit, reader));
}
