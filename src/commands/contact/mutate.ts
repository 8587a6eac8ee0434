import type { Command } from "@commander-js/extra-typings";
import { mutateContactRequest, toIdSet, wholeContact } from "../../api/contacts.ts";
import type { EditOptions } from "../../bulk/index.ts";
import type { Connection, Context } from "../../context.ts";
import { conflictError, failedError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import type { Naming } from "../../service/account.ts";
import {
  createMutateBody,
  pickDifferences,
  type RequestedChanges,
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
import { addBulkFlags, toRunOptions } from "../flags/bulk.ts";
import {
  addKeyFileFlags,
  type OptionsOf,
  repeatableOption,
  toTableOptions,
  wholeNumberOption,
} from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { type ChangeLine, showsChanges } from "../output/change-lines.ts";
import { presents, type Result } from "../output/presents.ts";
import { addSelectionFlags, type ChosenContacts, chooseContacts } from "../selection/conditions.ts";
import { resolveContact } from "../selection/lookups.ts";
import { askChanges } from "./questions.ts";
import { checkContactColumns, toContactResult } from "./view.ts";

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
  return addBulkFlags(addKeyFileFlags(addSelectionFlags(command)), { isMutate: true });
}

export function registerContactMutate(parent: Command, context: Context): void {
  const mutating = describeCommand(declareMutate(parent), {
    examples: [
      "ecm contact mutate ada@example.com --add-tag vip --remove-list Leads",
      'ecm contact mutate ada@example.com --set "City=Paris" --if-version 3',
      "ecm contact mutate ada@example.com --add-tag vip --dry-run --json",
      "ecm contact mutate --list Newsletter --where 'City == \"Oslo\"' --add-tag north",
    ],
    output:
      "The updated contact, or at a terminal what changed (old → new); `unchanged` on stderr when nothing changed.",
    writes: true,
    asks: "With --all, and nothing that narrows it",
    exitCodes: {
      3: "a bulk run finished, and some contacts do not exist or were rejected",
      1: "the service refused or failed; with --fail-unchanged: nothing would change",
      5: "no such contact, or no list, tag or field has that name",
      6: "the contact's version is not --if-version",
    },
  });
  mutating.action(
    presents(context, {}, async (contacts, flags) => {
      requireNoNewKey(contacts, flags);
      const chosen = await chooseContacts(context, contacts, flags, "mutate");
      const options = await askForChanges(context, flags, chosen.one);
      if (!options) context.terminal.note("unchanged");
      else if (chosen.one !== undefined && !chosen.isRun) return mutateOne(context, chosen.one, options);
      else await mutateMany(context, chosen, options);
      return undefined;
    }),
  );
}

/** `--key` chooses contacts: no mutate changes a key. @throws UsageError */
function requireNoNewKey([old, ...others]: string[], flags: MutateFlags): void {
  const { key = [], data, set, addTag, removeTag, addList, removeList } = flags;
  const isChange = [data, set, addTag, removeTag, addList, removeList].some((each) => each !== undefined);
  if (isChange || old === undefined || others.length > 0 || key.length !== 1) return;
  const move = ecm`contact move ${toOperands(old, key[0]!)}`;
  throw usageError("--key chooses contacts, it changes no key", advise`For a new key: ${move}`);
}

/**
 * Where no flag names a change, a person is asked; undefined when they
 * want none. Elsewhere that is an error further on.
 */
async function askForChanges(
  context: Context,
  options: MutateFlags,
  idOrKey: string | undefined,
): Promise<MutateFlags | undefined> {
  const { data, set, addTag, removeTag, addList, removeList } = options;
  if ([data, set, addTag, removeTag, addList, removeList].some((each) => each !== undefined)) return options;
  const prompter = context.prompter();
  if (!prompter) return options;
  const changes = await askChanges(context, prompter, idOrKey);
  return Object.keys(changes).length > 0 ? { ...options, ...changes } : undefined;
}

async function mutateOne(
  context: Context,
  idOrKey: string,
  options: MutateFlags,
): Promise<Result<Partial<Contact>>> {
  const output = context.output();
  const change = await toChange(context, options);
  const connection = await context.connect();
  const { send, account } = connection;
  const structure = () => account.structure();
  const mutated = await account.withRemembered("write", async (): Promise<MutationReport | ApiRequest> => {
    const request = await change(connection);
    if (options.dryRun) {
      // Looked up as the write would be, so that what is printed is what would be sent.
      const found = await resolveContact(connection, idOrKey);
      requireVersion(found, options.ifVersion);
      const planned = request(found._id);
      const isChange = wouldChange(found, planned.body as MutateBody);
      return isChange ? planned : { contact: found, isChanged: false };
    }
    await checkContactColumns(account, output);
    // A body that was typed goes as it is, and does not need to know the structure.
    return options.data === undefined
      ? mutateByFlags(context, connection, idOrKey, { request, ifVersion: options.ifVersion })
      : performOnContact({ send, structure }, idOrKey, (id) => mutateContact(send, id, request(id)));
  });
  if (!("isChanged" in mutated)) {
    return { request: mutated, would: `change the contact ${idOrKey}${describeFlags(options)}` };
  }
  const { contact, isChanged, changes } = mutated;
  if (!isChanged && options.failUnchanged) {
    throw failedError("The contact is unchanged: it already has these values", undefined, {
      type: "UnchangedError",
      applied: "no",
    });
  }
  if (!isChanged) context.terminal.note("unchanged");
  return { ...toContactResult(context, account, contact), changes, changesTitle: contact.key };
}

/** Sends nothing for a contact that has these values already. */
async function mutateByFlags(
  context: Context,
  { send, account, behaviors }: Connection,
  idOrKey: string,
  { request, ifVersion }: { request: (id: string) => ApiRequest; ifVersion: number | undefined },
): Promise<MutationReport> {
  const output = context.output();
  const structure = () => account.structure();
  const behavior = behaviors((await structure())._id);
  const perform = async (id: string, found?: Partial<Contact>): Promise<MutationReport> => {
    const body = request(id).body as MutateBody;
    let before = found;
    if (ifVersion !== undefined) {
      before = await fetchContact(send, id);
      requireVersion(before as Contact, ifVersion);
    } else if (found && !wouldChange(found, body)) {
      // A search tells a contact in another form, without its version.
      const contact = isJson(output.format) ? await fetchContact(send, id) : (found as Contact);
      if (!wouldChange(contact, body)) return { contact, isChanged: false };
    }
    const done = await mutateContact(send, id, request(id), behavior);
    if (!done.isChanged || !showsChanges(context.terminal, output)) return done;
    return {
      ...done,
      changes: describeChanges(body, before, await account.readCachedNames(await structure())),
    };
  };
  return performOnContact({ send, structure, source: wholeContact, behaviors }, idOrKey, perform);
}

/** With what a person is shown of it: undefined where they are shown the whole contact. */
type MutationReport = MutatedContact & { changes?: ChangeLine[] };

/**
 * Only the contact itself has its version, so it is read before the write; the write carries the version too,
 * in case of a change in between.
 */
function requireVersion(contact: Contact, expected: number | undefined): void {
  if (expected === undefined || contact.__v === undefined || contact.__v === expected) return;
  throw conflictError(
    `The contact's version is ${contact.__v}, not ${expected}`,
    advise`It was changed in the meantime; see it with: ${ecm`contact get ${contact._id}`}`,
    { type: "ConcurrencyError", applied: "no" },
  );
}

/** What the flags ask for; nothing where a body was typed. */
function describeFlags({ set, addTag, removeTag, addList, removeList }: RequestedChanges): string {
  const parts: [what: string, names: readonly string[] | undefined][] = [
    ["set", set],
    ["add the tag", addTag],
    ["remove the tag", removeTag],
    ["add to the list", addList],
    ["remove from the list", removeList],
  ];
  const words = parts.flatMap(([what, names = []]) => names.map((name) => `${what} ${JSON.stringify(name)}`));
  return words.length === 0 ? "" : `: ${words.join(", ")}`;
}

/** From a contact's id to the request that changes it. */
type ContactChange = (contactId: string) => ApiRequest;

/** What is wrong with the flags is said before anything is opened or sent. */
async function toChange(
  context: Context,
  options: RequestedChanges & { data?: string },
): Promise<(connection: Connection) => Promise<ContactChange>> {
  const { data, addTag, removeTag, addList, removeList, set, ifVersion } = options;
  const changes = { addTag, removeTag, addList, removeList, set, ifVersion };
  if (data === undefined) {
    set?.forEach(splitAssignment);
    return async ({ account }) => {
      const body = await createMutateBody(account, changes);
      return (id) => mutateContactRequest(id, body);
    };
  }
  if (Object.values(changes).some((value) => value !== undefined)) {
    throw usageError("--data is the whole body and cannot be used with flags that name changes");
  }
  const { text, value } = await readJsonInput(context, data, "--data");
  return async () => (id) => ({ ...mutateContactRequest(id, value as MutateBody), rawBody: text });
}

// The changes of one contact, a line each: by name, with the old value where it is known.

/** @param before the contact before the change; undefined if it was not read */
function describeChanges(
  body: MutateBody,
  before: Partial<Contact> | undefined,
  { structure, lists }: Naming,
): ChangeLine[] {
  const { updateFields = [], addLists, removeLists, addTags, removeTags } = pickDifferences(before, body);
  const formatListName = (id: string) => lists.find(({ _id }) => _id === id)?.name ?? id;
  const formatTagLabel = (id: string) => structure.tags?.find(({ _id }) => _id === id)?.label ?? id;
  const toChangeLines = (
    mark: "+" | "-",
    what: string,
    refs: MutateBody["addLists"],
    toName: (id: string) => string,
  ) => [...toIdSet(refs ?? [])].map((id): ChangeLine => ({ mark, text: `${what} ${toName(id)}` }));
  return [
    ...updateFields.map(({ _id, value }): ChangeLine => {
      const name = structure.fields.find((field) => field._id === _id)?.label ?? _id;
      const old = before?.fields?.find((field) => field._id === _id)?.value ?? "";
      return {
        mark: "~",
        text: `${name}  ${before ? `${formatFieldValue(old)} → ` : ""}${formatFieldValue(value)}`,
      };
    }),
    ...toChangeLines("+", "list", addLists, formatListName),
    ...toChangeLines("-", "list", removeLists, formatListName),
    ...toChangeLines("+", "tag", addTags, formatTagLabel),
    ...toChangeLines("-", "tag", removeTags, formatTagLabel),
  ];
}

function formatFieldValue(value: unknown): string {
  return value === "" ? "(empty)" : String(value);
}

// `ecm contact mutate` on several contacts, or on a selection: the same change on each, as a bulk run.

const bodyMembers = ["addTags", "removeTags", "addLists", "removeLists", "updateFields"];

async function mutateMany(context: Context, chosen: ChosenContacts, flags: MutateFlags): Promise<void> {
  requireNoCombination(chosen, flags);
  const options = toRunOptions(flags, context.clock.now());
  const changes = await readRequestedChanges(context, flags);
  const reading = toReadOptions(chosen, flags);
  const { editMany } = await import("./edit-many.ts");
  await editMany(context, { kind: "mutate", chosen, changes, reading, options, flags });
}

/** @throws UsageError for flags about a file where there is none */
function toReadOptions(
  { keys }: ChosenContacts,
  { map, consentColumn, sheet, includeUnsubscribed }: MutateFlags,
): Pick<EditOptions, "read" | "includeUnsubscribed"> {
  const hasFileFlags = [map, consentColumn, sheet, includeUnsubscribed].some((each) => each !== undefined);
  if (!hasFileFlags) return {};
  if (keys === undefined) {
    throw usageError(
      "--map, --consent-column and --include-unsubscribed apply to the file given with --keys",
      "Name the file with --keys, or leave them out",
    );
  }
  return { read: toTableOptions({ map, consentColumn, sheet }), includeUnsubscribed };
}

function requireNoCombination({ keys }: ChosenContacts, flags: MutateFlags): void {
  if (flags.ifVersion !== undefined) {
    throw usageError(
      "--if-version applies to a single contact",
      "A bulk run checks each contact's own version",
    );
  }
  if (flags.failUnchanged) throw usageError("--fail-unchanged applies to a single contact");
  if (keys === "-" && flags.data === "-") {
    throw usageError("--keys and --data cannot both be standard input", "Name a file for one of them");
  }
}

async function readRequestedChanges(
  context: Context,
  flags: MutateFlags,
): Promise<NonNullable<EditOptions["wanted"]>> {
  const { data, addTag, removeTag, addList, removeList, set } = flags;
  if (data === undefined) {
    requireChange(flags);
    set?.forEach(splitAssignment);
    return { addTag, removeTag, addList, removeList, set };
  }
  if ([addTag, removeTag, addList, removeList, set].some((value) => value !== undefined)) {
    throw usageError("--data is the whole body and cannot be used with flags that name changes");
  }
  const { value } = await readJsonInput(context, data, "--data");
  const isBody =
    typeof value === "object" &&
    value !== null &&
    Object.entries(value).every(([name, part]) => bodyMembers.includes(name) && Array.isArray(part));
  if (!isBody) {
    throw usageError(`--data: a bulk run needs an object of ${bodyMembers.join(", ")}, each an array`);
  }
  const body = value as MutateBody;
  requireOneValueEach(body);
  return { body };
}
