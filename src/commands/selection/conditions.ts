/** The flags that say which contacts are meant → the part of a search that says so. */

import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { TypedConditions } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { combine, createTextCondition, createUpdatedAfter } from "../../select/conditions.ts";
import {
  parseFilter,
  parseFilterJson,
  type RequestedContacts,
  resolveContactConditions,
} from "../../select/contact-filters.ts";
import { parseStatus } from "../../select/status-filter.ts";
import type { Account } from "../../service/account.ts";
import type { ContactSearch } from "../../service/contact-search.ts";
import type { ContactStructure } from "../../wire.ts";
import type { BulkFlags } from "../flags/bulk.ts";
import { type Bare, type FlagsOf, repeatableOption, type TableFlags } from "../flags/flags.ts";
import { requireText } from "../flags/questions.ts";
import {
  type FileReading,
  type KeysFileCondition,
  readFileFlags,
  requireNoFile,
  requireOneSource,
  withKeysFile,
} from "./keys.ts";

interface ConditionFlags extends RequestedContacts {
  filterJson?: string;
  /** A file that names contacts. */
  keys?: string;
  /** A condition in CEL, decided here. */
  where?: string;
  /** Words in the key or a field, decided here. */
  text?: string;
  /** Milliseconds since the epoch. */
  updatedAfter?: number;
}

export type ResolveConditions = (
  account: Account,
  structure: ContactStructure,
) => Promise<Omit<ContactSearch, "source">>;

/**
 * Says what is wrong with the flags, and with a file of keys, at once; `use` resolves names once there is an
 * account to ask.
 */
export async function withConditions<T>(
  context: Context,
  flags: ConditionFlags & TableFlags,
  use: (resolve: ResolveConditions) => Promise<T>,
): Promise<T> {
  const where = await parseWhereFlag(flags.where);
  const text = flags.text === undefined ? undefined : createTextCondition(flags.text);
  const since = flags.updatedAfter === undefined ? undefined : createUpdatedAfter(flags.updatedAfter);
  const { keys: file, key = [] } = flags;
  requireOneSource(file, key);
  requireNoFile(key);
  const { read } = readFileFlags(file, flags);
  resolveFilters(flags);
  const run = (readKeys?: (structure: ContactStructure) => Promise<KeysFileCondition>) =>
    use(async (account, structure) => {
      const keysFile = await readKeys?.(structure);
      const search = await resolveFilters({ ...flags, key: keysFile?.keys ?? flags.key })(account, structure);
      const compiled = await where?.compile(account, structure);
      const keeps = combine(search.keeps, since, text, keysFile?.condition, compiled);
      return { ...search, ...(keeps && { keeps }) };
    });
  return file === undefined ? run() : withKeysFile(context, file, read, run);
}

async function parseWhereFlag(text: string | undefined) {
  if (text === undefined) return undefined;
  const { parseWhere } = await import("../../select/where.ts");
  return parseWhere(text);
}

function resolveFilters(
  flags: ConditionFlags,
): (account: Account, structure: ContactStructure) => Promise<Omit<ContactSearch, "source">> {
  const specified = flags.filterJson === undefined ? undefined : parseFilterJson(flags.filterJson);
  if (specified) {
    requireNoMixture(flags);
    const search = Array.isArray(specified)
      ? { filters: specified }
      : { filters: [], specification: specified };
    return async (_account, { _id }) => ({ structureId: _id, ...search });
  }
  flags.filter?.forEach(parseFilter);
  if (flags.status !== undefined) parseStatus(flags.status);
  return async (account, structure) => {
    const conditions = await resolveContactConditions(account, structure, flags);
    return { structureId: structure._id, ...conditions };
  };
}

/** `--filter-json` says all that the service filters by: other flags would be ignored silently. */
function requireNoMixture({ key, status, list, tag, filter }: ConditionFlags): void {
  if ([key, status, list, tag, filter].every((each) => each === undefined)) return;
  throw usageError(
    "--filter-json cannot be used with --key, --status, --list, --tag and --filter",
    "Put all that the service is to filter by into --filter-json",
  );
}

// The flags of a selection, the same in every command that takes one.

export function addSelectionFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command
    .addOption(
      repeatableOption("--key <key>", "the contact with this key; several: any of them (repeatable)"),
    )
    .option(
      "--keys <file>",
      "contacts of a file: a key or id per line, or a table (CSV, xlsx, JSON); - for standard input",
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
    .option(
      "--status <status>",
      "contacts with this status: active, inactive, unsubscribed, bounced, complained",
    )
    .option(
      "--where <expression>",
      'contacts for which this is true (CEL), such as \'City == "Oslo" && "VIP" in tags\'',
    );
}

/** For commands that only read: words that are looked for on the pages that the other conditions leave. */
export function textOption() {
  return new Option(
    "--text <words>",
    "contacts with all these words in the key or in fields, in any letter case; reads 1,000 contacts per request",
  );
}

/** For bulk changes, which need `--all` where nothing narrows the selection. */
export function addBulkSelectionFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return addSelectionFlags(command)
    .option("--all", "every contact of the structure")
    .addOption(new Option("--bulk", "a bulk run, also for one contact").hideHelp());
}

type SelectionFlags = FlagsOf<ReturnType<typeof addBulkSelectionFlags<[], Bare, Bare>>>;

/** Flags that only a bulk run can follow: with one of them, a single contact is a bulk run too. */
const runFlags = [
  ...(["maxChanges", "maxDelete", "maxRequests", "maxRejects", "reserve", "until", "wait"] as const),
  ...(["rejects", "report"] as const),
];

/** The contacts that a bulk change is for. */
export interface ChosenContacts {
  /** Keys or ids, from the command line. */
  contacts: string[];
  /** The file that names them; `-`: standard input. */
  keys?: string;
  conditions: TypedConditions;
  /** How the file is read. */
  reading: FileReading;
  /** The contact, where a single one is named. */
  one?: string;
  /** As `one`; absent where a flag asks for a bulk run. */
  single?: string;
}

type ChoosingFlags = SelectionFlags & BulkFlags & Parameters<typeof readFileFlags>[1];

/**
 * The contacts that the words and flags mean; where they say nothing, a person is asked for one contact.
 * @param verb of the command
 * @throws UsageError for flags that cannot be used together, and where nobody can be asked
 */
export async function chooseContacts(
  context: Context,
  contacts: string[],
  flags: ChoosingFlags,
  verb: string,
): Promise<ChosenContacts> {
  const chosen = readSelection(contacts, flags);
  if (chosen) return chosen;
  const missing = {
    what: "The contact's id or key",
    usage: advise`${ecm`contact ${verb} ID-OR-KEY`}, or a selection with --list, --where or --all`,
  };
  return readSelection([await requireText(context, undefined, missing)], flags)!;
}

/** Undefined when nothing says which contacts are meant. @throws UsageError */
function readSelection(contacts: string[], flags: ChoosingFlags): ChosenContacts | undefined {
  // A plan is of a bulk run.
  const { key = [], keys, list, tag, status, where, all, bulk, plan } = flags;
  const typedContacts = [...contacts, ...key];
  // An empty variable of a script must not be ignored.
  if (typedContacts.some((each) => each.trim() === "")) {
    throw usageError("A contact's id or key is empty", "Name a contact, such as ada@example.com");
  }
  requireNoFile(typedContacts);
  requireOneSource(keys, typedContacts);
  if (status !== undefined) parseStatus(status);
  const conditions: TypedConditions = { list, tag, status, where };
  const isNarrowed = Object.values(conditions).some((each) => each !== undefined);
  if (typedContacts.length === 0 && keys === undefined && !isNarrowed && !all) return undefined;
  const isOne = typedContacts.length === 1 && !isNarrowed && !bulk && plan === undefined;
  const one = isOne ? typedContacts[0] : undefined;
  const single = runFlags.some((name) => flags[name] !== undefined) ? undefined : one;
  return { contacts: typedContacts, keys, conditions, reading: readFileFlags(keys, flags), one, single };
}
