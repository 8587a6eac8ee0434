/** The tools that read. Each runs a command; a partial result has the total and how to get the rest. */
import type { RunView } from "../../bulk/index.ts";
import { exitCodes, notFoundError, usageError } from "../../errors.ts";
import { isObject } from "../../is-object.ts";
import type { Clock } from "../../wire.ts";
import { type Invoke, ToolFailure } from "./invoke.ts";
import type { Plans } from "./plans.ts";
import {
  createReader,
  defaultRows,
  limitBy,
  limitInput,
  type Offer,
  type Paged,
  pagedBy,
  pageInput,
  part,
  type Reader,
  readPage,
  type Tool,
  type Toolkit,
  textSchema,
} from "./tool.ts";

const rememberedMilliseconds = 10 * 60_000;

/** By id; undefined for one that was asked for and has no name. */
type Names = Record<string, string | undefined>;

interface ContactNames {
  /**
   * Of the ids that stand somewhere in the value, in the structure of its contacts. Costs two requests every
   * ten minutes, and where a contact has a field, a list or a tag that was not there yet.
   */
  find(value: unknown, signal: AbortSignal): Promise<Names>;
}

interface Labelled {
  _id: string;
  label?: string;
  name?: string;
}

function createContactNames(invoke: Invoke, clock: Clock): ContactNames {
  const known = new Map<string | undefined, { names: Names; at: number }>();

  async function read(structureId: string | undefined, signal: AbortSignal): Promise<Names> {
    const options = { signal, structureId };
    const structure = await invoke(["structure", "get"], options);
    const lists = await invoke(["lists", "list", "--size=1000"], options);
    const { fields = [], tags = [] } = structure.value as { fields?: Labelled[]; tags?: Labelled[] };
    const all = [...fields, ...tags, ...(lists.value as Labelled[])];
    return Object.fromEntries(all.map(({ _id, label, name }) => [_id, label ?? name ?? _id]));
  }

  return {
    async find(value, signal) {
      const text = JSON.stringify(value);
      const ids = new Set(text.match(/[0-9a-f]{24}/g));
      if (ids.size === 0) return {};
      const structureId = /"contactStructureId":"([0-9a-f]{24})"/.exec(text)?.[1];
      const { names = {}, at = Number.NEGATIVE_INFINITY } = known.get(structureId) ?? {};
      const age = clock.now() - at;
      const unknown = listPartIds(value).filter((id) => !Object.hasOwn(names, id));
      if (age < 0 || age > rememberedMilliseconds || unknown.length > 0) {
        // What has no name is asked for once.
        const nameless = Object.fromEntries(unknown.map((id) => [id, undefined]));
        const all = { ...nameless, ...(await read(structureId, signal)) };
        known.set(structureId, { names: all, at: clock.now() });
      }
      const all = Object.entries(known.get(structureId)!.names);
      return Object.fromEntries(all.filter(([id, name]) => ids.has(id) && name !== undefined));
    },
  };
}

const parts: readonly string[] = ["fields", "lists", "tags"];

/** Ids of the fields, lists and tags of contacts, somewhere in the value. */
function listPartIds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(listPartIds);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    parts.includes(name) && Array.isArray(member)
      ? member.flatMap((part) => (isObject(part) && typeof part._id === "string" ? [part._id] : []))
      : listPartIds(member),
  );
}

/**
 * Of the account that the server was started for: what other accounts hold is none of the client's business.
 */
export async function readOwnRuns(invoke: Invoke, signal: AbortSignal): Promise<RunView[]> {
  return (await invoke(["runs", "list", "--own"], { signal })).value as RunView[];
}

/** @param wanted an id, the start of one, or `last` @throws NotFoundError, UsageError */
export function findRun(runs: readonly RunView[], idOrLast: string): RunView {
  const exact = runs.filter(({ run }, index) => run === idOrLast || (idOrLast === "last" && index === 0));
  const found = exact.length > 0 ? exact : runs.filter(({ run }) => run.startsWith(idOrLast));
  if (found.length > 1)
    throw usageError(`${JSON.stringify(idOrLast)} matches several runs`, "Give the whole id");
  if (found[0]) return found[0];
  throw notFoundError(`This account has no run ${JSON.stringify(idOrLast)}`, "See runs_list");
}

/** The conditions of a selection, as every tool that chooses contacts takes them; all that are given must hold. */
export const selectionOffers: Offer[] = ["--key", "--list", "--tag", "--status", "--where"];

const paging = { limit: limitInput, page: pageInput };

/** All tools that read, in an order that stays. */
export function createReaders(toolkit: Toolkit, plans: Plans | undefined): Tool[] {
  const names = createContactNames(toolkit.invoke, toolkit.clock);
  const readers = [
    ...accountReaders,
    ...contactReaders(names),
    eventsReader,
    createRunsReader(plans),
    apiReader,
  ];
  return readers.map((reader) => createReader(toolkit, reader));
}

const accountReaders: Reader[] = [
  {
    name: "account_status",
    title: "Account status",
    description:
      "Which account this server works with, whether its key works, and what is left of the hourly limit and the monthly quota. 1 request.",
    path: ["auth", "status"],
    async read(words, _input, { invoke, signal }) {
      const status = await invoke(words, { signal });
      const limits = await invoke(["limits"], { signal });
      return { ...(status.value as object), limits: limits.value };
    },
  },
  {
    name: "structure_get",
    title: "Fields, tags and lists",
    description:
      "The fields and tags of contacts, and the lists with their numbers of contacts, a page at a time; with ids. 2 requests.",
    path: ["structure", "get"],
    offers: ["<structure>"],
    own: paging,
    async read(words, { limit = defaultRows, page = 1 }: Paged, { invoke, signal, warn }) {
      const structure = (await invoke(words, { signal })).value;
      const lists = ["lists", "list", `--size=${limit}`, `--page=${page}`];
      try {
        return { structure, ...(await readPage(invoke, "lists", { words: lists, page }, signal)) };
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        warn("The service's answer about the lists cannot be read");
        return { structure, lists: [], total: null, hasMore: false };
      }
    },
  },
];

function isUnreadable(error: unknown): boolean {
  if (!(error instanceof ToolFailure)) return false;
  return (error.failure as { error?: { type?: string } }).error?.type === "UnreadableAnswerError";
}

function contactReaders(names: ContactNames): Reader[] {
  return [
    {
      name: "contact_search",
      title: "Search contacts",
      description:
        "Contacts for which all given conditions hold; everyone without any. Pages of at most 200, with the total. With count, only their number.",
      path: ["contact", "search"],
      offers: [...selectionOffers, "--text", "--filter", "--source", "--count", ...pagedBy("--page-size")],
      async read(words, { count, ...paged }: Paged & { count?: boolean }, { invoke, signal }) {
        if (count) return { count: (await invoke(words, { signal })).value };
        const page = await readPage(invoke, "contacts", { words, ...paged }, signal);
        return { ...page, names: await names.find(page, signal) };
      },
    },
    {
      name: "contact_get",
      title: "Get a contact",
      description: "One contact by its key or id, with all its data, and the labels of the ids in it.",
      path: ["contact", "get"],
      offers: [{ flag: "<id-or-key>", name: "contact" }],
      required: ["contact"],
      async read(words, _input, { invoke, signal }) {
        const { value } = await invoke(words, { signal });
        return { contact: value, names: await names.find(value, signal) };
      },
    },
  ];
}

interface NamedEvent {
  contactId?: string;
  emailTo?: string;
}

/** So many contacts are looked up for one answer. */
const maxKeyLookups = 20;

const eventsReader: Reader = {
  name: "events_list",
  title: "Events",
  description: `What happened to contacts, each with the contact's key: the newest events, oldest of them first. To see others, narrow by contact, types or days. Keys that no event tells cost 1 request each, at most ${maxKeyLookups}.`,
  path: ["events"],
  offers: [
    { flag: "<id-or-key>", name: "contact" },
    ...["--type", "--days", "--campaign"],
    limitBy("--limit"),
  ],
  async read(words, _input, { invoke, signal }) {
    // Of events there is no next page.
    const { nextPage: _, ...shown } = await readPage(invoke, "events", { words }, signal);
    const { events } = shown as unknown as { events: NamedEvent[] };
    // Of this answer alone: a person may be erased before the next one.
    const keys = new Map<string, string>();
    for (const { contactId, emailTo } of events) if (contactId && emailTo) keys.set(contactId, emailTo);
    const unknown = new Set(events.flatMap(({ contactId: id }) => (id && !keys.has(id) ? [id] : [])));
    for (const id of [...unknown].slice(0, maxKeyLookups)) {
      const { value } = await invoke(["contact", "get", "--", id], {
        signal,
        accepts: [exitCodes.notFound],
      });
      keys.set(id, (value as { key?: string } | null)?.key ?? "");
    }
    const withKey = (event: NamedEvent) => ({ ...event, key: keys.get(event.contactId ?? "") || null });
    return { ...shown, events: events.map(withKey) };
  },
};

interface RunInput extends Paged {
  run?: string;
  changes?: boolean;
  rejects?: boolean;
}

/** @param plans of this session; undefined where nothing may be written */
function createRunsReader(plans: Plans | undefined): Reader {
  return {
    name: "runs_list",
    title: "Bulk runs",
    description:
      "The bulk runs of this account on this machine, newest first. With run, that one; with changes, also what it did to each contact, as lines of a plan; with rejects, what it and its plan rejected. No request.",
    path: ["runs", "show"],
    offers: ["<run>", "--changes"],
    own: {
      rejects: { type: "boolean", description: "with run: also what was rejected, with the reason" },
      ...paging,
    },
    isLocal: true,
    async read(_words, { run: id, changes, rejects, ...paged }: RunInput, { invoke, signal }) {
      const runs = await readOwnRuns(invoke, signal);
      if (id === undefined) return part("runs", runs, paged);
      const run = findRun(runs, id);
      if (changes) {
        const words = ["runs", "show", "--changes", "--", run.run];
        const lines = await invoke(words, { signal, isLines: true });
        return { run, ...part("changes", lines.value as unknown[], paged) };
      }
      if (!rejects) return { run };
      const { value } = await invoke(["runs", "rejects", "--", run.run], { signal });
      const rows = [...((await plans?.findRejects(run.run)) ?? []), ...((value ?? []) as object[])];
      return { run, ...part("rejects", rows, paged) };
    },
  };
}

interface ApiInput extends Paged {
  path: string;
  query?: Record<string, string>;
}

const apiReader: Reader = {
  name: "api_get",
  title: "Any GET of the API",
  description:
    "Sends GET to any path of the API, such as /api/email/campaign, /api/email/template, /api/email/domain, /api/reports/dashboard, and gives the answer as it came; of more rows than limit, a page of them. 1 request.",
  path: ["api"],
  own: {
    path: textSchema(
      "such as /api/email/campaign; {structure}, {list:NAME} and {contact:KEY} are replaced by ids",
    ),
    query: { type: "object", additionalProperties: { type: "string" }, description: "query parameters" },
    ...paging,
  },
  required: ["path"],
  async read(_words, { path, query = {}, ...paged }: ApiInput, { invoke, signal }) {
    const parameters = Object.entries(query).map(([name, value]) => `--query=${name}=${value}`);
    const { value } = await invoke(["api", ...parameters, "--", "GET", path], { signal });
    if (Array.isArray(value)) return part("answer", value, paged);
    const { records } = (value ?? {}) as { records?: unknown };
    if (!Array.isArray(records) || records.length <= (paged.limit ?? defaultRows)) return { answer: value };
    const { rows, ...shown } = part("rows", records, paged) as Record<string, unknown>;
    return { answer: { ...(value as object), records: rows }, ...shown };
  },
};
