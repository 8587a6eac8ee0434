/** What one search finds: a page of it, or how many contacts there are. */

import { type Command, Option } from "@commander-js/extra-typings";
import { toKeyIdentity } from "../../api/key-spelling.ts";
import { isEmailKey } from "../../api/structures.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { notFoundError, usageError } from "../../errors.ts";
import { advise, type Hint } from "../../hint.ts";
import type { Behavior } from "../../service/behavior.ts";
import { defaultPageSize, readAllContacts, readSearchPages } from "../../service/contact-pages.ts";
import { type ContactSearch, isLeftOut } from "../../service/contact-search.ts";
import { searchForSimilar, suggestSimilar } from "../../service/find-contact.ts";
import { maxPageSize, readSinglePage } from "../../service/pages.ts";
import { hasColumns } from "../../terminal/present.ts";
import type { Contact, ContactStructure } from "../../wire.ts";
import {
  addOutputFileFlags,
  addTableFlags,
  type OptionsOf,
  repeatableOption,
  toNextPage,
  wholeNumberOption,
} from "../flags/flags.ts";
import {
  addSelectionFlags,
  type ResolveConditions,
  textOption,
  withConditions,
} from "../selection/conditions.ts";
import { type Result, verb } from "../verb.ts";
import { parseParts, planContactView } from "./view.ts";

type SearchFlags = OptionsOf<typeof declareSearch>;

function declareSearch(parent: Command) {
  const searching = parent
    .command("search")
    .description("search contacts; without conditions, all of the structure")
    .argument("[key...]", "whole keys, short for --key; for names and parts of a key: --text");
  const command = addSelectionFlags(searching)
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
        `contacts per request (${defaultPageSize}; with --all or --limit ${maxPageSize})`,
      ),
    )
    .option("--all", "read every page")
    .addOption(wholeNumberOption("--limit <n>", "read pages until N contacts are found").conflicts("all"))
    .addOption(new Option("--count", "print only the number of contacts").conflicts(["all", "limit", "page"]))
    .addOption(
      new Option("--fail-missing", "exit 5 when nobody has one of the keys").conflicts([
        "page",
        "limit",
        "count",
      ]),
    );
  return addOutputFileFlags(addTableFlags(command));
}

export function registerContactSearch(parent: Command, context: Context): void {
  verb(context, declareSearch(parent), {
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
    exitCodes: { 5: "no list or tag has this name; with --fail-missing: nobody has one of the keys" },
    run(keys, flags) {
      const options = keys.length > 0 ? { ...flags, key: [...keys, ...(flags.key ?? [])] } : flags;
      return withConditions(context, options, (conditions) => searchContacts(context, options, conditions));
    },
  });
}

async function searchContacts(
  context: Context,
  options: SearchFlags,
  conditions: ResolveConditions,
): Promise<Result<Partial<Contact>>> {
  const parts = options.source === undefined ? undefined : parseParts(options.source);
  if (options.failMissing && parts && !parts.includes("key"))
    throw usageError("--fail-missing needs the keys of contacts", "Add key to --source");
  if (options.all)
    await context.tellUnderWay({ kind: "export", what: "A search of all contacts", inputs: [] });
  const connection = await context.connect();
  const search = () => prepareSearch(context, connection, options, { conditions, parts });
  // The names of all pages are needed before the contacts are seen: what is missing cannot be looked up then.
  if (options.all) return (await search()).result;
  const { list, tag, filter, where } = options;
  const hasNames = [list, tag, filter, where].some((each) => each !== undefined);
  // A condition with an outdated id is not refused: it finds nobody.
  const isDoubtful = ({ isEmpty }: PreparedSearch) => isEmpty && hasNames;
  return (await connection.account.withRemembered("read", search, isDoubtful)).result;
}

interface PreparedSearch {
  /** Nobody was found. */
  isEmpty: boolean;
  /** The contacts; the pages after the first are read while they are shown. */
  result: Result<Partial<Contact>>;
}

/** Everything that can fail for a name. */
async function prepareSearch(
  context: Context,
  connection: Connection,
  options: SearchFlags,
  { conditions, parts }: { conditions: ResolveConditions; parts: string[] | undefined },
): Promise<PreparedSearch> {
  const { account, behaviors } = connection;
  const output = context.output(options);
  const structure = await account.structure();
  const behavior = behaviors(structure._id);
  const found = await conditions(account, structure);
  if (options.count) {
    const count = await countFound(connection, { ...found, source: ["_id"] }, behavior);
    return { isEmpty: count === 0, result: { value: count, text: String(count) } };
  }
  const { source, view } = await planContactView(account, output, structure, parts);
  const isAskedFor = parts !== undefined || output.columns !== undefined;
  const search: ContactSearch = {
    ...found,
    // Without its key a contact does not tell which key it answers.
    source: options.key && !parts && !source.includes("key") ? [...source, "key"] : source,
    readsStatus: isAskedFor && source.includes("contactStatus"),
  };
  const { contacts, isWhole, ...page } = await readContacts(connection, search, options, behavior);
  const seen = new Set<string>();
  const toIdentity = (key: string) => toKeyIdentity(key, structure.keyType);
  const size = options.pageSize ?? defaultPageSize;
  return {
    isEmpty: Array.isArray(contacts) && contacts.length === 0,
    result: {
      many: noteKeys(contacts, (key) => seen.add(toIdentity(key))),
      view: await view(Array.isArray(contacts) ? contacts : undefined),
      empty: options.key && sayNothingFound(options.key),
      page: { things: "contacts", size, ...toNextPage(options.page), ...page },
      async last() {
        if (hasColumns(output)) warnOfUntold(context.terminal, search, behavior);
        if (!isWhole || !search.source.includes("key")) return;
        const missing = await findMissingKeys(connection, structure, options, seen);
        if (missing.length > 0) sayUnfound(context, missing, options.failMissing ?? false);
      },
    },
  };
}

/**
 * The keys that were asked for and that nobody has. Another condition may leave out a contact that has its key:
 * then those that were not seen are searched for by their keys alone.
 * @param seen the identities of the keys that were found
 */
async function findMissingKeys(
  { send, behaviors }: Connection,
  { _id: structureId, keyType }: ContactStructure,
  { key: asked = [], list, tag, status, where, text, filter }: SearchFlags,
  seen: ReadonlySet<string>,
): Promise<string[]> {
  const without = (keys: readonly string[], found: ReadonlySet<string>) =>
    keys.filter((key) => !found.has(toKeyIdentity(key, keyType)));
  const unseen = [...new Set(without(asked, seen))];
  const isNarrowed = [list, tag, status, where, text, filter].some((each) => each !== undefined);
  if (unseen.length === 0 || !isNarrowed) return unseen;
  const keys = { values: unseen, areEmails: isEmailKey(keyType) };
  const search: ContactSearch = { structureId, filters: [], keys, source: ["key"] };
  const found = new Set<string>();
  for await (const { key = "" } of readAllContacts(send, search, { behavior: behaviors(structureId) }))
    found.add(toKeyIdentity(key, keyType));
  return without(unseen, found);
}

function sayNothingFound([key = ""]: readonly string[]): Hint {
  return advise`No contact matches. To look for a part of a key, and in fields: ${searchForSimilar(key)}`;
}

/**
 * Every page, as far as `--limit`; else one page, by the service alone or with a condition decided here.
 * `isWhole`: no contact is left out, as pages that do not add up may have left somebody out.
 */
async function readContacts(
  { send }: Connection,
  search: ContactSearch,
  { page: requestedPage, pageSize, all, limit }: SearchFlags,
  behavior: Behavior,
) {
  const page = requestedPage ?? 1;
  const size = pageSize ?? defaultPageSize;
  const isFirst = requestedPage === undefined;
  if (!all && limit === undefined && !search.keeps) {
    const read = readSearchPages(send, search, behavior);
    const { items, total, hasMore } = await readSinglePage(read, page, { size, behavior });
    const isWhole = isFirst && !hasMore && (total ?? items.length) === items.length;
    return { contacts: items, total, hasMore, isWhole };
  }
  const most = search.keeps ? maxPageSize : Math.min(limit ?? maxPageSize, maxPageSize);
  const found = readAllContacts(send, search, { behavior, pageSize: pageSize ?? most });
  if (all) return { contacts: found, hasMore: false, isWhole: true };
  if (limit !== undefined) return { contacts: await take(found, 0, limit), hasMore: false, isWhole: false };
  // One more than is shown tells whether there are more.
  const contacts = await take(found, (page - 1) * size, size + 1);
  const hasMore = contacts.length > size;
  return { contacts: contacts.slice(0, size), hasMore, isWhole: isFirst && !hasMore };
}

async function take<T>(found: AsyncIterable<T>, from: number, count: number): Promise<T[]> {
  const taken: T[] = [];
  let passed = 0;
  for await (const each of found) {
    if (passed++ >= from) taken.push(each);
    if (taken.length === count) break;
  }
  return taken;
}

async function* noteKeys(
  contacts: Iterable<Partial<Contact>> | AsyncIterable<Partial<Contact>>,
  see: (key: string) => void,
): AsyncGenerator<Partial<Contact>> {
  for await (const contact of contacts) {
    if (contact.key !== undefined) see(contact.key);
    yield contact;
  }
}

/** The service counts what it decides alone; what is decided here has to be read. */
async function countFound({ send }: Connection, search: ContactSearch, behavior: Behavior): Promise<number> {
  if (!search.keeps) return (await readSearchPages(send, search, behavior)(1, 1)).total ?? 0;
  let count = 0;
  for await (const _contact of readAllContacts(send, search, { behavior })) count += 1;
  return count;
}

const maxUnfoundShown = 10;

/** @throws NotFoundError with `--fail-missing` */
function sayUnfound({ terminal }: Context, missing: readonly string[], isFailure: boolean): void {
  const more = missing.length - maxUnfoundShown;
  const shown = missing.slice(0, maxUnfoundShown).join(", ");
  const words = `Not found: ${shown}${more > 0 ? `, and ${formatCount(more)} more` : ""}`;
  if (isFailure) throw notFoundError(words, suggestSimilar(missing[0]!));
  terminal.note(words);
}

/** Says what the service's searches do not tell, so that an empty cell is not taken for an answer. */
function warnOfUntold(
  terminal: Context["terminal"],
  { source, readsStatus }: ContactSearch,
  behavior: Behavior,
): void {
  const isUntold = (part: string) => source.includes(part) && isLeftOut(behavior.get("source"), part);
  if (isUntold("updatedAt")) terminal.warn("The service does not tell updatedAt: it is left out");
  if (!readsStatus && isUntold("contactStatus"))
    terminal.warn(
      "The service's searches do not tell the status; --columns key,status reads it, with a request for each contact",
    );
}
