/** What an import wants of each row. */

import { statusParts } from "../../api/contacts.ts";
import { UsageError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import {
  type Duplicates,
  openInput,
  type ReadOptions,
  type Row,
  requireClearConsent,
  type Survey,
  understandInput,
} from "../../tables/index.ts";
import type { Desired } from "../desired.ts";
import type { NameBook } from "../plan/names.ts";
import type { PlanMapping } from "../plan/plan-file.ts";
import { computeFingerprint } from "../runs/folder.ts";
import { toValues } from "../values.ts";
import type { ResolvedJob, RowJob } from "./job.ts";

type Mode = "upsert" | "create" | "update";

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
  includeSuppressed?: boolean;
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
  const { input, read, lists, tags, createMissing, duplicates } = options;
  const resolved: ResolvedJob = {
    understand: (opened, structure) => understandInput("contacts", opened, read, structure),
    options: toImportRecord(options),
    mapping: mappingRecord(options),
    duplicates,
    lists,
    tags,
    createMissing,
    newFields: read.newFields,
    source: (survey) => toSource(options, survey),
    toDesired: (row, names) => toDesired(row, names, options),
    listIds: (names) => names.listIds(),
    notSubscribedAre: toSubscriptionRule(options),
    leavesOutSuppressed: !options.includeSuppressed,
  };
  return {
    kind: "import",
    input,
    open: (file) => openInput(file, read),
    requireOpened: (opened) => requireClearConsent(opened, read, "contacts"),
    async resolve(account) {
      return {
        ...resolved,
        ...(options.asksList && { requireInput: (survey) => requireList(survey, account) }),
      };
    },
  };
}

/** What becomes of rows that are marked as not subscribed. */
function toSubscriptionRule({
  includeUnsubscribed,
  mode,
}: Pick<ImportOptions, "mode"> & { includeUnsubscribed?: boolean }): string {
  if (includeUnsubscribed) return "imported like any other (--include-unsubscribed)";
  return mode === "update" ? "added to no list" : "not created";
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
  return {
    ...options,
    // Where a target is written changes nothing.
    read: { ...read, map: [...read.map], mapPlaces: undefined, newFields: undefined, isReviewed: undefined },
  };
}

/** What the plan says of where columns go; undefined where every column goes by its name. */
function mappingRecord({ read: { map, splits = [], set = [] } }: ImportOptions): PlanMapping | undefined {
  if (map.size + set.length === 0) return undefined;
  const mapping = { columns: Object.fromEntries(map), splits, set };
  return { digest: `sha256:${computeFingerprint(mapping)}`, ...mapping };
}

/** The inverse, for `runs resume`. */
export function restoreImportOptions(record: Record<string, unknown>, input: RowJob["input"]): ImportOptions {
  const { read, ...options } = record as ImportRecord;
  return { ...options, input, read: { ...read, map: new Map(read.map) } };
}

function toSource(options: ImportOptions, survey: Survey): string[] {
  const source = ["fields", ...statusParts, "createdAt"];
  if (options.lists.length > 0 || survey.lists.size > 0) source.push("lists");
  if (options.tags.length > 0 || survey.tags.size > 0) source.push("tags");
  return source;
}

function toDesired(row: Row, names: NameBook, options: ImportOptions): Desired {
  const { mode, lists, tags, read, includeUnsubscribed } = options;
  const fieldValues = options.blank === "clear" ? row.fields : withoutBlanks(row.fields);
  const toId = read.newFields && ((id: string) => names.fieldId(id));
  return {
    values: toValues({
      fields: toId ? new Map([...fieldValues].map(([id, value]) => [toId(id), value])) : fieldValues,
      addLists: mergeIds(lists, row.lists, (name) => names.listId(name)),
      addTags: mergeIds(tags, row.tags, (name) => names.tagId(name)),
    }),
    absent: mode === "update" ? { skip: "missing" } : "create",
    present: mode === "create" ? { skip: "exists" } : "change",
    // Nobody can be made active again: a cell that is not understood is not enough.
    mayJoinLists: row.notSubscribed === undefined || includeUnsubscribed,
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
