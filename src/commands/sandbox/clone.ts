import type { Command } from "@commander-js/extra-typings";
import { createEquals, createFilter, findStatus, wholeContact } from "../../api/contacts.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { EcmError, usageError } from "../../errors.ts";
import { askSearch } from "../../service/contact-search.ts";
import { maxPageSize } from "../../service/pages.ts";
import type { Contact, ContactList, ContactStructure, Filter } from "../../wire.ts";
import { type OptionsOf, wholeNumberOption } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { chooseSandboxFolder, dataOption } from "./shared.ts";

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
  const connection = await context.connect("bulk");
  if (connection.profile.isSandbox) {
    throw usageError("The profile sandbox is the sandbox itself", "Name the account to copy with --profile");
  }
  const { account } = connection;
  const structure = await account.complete(await account.structure());
  const lists = await account.lists(structure);
  const cost = flags.contacts ? await estimateCost(connection, structure, lists) : undefined;
  const { note, warn } = context.terminal;
  note(
    `structure ${JSON.stringify(structure.label)}: ${structure.fields.length} fields, ${lists.length} lists`,
  );
  if (structure.tags === undefined)
    warn("The service did not say which tags there are; contacts are copied without tags");
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

  // All are read before anything is replaced: what fails or is killed leaves the sandbox as it was.
  const contacts = cost ? await readContacts(connection, structure, cost.listsToAsk) : [];
  const { replaceByClone } = await import("../../sandbox/clone.ts");
  const refused = await replaceByClone({ folder, clock: context.clock }, { structure, lists, contacts });
  if (!cost) return;
  note(`Copied ${formatCounted(contacts.length - refused, "contact")}`);
  if (refused > 0) note(`Skipped ${refused}: the key differs from another's only in letter case`);
  const withoutStatus = contacts.filter(({ status }) => status === undefined).length;
  if (withoutStatus > 0) note(`${withoutStatus} had no status and count as active`);
}

/** @param lists those that the contacts themselves do not name */
async function readContacts(
  { send, behaviors }: Connection,
  structure: ContactStructure,
  lists: ContactList[],
): Promise<Partial<Contact>[]> {
  const { readAllContacts } = await import("../../service/contact-pages.ts");
  const read = (source: string[], filters: Filter[] = []) =>
    readAllContacts(
      send,
      { structureId: structure._id, filters, source, readsStatus: source.includes("contactStatus") },
      { behavior: behaviors(structure._id) },
    );
  const contacts = new Map<string | undefined, Partial<Contact>>();
  for await (const contact of read(wholeContact)) {
    contacts.set(contact._id, { ...contact, status: findStatus(contact) });
  }
  for (const { _id } of lists) {
    for await (const member of read(["_id"], createFilter(createEquals("LIST_ID", [_id])))) {
      const contact = contacts.get(member._id);
      if (contact) contact.lists = [...(contact.lists ?? []), { _id }];
    }
  }
  return [...contacts.values()];
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
