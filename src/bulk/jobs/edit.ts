/** The same done to many contacts: a change, an unsubscription, a deletion. An input names them, or conditions choose them. */

import { mutateBody, type WantedChanges } from "../../service/contact-changes.ts";
import { isInactive, statusOf, statusParts, unsubscribed, wholeContact } from "../../service/contacts.ts";
import { resolveSelection, type Selection, type WantedSelection } from "../../service/selection.ts";
import { parseWhere } from "../../service/where.ts";
import type { Contact, MutateBody } from "../../wire.ts";
import { openInput, understandKeys } from "../input/index.ts";
import type { DesiredContact } from "../items.ts";
import { desiredOfMutate } from "../plan/decide.ts";
import { type FileOfKeys, readOptionsOf } from "./file-of-keys.ts";
import type { ContactEdit, ResolvedJob, RowJob } from "./job.ts";

export interface EditOptions {
  kind: "mutate" | "unsubscribe" | "delete";
  /** Names the contacts. Absent: the conditions choose them from the whole account. */
  input?: RowJob["input"];
  /** One key or id on each line, and no header to be looked for. */
  isPlain?: boolean;
  /** As typed. */
  conditions?: TypedConditions;
  /** Of a mutate: the changes as typed, or the body as given. */
  wanted?: WantedChanges | { body: MutateBody };
  /** How the file is read; by default as it says itself. */
  read?: FileOfKeys;
  /** Add to lists whom the file marks as not subscribed, too. */
  includeUnsubscribed?: boolean;
}

export type TypedConditions = Omit<WantedSelection, "where"> & { where?: string };

/** @throws UsageError for a condition whose grammar is wrong */
export async function editJob(options: EditOptions): Promise<RowJob> {
  const { kind, input, isPlain, conditions = {}, wanted, read, includeUnsubscribed } = options;
  const where = conditions.where === undefined ? undefined : await parseWhere(conditions.where);
  const outline = {
    kind,
    input: input ?? { name: inWords(conditions) },
    isWithoutInput: input === undefined,
  };
  /** @param desired what a mutate wants of every contact */
  const jobFor = (
    selection: Selection,
    source: string[],
    desired: DesiredContact | undefined,
  ): ResolvedJob => ({
    ...outline,
    understand: (opened, structure) =>
      understandKeys(
        opened,
        {
          ...readOptionsOf(read),
          hasNoHeader: isPlain,
          takesIds: true,
          // Nobody who left is added to a list; anything else may be changed about them.
          readsConsent: (desired?.addLists.length ?? 0) > 0,
        },
        structure,
      ),
    options: {
      wanted,
      isPlain,
      conditions: hasConditions(conditions) ? conditions : undefined,
      read,
      includeUnsubscribed,
    },
    duplicates: "first",
    lists: [],
    tags: [],
    createMissing: false,
    decide: { mode: "update", missing: input === undefined ? "skip" : "reject" },
    source: () => source,
    desiredContactOf: (row) =>
      row.notSubscribed === undefined || includeUnsubscribed
        ? desired!
        : { ...desired!, isNotSubscribed: true },
    notSubscribedAre: includeUnsubscribed
      ? "added like any other (--include-unsubscribed)"
      : "added to no list",
    listIds: () => (desired ? [...desired.addLists, ...desired.removeLists] : []),
    selection,
    edit: { mutate: undefined, unsubscribe: unsubscription, delete: deletion }[kind],
    desiredOfAll: desired && (() => desired),
  });
  return {
    ...outline,
    open: input && ((file) => openInput(file, readOptionsOf(read))),
    async resolve(account) {
      const body = wanted && ("body" in wanted ? wanted.body : await mutateBody(account, wanted));
      const structure = await account.structure();
      const selection = await resolveSelection(account, structure, { ...conditions, where });
      // Read now, so that the price counts what the backup needs.
      if (kind === "delete") await Promise.all([account.lists(structure), account.complete(structure)]);
      const changed = body ? sourceOf(body) : [];
      const parts = kind === "delete" ? wholeContact : [...changed, ...statusParts, ...selection.needs];
      const source = [...new Set(parts)].filter((part) => part !== "_id" && part !== "key");
      return jobFor(selection, source, body && desiredOfMutate(body));
    },
  };
}

/** From a manifest, for `runs resume`. */
export function editOptionsFrom(
  kind: EditOptions["kind"],
  record: Record<string, unknown>,
  input: RowJob["input"],
  isWithoutInput: boolean,
): EditOptions {
  return {
    ...(record as Omit<EditOptions, "kind" | "input">),
    kind,
    input: isWithoutInput ? undefined : input,
  };
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
  hidden: { kind: "skip", code: "exists_hidden" },
  missing: { kind: "reject", code: "not_found", message: "no contact has this key or id" },
  decide: (found: Partial<Contact>) =>
    isInactive(found)
      ? { kind: "leave" }
      : { kind: "status", contactId: found._id!, status: unsubscribed, before: statusOf(found) },
};

/** The conditions as a person would say them: what `runs list` shows in place of a file. */
function inWords({ list, tag, status, where }: TypedConditions): string {
  const words = [
    ...(list ?? []).map((name) => `--list ${name}`),
    ...(tag ?? []).map((name) => `--tag ${name}`),
    ...(status === undefined ? [] : [`--status ${status}`]),
    ...(where === undefined ? [] : [`--where ${JSON.stringify(where)}`]),
  ];
  return words.length === 0 ? "all contacts" : words.join(" ");
}

function sourceOf(body: MutateBody): string[] {
  const source: string[] = [];
  if (body.updateFields) source.push("fields");
  if (body.addLists || body.removeLists) source.push("lists");
  if (body.addTags || body.removeTags) source.push("tags");
  return source;
}
