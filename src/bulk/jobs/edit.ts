/**
 * The same done to many contacts: a change, an unsubscription, a deletion.
 * An input names them, or conditions choose them.
 */

import { findStatus, isInactive, statusParts, unsubscribed, wholeContact } from "../../api/contacts.ts";
import { type RequestedSelection, resolveSelection, type Selection } from "../../select/selection.ts";
import { parseWhere } from "../../select/where.ts";
import { createMutateBody, type RequestedChanges } from "../../service/contact-changes.ts";
import { openInput, requireClearConsent, understandKeys } from "../../tables/index.ts";
import type { Contact, MutateBody } from "../../wire.ts";
import type { DesiredContact } from "../items.ts";
import { toDesiredFromMutate } from "../plan/decide.ts";
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
  /** Of a mutate: the changes as typed, or the body as given. */
  wanted?: RequestedChanges | { body: MutateBody };
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
  const { kind, input, conditions = {}, wanted, read } = options;
  const where = conditions.where === undefined ? undefined : await parseWhere(conditions.where);
  const consentChoosesRows = doMarksChoose(options);
  return {
    kind,
    input: input ?? { name: describeConditions(conditions) },
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
      const body = wanted && ("body" in wanted ? wanted.body : await createMutateBody(account, wanted));
      const structure = await account.structure();
      const selection = await resolveSelection(account, structure, { ...conditions, where });
      // Read now, so that the price counts what the backup needs.
      if (kind === "delete") await Promise.all([account.lists(structure), account.complete(structure)]);
      const source = listNeededParts(kind, body, selection);
      return toResolvedJob(options, { selection, source, desired: body && toDesiredFromMutate(body) });
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

function toResolvedJob(options: EditOptions, { selection, source, desired }: ResolvedEdit): ResolvedJob {
  const { kind, input, isPlain, conditions = {}, wanted, read, rows, includeUnsubscribed } = options;
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
    },
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
  body: MutateBody | undefined,
  { needs }: Selection,
): string[] {
  const changed = body ? toSource(body) : [];
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
  const lists = wanted && ("body" in wanted ? wanted.body.addLists : wanted.addList);
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

function toSource(body: MutateBody): string[] {
  const source: string[] = [];
  if (body.updateFields) source.push("fields");
  if (body.addLists || body.removeLists) source.push("lists");
  if (body.addTags || body.removeTags) source.push("tags");
  return source;
}
