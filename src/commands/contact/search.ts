import { type Command, Option } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import type { ContactView } from "../../service/contact-columns.ts";
import { type ContactSearch, defaultPageSize, openSearch } from "../../service/contact-pages.ts";
import { readSearch, searchContactsRequest } from "../../service/contacts.ts";
import { presentList, presentValue } from "../../terminal/present.ts";
import type { Contact, Send } from "../../wire.ts";
import { addOutputFileFlags, repeatable, whereOption, wholeNumber } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { conditionsFrom, type WantedConditions } from "./conditions.ts";
import { partsOf, viewFor } from "./view.ts";

interface ContactSearchOptions extends WantedConditions, OutputFileFlags {
  source?: string;
  page?: number;
  pageSize?: number;
  all?: boolean;
  limit?: number;
  count?: boolean;
}

export function registerContactSearch(parent: Command, context: Context): void {
  const command = parent
    .command("search")
    .description("find contacts; without a condition, all of the structure")
    .argument("[key...]", "short for --key")
    .addOption(repeatable("--key <key>", "contacts with this key; several: with any of them (repeatable)"))
    .option("--status <status>", "contacts with this status, such as active")
    .addOption(
      repeatable("--list <list>", "members of this list, by name or id; several: of any (repeatable)"),
    )
    .addOption(
      repeatable("--tag <tag>", "contacts with this tag, by label or id; several: with any (repeatable)"),
    )
    .addOption(whereOption())
    .addOption(
      repeatable("--filter <condition>", '"COLUMN OPERATOR VALUE[,VALUE]…"; all must hold (repeatable)'),
    )
    .option("--filter-json <json>", "an array of filters, or an object: the whole contactSpecification")
    .option("--source <parts>", "parts of a contact to ask for, separated by commas")
    .addOption(wholeNumber("--page <n>", "the page to read, from 1 (1)").conflicts(["all", "limit"]))
    .addOption(wholeNumber("--page-size <n>", `contacts per request (${defaultPageSize})`))
    .option("--all", "read every page")
    .addOption(wholeNumber("--limit <n>", "read pages until there are this many"))
    .addOption(
      new Option("--count", "print how many there are, and nothing else").conflicts(["all", "limit", "page"]),
    )
    .action((keys: string[], options: ContactSearchOptions) =>
      runContactSearch(
        context,
        keys.length > 0 ? { ...options, key: [...keys, ...(options.key ?? [])] } : options,
      ),
    );
  describeCommand(addOutputFileFlags(command), {
    examples: [
      "ecm contact search --list Newsletter --status active",
      "ecm contact search --key ada@example.com --key bob@example.com --json",
      "ecm contact search --tag vip --all -o id",
      'ecm contact search --where \'City == "Oslo" && !("VIP" in tags)\'',
      "ecm contact search --count",
    ],
    output: "One row per contact; in JSON formats the service's own objects, `[]` when there is none.",
    exitCodes: { 0: "done, also when nothing was found", 5: "a list or tag of this name does not exist" },
  });
}

async function runContactSearch(context: Context, options: ContactSearchOptions): Promise<void> {
  const { terminal } = context;
  const output = context.output(options);
  const conditions = await conditionsFrom(options);
  const parts = options.source === undefined ? undefined : partsOf(options.source);
  const { send, account } = await context.connect();
  const structure = await account.structure();
  const found = await conditions(account, structure);
  const { page = 1, pageSize = defaultPageSize } = options;
  if (options.count) {
    const count = await countOf(send, { ...found, source: ["_id"] });
    return presentValue(terminal, output, count, String(count));
  }
  const { source, view } = await viewFor(account, output, structure, parts);
  const search = { ...found, source };
  if (options.all || options.limit !== undefined) {
    const { total, contacts } = await openSearch(send, search, options);
    const count = await presentList(terminal, output, contacts, await view());
    if (!search.keeps && count < Math.min(total, options.limit ?? total) && !terminal.isStdoutClosed) {
      terminal.note(
        `${total} contacts matched at first and ${count} were read: the account changed meanwhile`,
      );
    }
    return;
  }
  if (search.keeps) {
    const { contacts, hasMore } = await keptPage(send, search, page, pageSize);
    await presentList(terminal, output, contacts, emptyOn(page, await view(contacts)));
    if (hasMore) {
      terminal.note(`${contacts.length} contacts · all: --all · next page: --page ${page + 1}`);
    }
    return;
  }
  const answer = readSearch(await send(searchContactsRequest({ ...search, page, pageSize })));
  await presentList(terminal, output, answer.contacts, emptyOn(page, await view(answer.contacts)));
  const last = (page - 1) * pageSize + answer.contacts.length;
  if (answer.contacts.length > 0 && last < answer.totalRecords) {
    terminal.note(
      `${answer.contacts.length} of ${answer.totalRecords.toLocaleString("en-US")} contacts · all: --all · next page: --page ${page + 1}`,
    );
  }
}

function emptyOn(page: number, view: ContactView): ContactView {
  return page > 1 ? { ...view, empty: `Page ${page} is empty.` } : view;
}

/** The service counts what it decides alone; what is decided here has to be read. */
async function countOf(send: Send, search: ContactSearch): Promise<number> {
  if (!search.keeps) {
    const request = searchContactsRequest({ ...search, page: 1, pageSize: 1 });
    return readSearch(await send(request)).totalRecords;
  }
  let count = 0;
  for await (const _contact of (await openSearch(send, search)).contacts) count += 1;
  return count;
}

/** A page of the contacts that a condition decided here holds for. */
async function keptPage(
  send: Send,
  search: ContactSearch,
  page: number,
  pageSize: number,
): Promise<{ contacts: Partial<Contact>[]; hasMore: boolean }> {
  const contacts: Partial<Contact>[] = [];
  let passed = 0;
  for await (const contact of (await openSearch(send, search)).contacts) {
    passed += 1;
    if (passed <= (page - 1) * pageSize) continue;
    if (contacts.length === pageSize) return { contacts, hasMore: true };
    contacts.push(contact);
  }
  return { contacts, hasMore: false };
}
