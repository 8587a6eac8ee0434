/**
 * What jobs over the rows of an input, or over contacts that conditions choose, have in common: the steps by which
 * each reads its input, how it says what is to be done with each row, and what of that it puts into its plan.
 */

import { rm } from "node:fs/promises";
import { createEquals, createFilter } from "../../api/contacts.ts";
import type { EcmError } from "../../errors.ts";
import type { Selection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import {
  createIdentityReader,
  type Duplicates,
  findRole,
  type JoinedRows,
  joinRows,
  listPossibleKeys,
  type ReadOptions,
  type ReadRow,
  type RejectedRow,
  type Row,
  type Survey,
  surveyInput,
  type UnderstoodInput,
} from "../../tables/index.ts";
import { TextIndex } from "../../text-index.ts";
import type { Contact, ContactStructure, IdRef } from "../../wire.ts";
import { isSettled } from "../decide.ts";
import type { Desired, Item } from "../desired.ts";
import { createProgress, type MarkedAre } from "../plan/events.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import { NameBook, type NameBookOptions, toStoredNames } from "../plan/names.ts";
import type { PlanHead } from "../plan/plan-file.ts";
import type { StoredLine } from "../plan/plan-line.ts";
import { countRequestsLeft, countRunRows, type RunContext, toFile } from "../plan/session.ts";
import {
  type AccountSnapshot,
  openSnapshot,
  type PagesOptions,
  readAccountIfSmaller,
  readAllPages,
} from "../plan/snapshot.ts";
import { computeFingerprint, type ListDeletion } from "../runs/folder.ts";
import type { SettledByInput } from "../runs/report.ts";
import { toValues } from "../values.ts";
import { type OpenedJob, openAccount, openContacts, type PlanSource, toHead } from "./job.ts";

/** What is to be done with each row, or with each contact that conditions choose. */
export interface RowWork {
  /** Everything that decides a contact's outcome: the record from which the job is made again. */
  readonly record: Record<string, unknown> & { read?: Partial<ReadOptions> };
  /** The words of the command, where they are not those of the kind. */
  command?: string[];
  duplicates: Duplicates;
  /** The list whose members become exactly the contacts of the input. */
  listId?: string;
  /** What follows on the run once it is complete. */
  after?: readonly ListDeletion[];
  /** Names in flags, and what is created of them; the file's own come with the rows. */
  names?: WantedNames;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  looks: Omit<PlanHead["looks"], "by">;
  toDesired(row: Row, names: NameBook): Item["desired"];
  /** What becomes of contacts that the file marks as not subscribed. */
  notSubscribedAre: MarkedAre;
  /** The same of those whose mark is not understood, where that is something else. */
  unclearAre?: MarkedAre;
  /** Conditions that choose the contacts: of the whole account, or of those that the input names. */
  selection?: Selection;
  /** What is wanted of every contact that conditions choose. */
  desiredForAll?(names: NameBook): Desired;
  /** Lists that every contact that the conditions choose is in, should the pages not tell. */
  chosenLists?: IdRef[];
}

interface WantedNames extends Pick<NameBookOptions, "lists" | "tags" | "isNew" | "fields"> {
  /**
   * Whether missing names are created; a function has a person agree to it first, and throws the failure, or a
   * DeclinedError, where they are not to be.
   */
  createMissing: boolean | ((failure: EcmError) => Promise<void>);
}

/** The steps by which a job reads its input. */
export interface RowReader {
  readonly account: Account;
  readonly structure: ContactStructure;
  /** Reads all rows once. @throws InterruptedError */
  survey(understood: UnderstoodInput | undefined): Promise<Survey>;
}

export async function openReader(context: RunContext): Promise<RowReader> {
  const { engine, emit } = context;
  let rowsRead = 0;
  emit({ kind: "phase", progress: () => createProgress(context, "reading", { rowsRead }) });
  const account = openAccount(context);
  const structure = await account.structure();
  return {
    account,
    structure,
    survey(understood) {
      if (understood) emit({ kind: "understood", facts: understood.facts });
      return surveyInput(understood, engine.signal, (count) => {
        rowsRead = count;
      });
    },
  };
}

/** Rows that were read, and what is to be done with them. */
export interface RowsToPlan {
  reader: RowReader;
  /** Absent where conditions choose the contacts. */
  understood?: UnderstoodInput;
  survey: Survey;
  work: RowWork;
}

/** The same with the run. */
export interface RowRun extends RowsToPlan {
  readonly context: RunContext;
  readonly joined: JoinedRows;
  readonly names: NameBook;
}

/** @throws EcmError for a name that does not exist; SuppressionsError */
export async function openRows(context: RunContext, rows: RowsToPlan): Promise<OpenedJob> {
  const { survey, work, reader, understood } = rows;
  const { emit, engine, subject } = context;
  const { account, structure } = reader;
  const joined = await joinRows(survey.batches(), survey.identities, work.duplicates);
  const { notSubscribedAre, unclearAre } = work;
  emit({ kind: "surveyed", survey, joined, notSubscribedAre, unclearAre });
  const names = await openNames(context, rows);
  emit({ kind: "names-missing", missing: names.creations });
  const rowRun = { ...rows, context, joined, names };
  const head = toHead(
    context,
    { structureId: structure._id, keyType: structure.keyType },
    await describe(rows),
  );
  const opened = await openContacts(context, account, head);
  const { baseUrl, profile } = engine.account;
  const { sha256 = "", bytes = 0 } = understood?.facts ?? {};
  return {
    about: {
      account: { baseUrl, profile, structureId: structure._id },
      input: { name: subject, file: understood?.file.path ?? "", sha256, bytes },
      fingerprint: computeRunFingerprint(rowRun),
      options: work.record,
      after: work.after,
    },
    contacts: {
      ...opened,
      input: countSettledByInput(rowRun),
      names,
      head,
      source: () => openSource(rowRun, opened.lookup),
    },
  };
}

/** Looks up the names in the input and in the flags. */
function openNames({ engine, send }: RunContext, { reader, survey, work }: RowsToPlan): Promise<NameBook> {
  const { createMissing = false, lists = [], tags = [], ...named }: Partial<WantedNames> = work.names ?? {};
  const { account, structure } = reader;
  return NameBook.open({
    ...named,
    send: send.plain,
    account,
    structure,
    lists: [...lists, ...survey.lists],
    tags: [...tags, ...survey.tags],
    async createMissing(missing) {
      if (createMissing === true) return;
      const failure = engine.missingNamesError(missing);
      if (!createMissing) throw failure;
      await createMissing(failure);
    },
  });
}

/** Rows that stand for no contact: those that are wrong, and those of which another row of the contact is taken. */
function countSettledByInput({ survey, joined, work }: RowRun): SettledByInput {
  const { read } = survey;
  const rejected = Object.fromEntries(survey.rejectedCodes);
  const passedOver: Record<string, number> = joined.passedOver > 0 ? { duplicate: joined.passedOver } : {};
  return work.duplicates === "reject"
    ? { read, skipped: {}, rejected: { ...rejected, ...passedOver } }
    : { read, skipped: passedOver, rejected };
}

/**
 * What makes two invocations one run: account, input, how it is read, and what decides a contact's outcome. A field
 * counts by its label: the run may create it.
 */
function computeRunFingerprint({ context, work, reader, understood }: RowRun): string {
  const { record, after } = work;
  return computeFingerprint({
    kind: context.kind,
    baseUrl: context.engine.account.baseUrl,
    structureId: reader.structure._id,
    sha256: understood?.facts.sha256,
    columns: understood?.facts.columns.map(({ name, target }) => ({
      name,
      target: { ...target, fieldId: undefined },
    })),
    options: { ...record, read: { ...record.read, createsFields: undefined } },
    after,
  });
}

/** What the head of the plan says. */
async function describe({ work, reader, understood }: RowsToPlan): Promise<Parameters<typeof toHead>[2]> {
  const known = await reader.account.readCachedNames(reader.structure);
  const facts = understood?.facts;
  return {
    ...(facts && {
      input: { sha256: facts.sha256, size: facts.bytes },
      table: {
        columns: facts.columns,
        delimiter: facts.delimiter,
        hasEscapes: facts.hasEscapes,
        form: facts.form,
      },
    }),
    ...(work.command && { command: work.command }),
    selection: work.selection?.stored,
    names: toStoredNames(known.structure, known.lists),
    source: work.source,
    looks: { by: "search", ...work.looks },
  };
}

async function openSource(rowRun: RowRun, lookup: Lookup): Promise<PlanSource> {
  const { work, survey, understood } = rowRun;
  const snapshot = await takeSnapshot(rowRun, lookup);
  const shared = {
    lookup: snapshot ? lookup.over(snapshot, work.listId === undefined) : lookup,
    close: () => snapshot?.close(),
  };
  try {
    if (!understood) {
      let read = 0;
      for (const _item of listSelectedItems(snapshot!, rowRun)) read++;
      return { ...shared, entries: [listSelectedItems(snapshot!, rowRun)], read, stableEntries: 0 };
    }
    const removals = work.listId && (await planRemovals(snapshot!, rowRun, shared.lookup));
    async function* entries(): AsyncGenerator<Iterable<PlanEntry>> {
      for await (const rows of survey.batches()) yield toEntries(rowRun, rows);
      if (removals) yield removals.items();
    }
    if (!removals) return { ...shared, entries: entries(), stableEntries: Number.POSITIVE_INFINITY };
    const { count, members } = removals;
    return {
      ...shared,
      entries: entries(),
      // Members that the input does not name are counted like rows.
      read: survey.read + count,
      stableEntries: survey.read,
      removals: { listId: work.listId!, members },
    };
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

// Rows.

/** One entry for each row, in file order; made when it is taken, so that few of a batch are in memory at once. */
function* toEntries(rowRun: RowRun, rows: readonly ReadRow[]): Generator<PlanEntry> {
  for (const row of rows) {
    if (row.kind === "rejected") {
      yield toRejectedEntry(rowRun, row);
      continue;
    }
    const role = findRole(row, rowRun.joined);
    yield "passedOverFor" in role
      ? toSkippedEntry(rowRun, row, role.passedOverFor)
      : toRowItem(rowRun, role.representative, row.cells);
  }
}

function toRowItem({ survey, work, names }: RowRun, row: Row, cells: Row["cells"]): Item {
  const marked = survey.withMarks(row);
  const { line, key, keyFault } = row;
  const desired = work.toDesired(marked, names);
  // No contact is created with a key that is wrong, although one that has it is looked for.
  const refused = keyFault && !isSettled(desired) ? { ...desired, absent: { reject: keyFault } } : desired;
  return { ref: line, line, key, cells, mark: survey.describeMark(marked), desired: refused };
}

function toRejectedEntry({ survey, understood }: RowRun, row: RejectedRow): StoredLine {
  const { line, cells, code, message } = row;
  const mark = survey.findHiddenMark(row);
  // The cell that should have been a key, as it is written.
  const keyIndex = understood?.reading.targets.findIndex(({ kind }) => kind === "key") ?? -1;
  const key = cells[keyIndex] ?? "";
  return { line, key, contactId: null, action: "reject", code, message, changes: [], cells, mark };
}

/** Another row of the contact stands for it. */
function toSkippedEntry({ survey, joined, work, context }: RowRun, row: Row, other: number): StoredLine {
  const { line, key, cells } = row;
  const marked = survey.withMarks(joined.groups.get(key.identity)?.row ?? row);
  return {
    line,
    key: key.sent,
    contactId: null,
    action: work.duplicates === "reject" ? "reject" : "skip",
    code: "duplicate",
    message: context.engine.describeReason({ code: "duplicate", line: other }),
    changes: [],
    cells,
    mark: survey.describeMark(marked),
    // Joined rows make one contact: fixing it takes all of them.
    of: work.duplicates === "merge" ? other : undefined,
  };
}

// Contacts that no row names.

/**
 * All contacts on the pages that meet the conditions. A contact's place on the pages names it in the journal.
 */
export function* listSelectedItems(
  snapshot: AccountSnapshot,
  { work, names, reader }: RowRun,
): Generator<Item> {
  const toIdentity = createIdentityReader(reader.structure.keyType);
  const desired = work.desiredForAll!(names);
  // A contact that slid to another page was read twice.
  const seenIds = snapshot.isWhole() ? undefined : new Set<string>();
  let place = 0;
  for (const contact of snapshot.all()) {
    place++;
    if (seenIds?.has(contact._id ?? "")) continue;
    seenIds?.add(contact._id ?? "");
    if (!(work.selection?.holds(contact) ?? true)) continue;
    yield { ...toPageItem(place, contact, toIdentity), desired };
  }
}

function toPageItem(
  ref: number,
  contact: Partial<Contact>,
  toIdentity: (key: string) => string,
): Omit<Item, "desired"> {
  const { _id: contactId, key = "" } = contact;
  const keys = { written: key, sent: key, identity: toIdentity(key) };
  return { ref, line: null, key: keys, cells: [key], contactId, found: contact };
}

interface Removals {
  count: number;
  /** How many the list has. */
  members: number;
  items(): Iterable<Item>;
}

/**
 * Members that the input does not name, not even in a row that is rejected; all are skipped where the input is cut
 * off.
 * Their places in the snapshot name them in the journal, after the input's lines.
 */
export async function planRemovals(
  snapshot: AccountSnapshot,
  rowRun: RowRun,
  lookup: Lookup,
): Promise<Removals> {
  const { survey, reader, work, context } = rowRun;
  const toIdentity = createIdentityReader(reader.structure.keyType);
  const rejected = await collectRejectedIdentities(rowRun, toIdentity);
  const isNamed = ({ _id = "", key = "" }: Partial<Contact>) => {
    const identity = toIdentity(key);
    return survey.identities.has(identity) || rejected.has(identity) || rejected.has(_id.toLowerCase());
  };
  const openKey = survey.openRow?.key.identity;
  let [members, count, isStart] = [0, 0, false];
  for (const contact of snapshot.all()) {
    members++;
    if (isNamed(contact)) continue;
    count++;
    isStart ||= openKey !== undefined && toIdentity(contact.key ?? "").startsWith(openKey);
  }
  const isCut =
    survey.rejectedCodes.has("truncated") || (count > 0 && (await isLastRowCut(rowRun, lookup, isStart)));
  if (isCut) context.emit({ kind: "remark", remark: { code: "cut_off" } });
  const removal: Desired = {
    values: toValues({ removeLists: [work.listId!] }),
    // A contact that is gone from the account is gone from the list.
    absent: "leave",
    present: "change",
    mayJoinLists: true,
  };
  const desired = isCut ? { skip: "truncated" } : removal;
  function* items(): Generator<Item> {
    let place = 0;
    for (const contact of snapshot.all()) {
      place++;
      if (isNamed(contact)) continue;
      yield { ...toPageItem(survey.lastLine + place, contact, toIdentity), desired, isRemoval: true };
    }
  }
  return { count, members, items };
}

/**
 * Whether a last row without a line end, with which nothing else is wrong, is taken as cut off: nobody has its key,
 * and either no contact is created with it, or a member's key that the input does not name begins so.
 */
async function isLastRowCut(rowRun: RowRun, lookup: Lookup, isStartOfMember: boolean): Promise<boolean> {
  const { openRow } = rowRun.survey;
  if (!openRow) return false;
  const item = toRowItem(rowRun, openRow, openRow.cells);
  const isCreated = "absent" in item.desired && item.desired.absent === "create";
  if (isCreated && !isStartOfMember) return false;
  return (await lookup.find([item])).get(item.ref)?.contact === undefined;
}

/**
 * All contacts that a rejected row may mean: what is wrong with the row
 * does not say that the person is to be taken out.
 */
async function collectRejectedIdentities(
  { survey }: RowRun,
  toIdentity: (key: string) => string,
): Promise<TextIndex> {
  const rejected = new TextIndex();
  if (survey.rejected === 0) return rejected;
  for await (const rows of survey.batches()) {
    for (const row of rows) {
      if (row.kind !== "rejected") continue;
      for (const meant of listPossibleKeys(row.cells)) rejected.add(toIdentity(meant));
    }
  }
  return rejected;
}

// Pages of the account.

/** How often the pages are read when contacts come and go meanwhile. */
const maxPasses = 3;

/**
 * Pages of the account: contacts that the conditions choose, a list's members for a sync, else everybody where that is
 * cheaper than asking for blocks of keys. Pages that an earlier invocation has read are kept, unless they are old.
 * Contacts that others add or remove meanwhile move the rest from page to page: then all that conditions choose
 * are read again, so that nobody is passed over.
 */
async function takeSnapshot(rowRun: RowRun, lookup: Lookup): Promise<AccountSnapshot | undefined> {
  const { context, work, understood } = rowRun;
  const file = toFile(context, "snapshot");
  const mayAskForKeys = understood !== undefined && work.listId === undefined;
  if (mayAskForKeys && countRunRows(context).pending === 0) return undefined;
  const options = { isTemporary: context.run === undefined, toIdentity: lookup.toIdentity };
  for (let pass = 1; ; pass++) {
    const snapshot = await openSnapshot(file, options);
    const filled = await fillSnapshot(snapshot, rowRun, lookup, mayAskForKeys).catch((error: unknown) => {
      snapshot.close();
      throw error;
    });
    if (filled === "whole") return snapshot;
    if (filled === "moved" && pass >= maxPasses) {
      context.emit({ kind: "remark", remark: { code: "account_changed" } });
      return snapshot;
    }
    snapshot.close();
    if (filled === "unread") return undefined;
    await rm(file, { force: true });
  }
}

/** @returns `unread`: keys are cheaper; `old`: it was read too long ago; `moved`: contacts came and went meanwhile */
async function fillSnapshot(
  snapshot: AccountSnapshot,
  rowRun: RowRun,
  lookup: Lookup,
  mayAskForKeys: boolean,
): Promise<"whole" | "unread" | "old" | "moved"> {
  const { context, work } = rowRun;
  const pages = describePages(rowRun, lookup);
  if (snapshot.total !== undefined && !snapshot.isRecent(context.clock.now())) return "old";
  if (mayAskForKeys) {
    const keys = countRunRows(context).pending;
    const isRead = await readAccountIfSmaller(snapshot, keys, pages, countRequestsLeft(context));
    return isRead ? "whole" : "unread";
  }
  await readAllPages(snapshot, pages);
  return work.listId !== undefined || snapshot.isWhole() ? "whole" : "moved";
}

/** Which pages of the account are read for this run, and how. */
function describePages(
  { context, work, reader, understood }: RowRun,
  { behavior, keys }: Lookup,
): PagesOptions {
  const { send, clock, options } = context;
  const { source, looks, listId, selection, chosenLists } = work;
  const { readsStatus } = looks;
  const { _id: structureId } = reader.structure;
  const { concurrency } = options;
  const all = { send, behavior, keys, clock, structureId, source, readsStatus, concurrency };
  if (listId !== undefined) {
    const filters = createFilter(createEquals("LIST_ID", [listId]));
    return { ...all, filters, lists: [{ _id: listId }] };
  }
  return !understood ? { ...all, filters: selection!.filters, lists: chosenLists } : all;
}
