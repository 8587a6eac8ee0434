/**
 * A new list of everyone in other lists: `lists duplicate` and `lists merge`. Composed of a creation and a
 * run over the members, since the service's own endpoints for them are not documented enough to be trusted.
 */

import { statusParts } from "../../api/contacts.ts";
import { requireFreeListName } from "../../api/lists.ts";
import type { Selection } from "../../select/selection.ts";
import type { ListFilters } from "../../service/contact-search.ts";
import { emptyInput } from "../../tables/index.ts";
import type { DesiredContact } from "../items.ts";
import { noChange } from "../plan/decide.ts";
import type { NameBook } from "../plan/name-book.ts";
import type { ResolvedJob, RowJob } from "./job.ts";

export interface ComposeOptions {
  kind: "duplicate" | "merge";
  /** By their ids: a list may be renamed before a run is resumed. */
  sources: { _id: string; name: string }[];
  /** Name of the new list. */
  into: string;
  /** Once everyone is in the new list. */
  deleteSources?: boolean;
}

/** The members of the new list; of each source that goes, the list, two counts and its deletion. */
const requestsAfter = { newList: 1, source: 4 };

/** @param isResumed the new list may exist: an earlier invocation has made it */
export function composeListJob(options: ComposeOptions, isResumed: boolean): RowJob {
  const { kind, sources, into, deleteSources } = options;
  const toDesiredContact = (names: NameBook): DesiredContact => ({
    ...noChange,
    addLists: [names.listId(into)],
  });
  const ids = sources.map(({ _id }) => _id);
  const toSelection = (ofLists: ListFilters): Selection => ({
    filters: ofLists(),
    stored: { lists: ids, tags: [] },
    needs: ["lists"],
    holds: ({ lists }) => lists?.some(({ _id }) => ids.includes(_id)) ?? true,
  });
  const names = sources.map(({ name }) => JSON.stringify(name)).join(", ");
  const toResolvedJob = (selection: Selection): ResolvedJob => ({
    isWithoutInput: true,
    understand: () => Promise.resolve(emptyInput),
    options: { sources, into, deleteSources: deleteSources || undefined },
    requestsAfter: requestsAfter.newList + (deleteSources ? sources.length * requestsAfter.source : 0),
    duplicates: "first",
    lists: [into],
    tags: [],
    createMissing: true,
    decide: { mode: "update", missing: "skip" },
    source: () => ["lists", ...statusParts],
    toDesiredContact: (_row, names) => toDesiredContact(names),
    notSubscribedAre: "chosen anyway",
    listIds: (names) => [...ids, names.listId(into)],
    selection,
    desiredForAll: toDesiredContact,
    // Nobody is in a list that is new, also where searches do not tell a contact's lists.
    chosenLists: [{ _id: ids[0]! }],
  });
  return {
    kind,
    input: { name: `${names} into ${JSON.stringify(into)}` },
    async resolve(account) {
      const structure = await account.structure();
      if (!isResumed) requireFreeListName(into, await account.lists(structure));
      return toResolvedJob(toSelection(await account.anyOfLists(structure, ids)));
    },
  };
}

/** From a manifest, for `runs resume`. */
export function restoreComposeOptions(
  kind: ComposeOptions["kind"],
  record: Record<string, unknown>,
): ComposeOptions {
  return { ...(record as Omit<ComposeOptions, "kind">), kind };
}
