/** Contacts that conditions choose: the account's pages are read once, kept with the run, and decided on from there. */
import { rm } from "node:fs/promises";
import type { Contact } from "../../wire.ts";
import { type Lookup, longestKeptMilliseconds } from "../account/lookup.ts";
import { readAllPages } from "../account/read-account.ts";
import { type AccountSnapshot, openSnapshot, type SnapshotOptions } from "../account/snapshot.ts";
import { identityReader } from "../input/keys.ts";
import { type Item, inBatches, type Work } from "../items.ts";
import { isChosen } from "./row-job.ts";
import { pagesOf, type RowRun } from "./row-run.ts";

export interface SelectedItem extends Item {
  /** As the page had it. */
  contact: Partial<Contact>;
}

export interface Selected {
  count: number;
  work: Work<SelectedItem>;
}

/** How often the pages are read when contacts come and go meanwhile. */
const mostPasses = 3;

/**
 * Reads every page that the service's filters let through. Contacts that others add or remove meanwhile move the rest from page
 * to page: then all is read again, so that nobody is passed over.
 * @param isBegun a write was decided on these pages already: they are taken as they are
 */
export async function readSelected(
  rowRun: RowRun,
  file: string,
  options: SnapshotOptions,
  isBegun: boolean,
): Promise<AccountSnapshot> {
  const { clock, job } = rowRun;
  const pages = { ...pagesOf(rowRun), filters: job.selection!.filters };
  let snapshot = await openSnapshot(file, options);
  const age = clock.now() - snapshot.takenAt;
  const isFresh = age >= 0 && age < longestKeptMilliseconds;
  if (isBegun || (isFresh && snapshot.isWhole())) return snapshot;
  for (let pass = 1; ; pass++) {
    snapshot.close();
    await rm(file, { force: true });
    snapshot = await openSnapshot(file, options);
    try {
      await readAllPages(snapshot, pages);
    } catch (error) {
      snapshot.close();
      throw error;
    }
    if (snapshot.isWhole()) return snapshot;
    if (pass < mostPasses) continue;
    rowRun.emit({
      kind: "remark",
      text: "The account changed while it was read; contacts that were added or removed in the meantime may be missing",
    });
    return snapshot;
  }
}

/** Everyone on the pages for whom the conditions hold. A contact's place on the pages names it in the journal. */
export function selectedWork(snapshot: AccountSnapshot, { job, names, structure }: RowRun): Selected {
  const identityOf = identityReader(structure.keyType);
  const edit = job.edit!;
  function* items(): Generator<SelectedItem> {
    // A contact that moved to another page was read twice.
    const seen = snapshot.isWhole() ? undefined : new Set<string>();
    let place = 0;
    for (const contact of snapshot.all()) {
      place++;
      if (seen?.has(contact._id ?? "")) continue;
      seen?.add(contact._id ?? "");
      if (!isChosen(job, contact)) continue;
      const key = contact.key ?? "";
      yield { ref: place, key: { written: key, sent: key, identity: identityOf(key) }, contact };
    }
  }
  let count = 0;
  for (const _item of items()) count++;
  return {
    count,
    work: {
      batches: () => inBatches(items()),
      decide(_item, found) {
        if (!found) return edit.missing;
        return isChosen(job, found) ? edit.decide(found, names) : { kind: "skip", code: "not_selected" };
      },
    },
  };
}

/** Knows every chosen contact from its page. */
export function selectedLookup(lookup: Lookup): Lookup {
  const known = (item: Item) => ({ contact: (item as SelectedItem).contact, isKept: true });
  return Object.assign(Object.create(lookup) as Lookup, {
    known,
    find: async (items: readonly Item[]) => new Map(items.map((item) => [item.ref, known(item)])),
  });
}
