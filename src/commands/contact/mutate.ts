import type { Command } from "@commander-js/extra-typings";
import { mutateContactRequest, toIdSet, wholeContact } from "../../api/contacts.ts";
import type { Connection, Context } from "../../context.ts";
import { conflictError, failedError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import { isObject } from "../../json.ts";
import type { Account } from "../../service/account.ts";
import {
  createMutateBody,
  pickDifferences,
  requireChange,
  requireOneValueEach,
  splitAssignment,
  wouldChange,
} from "../../service/contact-changes.ts";
import { performOnContact } from "../../service/find-contact.ts";
import { fetchContact, type MutatedContact, mutateContact } from "../../service/mutate-contact.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import { isJson } from "../../terminal/format.ts";
import type { ApiRequest, Contact, MutateBody } from "../../wire.ts";
import { addBulkFlags } from "../flags/bulk.ts";
import { addKeyFileFlags, type OptionsOf, repeatableOption, wholeNumberOption } from "../flags/flags.ts";
import { formatChanges } from "../output/change-lines.ts";
import { addBulkSelectionFlags, type ChosenContacts, chooseContacts } from "../selection/conditions.ts";
import { type Result, verb } from "../verb.ts";
import { editMany } from "./edit-many.ts";
import { checkContactColumns, listNames, toContactResult } from "./view.ts";

type MutateFlags = OptionsOf<typeof declareMutate>;

function declareMutate(parent: Command) {
  const command = parent
    .command("mutate")
    .description("change fields, lists and tags of contacts, atomically for each contact")
    .argument("[id-or-key...]", "the contact's id or key; several make a bulk run")
    .addOption(
      repeatableOption("--set <field=value>", "a field by label or id, and its new value (repeatable)"),
    )
    .addOption(repeatableOption("--add-tag <tag>", "by label or id (repeatable)"))
    .addOption(repeatableOption("--remove-tag <tag>", "by label or id (repeatable)"))
    .addOption(repeatableOption("--add-list <list>", "by name or id (repeatable)"))
    .addOption(repeatableOption("--remove-list <list>", "by name or id (repeatable)"))
    .addOption(wholeNumberOption("--if-version <n>", "only if the contact's version (__v) is still N", 0))
    .option("--data <file>", "send this JSON body instead of the flags; - for standard input")
    .option("--fail-unchanged", "exit 1 when nothing would change");
  return addBulkFlags(addKeyFileFlags(addBulkSelectionFlags(command)), { isMutate: true });
}

export function registerContactMutate(parent: Command, context: Context): void {
  verb(context, declareMutate(parent), {
    examples: [
      "ecm contact mutate ada@example.com --add-tag vip --remove-list Leads",
      'ecm contact mutate ada@example.com --set "City=Paris" --if-version 3',
      "ecm contact mutate ada@example.com --add-tag vip --dry-run --json",
      "ecm contact mutate --list Newsletter --where 'City == \"Oslo\"' --add-tag north",
    ],
    output:
      "The updated contact, or at a terminal what changed (old → new); `unchanged` on stderr when nothing changed.",
    writes: true,
    exitCodes: {
      3: "a bulk run finished, and some contacts do not exist or were rejected",
      6: "the contact's version is not --if-version",
    },
    async run(contacts, flags) {
      requireNoNewKey(contacts, flags);
      const chosen = await chooseContacts(context, contacts, flags, "mutate");
      const change = await readChange(context, flags);
      if (chosen.single !== undefined) return mutateOne(context, chosen.single, change, flags);
      await mutateMany(context, chosen, change, flags);
      return undefined;
    },
  });
}

/** `--key` chooses contacts: no mutate changes a key. @throws UsageError */
function requireNoNewKey([old, ...others]: string[], flags: MutateFlags): void {
  const { key = [], data } = flags;
  if (data !== undefined || listChanges(flags).length > 0) return;
  if (old === undefined || others.length > 0 || key.length !== 1) return;
  const move = ecm`contact move ${toOperands(old, key[0]!)}`;
  throw usageError("--key chooses contacts, it changes no key", advise`For a new key: ${move}`);
}

function listChanges({ set, addTag, removeTag, addList, removeList }: MutateFlags): string[] {
  return [set, addTag, removeTag, addList, removeList].flatMap((each) => each ?? []);
}

/** A body that was typed goes as it is; undefined where flags name the change. */
type TypedBody = { text: string; value: unknown } | undefined;

/** What is wrong with the flags is said before anything is opened or sent. @throws UsageError */
async function readChange(context: Context, flags: MutateFlags): Promise<TypedBody> {
  if (flags.keys === "-" && flags.data === "-")
    throw usageError("--keys and --data cannot both be standard input", "Name a file for one of them");
  if (flags.data === undefined) {
    requireChange(flags);
    flags.set?.forEach(splitAssignment);
    return undefined;
  }
  if (listChanges(flags).length > 0 || flags.ifVersion !== undefined)
    throw usageError("--data is the whole body and cannot be used with flags that name changes");
  return readJsonInput(context, flags.data, "--data");
}

// One contact.

interface Mutated extends MutatedContact {
  body: MutateBody;
  /** The contact before the change, where it was read. */
  before?: Partial<Contact>;
  /** What a dry run would send. */
  request?: ApiRequest;
}

async function mutateOne(
  context: Context,
  idOrKey: string,
  typed: TypedBody,
  flags: MutateFlags,
): Promise<Result<Partial<Contact>>> {
  const { terminal } = context;
  const connection = await context.connect();
  const { account } = connection;
  const mutated = await account.withRemembered("write", async () => {
    const sent = await sendMutate(context, connection, idOrKey, { typed, flags });
    const isSaid = !typed && (sent.isChanged || sent.request !== undefined);
    return { ...sent, lines: isSaid ? await describeChanges(account, sent.body, sent.before) : [] };
  });
  const { contact, isChanged, lines, request } = mutated;
  if (request) {
    const details = lines.join(", ");
    return { request, would: `change the contact ${contact.key}${details === "" ? "" : `: ${details}`}` };
  }
  const result = toContactResult(context, account, contact);
  if (isChanged && typed) return result;
  if (isChanged) {
    return { ...result, screen: () => Promise.resolve(formatChanges(terminal, lines, contact.key)) };
  }
  if (!flags.failUnchanged) {
    terminal.note("unchanged");
    return result;
  }
  throw failedError("The contact is unchanged: it already has these values", undefined, {
    type: "UnchangedError",
    applied: "no",
  });
}

/** Sends nothing in a dry run, nor for a contact that has these values already. */
async function sendMutate(
  context: Context,
  { send, account, behaviors }: Connection,
  idOrKey: string,
  { typed, flags }: { typed: TypedBody; flags: MutateFlags },
): Promise<Mutated> {
  const { ifVersion, dryRun = false } = flags;
  const output = context.output();
  const structure = () => account.structure();
  const body = typed ? (typed.value as MutateBody) : await createMutateBody(account, flags);
  if (!dryRun) await checkContactColumns(account, output);
  // Only the contact itself has its version; the write carries it too, in case of a change in between.
  const isRead = dryRun || ifVersion !== undefined;
  // A body that was typed does not need to know the structure.
  const behavior = typed ? undefined : behaviors((await structure())._id);
  const lookup = isRead || typed ? { send, structure } : { send, structure, source: wholeContact, behaviors };
  const knows = (found?: Partial<Contact>) => (typed ? undefined : found);
  return performOnContact(lookup, idOrKey, async (id, found): Promise<Mutated> => {
    const request: ApiRequest = { ...mutateContactRequest(id, body), rawBody: typed?.text };
    const before = isRead ? await fetchContact(send, id) : knows(found);
    requireVersion(before, ifVersion);
    if (before && !wouldChange(before, body)) {
      // A search tells a contact in another form, without its version.
      const isWhole = isRead || !isJson(output.format);
      const contact = isWhole ? (before as Contact) : await fetchContact(send, id);
      if (!wouldChange(contact, body)) return { contact, isChanged: false, body };
    }
    if (dryRun) return { contact: before as Contact, isChanged: false, body, before, request };
    return { ...(await mutateContact(send, id, request, behavior)), body, before };
  });
}

function requireVersion(contact: Partial<Contact> | undefined, expected: number | undefined): void {
  if (expected === undefined || contact?.__v === undefined || contact.__v === expected) return;
  throw conflictError(
    `The contact's version is ${contact.__v}, not ${expected}`,
    advise`It was changed in the meantime; see it with: ${ecm`contact get ${contact._id ?? ""}`}`,
    { type: "ConcurrencyError", applied: "no" },
  );
}

/** The changes of one contact, a line each: by name, with the old value where it was read. */
async function describeChanges(
  account: Account,
  body: MutateBody,
  before: Partial<Contact> | undefined,
): Promise<string[]> {
  const names = listNames(await account.readCachedNames(await account.structure()));
  const { updateFields = [], ...refs } = pickDifferences(before, body);
  const toLines = (mark: "+" | "-", what: string, elements: MutateBody["addLists"] = []) =>
    [...toIdSet(elements)].map((id) => `${mark} ${what} ${names.get(id) ?? id}`);
  const formatValue = (value: unknown) => (value === "" ? "(empty)" : String(value));
  return [
    ...updateFields.map(({ _id, value }) => {
      const old = before?.fields?.find((field) => field._id === _id)?.value ?? "";
      const from = before ? `${formatValue(old)} → ` : "";
      return `~ ${names.get(_id) ?? _id}  ${from}${formatValue(value)}`;
    }),
    ...toLines("+", "list", refs.addLists),
    ...toLines("-", "list", refs.removeLists),
    ...toLines("+", "tag", refs.addTags),
    ...toLines("-", "tag", refs.removeTags),
  ];
}

// Several contacts, or a selection: the same change on each, as a bulk run.

const bodyMembers = ["addTags", "removeTags", "addLists", "removeLists", "updateFields"];

async function mutateMany(
  context: Context,
  chosen: ChosenContacts,
  typed: TypedBody,
  flags: MutateFlags,
): Promise<void> {
  const { addTag, removeTag, addList, removeList, set } = flags;
  if (flags.ifVersion !== undefined) throw usageError("--if-version applies to a single contact");
  if (flags.failUnchanged) throw usageError("--fail-unchanged applies to a single contact");
  const named = { addTag, removeTag, addList, removeList, set };
  const changes = typed ? { body: requireBulkBody(typed.value) } : named;
  await editMany(context, { kind: "mutate", chosen, flags, changes });
}

/** @throws UsageError for anything that a plan could not say of each contact */
function requireBulkBody(value: unknown): NonNullable<MutateBody> {
  const isBody =
    isObject(value) &&
    Object.entries(value).every(([name, part]) => bodyMembers.includes(name) && Array.isArray(part));
  if (!isBody)
    throw usageError(`--data: a bulk run needs an object of ${bodyMembers.join(", ")}, each an array`);
  requireOneValueEach(value as MutateBody);
  return value as MutateBody;
}
