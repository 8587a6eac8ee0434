/**
 * What jobs over the rows of an input, or over contacts that conditions choose, have in common: the steps by
 * which each reads its input, how it says what is to be done with each row, and what of that it puts into its
 * plan.
 */

import { rm } from "node:fs/promises";
import type { EcmError } from "../../errors.ts";
import type { StoredSelection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import {
  type Duplicates,
  findRole,
  type JoinedRows,
  joinRows,
  type ReadOptions,
  type ReadRow,
  type RejectedRow,
  type Row,
  type Survey,
  surveyInput,
  type UnderstoodInput,
} from "../../tables/index.ts";
import type { Contact, ContactStructure } from "../../wire.ts";
import { isSettled } from "../decide.ts";
import type { Item } from "../desired.ts";
import { createProgress, type MarkedAre } from "../plan/events.ts";
import type { Lookup } from "../plan/lookup.ts";
import type { PlanEntry } from "../plan/make-plan.ts";
import {
  type Creation,
  NameBook,
  type NameBookOptions,
  toCreations,
  toStoredNames,
} from "../plan/name-book.ts";
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
import { type OpenedJob, openAccount, openContacts, type PlanSource, toHead } from "./job.ts";

/** The rows that a job has read, if any; what is done with each, and with contacts that no row names. */
export interface RowWork {
  /** Absent where conditions choose the contacts. */
  understood?: UnderstoodInput;
  survey: Survey;
  /** Everything that decides a contact's outcome: the record from which the job is made again. */
  record(): Record<string, unknown> & { read?: Partial<ReadOptions> };
  /** The words of the command, where they are not those of the kind. */
  command?: string[];
  duplicates: Duplicates;
  /** What follows on the run once it is complete. */
  after?: readonly ListDeletion[];
  /** Names in flags, and what is created of them; the file's own come with the rows. */
  wantedNames?: WantedNames;
  /** Parts of a contact that decisions need, besides `_id` and `key`. */
  source: string[];
  looks: Omit<PlanHead["looks"], "by">;
  toDesired(row: Row, names: NameBook): Item["desired"];
  /** What becomes of contacts that the file marks as not subscribed. */
  notSubscribedAre: MarkedAre;
  /** What becomes of contacts whose mark is not understood, where that is something else. */
  unclearAre?: MarkedAre;
  /** Conditions that a contact has to meet. */
  selection?: StoredSelection;
  /** Contacts that no row names. */
  others?: {
    /** On which pages of the account they are. */
    pages: Pick<PagesOptions, "filters" | "lists">;
    /** Pages are not read again where contacts come and go meanwhile: those that were seen are enough. */
    areReadOnce?: true;
    list(snapshot: AccountSnapshot, run: RowRun, lookup: Lookup): Promise<OtherContacts>;
  };
}

export interface OtherContacts {
  count: number;
  items(): Iterable<Item>;
  removals?: PlanHead["removals"];
}

interface WantedNames extends Pick<NameBookOptions, "isNew"> {
  lists: readonly string[];
  tags: readonly string[];
  /** Labels of fields that are created. */
  fields?: readonly string[];
  /**
   * Whether missing names are created; a function has a person agree to it first, and throws the failure, or
   * a DeclinedError, where they are not to be.
   */
  createMissing?: boolean | ((failure: EcmError) => Promise<void>);
}

/** The steps by which a job reads its input. */
interface RowReader {
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

/** A run over rows, with all that is known before its contacts are looked up. */
export interface RowRun extends RowWork {
  readonly context: RunContext;
  readonly reader: RowReader;
  readonly joined: JoinedRows;
  readonly names: NameBook;
}

/** @throws EcmError for a name that does not exist; SuppressionsError */
export async function openRows(context: RunContext, reader: RowReader, work: RowWork): Promise<OpenedJob> {
  const { emit, engine, subject } = context;
  const { account, structure } = reader;
  const { survey, understood, notSubscribedAre, unclearAre, after } = work;
  const joined = await joinRows(survey.batches(), survey.identities, work.duplicates);
  emit({ kind: "surveyed", survey, joined, notSubscribedAre, unclearAre });
  const names = await openNames(context, reader, work);
  emit({ kind: "names-missing", missing: names.creations });
  const run: RowRun = { ...work, context, reader, joined, names };
  const options = work.record();
  const place = { structureId: structure._id, keyType: structure.keyType };
  const head = toHead(context, place, await describe(reader, work));
  const opened = await openContacts(context, account, head);
  const { baseUrl, profile } = engine.account;
  const { sha256 = "", bytes = 0 } = understood?.facts ?? {};
  return {
    about: {
      account: { baseUrl, profile, structureId: structure._id },
      input: { name: subject, file: understood?.file.path ?? "", sha256, bytes },
      fingerprint: computeRunFingerprint(run, options),
      options,
      after,
    },
    contacts: {
      ...opened,
      input: countSettledByInput(run),
      names,
      head,
      source: () => openSource(run, opened.lookup),
    },
  };
}

/** Looks up the names in the input and in the flags. */
function openNames({ engine, send }: RunContext, reader: RowReader, work: RowWork): Promise<NameBook> {
  const { account, structure } = reader;
  const {
    lists,
    tags,
    fields = [],
    isNew,
    createMissing = false,
  } = work.wantedNames ?? { lists: [], tags: [] };
  const agree = async (missing: readonly Creation[]) => {
    if (createMissing === true) return;
    const failure = engine.missingNamesError(missing);
    if (!createMissing) throw failure;
    await createMissing(failure);
  };
  return NameBook.open({ send: send.plain, account, structure, isNew, createMissing: agree }, [
    ...toCreations("field", fields),
    ...toCreations("list", [...lists, ...work.survey.lists]),
    ...toCreations("tag", [...tags, ...work.survey.tags]),
  ]);
}

/** Rows that stand for no contact: wrong ones, and those for which another row of the contact is taken. */
function countSettledByInput({ survey, joined, duplicates }: RowRun): SettledByInput {
  const { read } = survey;
  const rejected = Object.fromEntries(survey.rejectedCodes);
  const passedOver: Record<string, number> = joined.passedOver > 0 ? { duplicate: joined.passedOver } : {};
  return duplicates === "reject"
    ? { read, skipped: {}, rejected: { ...rejected, ...passedOver } }
    : { read, skipped: passedOver, rejected };
}

/**
 * What makes two invocations one run: account, input, how it is read, and what decides a contact's outcome. A
 * field counts by its label: the run may create it.
 */
function computeRunFingerprint(
  { context, reader, understood, after }: RowRun,
  record: ReturnType<RowWork["record"]>,
): string {
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
async function describe(reader: RowReader, work: RowWork): Promise<Parameters<typeof toHead>[2]> {
  const known = await reader.account.readCachedNames(reader.structure);
  const facts = work.understood?.facts;
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
    selection: work.selection,
    names: toStoredNames(known.structure, known.lists),
    source: work.source,
    looks: { by: "search", ...work.looks },
  };
}

/** Rows, then the contacts that none of them names: those are counted like rows. */
async function openSource(run: RowRun, ofJob: Lookup): Promise<PlanSource> {
  const { survey, understood } = run;
  const snapshot = await takeSnapshot(run, ofJob);
  // Pages of a list do not say which of the input's contacts do not exist.
  const lookup = snapshot ? ofJob.over(snapshot, !(understood && run.others)) : ofJob;
  try {
    const others = await run.others?.list(snapshot!, run, lookup);
    async function* entries(): AsyncGenerator<Iterable<PlanEntry>> {
      for await (const rows of survey.batches()) yield toEntries(run, rows);
      if (others) yield others.items();
    }
    return {
      entries: entries(),
      read: survey.read + (others?.count ?? 0),
      stableEntries: others ? survey.read : Number.POSITIVE_INFINITY,
      removals: others?.removals,
      lookup,
      close: () => snapshot?.close(),
    };
  } catch (error) {
    snapshot?.close();
    throw error;
  }
}

/** One entry for each row, in file order; made when it is taken: few of a batch are in memory at once. */
function* toEntries(run: RowRun, rows: readonly ReadRow[]): Generator<PlanEntry> {
  for (const row of rows) {
    if (row.kind === "rejected") {
      yield toRejectedEntry(run, row);
      continue;
    }
    const role = findRole(row, run.joined);
    yield "passedOverFor" in role
      ? toSkippedEntry(run, row, role.passedOverFor)
      : toRowItem(run, role.representative, row.cells);
  }
}

export function toRowItem({ survey, toDesired, names }: RowRun, row: Row, cells: Row["cells"]): Item {
  const marked = survey.withMarks(row);
  const { line, key, keyFault } = row;
  const desired = toDesired(marked, names);
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
function toSkippedEntry(
  { survey, joined, duplicates, context }: RowRun,
  row: Row,
  other: number,
): StoredLine {
  const { line, key, cells } = row;
  const marked = survey.withMarks(joined.groups.get(key.identity)?.row ?? row);
  return {
    line,
    key: key.sent,
    contactId: null,
    action: duplicates === "reject" ? "reject" : "skip",
    code: "duplicate",
    message: context.engine.describeReason({ code: "duplicate", line: other }),
    changes: [],
    cells,
    mark: survey.describeMark(marked),
    // Joined rows make one contact: fixing it takes all of them.
    of: duplicates === "merge" ? other : undefined,
  };
}

/** A contact of the account's pages. */
export function toPageItem(
  ref: number,
  contact: Partial<Contact>,
  { toIdentity }: Pick<Lookup, "toIdentity">,
): Omit<Item, "desired"> {
  const { _id: contactId, key = "" } = contact;
  const keys = { written: key, sent: key, identity: toIdentity(key) };
  return { ref, line: null, key: keys, cells: [key], contactId, found: contact };
}

/** How often the pages are read when contacts come and go meanwhile. */
const maxPasses = 3;

/**
 * Pages of the account: those of contacts that no row names, else all where that is cheaper than asking for
 * blocks of keys. Pages that an earlier invocation has read are kept, unless they are old. Contacts that
 * others add or remove meanwhile move the rest from page to page: then pages that are needed are read again,
 * so that nobody is passed over.
 */
async function takeSnapshot(run: RowRun, lookup: Lookup): Promise<AccountSnapshot | undefined> {
  const { context, others } = run;
  if (!others && countRunRows(context).pending === 0) return undefined;
  const file = toFile(context, "snapshot");
  const options = { isTemporary: context.run === undefined, toIdentity: lookup.toIdentity };
  for (let pass = 1; ; pass++) {
    const snapshot = await openSnapshot(file, options);
    const isUsable = await fillSnapshot(snapshot, run, describePages(run, lookup)).catch((error: unknown) => {
      snapshot.close();
      throw error;
    });
    if (isUsable) return snapshot;
    if (isUsable === false && pass >= maxPasses) {
      context.emit({ kind: "remark", remark: { code: "account_changed" } });
      return snapshot;
    }
    snapshot.close();
    if (isUsable === undefined) return undefined;
    await rm(file, { force: true });
  }
}

/** @returns false for pages that are old, or that do not hold everybody; undefined where keys are cheaper */
async function fillSnapshot(
  snapshot: AccountSnapshot,
  { context, others }: RowRun,
  pages: PagesOptions,
): Promise<boolean | undefined> {
  if (snapshot.total !== undefined && !snapshot.isRecent(context.clock.now())) return false;
  if (!others) {
    const keys = countRunRows(context).pending;
    return (await readAccountIfSmaller(snapshot, keys, pages, countRequestsLeft(context))) || undefined;
  }
  await readAllPages(snapshot, pages);
  return others.areReadOnce === true || snapshot.isWhole();
}

function describePages(
  { context, reader, source, looks: { readsStatus }, others }: RowRun,
  { behavior, keys }: Lookup,
): PagesOptions {
  const { send, clock, options } = context;
  const { concurrency } = options;
  const structureId = reader.structure._id;
  return { send, behavior, keys, clock, structureId, source, readsStatus, concurrency, ...others?.pages };
}
