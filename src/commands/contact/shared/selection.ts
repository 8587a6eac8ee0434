/** The flags by which a bulk change chooses its contacts. */
import { type Command, Option, type OptionValues } from "@commander-js/extra-typings";
import type { TypedConditions } from "../../../bulk/index.ts";
import type { Context } from "../../../context.ts";
import { usageError } from "../../../errors.ts";
import { advise, ecm } from "../../../hint.ts";
import { parseStatus } from "../../../select/status-filter.ts";
import type { BulkFlags } from "../../bulk/flags.ts";
import { keysOption, repeatableOption, whereOption } from "../../flags/flags.ts";
import { requireTextOrAsk } from "../../flags/questions.ts";
import { requireNoFile } from "../../selection/typed-keys.ts";
import { createMissingContact } from "./questions.ts";

export interface SelectionFlags {
  key?: string[];
  keys?: string;
  list?: string[];
  tag?: string[];
  status?: string;
  where?: string;
  all?: boolean;
  bulk?: boolean;
  /** A plan is of a bulk run. */
  plan?: string;
}

/** Flags that only a bulk run can follow: with one of them, a single contact is a bulk run too. */
function needsRun(flags: BulkFlags): boolean {
  const { maxChanges, maxDelete, maxRequests, maxRejects } = flags;
  const { reserve, until, wait, rejects, report } = flags;
  const limits = [maxChanges, maxDelete, maxRequests, maxRejects, reserve, until, wait];
  return [...limits, rejects, report].some((each) => each !== undefined);
}

export function addSelectionFlags<A extends unknown[], O extends OptionValues, G extends OptionValues>(
  command: Command<A, O, G>,
) {
  return command
    .addOption(repeatableOption("--key <key>", "the contact with this key or id (repeatable)"))
    .addOption(keysOption())
    .addOption(
      repeatableOption("--list <list>", "members of this list, by name or id; several: of any (repeatable)"),
    )
    .addOption(repeatableOption("--tag <tag>", "contacts with this tag; several: with any (repeatable)"))
    .option(
      "--status <status>",
      "contacts with this status: active, inactive, unsubscribed, bounced, complained",
    )
    .addOption(whereOption())
    .option("--all", "every contact of the structure")
    .addOption(new Option("--bulk", "a bulk run, also for one contact").hideHelp());
}

/** Whom a bulk change is for. */
export interface ChosenContacts {
  /** Keys or ids, from the command line. */
  contacts: string[];
  /** The file that names them; `-`: standard input. */
  keys?: string;
  conditions: TypedConditions;
  /** One contact named by itself. */
  one?: string;
  /** A bulk run, also for one contact. */
  isRun: boolean;
  /** Nothing narrows the choice: everybody in the structure. */
  isEveryone: boolean;
}

/**
 * Whom the words and flags mean; where they say nothing, a person is asked for one contact.
 * @param verb of the command
 * @throws UsageError for flags that cannot be used together, and where nobody can be asked
 */
export async function chooseContacts(
  context: Context,
  contacts: string[],
  flags: SelectionFlags & BulkFlags,
  verb: string,
): Promise<ChosenContacts> {
  const chosen = readSelection(contacts, flags);
  if (chosen) return chosen;
  const missing = createMissingContact(
    advise`${ecm`contact ${verb} ID-OR-KEY`}, or a selection with --list, --where or --all`,
  );
  return readSelection([await requireTextOrAsk(context, undefined, missing)], flags)!;
}

/** Undefined when nothing says which contacts are meant. @throws UsageError */
function readSelection(contacts: string[], flags: SelectionFlags & BulkFlags): ChosenContacts | undefined {
  const { key = [], keys, list, tag, status, where, all, bulk, plan } = flags;
  const typedContacts = [...contacts, ...key];
  // An empty variable of a script must not be ignored.
  if (typedContacts.some((each) => each.trim() === "")) {
    throw usageError("A contact's id or key is empty", "Name a contact, such as ada@example.com");
  }
  requireNoFile(typedContacts);
  if (keys?.trim() === "") throw usageError("--keys is empty", "Name a file, or - for standard input");
  if (keys !== undefined && typedContacts.length > 0) {
    throw usageError(
      "--keys is the whole list of contacts and cannot be used with others",
      "Leave out one of the two",
    );
  }
  if (status?.trim() === "") throw usageError("--status is empty", "Name a status, such as --status active");
  if (status !== undefined) parseStatus(status);
  const conditions: TypedConditions = { list, tag, status, where };
  const isNarrowed = Object.values(conditions).some((each) => each !== undefined);
  if (typedContacts.length === 0 && keys === undefined && !isNarrowed && !all) return undefined;
  const isOne = typedContacts.length === 1 && !isNarrowed && !bulk && plan === undefined;
  const isEveryone = typedContacts.length === 0 && keys === undefined && !isNarrowed;
  const one = isOne ? typedContacts[0] : undefined;
  return { contacts: typedContacts, keys, conditions, one, isRun: !isOne || needsRun(flags), isEveryone };
}
