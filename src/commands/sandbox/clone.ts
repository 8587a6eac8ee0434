import type { Command } from "@commander-js/extra-typings";
import { createEquals, createFilter, findStatus, wholeContact } from "../../api/contacts.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount, formatCounted } from "../../counts.ts";
import { EcmError, usageError } from "../../errors.ts";
import type { Clone } from "../../sandbox/clone.ts";
import { askSearch } from "../../service/contact-search.ts";
import { maxPageSize } from "../../service/pages.ts";
import type { Contact, ContactList, ContactStructure, Filter } from "../../wire.ts";
import { type OptionsOf, wholeNumberOption } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { chooseSandboxFolder, type DataFlag, dataOption, withAdmin } from "./shared.ts";

type CloneFlags = OptionsOf<typeof declareClone>;

function declareClone(parent: Command) {
  return parent
    .command("clone")
    .description("copy an account into the sandbox, to rehearse against it")
    .option("--contacts", "copy the contacts too; without it, the structure and its lists")
    .addOption(
      wholeNumberOption("--max-requests <n>", "copy nothing if the contacts need more requests than this"),
    )
    .addOption(dataOption());
}

export function registerSandboxClone(parent: Command, context: Context): void {
  const command = declareClone(parent).action((flags) => runSandboxClone(context, flags));
  describeCommand(command, {
    examples: [
      "ecm sandbox clone --profile work",
      "ecm sandbox clone --profile work --contacts --max-requests 200",
    ],
    output:
      "Nothing; stderr says beforehand what is copied and how many requests it takes. All data of the sandbox is replaced; ids stay the same.",
    asks: "Where the sandbox holds data",
    exitCodes: { 7: "the contacts need more requests than --max-requests, or the rate limit is reached" },
  });
}

async function runSandboxClone(context: Context, flags: CloneFlags): Promise<void> {
  context.requireConfirmable();
  const folder = chooseSandboxFolder(context, flags);
  const isAsked = await watchRequests(context, flags);
  const connection = await context.connect("bulk");
  if (connection.profile.isSandbox) throw itselfError("The profile sandbox is the sandbox itself");
  const { account } = connection;
  const structure = await account.complete(await account.structure());
  const lists = await account.lists(structure);
  if (await isAsked(`/api/contact-structure/${structure._id}/lists`)) {
    throw itselfError(`The account is the sandbox itself, in ${folder}`);
  }
  const cost = flags.contacts ? await estimateCost(connection, structure, lists) : undefined;
  const { note } = context.terminal;
  note(
    `structure ${JSON.stringify(structure.label)}: ${structure.fields.length} fields, ${lists.length} lists`,
  );
  if (structure.tags === undefined)
    context.terminal.warn("The service did not say which tags there are; contacts are copied without tags");
  if (cost)
    note(`${formatCounted(cost.contacts, "contact")}: about ${formatCounted(cost.requests, "more request")}`);
  if (cost && flags.maxRequests !== undefined && cost.requests > flags.maxRequests) {
    throw new EcmError(
      "budget",
      `The contacts need about ${cost.requests} requests, but --max-requests allows ${flags.maxRequests}`,
      "Allow more, or leave out --contacts",
      { retryable: false },
    );
  }
  await context.confirm(`Replace all data of the sandbox in ${folder}?`);

  const { openClone } = await import("../../sandbox/clone.ts");
  const copied: Copied = { contacts: 0, refused: 0, withoutStatus: 0 };
  const clone = await openClone({ folder, clock: context.clock }, structure, lists);
  try {
    if (cost) {
      await copyContacts(clone, connection, structure, copied);
      await copyMembers(clone, connection, structure, cost.listsToAsk);
      noteCopied(context, copied);
    }
  } catch (error) {
    const part = `${formatCount(copied.contacts)} of ${formatCounted(cost?.contacts ?? 0, "contact")}`;
    context.terminal.warn(`The copy is not complete: the sandbox holds ${part}. Run the same command again`);
    throw error;
  } finally {
    clone.close();
  }
}

function itselfError(message: string): EcmError {
  return usageError(message, "Name the account to copy with --profile");
}

/**
 * A sandbox that serves the folder can stand behind any profile: it is the account to copy where its log holds
 * what is sent to that account.
 * @returns whether the folder's sandbox has been asked since for what is below a path
 */
async function watchRequests(context: Context, flags: DataFlag): Promise<(path: string) => Promise<boolean>> {
  const { hasStore } = await import("../../sandbox/store/index.ts");
  if (!hasStore(chooseSandboxFolder(context, flags))) return async () => false;
  const since = await withAdmin(context, flags, (admin) => admin.requests({ limit: 1 })[0]?.n ?? 0);
  return async (path) => {
    const requests = await withAdmin(context, flags, (admin) => admin.requests({ since }));
    return requests.some((request) => request.path.startsWith(path));
  };
}

interface Copied {
  contacts: number;
  /** Not copied: the key differs from another's in case alone. */
  refused: number;
  withoutStatus: number;
}

/** @param copied counts them, also up to where it fails */
async function copyContacts(
  clone: Clone,
  connection: Connection,
  structure: ContactStructure,
  copied: Copied,
): Promise<void> {
  for await (const page of readPages(connection, structure, wholeContact)) {
    const contacts = page.map((contact) => ({ ...contact, status: findStatus(contact) }));
    const refused = clone.addContacts(contacts);
    copied.contacts += page.length - refused;
    copied.refused += refused;
    copied.withoutStatus += contacts.filter((contact) => contact.status === undefined).length;
  }
}

/** Of lists that the contacts themselves do not name. */
async function copyMembers(
  clone: Clone,
  connection: Connection,
  structure: ContactStructure,
  lists: CloneCost["listsToAsk"],
): Promise<void> {
  for (const { _id } of lists) {
    const inList = createFilter(createEquals("LIST_ID", [_id]));
    for await (const page of readPages(connection, structure, ["_id"], inList)) {
      clone.join(
        _id,
        page.map((contact) => contact._id).filter((id) => id !== undefined),
      );
    }
  }
}

function noteCopied({ terminal }: Context, { contacts, refused, withoutStatus }: Copied): void {
  terminal.note(`Copied ${formatCounted(contacts, "contact")}`);
  if (refused > 0) {
    terminal.note(`Skipped ${refused}: the key differs from another's only in letter case`);
  }
  if (withoutStatus > 0) terminal.note(`${withoutStatus} had no status and count as active`);
}

interface CloneCost {
  contacts: number;
  requests: number;
  /** Lists whose members must be asked for, because the answers of a search do not name a contact's lists. */
  listsToAsk: ContactList[];
}

/** Reads one contact to learn how many requests the rest will take. */
async function estimateCost(
  { send, behaviors }: Connection,
  structure: ContactStructure,
  lists: ContactList[],
): Promise<CloneCost> {
  const query = { structureId: structure._id, filters: [], source: wholeContact, page: 1, pageSize: 1 };
  const { totalRecords, contacts } = await askSearch(send, query, behaviors(structure._id));
  const tellsLists = contacts.every((contact) => contact.lists !== undefined);
  const listsToAsk = tellsLists ? [] : lists.filter((list) => list.totalContacts !== 0);
  const pages = [totalRecords, ...listsToAsk.map((list) => list.totalContacts ?? 1)].map((count) =>
    Math.ceil(count / maxPageSize),
  );
  return { contacts: totalRecords, requests: pages.reduce((sum, each) => sum + each, 0), listsToAsk };
}

/** Contacts in pieces of a page. */
async function* readPages(
  { send, behaviors }: Connection,
  structure: ContactStructure,
  source: string[],
  filters: Filter[] = [],
): AsyncGenerator<Partial<Contact>[]> {
  const { readAllContacts } = await import("../../service/contact-pages.ts");
  let page: Partial<Contact>[] = [];
  for await (const contact of readAllContacts(
    send,
    { structureId: structure._id, filters, source, readsStatus: source.includes("contactStatus") },
    { behavior: behaviors(structure._id) },
  )) {
    page.push(contact);
    if (page.length < maxPageSize) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
