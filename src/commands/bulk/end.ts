import { createEquals, createFilter } from "../../api/contacts.ts";
import type { Closed, ListDeletion, Manifest, RunStop, StoredRun, Summary } from "../../bulk/index.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount, formatCounted, quote } from "../../counts.ts";
import { diskFullHint } from "../../disk/disk-errors.ts";
import {
  EcmError,
  exitCodes,
  interruptedError,
  isNotOffered,
  toStopSignal,
  usageError,
} from "../../errors.ts";
import { advise, ecm, type Hint, joinHints, toOperands } from "../../hint.ts";
import { readAllContacts, readSearchPages } from "../../service/contact-pages.ts";
import type { ContactSearch } from "../../service/contact-search.ts";
import { deleteList, fetchList, readAllLists } from "../../service/lists.ts";
import { isJson } from "../../terminal/format.ts";
import { version } from "../../version.ts";
import { formatForAccount } from "../help/command-line.ts";

/** Prints the summary where JSON is wanted: however early a run stops, once its input could be opened. */
export async function printSummary(context: Context, summary: Summary | undefined): Promise<void> {
  const { output, terminal } = context;
  const { format } = output();
  if (!summary) return;
  if (isJson(format))
    await terminal.write(`${terminal.mask(JSON.stringify({ ...summary, program: version }))}\n`);
}

/**
 * Does what follows on the run, and ends the command as the run ended: prints the summary, sets the exit
 * code, or throws what stopped it.
 */
export async function endRun(context: Context, result: Closed): Promise<void> {
  const { stop } = result;
  const { run } = result.summary;
  const { allowedBy = [] } = stop?.failure.details ?? {};
  const resume =
    run === null || isNotOffered(stop?.failure)
      ? undefined
      : advise`Resume with: ${ecm`runs resume ${[run, ...allowedBy]}`}`;
  let isLeftOut = false;
  try {
    if (result.after?.length) isLeftOut = await followRun(context, result);
  } catch (error) {
    // Where no list can be deleted, resuming would change nothing.
    const next = isNotOffered(error) ? undefined : resume;
    if (error instanceof EcmError) error.details.hint = joinHints(error.details.hint, next);
    throw error;
  } finally {
    // Printed also where what follows fails.
    await printSummary(context, countAllRequests(context, result));
  }
  if (stop && stop.by !== "max-rejects") throw toStopError(context, stop, resume);
  if (stop) {
    const lines = joinHints(stop.message, stop.failure.details.hint, resume)!;
    context.terminal.note(formatForAccount(lines, context.settings), "needed");
  }
  if (stop || isLeftOut || isIncomplete(result.summary)) context.endWith(exitCodes.rejectedRows);
}

/** With those that followed on the run. The run's own end has said how many were sent until then. */
function countAllRequests(context: Context, { summary, after }: Closed): Summary {
  const { requests } = summary;
  const total = context.requestsSent();
  const more = total - requests.total;
  if (!after?.length || more <= 0) return summary;
  context.terminal.note(`${formatCounted(more, "more request")} sent for the list`);
  return { ...summary, requests: { ...requests, other: requests.other + more, total } };
}

/** Whether somebody who was meant to be written was not, or not in all parts. */
function isIncomplete({ kind, rows, partial = 0, codes: { skipped } }: Summary): boolean {
  const isChanged = kind === "apply" && (skipped.changed ?? 0) > 0;
  const isNotRestored = kind === "undo" && (skipped.suppressed ?? 0) > 0;
  return rows.rejected > 0 || partial > 0 || isChanged || isNotRestored;
}

/** @param resume undefined: nothing can be resumed */
function toStopError({ folders }: Context, { by, failure }: RunStop, resume: Hint | undefined): EcmError {
  const { applied, hint = diskFullHint(failure, folders.state) } = failure.details;
  const why = resume && applied === "unknown" ? "Resuming finds out what was applied" : hint;
  const later = by === "until" ? "Give a later time with --until" : "Run the same command again";
  const isBeforeRun =
    by === "signal" || (failure.exitCode === exitCodes.outOfBudget && !failure.details.isNotOffered);
  const next = resume ?? (isBeforeRun ? `Nothing was written. ${later}` : undefined);
  if (by === "signal") return interruptedError(toStopSignal(failure), joinHints(why, next));
  return new EcmError(failure.kind, failure.message, joinHints(why, next), failure.details);
}

// What follows on a merge of lists that is complete: its sources go.

/** What the steps of a run share. */
interface Following {
  context: Context;
  connection: Connection;
  structureId: string;
  run: StoredRun;
}

/** @returns whether a list that was to be deleted stays */
async function followRun(context: Context, { summary, after = [] }: Closed): Promise<boolean> {
  const { findRun, noteFollowed } = await import("../../bulk/index.ts");
  const run = await findRun(context.folders.state, summary.run!);
  const isWhole = summary.rows.rejected === 0;
  if (!isWhole) context.terminal.note("No list was deleted, since contacts were rejected", "needed");
  const { structureId } = run.manifest.account;
  const following = { context, connection: await context.connect(), structureId, run };
  let stays = false;
  let refusal: EcmError | undefined;
  const left: string[] = [];
  for (const deletion of isWhole ? after : []) {
    try {
      stays = !(await deleteSource(following, deletion)) || stays;
    } catch (error) {
      if (!isNotOffered(error)) throw error;
      refusal = error;
      left.push(quote(deletion.name));
    }
  }
  await noteFollowed(run);
  if (!refusal) return stays;
  refusal.details.hint = `All contacts of ${left.join(", ")} are in ${quote(after[0]!.ifAllIn)}: delete what is left in the service's own pages`;
  throw refusal;
}

/** From what the run has kept of names. Where that is lost, the list of this name. */
async function findNewListId(
  { connection: { send, behaviors }, structureId, run }: Following,
  name: string,
): Promise<string | undefined> {
  const { readingsOf } = await import("../../bulk/index.ts");
  const { lists } = await readingsOf(run).names();
  const storedId = Object.keys(lists).find((id) => lists[id] === name);
  if (storedId !== undefined) return storedId;
  const { lists: all } = await readAllLists(send, structureId, behaviors(structureId));
  return all.find((list) => list.name === name)?._id;
}

const maxNamed = 10;

/**
 * Contacts may have been added since the members were read: then the list stays, and they are named.
 * @returns whether the list is gone
 */
async function deleteSource(following: Following, { _id, ifAllIn: into }: ListDeletion): Promise<boolean> {
  const { context, connection, structureId } = following;
  const { terminal, settings } = context;
  const source = await fetchList(connection.send, structureId, _id, connection.behaviors(structureId));
  const intoId = source && (await findNewListId(following, into));
  if (!source || intoId === undefined) return true;
  const members = await countMembers(following, [_id]);
  const moved = await countMembers(following, [_id, intoId]);
  const missing = Math.max(members, source.totalContacts ?? 0) - moved;
  if (missing <= 0) {
    await deleteList(connection.send, structureId, _id);
    connection.account.forget();
    terminal.note(`Deleted the list ${quote(source.name)}`);
    return true;
  }
  const keys = members > moved ? await findMissingKeys(following, _id, intoId) : [];
  const unnamed = Math.max(missing, keys.length) - Math.min(keys.length, maxNamed);
  const more = unnamed > 0 ? ` and ${formatCount(unnamed)} more` : "";
  const who =
    keys.length === 0 ? ", and no search shows them" : `: ${keys.slice(0, maxNamed).join(", ")}${more}`;
  terminal.note(
    `The list ${quote(source.name)} was not deleted: ${formatCounted(missing, "of its contacts is", "of its contacts are")} not in ${quote(into)}${who}`,
    "needed",
  );
  const add = ecm`contact mutate --list ${source.name} --add-list ${into}`;
  const hint = advise`Add them with: ${add}; then: ${ecm`lists delete ${toOperands(source.name)}`}`;
  terminal.note(formatForAccount(hint, settings), "needed");
  return false;
}

/** The comparison goes by ids: a search need not tell a contact's lists. */
async function findMissingKeys(following: Following, sourceId: string, intoId: string): Promise<string[]> {
  const { connection, structureId } = following;
  const behavior = connection.behaviors(structureId);
  const read = (...listIds: string[]) =>
    readAllContacts(connection.send, searchMembers(following, listIds, ["_id", "key"]), { behavior });
  const moved = new Set<string | undefined>();
  for await (const { _id } of read(sourceId, intoId)) moved.add(_id);
  const keys: string[] = [];
  for await (const { _id, key = "" } of read(sourceId)) if (!moved.has(_id)) keys.push(key);
  return keys;
}

/** Contacts that are in all of these lists. */
function searchMembers(
  { structureId }: Following,
  listIds: readonly string[],
  source: ContactSearch["source"],
): ContactSearch {
  const filters = createFilter(...listIds.map((_id) => createEquals("LIST_ID", [_id])));
  return { structureId, filters, source };
}

async function countMembers(following: Following, listIds: readonly string[]): Promise<number> {
  const { connection, structureId } = following;
  const search = searchMembers(following, listIds, ["_id"]);
  const read = readSearchPages(connection.send, search, connection.behaviors(structureId));
  return (await read(1, 1)).total ?? 0;
}

/** Before an undo: without the lists that the run has deleted, people would be in none. @throws UsageError */
export async function requireUndoableLists(context: Context, { after = [] }: Manifest): Promise<void> {
  if (after.length === 0) return;
  const { account } = await context.connect();
  const lists = await account.lists(await account.structure());
  const gone = after.filter((deletion) => !lists.some(({ _id }) => deletion._id === _id));
  if (gone.length === 0) return;
  const into = gone[0]!.ifAllIn;
  throw usageError(
    `The source lists were deleted (${gone.map(({ name }) => quote(name)).join(", ")}): an undo would leave their contacts in no list`,
    advise`To empty the new list anyway: ${ecm`contact mutate --list ${into} --remove-list ${into}`}`,
  );
}
