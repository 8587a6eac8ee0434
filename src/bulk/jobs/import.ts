/** What an import wants of each row. */

import { statusParts } from "../../api/contacts.ts";
import { UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import type { DesiredContact } from "../items.ts";
import { type Mode, noChange } from "../plan/decide.ts";
import type { NameBook } from "../plan/name-book.ts";
import type { PlanMapping } from "../plan/plan-file.ts";
import type { BlankRule } from "../read/compute/entry.ts";
import { openInput } from "../read/formats/open.ts";
import type { Duplicates } from "../read/join.ts";
import type { Reading } from "../read/reading.ts";
import type { ReadOptions, Row } from "../read/rows.ts";
import type { Survey } from "../read/survey.ts";
import { requireClearConsent, requireMapped, understandInput } from "../read/understand.ts";
import { computeFingerprint } from "../runs/fingerprint.ts";
import type { ResolvedJob, RowJob } from "./job.ts";
import { findUniqueFields } from "./unique-values.ts";

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
  /** Fields, by label or id, with values that no two people share. */
  unique?: string[];
  /** A person says which list the contacts are added to. */
  asksList?: boolean;
}

/** Nobody has said which list the contacts of an import are added to. */
export class NoListError extends UsageError {
  readonly listNames: () => Promise<string[]>;

  constructor(listNames: () => Promise<string[]>) {
    super("No list was named", "Name one with --list");
    this.listNames = listNames;
  }
}

export function importJob(options: ImportOptions): RowJob {
  const { input, read, lists, tags, createMissing, duplicates, mode } = options;
  const resolved: ResolvedJob = {
    understand: (opened, structure) => understandInput(opened, read, structure),
    options: toImportRecord(options),
    mapping: mappingRecord(options),
    duplicates,
    lists,
    tags,
    createMissing,
    newFields: read.newFields,
    decide: { mode, missing: "skip" },
    source: (survey) => toSource(options, survey),
    toDesiredContact: (row, names, reading) => toDesiredContact(row, names, { options, reading }),
    listIds: (names) => names.listIds(),
    notSubscribedAre: toSubscriptionRule(options),
    unsubscribesMarked: options.unsubscribeMarked,
    leavesOutSuppressed: !options.includeSuppressed,
  };
  return {
    kind: "import",
    input,
    async open(file) {
      const opened = await openInput(file, read);
      await requireMapped(opened, read);
      return opened;
    },
    requireOpened: (opened) => requireClearConsent(opened, read, "contacts"),
    async resolve(account) {
      const { unique, asksList } = options;
      return {
        ...resolved,
        ...(unique && { uniqueFields: findUniqueFields(unique, await account.structure()) }),
        ...(asksList && { requireInput: (survey) => requireList(survey, account) }),
      };
    },
  };
}

/** What becomes of rows that are marked as not subscribed. */
export function toSubscriptionRule({
  includeUnsubscribed,
  unsubscribeMarked,
  mode,
}: Pick<ImportOptions, "unsubscribeMarked" | "mode"> & { includeUnsubscribed?: boolean }): string {
  if (includeUnsubscribed) return "imported like any other (--include-unsubscribed)";
  const become = mode === "update" ? "added to no list" : "not created";
  return unsubscribeMarked ? `${become}; unsubscribed if active in the account` : become;
}

/** The options as a manifest keeps them. */
type ImportRecord = Omit<ImportOptions, "input" | "read"> & {
  read: Omit<ReadOptions, "map"> & { map: [string, string][] };
};

/** Once the new fields exist, the command that names them is the same. */
function toImportRecord({
  input: _input,
  asksList: _asksList,
  read,
  ...options
}: ImportOptions): ImportRecord {
  // Where an entry is written changes nothing, and what was expected held.
  const entries = read.entries?.map(({ place: _place, ...entry }) => entry);
  return {
    ...options,
    read: {
      ...read,
      map: [...read.map],
      entries,
      mapPlaces: undefined,
      expect: undefined,
      newFields: undefined,
      isReviewed: undefined,
    },
  };
}

/** What the plan says of how values are made; undefined where every column goes by its name. */
function mappingRecord({
  read: { map, entries = [], defaults = [] },
}: ImportOptions): PlanMapping | undefined {
  if (map.size + entries.length + defaults.length === 0) return undefined;
  const columns = Object.fromEntries(map);
  const made = entries.map(({ place: _place, ...entry }) => entry);
  const digest = `sha256:${computeFingerprint({ columns, entries: made, defaults })}`;
  return { digest, columns, entries: made, defaults };
}

/** The inverse, for `runs resume`. */
export function restoreImportOptions(record: Record<string, unknown>, input: RowJob["input"]): ImportOptions {
  const { read, ...options } = record as ImportRecord;
  return { ...options, input, read: { ...read, map: new Map(read.map) } };
}

function toSource(options: ImportOptions, survey: Survey): string[] {
  const source = ["fields", ...statusParts, "createdAt"];
  // Whoever moves takes along what only the old contact has.
  if (survey.oldKeys || options.lists.length > 0 || survey.lists.size > 0) source.push("lists");
  if (survey.oldKeys || options.tags.length > 0 || survey.tags.size > 0) source.push("tags");
  return source;
}

function toDesiredContact(
  row: Row,
  names: NameBook,
  { options, reading }: { options: ImportOptions; reading: Reading },
): DesiredContact {
  const { blankRules, defaults } = reading;
  const written =
    blankRules.size > 0
      ? byRules(row.fields, blankRules, options.blank)
      : options.blank === "clear"
        ? row.fields
        : withoutBlanks(row.fields);
  const fieldValues = keepDefaults(written, defaults);
  const toId = options.read.newFields && ((id: string) => names.fieldId(id));
  const onlyIfEmpty = [...blankRules.keys()].filter(
    (id) => blankRules.get(id) === "only-if-empty" && fieldValues.has(id),
  );
  return {
    ...noChange,
    fields: toId ? new Map([...fieldValues].map(([id, value]) => [toId(id), value])) : fieldValues,
    ...(onlyIfEmpty.length > 0 && { onlyIfEmpty: toId ? onlyIfEmpty.map(toId) : onlyIfEmpty }),
    ...(defaults.length > 0 && { defaults }),
    addLists: mergeIds(options.lists, row.lists, (name) => names.listId(name)),
    addTags: mergeIds(options.tags, row.tags, (name) => names.tagId(name)),
    isNotSubscribed: row.notSubscribed !== undefined && !options.includeUnsubscribed,
    // Nobody can be made active again: a cell that is not understood is not enough.
    unsubscribes: options.unsubscribeMarked && row.isMarkClear,
  };
}

/** Blank values as the mapping, or else `--blank`, has them written. */
function byRules(
  fields: ReadonlyMap<string, string>,
  rules: ReadonlyMap<string, BlankRule>,
  otherwise: BlankRule,
): ReadonlyMap<string, string> {
  return new Map(
    [...fields].filter(([id, value]) => value !== "" || (rules.get(id) ?? otherwise) === "clear"),
  );
}

/** A blank cell clears no field that has a default: the next import of the file would take the default away. */
function keepDefaults(
  fields: ReadonlyMap<string, string>,
  defaults: Reading["defaults"],
): ReadonlyMap<string, string> {
  if (!defaults.some(([id]) => fields.get(id) === "")) return fields;
  const defaultIds = new Set(defaults.map(([id]) => id));
  return new Map([...fields].filter(([id, value]) => value !== "" || !defaultIds.has(id)));
}

/** The same map where nothing is blank: most rows of most files. */
function withoutBlanks(fields: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  for (const value of fields.values()) {
    if (value === "") return new Map([...fields].filter(([, each]) => each !== ""));
  }
  return fields;
}

/** Each id once. */
function mergeIds(
  namesForAll: readonly string[],
  namesOfRow: readonly string[],
  toId: (name: string) => string,
): readonly string[] {
  if (namesForAll.length + namesOfRow.length === 0) return none;
  return [...new Set([...namesForAll, ...namesOfRow].map(toId))];
}

const none: readonly string[] = [];

/** @throws NoListError */
function requireList({ lists }: Pick<Survey, "lists">, account: Account): void {
  if (lists.size > 0) return;
  throw new NoListError(async () => {
    const all = await account.lists(await account.structure());
    return all.map(({ name }) => name);
  });
}
