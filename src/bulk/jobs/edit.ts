/** One edit of many contacts, which an input names or conditions choose. */

import { statusParts, wholeContact } from "../../api/contacts.ts";
import { formatCount } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { type RequestedSelection, resolveSelection, type Selection } from "../../select/selection.ts";
import { createMutateBody, type RequestedChanges } from "../../service/contact-changes.ts";
import {
  type InputFile,
  openClearInput,
  type ReadOptions,
  requireUnderstood,
  type Survey,
} from "../../tables/index.ts";
import type { MutateBody } from "../../wire.ts";
import type { Desired, DesiredValue, Item } from "../desired.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { NameBook } from "../plan/name-book.ts";
import type { RunContext } from "../plan/session.ts";
import type { AccountSnapshot } from "../plan/snapshot.ts";
import type { ListDeletion } from "../runs/folder.ts";
import { readMutateValues, toValues, whereMissing } from "../values.ts";
import { type Job, type JobInput, type OpenedJob, readForBackup } from "./job.ts";
import { openReader, openRows, type RowWork, toPageItem } from "./rows.ts";

export interface EditOptions {
  kind: "mutate" | "unsubscribe" | "delete";
  /** Names the contacts. Absent: the conditions choose them from the whole account. */
  input?: JobInput;
  /** One key or id on each line, and no header to be looked for. */
  isPlain?: boolean;
  /** As typed. */
  conditions?: TypedConditions;
  /** What a mutate does: the changes as typed, the body as given, or a new list that everybody joins. */
  wanted?: RequestedChanges | { body: MutateBody } | { newList: string };
  /** What follows on the run once it is complete. */
  after?: readonly ListDeletion[];
  /** The words of its command, where they are not those of the kind. */
  command?: string[];
  /** What people read in place of the conditions. */
  title?: string;
  /** How the file is read; by default as it says itself. */
  read?: ReadOptions;
  /** Which rows of a file count whose consent columns mark some of them. Absent: such a file is refused. */
  rows?: ChosenRows;
  /** Add contacts to lists that the file marks as not subscribed, too. */
  includeUnsubscribed?: boolean;
}

export type TypedConditions = Omit<RequestedSelection, "where"> & { where?: string };

/**
 * @param askRows absent where nobody is asked: then the file is refused
 * @throws UsageError for a condition whose grammar is wrong
 */
export async function editJob(options: EditOptions, askRows?: AskRows): Promise<Job> {
  const { kind, input, conditions = {}, title = describeConditions(conditions) } = options;
  const where = await parseTypedWhere(conditions);
  return {
    kind,
    input: input ?? { name: title },
    readsInput: input !== undefined,
    open: (context, file) => openEdit(context, file, { ...options, where, askRows }),
  };
}

type Edit = EditOptions & { where: Awaited<ReturnType<typeof parseTypedWhere>>; askRows?: AskRows };

async function openEdit(context: RunContext, file: InputFile, edit: Edit): Promise<OpenedJob> {
  const { kind, input, conditions = {}, wanted, where, askRows } = edit;
  const opened = input && (await openClearInput("keys", file, toKeysReading(edit)));
  const reader = await openReader(context);
  const { account, structure } = reader;
  const values =
    !wanted || "newList" in wanted
      ? []
      : readMutateValues("body" in wanted ? wanted.body : await createMutateBody(account, wanted));
  const selection = await resolveSelection(account, structure, { ...conditions, where });
  if (kind === "delete") await readForBackup(account);
  const read = async (chosen: EditOptions) => {
    const understood = opened && (await requireUnderstood("keys", opened, toKeysReading(chosen), structure));
    return { understood, survey: await reader.survey(understood) };
  };
  let rows = await read(edit);
  let chosen: EditOptions = edit;
  if (rows.understood && kind !== "mutate" && doMarksChoose(edit)) {
    const { system } = rows.understood.facts;
    chosen = { ...edit, rows: await chooseRows(kind, edit.rows, rows.survey, { system, askRows }) };
    // Marks that choose nobody are not read.
    if (chosen.rows === "all") rows = await read(chosen);
  }
  return openRows(context, reader, { ...rows, ...toRowWork(chosen, selection, values) });
}

async function parseTypedWhere({ where }: TypedConditions) {
  if (where === undefined) return undefined;
  const { parseWhere } = await import("../../select/where.ts");
  return parseWhere(where);
}

/** Whether marks say which contacts are unsubscribed or deleted, where a file marks some of its rows. */
function doMarksChoose({ kind, input, isPlain, rows }: EditOptions): boolean {
  return kind !== "mutate" && input !== undefined && !isPlain && rows !== "all";
}

/** How a file of keys is read, by what its marks mean for the edit. */
function toKeysReading(options: EditOptions): ReadOptions {
  const { read, isPlain, wanted = {} } = options;
  const marksChoose = doMarksChoose(options);
  const lists = "body" in wanted ? wanted.body.addLists : "newList" in wanted ? [] : wanted.addList;
  return {
    map: [],
    ...read,
    ...(isPlain && { hasNoHeader: true }),
    takesIds: true,
    // Nobody who left is added to a list; anything else may be changed about them.
    readsConsent: marksChoose || (lists?.length ?? 0) > 0,
    consentChoosesRows: marksChoose,
  };
}

/** @param values what a mutate wants of every contact, besides a list that it makes */
function toRowWork(
  options: EditOptions,
  selection: Selection,
  values: readonly DesiredValue[],
): Omit<RowWork, "survey"> {
  const { kind, input, after, isPlain, read } = options;
  const { wanted, command, rows, includeUnsubscribed, conditions } = options;
  const newList = wanted && "newList" in wanted ? wanted.newList : undefined;
  const toDesired = (mayJoinLists: boolean): Desired => {
    if (kind === "mutate")
      return { values, absent: whereMissing(mayJoinLists), present: "change", mayJoinLists };
    if (kind === "delete") return deletion;
    // Marked rows name people who left: nothing is to be done where the account has no such contact.
    return rows === "marked" ? { ...unsubscription, absent: { skip: "missing" } } : unsubscription;
  };
  const toDesiredOfAll = (names: NameBook): Desired => ({
    ...toDesired(true),
    ...(kind === "mutate" && { absent: { skip: "missing" } }),
    ...(newList !== undefined && { values: toValues({ addLists: [names.listId(newList)] }) }),
  });
  return {
    record: () => ({ isPlain, conditions, wanted, command, read, rows, includeUnsubscribed }),
    command,
    duplicates: "first",
    source: listNeededParts(kind, values, selection),
    toDesired: ({ mark }) =>
      rows === "marked" && !mark?.isClear
        ? { skip: "not_selected" }
        : toDesired(mark === undefined || includeUnsubscribed === true),
    notSubscribedAre: doMarksChoose(options) ? "chosen" : includeUnsubscribed ? "added" : "added_to_no_list",
    unclearAre: rows === "marked" ? "not_chosen" : undefined,
    selection: selection.stored,
    looks: {
      readsStatus: kind !== "mutate" || selection.needs.some((part) => statusParts.includes(part)),
      marksRepeats: input !== undefined,
      suppressions: "include",
    },
    wantedNames:
      newList === undefined ? undefined : { lists: [newList], tags: [], createMissing: true, isNew: true },
    others: input
      ? undefined
      : {
          pages: {
            filters: selection.filters,
            // Nobody is in a new list, whether searches tell a contact's lists or not.
            lists: newList === undefined ? undefined : [{ _id: conditions!.list![0]! }],
          },
          list: async (snapshot, run, lookup) => {
            const desired = toDesiredOfAll(run.names);
            const items = () => listSelectedItems(snapshot, { selection, desired, lookup });
            let count = 0;
            for (const _item of items()) count++;
            return { count, items };
          },
        },
    after,
  };
}

/** All contacts on the pages that meet the conditions; the journal names them by their places there. */
export function* listSelectedItems(
  snapshot: AccountSnapshot,
  chosen: {
    selection: Pick<Selection, "holds">;
    desired: Desired;
    lookup: Pick<Lookup, "toIdentity">;
  },
): Generator<Item> {
  const { selection, desired, lookup } = chosen;
  // A contact that slid to another page was read twice.
  const seenIds = snapshot.isWhole() ? undefined : new Set<string>();
  let place = 0;
  for (const contact of snapshot.all()) {
    place++;
    if (seenIds?.has(contact._id ?? "")) continue;
    seenIds?.add(contact._id ?? "");
    if (selection.holds(contact)) yield { ...toPageItem(place, contact, lookup), desired };
  }
}

/** Parts of a contact that decisions need, besides its id and its key. */
function listNeededParts(
  kind: EditOptions["kind"],
  values: readonly DesiredValue[],
  { needs }: Selection,
): string[] {
  const changed = values.map(({ what }) => `${what}s`);
  const parts = kind === "delete" ? wholeContact : [...changed, ...statusParts, ...needs];
  return [...new Set(parts)].filter((part) => part !== "_id" && part !== "key");
}

/** Contacts that are inactive stay as they are: a bounce or a complaint says more than an unsubscription. */
const unsubscription: Desired = {
  values: [],
  end: "unsubscribe",
  absent: { reject: { code: "not_found" } },
  present: "change",
  mayJoinLists: true,
};

const deletion: Desired = { ...unsubscription, end: "delete", absent: { skip: "missing" } };

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

/** The rows of a file that count: those that it marks as not subscribed, or all. */
export type ChosenRows = "marked" | "all";

/** Has a person say who is meant by a file that marks so many of its rows. */
type AskRows = (rows: { marked: number; all: number }) => Promise<ChosenRows>;

/**
 * A table that marks every row, or has no column of consent, is taken whole. So is one that is to be deleted
 * and marks nobody, and our own export, which tells the status of each contact in any case.
 * @param verb what is done to them
 * @param rows as a flag says @param askRows absent where nobody is asked
 * @throws UsageError where it must be said who is meant, and where no column says who is marked
 */
export async function chooseRows(
  verb: "unsubscribe" | "delete" | "suppress",
  rows: ChosenRows | undefined,
  { consent, read }: Survey,
  { system, askRows }: { system?: string; askRows?: AskRows },
): Promise<ChosenRows | undefined> {
  const { clearlyMarked, columns } = consent;
  if (rows === "all") return rows;
  if (rows === "marked") {
    if (columns.length > 0) return rows;
    throw usageError(
      "--marked-rows: the file has no column that says who is not subscribed",
      "Name it with --consent-column, or leave out --marked-rows",
    );
  }
  if (columns.length === 0 || clearlyMarked === read) return undefined;
  if (clearlyMarked === 0 && (verb === "delete" || system === "ecm")) return undefined;
  if (askRows) return askRows({ marked: clearlyMarked, all: read });
  const [marked, all] = [clearlyMarked, read].map(formatCount);
  throw usageError(
    `The file marks ${marked} of ${all} rows as not subscribed, so that it is not clear whom to ${verb}`,
    `Pass --marked-rows to ${verb} those alone, or --all-rows to ${verb} everyone in the file`,
    { type: "MarkedRowsError" },
  );
}
