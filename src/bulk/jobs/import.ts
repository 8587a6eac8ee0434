/** What an import wants of each row. */

import { statusParts } from "../../api/contacts.ts";
import { toStandInName } from "../../api/names.ts";
import type { EcmError } from "../../errors.ts";
import {
  type Duplicates,
  type InputFacts,
  type InputFile,
  openClearInput,
  type ReadOptions,
  type Row,
  requireUnderstood,
  type SeveralSheets,
  type Survey,
  type UnclearInput,
  understandInput,
} from "../../tables/index.ts";
import type { Desired } from "../desired.ts";
import type { MarkedAre } from "../plan/events.ts";
import type { NameBook } from "../plan/name-book.ts";
import type { RunContext } from "../plan/session.ts";
import { toValues } from "../values.ts";
import type { Job, JobInput, OpenedJob } from "./job.ts";
import { openReader, openRows, type RowWork } from "./rows.ts";

export interface ImportOptions {
  input: JobInput;
  read: ReadOptions;
  mode: "upsert" | "create" | "update";
  blank: "keep" | "clear";
  duplicates: Duplicates;
  /** Names or ids; every contact is added to these. */
  lists: string[];
  tags: string[];
  createMissing: boolean;
  includeUnsubscribed: boolean;
  includeSuppressed?: boolean;
}

/**
 * Has a person settle what an import leaves open; each answer is the options with it. Nothing is written.
 * @throws DeclinedError; InterruptedError; UsageError for what is refused all the same
 */
export interface ImportQuestions {
  sheet(several: SeveralSheets): Promise<ImportOptions>;
  columns(unclear: UnclearInput): Promise<ImportOptions>;
  /** Absent: no list is asked for. */
  list?(names: readonly string[]): Promise<ImportOptions>;
  /** @param failure what is thrown where they are not to be created */
  names(failure: EcmError): Promise<ImportOptions>;
}

/** @param ask absent where nobody is asked: then what is open is refused */
export function importJob(options: ImportOptions, ask?: ImportQuestions): Job {
  return {
    kind: "import",
    input: options.input,
    readsInput: true,
    open: (context, file) => openImport(context, file, options, ask),
  };
}

async function openImport(
  context: RunContext,
  file: InputFile,
  stated: ImportOptions,
  ask: ImportQuestions | undefined,
): Promise<OpenedJob> {
  let options = stated;
  const askSheet = async (several: SeveralSheets) => {
    options = await ask!.sheet(several);
    return options.read.sheet;
  };
  const opened = await openClearInput("contacts", file, options.read, ask && askSheet);
  const reader = await openReader(context);
  const { account, structure } = reader;
  let understood = ask ? undefined : await requireUnderstood("contacts", opened, options.read, structure);
  while (!understood) {
    const found = await understandInput("contacts", opened, options.read, structure);
    if ("reading" in found) understood = found;
    else options = await ask!.columns(found);
  }
  const survey = await reader.survey(understood);
  if (ask?.list && survey.lists.size === 0)
    options = await ask.list((await account.lists(structure)).map(({ name }) => name));
  const { createMissing } = options;
  /** Agreed to once, further names are created too. */
  const agree = async (failure: EcmError) => {
    options = await ask!.names(failure);
  };
  const { duplicates, lists, tags, includeSuppressed } = options;
  return openRows(context, reader, {
    understood,
    survey,
    duplicates,
    source: listNeededParts(options, survey),
    looks: { suppressions: includeSuppressed ? "include" : "pass-over" },
    toDesired: (row, names) => toDesired(row, names, options),
    notSubscribedAre: findWhatMarkedAre(options),
    wantedNames: {
      lists,
      tags,
      createMissing: createMissing || !ask ? createMissing : agree,
      fields: listNewFields(understood.facts),
    },
    record: () => toRecord(options, understood.facts),
  });
}

/** Labels of the fields that do not exist yet. */
function listNewFields({ columns, constants }: InputFacts): string[] {
  const targets = columns.flatMap(({ target }) => (target.kind === "field" ? [target] : []));
  const labels = [...targets, ...constants].map(({ fieldId }) => toStandInName(fieldId));
  return labels.filter((label) => label !== undefined);
}

/** Parts of a contact that decisions need. */
function listNeededParts({ lists, tags }: ImportOptions, survey: Survey): string[] {
  const source = ["fields", ...statusParts, "createdAt"];
  if (lists.length + survey.lists.size > 0) source.push("lists");
  if (tags.length + survey.tags.size > 0) source.push("tags");
  return source;
}

function findWhatMarkedAre({ includeUnsubscribed, mode }: ImportOptions): MarkedAre {
  if (includeUnsubscribed) return "imported";
  return mode === "update" ? "added_to_no_list" : "not_created";
}

function toRecord(options: ImportOptions, { notes }: InputFacts): ReturnType<RowWork["record"]> {
  const { read, mode, blank, duplicates, lists, tags, createMissing } = options;
  const { includeUnsubscribed, includeSuppressed } = options;
  const gone = notes.flatMap((note) => (note.code === "columns_gone" ? note.columns : []));
  const map = [...read.map].filter(([column]) => !gone.includes(column));
  const reading = { ...read, map, mayBeGone: undefined, isReviewed: undefined };
  const names = { lists, tags, createMissing };
  return { mode, blank, duplicates, ...names, includeUnsubscribed, includeSuppressed, read: reading };
}

function toDesired(row: Row, names: NameBook, options: ImportOptions): Desired {
  const { mode, lists, tags, includeUnsubscribed } = options;
  const fields = [...row.fields].filter(([, value]) => options.blank === "clear" || value !== "");
  const merge = (ofAll: readonly string[], ofRow: readonly string[], toId: (name: string) => string) =>
    new Set([...ofAll, ...ofRow].map(toId));
  return {
    values: toValues({
      fields: fields.map(([id, value]) => [names.fieldId(id), value]),
      addLists: merge(lists, row.lists, (name) => names.listId(name)),
      addTags: merge(tags, row.tags, (name) => names.tagId(name)),
    }),
    absent: mode === "update" ? { skip: "missing" } : "create",
    present: mode === "create" ? { skip: "exists" } : "change",
    // Nobody can be made active again: a cell that is not understood is not enough.
    mayJoinLists: row.mark === undefined || includeUnsubscribed,
  };
}
