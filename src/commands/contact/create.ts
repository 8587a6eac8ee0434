import type { Command } from "@commander-js/extra-typings";
import { createContactRequest, readContact } from "../../api/contacts.ts";
import { isAddressLike, normalizeKey } from "../../api/key-spelling.ts";
import type { Connection, Context } from "../../context.ts";
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
import type { ApiRequest, Contact, CreateContactBody } from "../../wire.ts";
import { addDryRunFlag, type OptionsOf, repeatableOption } from "../flags/flags.ts";
import { type MissingArgument, requireTextOrAsk } from "../flags/questions.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents, type Result } from "../output/presents.ts";
import { openSuppressionList } from "../selection/lookups.ts";
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
  const creating = describeCommand(declareCreate(parent), {
    examples: [
      'ecm contact create --key ada@example.com --set "First Name=Ada" --list Newsletter --tag vip',
      "ecm contact create --key ada@example.com --dry-run",
      "ecm contact create --data contact.json",
    ],
    output: "The created contact; in JSON formats the service's answer unchanged.",
    writes: true,
    exitCodes: {
      5: "no list, tag or field has this name",
      6: "a contact with this key already exists, or the key is on the suppression list",
    },
  });
  creating.action(presents(context, {}, (flags) => createContact(context, flags)));
}

const missingKey: MissingArgument = {
  question: "The contact's key",
  what: "the contact's key",
  usage: advise`${ecm`contact create --key KEY`}, or --data FILE`,
};

async function createContact(
  context: Context,
  options: ContactCreateOptions,
): Promise<Result<Partial<Contact>>> {
  const output = context.output();
  const { key, createRequest } =
    options.data === undefined
      ? await readFlags(context, options)
      : await readBody(context, options, options.data);
  if (!options.includeSuppressed) await refuseSuppressed(context, key);
  if (options.data === undefined) await refuseByItsForm(key);
  const connection = await context.connect();
  const { send, account } = connection;
  const { request, answer } = await account.withRemembered("write", async () => {
    const request = await createRequest(account);
    if (options.dryRun) {
      await requireFreeKey(connection, request);
      return { request };
    }
    await checkContactColumns(account, output);
    return { request, answer: await send(request).catch(throwDuplicateExplained) };
  });
  if (!answer) {
    const { key: sentKey } = (request.body ?? {}) as Partial<CreateContactBody>;
    return { request, would: sentKey === undefined ? "create a contact" : `create the contact ${sentKey}` };
  }
  const contact = readContact(answer);
  // The specification's answer leaves out lists and tags; a person wants to see what was asked for.
  const sent = request.body as Partial<CreateContactBody> | undefined;
  const reported = hasColumns(output) ? { lists: sent?.lists, tags: sent?.tags, ...contact } : contact;
  return toContactResult(context, account, reported);
}

interface RequestedContact {
  key: string | undefined;
  /** Resolves names. */
  createRequest(account: Account): Promise<ApiRequest>;
}

/** A body that was typed goes as it is. @throws UsageError before anything is opened or sent */
async function readBody(
  context: Context,
  { key, set, list, tag }: ContactCreateOptions,
  file: string,
): Promise<RequestedContact> {
  if ([key, set, list, tag].some((each) => each !== undefined))
    throw usageError("--data is the whole body and cannot be used with --key, --set, --list and --tag");
  const { text, value } = await readJsonInput(context, file, "--data");
  const body = value as CreateContactBody;
  return {
    key: typeof body?.key === "string" ? body.key : undefined,
    createRequest: async () => ({ ...createContactRequest(body), rawBody: text }),
  };
}

/** @throws UsageError before anything is opened or sent */
async function readFlags(
  context: Context,
  { key: typedKey, set = [], list = [], tag = [] }: ContactCreateOptions,
): Promise<RequestedContact> {
  const key = await requireTextOrAsk(context, typedKey, missingKey);
  set.forEach(splitAssignment);
  const { createKeyReader } = await import("../../tables/index.ts");
  return {
    key,
    async createRequest(account) {
      const structure = await account.structure();
      requireCreatable(createKeyReader(structure.keyType)(key));
      const parts = {
        fields: parseFieldValues(structure, set),
        lists: await resolveListRefs(account, structure, list),
        tags: await resolveTagRefs(account, structure, tag),
      };
      const presentParts = Object.entries(parts).filter(([, elements]) => elements.length > 0);
      return createContactRequest({
        key: normalizeKey(key, structure.keyType),
        contactStructureId: structure._id,
        ...Object.fromEntries(presentParts),
      });
    },
  };
}

/** What is an address by its form is refused before a request is spent on the type of the account's keys. */
async function refuseByItsForm(key = ""): Promise<void> {
  if (!isAddressLike(key)) return;
  const { createKeyReader } = await import("../../tables/index.ts");
  requireCreatable(createKeyReader("email")(key));
}

/** A key that an import would reject is refused here too. @throws UsageError */
function requireCreatable(reading: { key: unknown } | { message: string }): void {
  if ("key" in reading) return;
  throw usageError(
    `The key cannot be used: ${reading.message}`,
    "To send a key exactly as it is: --data FILE",
  );
}

/** @throws EcmError for a key on the suppression list; SuppressionsError when the list cannot be read */
async function refuseSuppressed(context: Context, key: string | undefined): Promise<void> {
  const list = await openSuppressionList(context);
  if (key === undefined || !list.has(key)) return;
  throw conflictError(
    `${key} is on the suppression list; nothing was sent`,
    "This person asked not to be contacted, or was erased: leave the contact out",
    { type: "SuppressedError", field: "key", applied: "no" },
  );
}

const duplicateHint = advise`To change the existing contact: ${ecm`contact mutate`}`;

function throwDuplicateExplained(error: unknown): never {
  if (isServiceError(error) && error.type === "DuplicateFieldError") error.details.hint ??= duplicateHint;
  throw error;
}

/** The service's refusal of a second contact, told by a dry run. A typed body may lack what is needed to look. */
async function requireFreeKey({ send, account, behaviors }: Connection, { body }: ApiRequest): Promise<void> {
  const { key, contactStructureId } = (body ?? {}) as Partial<CreateContactBody>;
  if (typeof key !== "string" || typeof contactStructureId !== "string") return;
  const structure = (await account.structures()).find(({ _id }) => _id === contactStructureId);
  const found = structure && (await findByKey({ send, behaviors }, structure, key));
  if (!found) return;
  throw conflictError(`A contact with the key ${key} already exists`, duplicateHint, {
    type: "DuplicateFieldError",
    field: "key",
    applied: "no",
  });
}
