import type { Command } from "@commander-js/extra-typings";
import { createContactRequest, readContact } from "../../api/contacts.ts";
import { isAddressLike, normalizeKey } from "../../api/key-spelling.ts";
import type { Context } from "../../context.ts";
import { conflictError, isServiceError, usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Account } from "../../service/account.ts";
import {
  parseFieldValues,
  resolveListRefs,
  resolveTagRefs,
  splitAssignment,
} from "../../service/contact-changes.ts";
import { findByKey } from "../../service/find-contact.ts";
import { readJsonInput } from "../../terminal/data-input.ts";
import { hasColumns } from "../../terminal/present.ts";
import type { Contact, CreateContactBody } from "../../wire.ts";
import { addDryRunFlag, type OptionsOf, repeatableOption } from "../flags/flags.ts";
import { requireText } from "../flags/questions.ts";
import { refuseSuppressed } from "../selection/lookups.ts";
import { type Result, verb } from "../verb.ts";
import { checkContactColumns, toContactResult } from "./view.ts";

type ContactCreateOptions = OptionsOf<typeof declareCreate>;

function declareCreate(parent: Command) {
  const command = parent
    .command("create")
    .description("create one contact")
    .option("--key <key>", "the contact's key, usually an email address")
    .addOption(repeatableOption("--set <field=value>", "a field by label or id, and its value (repeatable)"))
    .addOption(repeatableOption("--list <list>", "a list to add it to, by name or id (repeatable)"))
    .addOption(repeatableOption("--tag <tag>", "a tag to add, by label or id (repeatable)"))
    .option("--data <file>", "send this JSON body instead of the flags; - for standard input")
    .option("--include-suppressed", "create the contact even if its key is on the suppression list");
  return addDryRunFlag(command);
}

export function registerContactCreate(parent: Command, context: Context): void {
  verb(context, declareCreate(parent), {
    examples: [
      'ecm contact create --key ada@example.com --set "First Name=Ada" --list Newsletter --tag vip',
      "ecm contact create --key ada@example.com --dry-run",
      "ecm contact create --data contact.json",
    ],
    output: "The created contact; in JSON formats the service's answer unchanged.",
    writes: true,
    exitCodes: { 6: "a contact with this key already exists, or the key is on the suppression list" },
    run: (flags) => createContact(context, flags),
  });
}

const missingKey = {
  what: "The contact's key",
  usage: advise`${ecm`contact create --key KEY`}, or --data FILE`,
};

async function createContact(
  context: Context,
  options: ContactCreateOptions,
): Promise<Result<Partial<Contact>>> {
  const output = context.output();
  const typed = await readBody(context, options);
  const key = typed
    ? (typed.value as Partial<CreateContactBody> | null)?.key
    : await requireText(context, options.key, missingKey);
  const keys = typeof key === "string" ? [key] : [];
  const beforeLeaving = options.includeSuppressed ? undefined : await refuseSuppressed(context, keys);
  // What is an address by its form is refused before a request is spent on the type of the account's keys.
  if (!typed && isAddressLike(key!)) await requireCreatable(key!, "email");
  const { send, account, behaviors } = await context.connect();
  const { request, answer } = await account.withRemembered("write", async () => {
    const request = typed
      ? { ...createContactRequest(typed.value as CreateContactBody), rawBody: typed.text }
      : createContactRequest(await toBody(account, key!, options));
    if (options.dryRun) {
      if (!typed && (await findByKey({ send, behaviors }, await account.structure(), key!)))
        throw conflictError(`A contact with the key ${key} already exists`, duplicateHint, {
          type: "DuplicateFieldError",
          field: "key",
          applied: "no",
        });
      return { request };
    }
    await checkContactColumns(account, output);
    return { request, answer: await send(request, { beforeLeaving }).catch(throwDuplicateExplained) };
  });
  const { key: sentKey, lists, tags } = (request.body ?? {}) as Partial<CreateContactBody>;
  if (!answer)
    return { request, would: sentKey === undefined ? "create a contact" : `create the contact ${sentKey}` };
  const contact = readContact(answer);
  // The specification's answer leaves out lists and tags; a person wants to see what was asked for.
  const known = { lists, tags, ...contact };
  return toContactResult(context, account, hasColumns(output) ? known : contact);
}

/** A body that was typed goes as it is. @throws UsageError before anything is opened or sent */
async function readBody(context: Context, { data, key, set, list, tag }: ContactCreateOptions) {
  set?.forEach(splitAssignment);
  if (data === undefined) return undefined;
  if ([key, set, list, tag].some((each) => each !== undefined))
    throw usageError("--data is the whole body and cannot be used with --key, --set, --list and --tag");
  return readJsonInput(context, data, "--data");
}

async function toBody(
  account: Account,
  key: string,
  { set = [], list = [], tag = [] }: ContactCreateOptions,
): Promise<CreateContactBody> {
  const structure = await account.structure();
  await requireCreatable(key, structure.keyType);
  const parts = {
    fields: parseFieldValues(structure, set),
    lists: await resolveListRefs(account, structure, list),
    tags: await resolveTagRefs(account, structure, tag),
  };
  const presentParts = Object.entries(parts).filter(([, elements]) => elements.length > 0);
  return {
    key: normalizeKey(key, structure.keyType),
    contactStructureId: structure._id,
    ...Object.fromEntries(presentParts),
  };
}

/** A key that an import would reject is refused here too. @throws UsageError */
async function requireCreatable(key: string, keyType: string): Promise<void> {
  const { createKeyReader } = await import("../../tables/index.ts");
  const reading = createKeyReader(keyType)(key);
  if ("key" in reading) return;
  throw usageError(
    `The key cannot be used: ${reading.message}`,
    "To send a key exactly as it is: --data FILE",
  );
}

const duplicateHint = advise`To change the existing contact: ${ecm`contact mutate`}`;

function throwDuplicateExplained(error: unknown): never {
  if (isServiceError(error) && error.type === "DuplicateFieldError") error.details.hint ??= duplicateHint;
  throw error;
}
