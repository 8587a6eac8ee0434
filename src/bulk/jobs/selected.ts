/**
 * Contacts that conditions choose: the account's pages are read once,
 * and kept with the run until its plan is closed.
 */
import { rm } from "node:fs/promises";
import { readAllPages } from "../plan/lookup.ts";
import { type AccountSnapshot, openSnapshot, type SnapshotOptions } from "../plan/snapshot.ts";
import { type RowRun, readContactPages } from "./prepare.ts";

/** How often the pages are read when contacts come and go meanwhile. */
const maxPasses = 3;

/**
 * Reads every page that the service's filters let through. Contacts that others add or remove meanwhile move
 * the rest from page to page: then all is read again, so that nobody is passed over.
 */
export async function readSelected(
  rowRun: RowRun,
  file: string,
  options: SnapshotOptions,
): Promise<AccountSnapshot> {
  const { clock, job } = rowRun;
  const pages = { ...readContactPages(rowRun), filters: job.selection!.filters, lists: job.chosenLists };
  let snapshot = await openSnapshot(file, options);
  if (snapshot.isRecent(clock.now()) && snapshot.isWhole()) return snapshot;
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
    if (pass < maxPasses) continue;
    rowRun.emit({
      kind: "remark",
      text: "The account changed while it was read; contacts that were added or removed in the meantime may be missing",
    });
    return snapshot;
  }
}
