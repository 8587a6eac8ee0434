/** What an import wants of each row. */

import { statusParts } from "../../service/contacts.ts";
import type { ContactStructure } from "../../wire.ts";
import type { DesiredContact } from "../items.ts";
import type { Mode } from "../plan/decide.ts";
import type { NameBook } from "../plan/name-book.ts";
import { openInput, requireClearConsent, understandInput } from "../read/index.ts";
import type { Duplicates } from "../read/join.ts";
import type { ReadOptions, Row } from "../read/rows.ts";
import type { Survey } from "../read/survey.ts";
import type { ResolvedJob, RowJob } from "./job.ts";

export interface ImportOptions {
  input: RowJob["input"];
  read: ReadOptions;
  mode: Mode;
  blank: "keep" | "clear";
  duplicates: Duplicates;
  /** Names or ids; every contact is added to these. */
  lists: string[];
  tags: string[];
  createMissing: boolean;
  includeUnsubscribed: boolean;
  /** Unsubscribe the contacts of the account that the file marks. */
  unsubscribeMarked?: boolean;
  includeSuppressed?: boolean;
}

export function importJob(options: ImportOptions): RowJob {
  const { input, read, lists, tags, createMissing, duplicates, mode } = options;
  const outline = { kind: "import", input } as const;
  const resolved: ResolvedJob = {
    ...outline,
    understand: (opened, structure) => understandInput(opened, read, structure),
    options: importRecord(options),
    duplicates,
    lists,
    tags,
    createMissing,
    newFields: read.newFields,
    decide: { mode, missing: "skip" },
    source: (structure, survey) => sourceOf(options, structure, survey),
    desiredContactOf: (row, names) => desiredContactOf(row, names, options),
    listIds: (names) => names.listIds(),
    notSubscribedAre: notSubscribedAre(options),
    unsubscribesMarked: options.unsubscribeMarked,
    leavesOutSuppressed: !options.includeSuppressed,
  };
  return {
    ...outline,
    open: (file) => openInput(file, read),
    requireOpened: (opened) => requireClearConsent(opened, read, "contacts"),
    resolve: () => Promise.resolve(resolved),
  };
}

function notSubscribedAre({ includeUnsubscribed, unsubscribeMarked, mode }: ImportOptions): string {
  if (includeUnsubscribed) return "imported like any other (--include-unsubscribed)";
  const become = mode === "update" ? "added to no list" : "not created";
  return unsubscribeMarked ? `${become}; unsubscribed if active in the account` : become;
}

/** The options as a manifest keeps them. */
type ImportRecord = Omit<ImportOptions, "input" | "read"> & {
  read: Omit<ReadOptions, "map"> & { map: [string, string][] };
};

/** Once the new fields exist, the command that names them is the same. */
function importRecord({ input: _input, read, ...options }: ImportOptions): ImportRecord {
  return { ...options, read: { ...read, map: [...read.map], newFields: undefined } };
}

/** The inverse, for `runs resume`. */
export function importOptionsFrom(record: Record<string, unknown>, input: RowJob["input"]): ImportOptions {
  const { read, ...options } = record as ImportRecord;
  return { ...options, input, read: { ...read, map: new Map(read.map) } };
}

function sourceOf(options: ImportOptions, _structure: ContactStructure, survey: Survey): string[] {
  const source = ["fields", ...statusParts, "createdAt"];
  if (options.lists.length > 0 || survey.lists.size > 0) source.push("lists");
  if (options.tags.length > 0 || survey.tags.size > 0) source.push("tags");
  return source;
}

function desiredContactOf(row: Row, names: NameBook, options: ImportOptions): DesiredContact {
  const told = options.blank === "clear" ? row.fields : withoutBlanks(row.fields);
  const isOfNewFields = options.read.newFields !== undefined;
  return {
    fields: isOfNewFields ? new Map([...told].map(([id, value]) => [names.fieldId(id), value])) : told,
    addLists: idsOf(options.lists, row.lists, (name) => names.listId(name)),
    addTags: idsOf(options.tags, row.tags, (name) => names.tagId(name)),
    removeLists: [],
    removeTags: [],
    isNotSubscribed: row.notSubscribed !== undefined && !options.includeUnsubscribed,
    // Nobody can be made active again: a cell that is not understood is not enough.
    unsubscribes: options.unsubscribeMarked && row.isMarkClear,
  };
}

/** The same map where nothing is blank: most rows of most files. */
function withoutBlanks(fields: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  for (const value of fields.values()) {
    if (value === "") return new Map([...fields].filter(([, each]) => each !== ""));
  }
  return fields;
}

/** Each id once. */
function idsOf(
  ofAll: readonly string[],
  ofRow: readonly string[],
  idOf: (name: string) => string,
): readonly string[] {
  if (ofAll.length + ofRow.length === 0) return none;
  return [...new Set([...ofAll, ...ofRow].map(idOf))];
}

const none: readonly string[] = [];
