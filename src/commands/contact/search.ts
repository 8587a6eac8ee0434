/** What one search finds: a page of it, or how many contacts there are. */

import { type Command, Option } from "@commander-js/extra-typings";
import { toKeyIdentity } from "../../api/key-spelling.ts";
import { isEmailKey } from "../../api/structures.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { notFoundError, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Behavior } from "../../service/behavior.ts";
import { defaultPageSize, openSearch, readSearchPages } from "../../service/contact-pages.ts";
import { type ContactSearch, isLeftOut } from "../../service/contact-search.ts";
import { maxPageSize, readSinglePage } from "../../service/pages.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import type { Contact, ContactStructure, Send } from "../../wire.ts";
import {
  addOutputFileFlags,
  keysOption,
  type OptionsOf,
  repeatableOption,
  textOption,
  toNextPage,
  whereOption,
  wholeNumberOption,
} from "../flags/flags.ts";
import { formatForAccount } from "../help/command-line.ts";
import { describeCommand } from "../help/help-text.ts";
import type { ContactView } from "../output/contact-columns.ts";
import { presents, type Result } from "../output/presents.ts";
import { formatUnfound, resolveConditions } from "../selection/conditions.ts";
import { parseParts, planContactView } from "./view.ts";

type SearchFlags = OptionsOf<typeof declareSearch>;

function declareSearch(parent: Command) {
  const command = parent
    .command("search")
    .description("search contacts; without conditions, all of the structure")
    .argument("[key...]", "whole keys, short for --key; for names and parts of a key: --text")
    .addOption(
      repeatableOption("--key <key>", "contacts with this key; several: with any of them (repeatable)"),
    )
    .addOption(keysOption())
    .option(
      "--status <status>",
      "contacts with this status: active, inactive, unsubscribed, bounced, complained",
    )
    .addOption(
      repeatableOption("--list <list>", "members of this list, by name or id; several: of any (repeatable)"),
    )
    .addOption(
      repeatableOption(
        "--tag <tag>",
        "contacts with this tag, by label or id; several: with any (repeatable)",
      ),
    )
    .addOption(whereOption())
    .addOption(textOption())
    .addOption(
      repeatableOption(
        "--filter <condition>",
        '"COLUMN OPERATOR VALUE[,VALUE]…"; all must hold (repeatable)',
      ),
    )
    .option("--filter-json <json>", "an array of filters, or an object: the whole contactSpecification")
    .option("--source <parts>", "parts of a contact to request, separated by commas")
    .addOption(wholeNumberOption("--page <n>", "the page to read, from 1 (1)").conflicts(["all", "limit"]))
    .addOption(
      wholeNumberOption(
        "--page-size <n>",
        `contacts per request (${defaultPageSize}; with --all and --limit ${maxPageSize})`,
      ),
    )
    .option("--all", "read every page")
    .addOption(wholeNumberOption("--limit <n>", "read pages until N contacts are found"))
    .addOption(new Option("--count", "print only the number of contacts").conflicts(["all", "limit", "page"]))
    .addOption(
      new Option("--fail-missing", "exit 5 when nobody has one of the keys").conflicts([
        "page",
        "limit",
        "count",
      ]),
    );
  return addOutputFileFlags(command);
}

export function registerContactSearch(parent: Command, context: Context): void {
  const searching = describeCommand(declareSearch(parent), {
    examples: [
      "ecm contact search --list Newsletter --status active",
      "ecm contact search --key ada@example.com --key bob@example.com --json",
      "ecm contact search --tag vip --all -o id",
      'ecm contact search --where \'City == "Oslo" && !("VIP" in tags)\'',
      "ecm contact search --text Jürgen",
      "ecm contact search --count",
    ],
    output:
      "One row per contact; in JSON formats the service's own objects, `[]` when there is none. One page, unless --all or --limit is given: a warning says when there are more.",
    exitCodes: {
      0: "done, even if nothing was found",
      5: "no list or tag has this name; with --fail-missing: nobody has one of the keys",
    },
  });
  searching.action(
    presents(context, {}, (keys, flags) =>
      searchContacts(context, keys.length > 0 ? { ...flags, key: [...keys, ...(flags.key ?? [])] } : flags),
    ),
  );
}

async function searchContacts(context: Context, options: SearchFlags): Promise<Result<Partial<Contact>>> {
  const output = context.output(options);
  const conditions = await resolveConditions(context, options);
  const parts = options.source === undefined ? undefined : parseParts(options.source);
  if (options.failMissing && parts && !parts.includes("key"))
    throw usageError("--fail-missing needs the keys of contacts", "Add key to --source");
  if (options.all)
    await context.tellUnderWay({ kind: "export", what: "A search of all contacts", inputs: [] });
  const connection = await context.connect();
  const search = () => prepareSearch(context, connection, options, { output, conditions, parts });
  // The columns of all pages are chosen before the contacts are seen: names that are missing could not be
  // looked up then.
  const isStream = options.all || options.limit !== undefined;
  const { list, tag, filter, where } = options;
  const hasNames = [list, tag, filter, where].some((each) => each !== undefined);
  const { result, warn, listUnfound } = await (isStream
    ? search()
    : // Nobody refuses an outdated id in a condition: it finds nobody.
      connection.account.withRemembered("read", search, ({ isEmpty }) => isEmpty && hasNames));
  warn?.();
  const last = async () => {
    const missing = listUnfound?.() ?? [];
    if (missing.length > 0) sayUnfound(context, missing, options.failMissing ?? false);
  };
  return { ...result, last };
}

/** At most so many keys that nobody has are named. */
const maxUnfoundShown = 10;

/** @throws NotFoundError with `--fail-missing` */
function sayUnfound({ terminal }: Context, missing: readonly string[], isFailure: boolean): void {
  const more = missing.length - maxUnfoundShown;
  const shown = missing.slice(0, maxUnfoundShown).join(", ");
  const words = `Not found: ${shown}${more > 0 ? `, and ${formatCount(more)} more` : ""}`;
  if (isFailure) throw notFoundError(words);
  terminal.note(words);
}

/** Which of the keys that were asked for belong to nobody. */
class SoughtKeys {
  readonly #sought: readonly string[];
  readonly #keyType: string | undefined;
  readonly #seen = new Set<string>();
  #isKnown = true;

  constructor(sought: readonly string[], keyType: string | undefined) {
    this.#sought = sought;
    this.#keyType = keyType;
  }

  see({ key }: Partial<Contact>): void {
    if (key === undefined) this.#isKnown = false;
    else this.#seen.add(toKeyIdentity(key, this.#keyType));
  }

  missing(): string[] {
    if (!this.#isKnown) return [];
    return [...new Set(this.#sought)].filter((each) => !this.#seen.has(toKeyIdentity(each, this.#keyType)));
  }
}

interface PreparedSearch {
  /** Nobody was found. */
  isEmpty: boolean;
  /** The contacts; the pages after the first are read while they are shown. */
  result: Result<Partial<Contact>>;
  /** Says what the result does not hold. */
  warn?(): void;
  /** Keys that nobody has, once all that was found has been shown; none where not all of it was read. */
  listUnfound?(): string[];
}

/** Everything that can fail for a name. */
async function prepareSearch(
  context: Context,
  { send, account, behaviors }: Connection,
  options: SearchFlags,
  { output, conditions, parts }: RequestedPage,
): Promise<PreparedSearch> {
  const { terminal } = context;
  const structure = await account.structure();
  const behavior = behaviors(structure._id);
  const { named, ...found } = await conditions(account, structure);
  const { page = 1, pageSize = defaultPageSize } = options;
  if (options.count) {
    const count = await countContacts(context, send, { ...found, source: ["_id"] }, behavior);
    return { isEmpty: count === 0, result: { value: count, text: String(count) } };
  }
  const shownFields = new Set(found.keeps?.fields);
  const { source, view } = await planContactView(account, output, structure, { parts, shownFields });
  const isAskedFor = parts !== undefined || output.columns !== undefined;
  const keys = new SoughtKeys(options.key ?? [], structure.keyType);
  const search: ContactSearch = {
    ...found,
    // Without its key a contact does not tell whom it answers.
    source: options.key && !parts && !source.includes("key") ? [...source, "key"] : source,
    readsStatus: isAskedFor && source.includes("contactStatus"),
  };
  const warn = () => warnOfMissingParts(terminal, search, behavior, isAskedFor);
  if (options.all || options.limit !== undefined) {
    const { total, contacts, countMissing } = await openSearch(send, search, { ...options, behavior });
    const shownView = describeNobody(await view(), structure, options, context.settings);
    const said = (count: number) => {
      warnOfMissing(terminal, total, countMissing());
      const isCut = count === options.limit && (search.keeps !== undefined || count < total);
      if (isCut) noteCount(terminal, output, `${formatPart(search, count, total)} · all: --all`);
      else noteCount(terminal, output, formatAll(search, count, { searched: total, named }));
    };
    return {
      isEmpty: total === 0,
      result: { many: noteKeys(contacts, keys), view: shownView, said },
      warn,
      listUnfound: () => (options.limit === undefined && countMissing() === 0 ? keys.missing() : []),
    };
  }
  const place = { page, pageSize, behavior };
  const { contacts, total, hasMore, searched } = await readSearchPage(terminal, send, search, place);
  const shownView = describeEmptyPage(
    page,
    describeNobody(await view(contacts), structure, options, context.settings),
  );
  for (const contact of contacts) keys.see(contact);
  const said = (count: number) => {
    if (!hasMore && page === 1) noteCount(terminal, output, formatAll(search, count, { searched, named }));
  };
  const shownPage = { things: "contacts", total, hasMore, size: pageSize, ...toNextPage(options.page) };
  // Pages that do not add up may have left somebody out.
  const isWhole = options.page === undefined && !hasMore && (total ?? contacts.length) === contacts.length;
  return {
    isEmpty: contacts.length === 0,
    result: { many: contacts, view: shownView, said, page: shownPage },
    warn,
    listUnfound: () => (isWhole ? keys.missing() : []),
  };
}

async function* noteKeys(
  contacts: AsyncIterable<Partial<Contact>>,
  keys: SoughtKeys,
): AsyncGenerator<Partial<Contact>> {
  for await (const contact of contacts) {
    keys.see(contact);
    yield contact;
  }
}

/** Below a table on a screen: a script counts for itself. */
function noteCount(terminal: Context["terminal"], output: OutputOptions, text: string): void {
  if (output.format !== "table" || output.outputFile !== undefined) return;
  if (terminal.isStdoutTerminal && !terminal.isStdoutClosed && text !== "") terminal.note(text, "aside");
}

function formatPart({ keeps }: ContactSearch, count: number, total: number): string {
  return keeps
    ? `The first ${formatCounted(count, "contact")}`
    : `${formatCount(count)} of ${formatCounted(total, "contact")}`;
}

interface CountedBesides {
  /** How many were read, where a condition is decided here. */
  searched: number | undefined;
  /** How many keys a file names. */
  named: number | undefined;
}

function formatAll({ keeps }: ContactSearch, count: number, { searched, named }: CountedBesides): string {
  if (count === 0) return "";
  const read = keeps && searched !== undefined ? `, of ${formatCount(searched)} searched` : "";
  return `${formatCounted(count, "contact")}${read}${formatUnfound(count, named)}`;
}

/** What is typed first is often a name: a key is compared as a whole. */
function describeNobody(
  view: ContactView,
  { keyName, keyType }: ContactStructure,
  { key = [], list, tag, status, where, text, filter }: SearchFlags,
  settings: Context["settings"],
): ContactView {
  const isNarrowed = [list, tag, status, where, text, filter].some((each) => each !== undefined);
  if (key.length === 0 || isNarrowed) return view;
  const word = key.find((each) => !isEmailKey(keyType) || !/^[^*%\s]+@[^*%\s]+$/.test(each));
  const part = word?.replace(/[*%]/g, "") ?? "";
  if (part === "") return view;
  const typed = key.map((each) => JSON.stringify(each)).join(" or ");
  return {
    ...view,
    empty: formatForAccount(
      advise`No contact has the ${keyName} ${typed}. Only whole keys were compared.\nTo look in names and all other fields too, with one request per 1,000 contacts: ${ecm`contact search --text ${part}`}`,
      settings,
    ),
  };
}

interface RequestedPage {
  output: OutputOptions;
  conditions: Awaited<ReturnType<typeof resolveConditions>>;
  parts: string[] | undefined;
}

function describeEmptyPage(page: number, view: ContactView): ContactView {
  return page > 1 ? { ...view, empty: `Page ${page} is empty.` } : view;
}

interface Place {
  page: number;
  pageSize: number;
  behavior: Behavior;
}

interface SearchPage {
  contacts: Partial<Contact>[];
  /** Of all pages, where the service decides everything. */
  total?: number;
  hasMore: boolean;
  /** How many were read, where a condition was decided here. */
  searched?: number;
}

/** A page of what a search finds, by the service alone or with a condition decided here. */
function readSearchPage(
  terminal: Context["terminal"],
  send: Send,
  search: ContactSearch,
  place: Place,
): Promise<SearchPage> {
  return search.keeps
    ? readLocallyFilteredPage(terminal, send, search, place)
    : readServicePage(send, search, place);
}

/** One page as the service gives it. */
async function readServicePage(
  send: Send,
  search: ContactSearch,
  { page, pageSize, behavior }: Place,
): Promise<SearchPage> {
  const read = readSearchPages(send, search, behavior);
  const { items, total, hasMore } = await readSinglePage(read, page, { size: pageSize, behavior });
  return { contacts: items, total, hasMore };
}

/** The service counts what it decides alone; what is decided here has to be read. */
async function countContacts(
  { terminal }: Context,
  send: Send,
  search: ContactSearch,
  behavior: Behavior,
): Promise<number> {
  if (!search.keeps) return (await readSearchPages(send, search, behavior)(1, 1)).total ?? 0;
  const { total, contacts, countMissing } = await openSearch(send, search, { behavior });
  let count = 0;
  for await (const _contact of contacts) count += 1;
  warnOfMissing(terminal, total, countMissing());
  return count;
}

/** A page of the contacts that a condition decided here holds for. */
async function readLocallyFilteredPage(
  terminal: Context["terminal"],
  send: Send,
  search: ContactSearch,
  { page, pageSize, behavior }: Place,
): Promise<SearchPage> {
  const contacts: Partial<Contact>[] = [];
  let passed = 0;
  const { contacts: found, total: searched, countMissing } = await openSearch(send, search, { behavior });
  for await (const contact of found) {
    passed += 1;
    if (passed <= (page - 1) * pageSize) continue;
    if (contacts.length === pageSize) return { contacts, hasMore: true };
    contacts.push(contact);
  }
  warnOfMissing(terminal, searched, countMissing());
  return { contacts, hasMore: false, searched };
}

// What the result of a search does not hold, and does not show by itself.

/** A page that was cut short by a removal leaves somebody out, whoever decides the conditions. */
function warnOfMissing(terminal: Context["terminal"], total: number, missing: number): void {
  if (missing === 0) return;
  terminal.warn(
    `${formatCount(total)} contacts matched at first and ${formatCount(total - missing)} were read: the account changed meanwhile`,
  );
}

/** Says what the service's searches do not tell, so that an empty cell is not taken for an answer. */
function warnOfMissingParts(
  terminal: Context["terminal"],
  search: ContactSearch,
  behavior: Behavior,
  isAskedFor: boolean,
): void {
  const { source, readsStatus } = search;
  const form = behavior.get("source");
  if (isAskedFor && source.includes("updatedAt") && isLeftOut(form, "updatedAt"))
    terminal.warn("The service does not tell updatedAt: it is left out");
  if (!readsStatus && source.includes("contactStatus") && isLeftOut(form, "contactStatus")) {
    terminal.warn(
      "The service's searches do not tell the status; --columns key,status reads it, with a request for each contact",
    );
  }
}
