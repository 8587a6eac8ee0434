/**
 * The same done to many contacts: a change, an unsubscription, a deletion.
 * An input names them, or conditions choose them.
 */

import { findStatus, isInactive, statusParts, unsubscribed, wholeContact } from "../../api/contacts.ts";
import { type RequestedSelection, resolveSelection, type Selection } from "../../select/selection.ts";
import { parseWhere } from "../../select/where.ts";
import type { Account } from "../../service/account.ts";
import { createMutateBody, type RequestedChanges } from "../../service/contact-changes.ts";
import { openInput, requireClearConsent, understandKeys } from "../../tables/index.ts";
import type { Contact, MutateBody } from "../../wire.ts";
import type { DesiredContact } from "../items.ts";
import { noChange, toDesiredFromMutate } from "../plan/decide.ts";
import type { AfterStep } from "../runs/after.ts";
import type { ContactEdit, ResolvedJob, RowJob } from "./job.ts";
import { type KeysFileOptions, toReadOptions } from "./keys-file-options.ts";
import { type ChosenRows, requireChosenRows } from "./marked-rows.ts";

export interface EditOptions {
  kind: "mutate" | "unsubscribe" | "delete";
  /** Names the contacts. Absent: the conditions choose them from the whole account. */
  input?: RowJob["input"];
  /** One key or id on each line, and no header to be looked for. */
  isPlain?: boolean;
  /** As typed. */
  conditions?: TypedConditions;
  /** Of a mutate: the changes as typed, the body as given, or a list to create and to put everybody into. */
  wanted?: RequestedChanges | { body: MutateBody } | { newList: string };
  /** What follows on the run once it is complete. */
  after?: readonly AfterStep[];
  /** Its words, where it is not that of the kind. */
  command?: string[];
  /** What people read in place of the conditions. */
  title?: string;
  /** How the file is read; by default as it says itself. */
  read?: KeysFileOptions;
  /** Of a file whose consent columns mark some rows: those alone, or all. Absent: refused. */
  rows?: ChosenRows;
  /** Add to lists whom the file marks as not subscribed, too. */
  includeUnsubscribed?: boolean;
}

export type TypedConditions = Omit<RequestedSelection, "where"> & { where?: string };

/** @throws UsageError for a condition whose grammar is wrong */
export async function editJob(options: EditOptions): Promise<RowJob> {
  const { kind, input, conditions = {}, wanted, read, title = describeConditions(conditions) } = options;
  const where = conditions.where === undefined ? undefined : await parseWhere(conditions.where);
  const consentChoosesRows = doMarksChoose(options);
  return {
    kind,
    input: input ?? { name: title },
    open: input && ((file) => openInput(file, toReadOptions(read))),
    async requireOpened(opened) {
      if (!consentChoosesRows && !addsToLists(wanted)) return;
      await requireClearConsent(
        opened,
        { ...toReadOptions(read), takesIds: true, consentChoosesRows },
        "keys",
      );
    },
    async resolve(account) {
      const desired = await resolveWanted(account, wanted);
      const structure = await account.structure();
      const selection = await resolveSelection(account, structure, { ...conditions, where });
      // Read now, so that the price counts what the backup needs.
      if (kind === "delete")
        await Promise.all([account.readableLists(structure), account.complete(structure)]);
      const source = listNeededParts(kind, desired, selection);
      return toResolvedJob(options, { selection, source, desired });
    },
  };
}

/** What the account has told of what the flags name. */
interface ResolvedEdit {
  selection: Selection;
  /** Parts of a contact that decisions need. */
  source: string[];
  /** What a mutate wants of every contact. */
  desired: DesiredContact | undefined;
}

async function resolveWanted(
  account: Account,
  wanted: EditOptions["wanted"],
): Promise<DesiredContact | undefined> {
  if (!wanted || "newList" in wanted) return undefined;
  return toDesiredFromMutate("body" in wanted ? wanted.body : await createMutateBody(account, wanted));
}

function toResolvedJob(options: EditOptions, { selection, source, desired }: ResolvedEdit): ResolvedJob {
  const {
    kind,
    input,
    isPlain,
    conditions = {},
    wanted,
    after,
    command,
    read,
    rows,
    includeUnsubscribed,
  } = options;
  const marksChoose = doMarksChoose(options);
  const readOptions = {
    ...toReadOptions(read),
    hasNoHeader: isPlain,
    takesIds: true,
    // Nobody who left is added to a list; anything else may be changed about them.
    readsConsent: marksChoose || (desired?.addLists.length ?? 0) > 0,
    consentChoosesRows: marksChoose,
  };
  return {
    isWithoutInput: input === undefined,
    understand: (opened, structure) => understandKeys(opened, readOptions, structure),
    options: {
      wanted,
      isPlain,
      conditions: hasConditions(conditions) ? conditions : undefined,
      read,
      rows,
      includeUnsubscribed,
      command,
    },
    command,
    takesRow: rows === "marked" ? (row) => row.isMarkClear ?? false : undefined,
    requireInput: (survey, { system }) => {
      if (marksChoose && kind !== "mutate") requireChosenRows(kind, rows, survey, system);
    },
    duplicates: "first",
    lists: [],
    tags: [],
    createMissing: false,
    decide: { mode: "update", missing: input === undefined ? "skip" : "reject" },
    source: () => source,
    toDesiredContact: (row) =>
      row.notSubscribed === undefined || includeUnsubscribed
        ? desired!
        : { ...desired!, isNotSubscribed: true },
    notSubscribedAre: describeMarked(options),
    listIds: () => (desired ? [...desired.addLists, ...desired.removeLists] : []),
    selection,
    edit: edits[kind],
    desiredForAll: desired && (() => desired),
    after,
    ...(wanted && "newList" in wanted && intoNewList(wanted.newList, conditions.list ?? [])),
  };
}

/**
 * Everybody in the lists goes into one that the run makes. Nobody is in it yet, also where searches do not
 * tell a contact's lists.
 */
function intoNewList(newList: string, sourceIds: readonly string[]): Partial<ResolvedJob> {
  return {
    newList,
    lists: [newList],
    createMissing: true,
    listIds: (names) => [names.listId(newList)],
    desiredForAll: (names) => ({ ...noChange, addLists: [names.listId(newList)] }),
    chosenLists: [{ _id: sourceIds[0]! }],
  };
}

/** A mark says who is to be unsubscribed or deleted, if anybody in the file is not. */
function doMarksChoose({ kind, input, isPlain, rows }: EditOptions): boolean {
  return kind !== "mutate" && input !== undefined && !isPlain && rows !== "all";
}

/** What becomes of those whom the file marks as not subscribed, in words. */
function describeMarked(options: EditOptions): string {
  if (doMarksChoose(options)) return "chosen";
  return options.includeUnsubscribed ? "added like any other (--include-unsubscribed)" : "added to no list";
}

/** Parts of a contact that decisions need, besides its id and its key. */
function listNeededParts(
  kind: EditOptions["kind"],
  desired: DesiredContact | undefined,
  { needs }: Selection,
): string[] {
  const changed = desired ? toSource(desired) : [];
  const parts = kind === "delete" ? wholeContact : [...changed, ...statusParts, ...needs];
  return [...new Set(parts)].filter((part) => part !== "_id" && part !== "key");
}

/** From a manifest, for `runs resume`. */
export function restoreEditOptions(
  kind: EditOptions["kind"],
  record: Record<string, unknown>,
  input: RowJob["input"] | undefined,
): EditOptions {
  return { ...(record as Omit<EditOptions, "kind" | "input">), kind, input };
}

function addsToLists(wanted: EditOptions["wanted"]): boolean {
  if (!wanted || "newList" in wanted) return false;
  const lists = "body" in wanted ? wanted.body.addLists : wanted.addList;
  return (lists?.length ?? 0) > 0;
}

/** Whether anything narrows the account. */
function hasConditions(conditions: TypedConditions): boolean {
  return Object.values(conditions).some((each) => each !== undefined);
}

const deletion: ContactEdit = {
  missing: { kind: "skip", code: "missing" },
  decide: (found) => ({ kind: "delete", contactId: found._id!, contact: found }),
};

/** Whoever is inactive stays as they are: a bounce or a complaint says more than an unsubscription. */
const unsubscription: ContactEdit = {
  missing: { kind: "reject", code: "not_found", message: "no contact has this key or id" },
  decide: (found: Partial<Contact>) =>
    isInactive(found)
      ? { kind: "leave" }
      : { kind: "status", contactId: found._id!, status: unsubscribed, before: findStatus(found) },
};

const edits: Record<EditOptions["kind"], ContactEdit | undefined> = {
  mutate: undefined,
  unsubscribe: unsubscription,
  delete: deletion,
};

/** The conditions as a person would say them: what `runs list` shows in place of a file. */
function describeConditions({ list, tag, status, where }: TypedConditions): string {
  const words = [
    ...(list ?? []).map((name) => `--list ${name}`),
    ...(tag ?? []).map((name) => `--tag ${name}`),
    ...(status === undefined ? [] : [`--status ${status}`]),
    ...(where === undefined ? [] : [`--where ${JSON.stringify(where)}`]),
  ];
  return words.length === 0 ? "all contacts" : words.join(" ");
}

function toSource({ fields, addLists, removeLists, addTags, removeTags }: DesiredContact): string[] {
  const source: string[] = [];
  if (fields.size > 0) source.push("fields");
  if (addLists.length + removeLists.length > 0) source.push("lists");
  if (addTags.length + removeTags.length > 0) source.push("tags");
  return source;
}
