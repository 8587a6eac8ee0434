/** The columns that a command shows contacts in, with what it takes to name lists and tags. */
import { findStatus, statusParts, wholeContact } from "../../api/contacts.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import { formatDayAndTime } from "../../moments.ts";
import type { Account, Naming } from "../../service/account.ts";
import { escapeControls } from "../../terminal/escape.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { checkColumns, chooseColumns, hasColumns } from "../../terminal/present.ts";
import { createStyle } from "../../terminal/style.ts";
import { cut, measureWidth, wrap } from "../../terminal/text-width.ts";
import type { Contact, ContactStructure } from "../../wire.ts";
import {
  type ContactColumn,
  type ContactView,
  createContactColumnsView,
  createContactHeaders,
  toSearchView,
} from "../output/contact-columns.ts";

const idsOnly: ContactView = { columns: [], id: (contact) => contact._id ?? "" };

/**
 * The view for one contact: asks for the lists' names only when it is in any.
 * @throws UsageError when `--columns` names a column that does not exist.
 */
async function createContactView(
  account: Account,
  output: OutputOptions,
  contact: Partial<Contact>,
): Promise<ContactView> {
  if (!hasColumns(output)) return idsOnly;
  const naming = await account.naming(await readStructure(account, contact), [contact]);
  return createContactColumnsView(naming.structure, naming.lists);
}

/** A contact that was read or written, to be shown; nothing is sent but what names need. */
export function toContactResult({ terminal, clock }: Context, account: Account, contact: Partial<Contact>) {
  return {
    one: contact,
    async view(output: OutputOptions) {
      return account.withRemembered("read", () => createContactView(account, output, contact));
    },
    screen: async () => {
      const naming = await account.withRemembered("read", async () =>
        account.naming(await readStructure(account, contact), [contact]),
      );
      const { text, emptyFields } = formatContact(contact, naming, {
        columns: terminal.columns,
        isColored: terminal.isColored.out,
        now: new Date(clock.now()),
      });
      return {
        text,
        aside: emptyFields.length > 0 ? `Without a value: ${emptyFields.join(", ")}` : undefined,
      };
    },
  };
}

/** A view for contacts that are yet to be read. */
export interface PlannedView {
  /** The parts of a contact that it takes. */
  source: string[];
  /**
   * The view itself. Where the contacts are known, the lists' names
   * are asked for only when one of them is in any.
   */
  view(contacts?: Partial<Contact>[]): Promise<ContactView>;
}

/**
 * Plans the view for contacts that are yet to be read.
 * @param parts what `--source` names, in place of what the view takes
 * @param shownFields ids of the fields that a table shows before all others
 */
export async function planContactView(
  account: Account,
  output: OutputOptions,
  structure: ContactStructure,
  { parts: source, shownFields }: { parts: string[] | undefined; shownFields: ReadonlySet<string> },
): Promise<PlannedView> {
  if (!hasColumns(output)) {
    return {
      source: source ?? (output.format === "id" ? ["_id"] : wholeContact),
      view: () => Promise.resolve(idsOnly),
    };
  }
  const chosenColumns = chooseColumns(
    selectColumns(createContactColumnsView(structure), source),
    output.columns,
  );
  const parts = chosenColumns.flatMap((column) => column.sources);
  const complete = parts.includes("tags") ? await account.complete(structure) : structure;
  return {
    source: source ?? [...new Set(["_id", ...parts])],
    async view(contacts) {
      const includesPart = (part: "fields" | "lists" | "tags") => parts.includes(part);
      const lists =
        contacts || !includesPart("lists") ? [] : ((await account.readableLists(structure)) ?? []);
      const naming = contacts && (await account.naming(complete, contacts.map(toShownParts(includesPart))));
      const view = createContactColumnsView(naming?.structure ?? complete, naming?.lists ?? lists);
      const columns = selectColumns(view, source);
      const isScreen = output.format === "table" && output.columns === undefined;
      return { ...view, columns: isScreen ? putInFront(columns, shownFields) : columns };
    },
  };
}

/** The key, then these fields, which are not left out where there is no space for all; then the others. */
function putInFront(columns: ContactView["columns"], fields: ReadonlySet<string>): ContactView["columns"] {
  const isFront = ({ fieldId }: ContactColumn) => fieldId !== undefined && fields.has(fieldId);
  const [key, ...others] = columns;
  if (!key || !others.some(isFront)) return columns;
  const front = others.filter(isFront).map((column) => ({ ...column, isAside: false }));
  return [key, ...front, ...others.filter((column) => !isFront(column))];
}

/** With `--source`, a column for every part that it names and for no other. */
function selectColumns(view: ContactView, source: string[] | undefined): ContactView["columns"] {
  const { columns } = toSearchView(view);
  if (!source) return columns;
  return columns
    .filter((column) => column.sources.some((part) => source.includes(part)))
    .map((column) => ({ ...column, optional: false }));
}

/**
 * What `--source` names: parts of a contact, separated by commas; `status` means its two parts. The service
 * refuses a search that asks for anything else. @throws UsageError
 */
export function parseParts(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  const unknown = parts.find((part) => part !== "status" && !wholeContact.includes(part));
  if (unknown === undefined) {
    return [...new Set(parts.flatMap((part) => (part === "status" ? statusParts : part)))];
  }
  throw usageError(
    `--source: a search has no part named ${JSON.stringify(unknown)}`,
    advise`Parts: ${wholeContact.join(", ")}; ${ecm`contact get`} shows everything`,
  );
}

/** Before a write: a mistyped `--columns` must not fail after it. @throws UsageError */
export async function checkContactColumns(account: Account, output: OutputOptions): Promise<void> {
  if (output.columns && hasColumns(output))
    checkColumns(output, createContactColumnsView(await account.structure()));
}

async function readStructure(account: Account, contact: Partial<Contact>): Promise<ContactStructure> {
  const structures = await account.structures();
  const own = structures.find((structure) => structure._id === contact.contactStructureId);
  return own ?? account.structure();
}

/** Of a contact only what columns show: the rest needs no names. */
function toShownParts(includesPart: (part: "fields" | "lists" | "tags") => boolean) {
  return ({ fields, lists, tags }: Partial<Contact>): Partial<Contact> => ({
    fields: includesPart("fields") ? fields : [],
    lists: includesPart("lists") ? lists : [],
    tags: includesPart("tags") ? tags : [],
  });
}

// One contact as people read it: who, then its values, then its dates and ids.

export interface ContactScreen {
  text: string;
  /** Labels of the fields that have no value: they are not shown. */
  emptyFields: string[];
}

/** @param columns of the screen; longer values wrap with a hanging indent */
function formatContact(
  contact: Partial<Contact>,
  { structure, lists }: Naming,
  { columns, isColored, now }: { columns: number; isColored: boolean; now: Date },
): ContactScreen {
  const { bold, dim, green, yellow } = createStyle(isColored);
  const values = new Map(contact.fields?.map(({ _id, value }) => [_id, String(value ?? "")]));
  const fieldPairs = [...createContactHeaders(structure).fields].map(
    ([id, name]): Pair => [name, values.get(id) ?? ""],
  );
  for (const [id, value] of values) {
    if (structure.fields.every(({ _id }) => _id !== id)) fieldPairs.push([id, value]);
  }
  const listNames = contact.lists?.map(({ _id }) => lists.find((list) => list._id === _id)?.name ?? _id);
  const tagLabels = contact.tags?.map(
    ({ _id }) => structure.tags?.find((tag) => tag._id === _id)?.label ?? _id,
  );
  const pairs: Pair[] = [
    ...fieldPairs,
    ["Lists", listNames?.join(", ") ?? ""],
    ["Tags", tagLabels?.join(", ") ?? ""],
  ];
  const filledPairs = pairs.filter(([, value]) => value !== "");
  const facts = [
    toPairs(
      "Created",
      formatDayAndTime(contact.createdAt ?? "", now),
      "Updated",
      formatDayAndTime(contact.updatedAt ?? "", now),
    ),
    toPairs("Id", contact._id ?? "", "Version", contact.__v === undefined ? "" : String(contact.__v)),
  ].filter((each) => each.length > 0);
  const names = [...filledPairs, ...facts.map(([first]) => first!)].map(([name]) =>
    measureWidth(escapeControls(name)),
  );
  const nameWidth = Math.min(Math.max(0, ...names), Math.floor(columns / 3));
  const formatTitle = (name: string) => {
    const label = cut(escapeControls(name), nameWidth);
    return `${bold(label)}${" ".repeat(nameWidth - measureWidth(label) + gap)}`;
  };
  const below = " ".repeat(nameWidth + gap);
  const rows = filledPairs.map(([name, value]) => {
    const room = Math.max(minRoom, columns - nameWidth - gap);
    return `${formatTitle(name)}${wrap(escapeControls(value), room).join(`\n${below}`)}`;
  });
  const last = facts.map(([first, ...rest]) => {
    const [name, value] = first!;
    const more = rest.map(([other, text]) => `   ${bold(other)}  ${text}`);
    return `${formatTitle(name)}${escapeControls(value)}${more.join("")}`;
  });
  const status = findStatus(contact);
  const paint = status?.primary.toLowerCase() === "active" ? green : yellow;
  const why = status?.secondary && status.primary.toLowerCase() !== "active" ? `, ${status.secondary}` : "";
  const state = status ? `   ${paint(escapeControls(`${status.primary.toLowerCase()}${why}`))}` : "";
  const head = `${bold(escapeControls(contact.key ?? contact._id ?? ""))}${state}`;
  return {
    text: `${[head, "", ...rows, ...last.map((each) => dim(each))].join("\n")}\n`,
    emptyFields: fieldPairs.filter(([, value]) => value === "").map(([name]) => name),
  };
}

type Pair = [name: string, value: string];

const gap = 3;
const minRoom = 20;

/** Two facts that share a line; those that are not known are left out. */
function toPairs(...words: [string, string, string, string]): Pair[] {
  const pairs: Pair[] = [
    [words[0], words[1]],
    [words[2], words[3]],
  ];
  return pairs.filter(([, value]) => value !== "");
}
