import { type Command, Option } from "@commander-js/extra-typings";
import { toKeyIdentity } from "../../api/key-spelling.ts";
import { isEmailKey } from "../../api/structures.ts";
import type { Connection, Context, OutputFileFlags } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { notFoundError, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { ContactView } from "../../service/contact-columns.ts";
import { defaultPageSize, openSearch } from "../../service/contact-pages.ts";
import type { ContactSearch } from "../../service/contact-search.ts";
import { maxPageSize } from "../../service/pages.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { presentList, presentValue } from "../../terminal/present.ts";
import type { Contact, ContactStructure } from "../../wire.ts";
import {
  addOutputFileFlags,
  keysOption,
  repeatableOption,
  textOption,
  whereOption,
  wholeNumberOption,
} from "../flags/flags.ts";
import { formatForAccount } from "../help/command-line.ts";
import { describeCommand } from "../help/help-text.ts";
import { announcePage } from "../output/announce-part.ts";
import { type ConditionFlags, formatUnfound, resolveConditions } from "./shared/conditions.ts";
import { countContacts, readSearchPage } from "./shared/search-page.ts";
import { warnOfMissing, warnOfMissingParts } from "./shared/search-warnings.ts";
import { parseParts, planContactView } from "./shared/view.ts";

interface ContactSearchOptions extends ConditionFlags, OutputFileFlags {
  source?: string;
  page?: number;
  pageSize?: number;
  all?: boolean;
  limit?: number;
  count?: boolean;
  failMissing?: boolean;
}

export function registerContactSearch(parent: Command, context: Context): void {
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
    )
    .action((keys: string[], options: ContactSearchOptions) =>
      runContactSearch(
        context,
        keys.length > 0 ? { ...options, key: [...keys, ...(options.key ?? [])] } : options,
      ),
    );
  describeCommand(addOutputFileFlags(command), {
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
}

async function runContactSearch(context: Context, options: ContactSearchOptions): Promise<void> {
  const output = context.output(options);
  const conditions = await resolveConditions(context, options);
  const parts = options.source === undefined ? undefined : parseParts(options.source);
  if (options.failMissing && parts && !parts.includes("key"))
    throw usageError("--fail-missing needs the keys of contacts", "Add key to --source");
  if (options.all)
    await context.tellUnderWay({ kind: "export", what: "A search of all contacts", inputs: [] });
  const connection = await context.connect();
  const search = () => showSearch(context, connection, options, { output, conditions, parts });
  // The columns of all pages are chosen before the contacts are seen: names that are missing could not be
  // looked up then.
  const isStream = options.all || options.limit !== undefined;
  const { list, tag, filter, where } = options;
  const hasNames = [list, tag, filter, where].some((each) => each !== undefined);
  const { show, listUnfound } = await (isStream
    ? search()
    : // Nobody refuses an outdated id in a condition: it finds nobody.
      connection.account.withRemembered("read", search, ({ isEmpty }) => isEmpty && hasNames));
  await show();
  const missing = listUnfound();
  if (missing.length > 0) sayUnfound(context, missing, options.failMissing ?? false);
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
  /** Prints the contacts, and reads the pages after the first. */
  show(): Promise<void>;
  /** Keys that nobody has, once all that was found has been shown; none where not all of it was read. */
  listUnfound(): string[];
}

/** Everything that can fail for a name. */
async function showSearch(
  context: Context,
  { send, account, behaviors }: Connection,
  options: ContactSearchOptions,
  { output, conditions, parts }: RequestedPage,
): Promise<PreparedSearch> {
  const { terminal, observer } = context;
  const structure = await account.structure();
  const behavior = behaviors(structure._id);
  const { named, ...found } = await conditions(account, structure);
  const { page = 1, pageSize = defaultPageSize } = options;
  if (options.count) {
    const count = await countContacts(context, send, { ...found, source: ["_id"] }, behavior);
    const show = () => presentValue(terminal, output, count, String(count));
    return { isEmpty: count === 0, show, listUnfound: () => [] };
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
  if (options.all || options.limit !== undefined) {
    const { total, contacts, countMissing } = await openSearch(send, search, { ...options, behavior });
    const shownView = describeNobody(await view(), structure, options, context.settings);
    const show = async () => {
      warnOfMissingParts(terminal, search, behavior, isAskedFor);
      const count = await presentList(terminal, output, noteKeys(contacts, keys), shownView);
      warnOfMissing(terminal, total, countMissing());
      const isCut = count === options.limit && (search.keeps !== undefined || count < total);
      if (isCut) noteCount(terminal, output, `${formatPart(search, count, total)} · all: --all`);
      else noteCount(terminal, output, formatAll(search, count, { searched: total, named }));
    };
    return {
      isEmpty: total === 0,
      show,
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
  const show = async () => {
    warnOfMissingParts(terminal, search, behavior, isAskedFor);
    await presentList(terminal, output, contacts, shownView);
    observer?.page?.({ total, hasMore });
    if (hasMore) announcePage(context, "contacts", { shown: contacts.length, total }, options.page);
    else if (page === 1) noteCount(terminal, output, formatAll(search, contacts.length, { searched, named }));
  };
  // Pages that do not add up may have left somebody out.
  const isWhole = options.page === undefined && !hasMore && (total ?? contacts.length) === contacts.length;
  return { isEmpty: contacts.length === 0, show, listUnfound: () => (isWhole ? keys.missing() : []) };
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
  { key = [], list, tag, status, where, text, filter }: ContactSearchOptions,
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
