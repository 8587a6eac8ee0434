import type { Command } from "@commander-js/extra-typings";
import { findStatus, wholeContact } from "../../api/contacts.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { EcmError, usageError } from "../../errors.ts";
import { advise, ecm, quoteShellWord } from "../../hint.ts";
import { askSearch } from "../../service/contact-search.ts";
import { maxPageSize } from "../../service/pages.ts";
import type { Contact, ContactStructure } from "../../wire.ts";
import { wholeNumberOption } from "../flags/flags.ts";
import { formatForAccount } from "../help/command-line.ts";
import { openSuppressionList } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { chooseSandboxFolder, type DataFlag, declareLocal } from "./shared.ts";

export function registerSandboxClone(parent: Command, context: Context): void {
  const command = declareLocal(parent, "clone", "copy an account into the sandbox, to rehearse against it")
    .option("--contacts", "copy the contacts too; without it, the structure and its lists")
    .addOption(
      wholeNumberOption("--max-requests <n>", "copy nothing if the contacts need more requests than this"),
    );
  verb(context, command, {
    examples: [
      "ecm sandbox clone --profile work",
      "ecm sandbox clone --profile work --contacts --max-requests 200",
    ],
    output:
      "Nothing; stderr says beforehand what is copied and how many requests it takes. All data of the sandbox is replaced; ids stay the same.",
    asks: "Where the sandbox holds data",
    exitCodes: { 7: "the contacts need more requests than --max-requests, or the rate limit is reached" },
    run: (flags) => runSandboxClone(context, flags),
  });
}

async function runSandboxClone(
  context: Context,
  flags: DataFlag & { contacts?: true; maxRequests?: number },
): Promise<void> {
  context.requireConfirmable();
  const folder = chooseSandboxFolder(context, flags);
  const connection = await context.connect("bulk");
  if (connection.profile.isSandbox) {
    throw usageError("The profile sandbox is the sandbox itself", "Name the account to copy with --profile");
  }
  const { account } = connection;
  const structure = await account.complete(await account.structure());
  const lists = await account.lists(structure);
  const found = flags.contacts ? await countContacts(connection, structure) : undefined;
  const { note, warn } = context.terminal;
  note(
    `structure ${JSON.stringify(structure.label)}: ${structure.fields.length} fields, ${lists.length} lists`,
  );
  if (structure.tags === undefined)
    warn("The service did not say which tags there are; contacts are copied without tags");
  if (found !== undefined) {
    const requests = Math.ceil(found / maxPageSize);
    note(`${formatCounted(found, "contact")}: about ${formatCounted(requests, "more request")}`);
    if (flags.maxRequests !== undefined && requests > flags.maxRequests) {
      throw new EcmError(
        "budget",
        `The contacts need about ${requests} requests, but --max-requests allows ${flags.maxRequests}`,
        "Allow more, or leave out --contacts",
        { retryable: false },
      );
    }
  }
  await noteSuppressions(context);
  await context.confirm(`Replace all data of the sandbox in ${folder}?`);

  // All contacts are read before anything is replaced: a failure or a kill leaves the sandbox as it was.
  const contacts = found === undefined ? [] : await readContacts(connection, structure);
  const { replaceByClone } = await import("../../sandbox/clone.ts");
  const refused = await replaceByClone({ folder, clock: context.clock }, { structure, lists, contacts });
  if (found === undefined) return;
  note(`Copied ${formatCounted(contacts.length - refused, "contact")}`);
  if (refused > 0) note(`Skipped ${refused}: the key differs from another's only in letter case`);
  if (lists.length > 0 && contacts.length > 0 && contacts.every((contact) => contact.lists === undefined)) {
    const members = ecm`contact search --list LIST --all --output-file members.csv`;
    const add = ecm`lists sync LIST members.csv --profile sandbox`;
    warn("The service's searches do not tell lists: nobody is in a list of the copy");
    note(
      formatForAccount(advise`For each list: ${members} from the account, then: ${add}`, context.settings),
    );
  }
  const withoutStatus = contacts.filter(({ status }) => status === undefined).length;
  if (withoutStatus > 0) note(`${withoutStatus} had no status and count as active`);
}

/** A list that a variable names is that of the sandbox too. */
async function noteSuppressions(context: Context): Promise<void> {
  if (context.settings.suppressions !== undefined) return;
  const suppressions = await openSuppressionList(context);
  if (suppressions.list().length === 0) return;
  context.terminal.note(
    `The suppression list is not copied; to rehearse with it: ECM_SUPPRESSIONS=${quoteShellWord(suppressions.file)}`,
  );
}

async function readContacts(
  { send, behaviors }: Connection,
  { _id: structureId }: ContactStructure,
): Promise<Partial<Contact>[]> {
  const { readAllContacts } = await import("../../service/contact-pages.ts");
  const query = { structureId, filters: [], source: wholeContact, readsStatus: true };
  const contacts: Partial<Contact>[] = [];
  for await (const contact of readAllContacts(send, query, { behavior: behaviors(structureId) }))
    contacts.push({ ...contact, status: findStatus(contact) });
  return contacts;
}

/** Reads one contact to learn how many there are. */
async function countContacts(
  { send, behaviors }: Connection,
  { _id: structureId }: ContactStructure,
): Promise<number> {
  const query = { structureId, filters: [], source: wholeContact, page: 1, pageSize: 1 };
  return (await askSearch(send, query, behaviors(structureId))).totalRecords;
}
