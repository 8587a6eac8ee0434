import type { Command } from "@commander-js/extra-typings";
import { wholeContact } from "../../api/contacts.ts";
import type { Connection, Context } from "../../context.ts";
import { conflictError, failedError, usageError } from "../../errors.ts";
import { advise, ecm, toOperands } from "../../hint.ts";
import { type RequestedChanges, wouldChange } from "../../service/contact-changes.ts";
import { performOnContact } from "../../service/find-contact.ts";
import { fetchContact, type MutatedContact, mutateContact } from "../../service/mutate-contact.ts";
import { isJson } from "../../terminal/format.ts";
import { explainDryRun } from "../../terminal/present.ts";
import type { ApiRequest, Contact, MutateBody } from "../../wire.ts";
import { addBulkFlags } from "../bulk/flags.ts";
import { addKeyFileFlags, repeatableOption, wholeNumberOption } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { type ChangeLine, presentChanges, showsChanges } from "../output/change-lines.ts";
import { resolveContact } from "../selection/resolve-contact.ts";
import { toChange } from "./shared/change.ts";
import type { MutateFlags } from "./shared/mutate-many.ts";
import { askChanges } from "./shared/questions.ts";
import { addSelectionFlags, chooseContacts, type SelectionFlags } from "./shared/selection.ts";
import { checkContactColumns, presentContact } from "./shared/view.ts";

interface ContactMutateOptions extends MutateFlags, SelectionFlags {}

export function registerContactMutate(parent: Command, context: Context): void {
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
  addKeyFileFlags(addSelectionFlags(command)).action((contacts: string[], options: ContactMutateOptions) =>
    runContactMutate(context, contacts, options),
  );
  describeCommand(addBulkFlags(command, { isMutate: true }), {
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
}

async function runContactMutate(
  context: Context,
  contacts: string[],
  flags: ContactMutateOptions,
): Promise<void> {
  requireNoNewKey(contacts, flags);
  const chosen = await chooseContacts(context, contacts, flags, "mutate");
  const options = await askForChanges(context, flags, chosen.one);
  if (!options) return context.terminal.note("unchanged");
  if (chosen.one !== undefined && !chosen.isRun) return mutateOne(context, chosen.one, options);
  const { mutateMany } = await import("./shared/mutate-many.ts");
  await mutateMany(context, chosen, options);
}

/** `--key` chooses contacts: no mutate changes a key. @throws UsageError */
function requireNoNewKey([old, ...others]: string[], flags: ContactMutateOptions): void {
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
  options: ContactMutateOptions,
  idOrKey: string | undefined,
): Promise<ContactMutateOptions | undefined> {
  const { data, set, addTag, removeTag, addList, removeList } = options;
  if ([data, set, addTag, removeTag, addList, removeList].some((each) => each !== undefined)) return options;
  const prompter = context.prompter();
  if (!prompter) return options;
  const changes = await askChanges(context, prompter, idOrKey);
  return Object.keys(changes).length > 0 ? { ...options, ...changes } : undefined;
}

async function mutateOne(context: Context, idOrKey: string, options: ContactMutateOptions): Promise<void> {
  const { terminal } = context;
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
    return explainDryRun(terminal, output, `change the contact ${idOrKey}${describeFlags(options)}`, mutated);
  }
  const { contact, isChanged, changes } = mutated;
  if (!isChanged && options.failUnchanged) {
    throw failedError("The contact is unchanged: it already has these values", undefined, {
      type: "UnchangedError",
      applied: "no",
    });
  }
  if (!isChanged) terminal.note("unchanged");
  if (changes) return presentChanges(terminal, changes, contact.key);
  await presentContact(context, account, output, contact);
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
    const { describeChanges } = await import("./shared/changes.ts");
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
