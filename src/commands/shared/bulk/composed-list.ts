/** What follows on a run that composed a list, and on its undoing: sources that go, and the new list. */

import { createEquals, createFilter } from "../../../api/contacts.ts";
import { deleteList } from "../../../api/lists.ts";
import type { Closed, ComposeOptions, Manifest } from "../../../bulk/index.ts";
import type { Connection, Context } from "../../../context.ts";
import { formatCount, formatCounted } from "../../../counts.ts";
import { EcmError, exitCodes, UsageError } from "../../../errors.ts";
import { advise, ecm, formatCommand, toOperands } from "../../../hint.ts";
import { readSearchPages } from "../../../service/contact-pages.ts";
import { fetchAllLists, fetchList } from "../../../service/list-pages.ts";
import type { ContactList } from "../../../wire.ts";
import { addFlagsToCommand } from "../command-line.ts";

type RunInFolder = { manifest: Manifest; folder: string };

/** Reports the new list; deletes the sources if requested, once all of their contacts are in the new list. */
export async function finishComposing(
  context: Context,
  { into, sources, deleteSources }: ComposeOptions,
  { summary, stop }: Closed,
): Promise<void> {
  if (stop || summary.run === null || summary.status !== "completed" || summary.rows.rejected > 0) return;
  const { terminal, folders } = context;
  const { findRun } = await import("../../../bulk/index.ts");
  const run = await findRun(folders.state, summary.run);
  const connection = await context.connect();
  const { structureId } = run.manifest.account;
  const _id = await findNewListId(connection, run, into);
  if (_id === undefined) return;
  const members = await countListMembers(connection, structureId, [_id]);
  terminal.note(`The list ${JSON.stringify(into)} has ${formatCounted(members, "contact")}`);
  if (!deleteSources) return;
  for (const { _id: sourceId } of sources) {
    const source = await fetchList(connection.send, structureId, sourceId, connection.behaviors(structureId));
    if (!source) continue;
    await requireCovered(connection, structureId, source, { _id, name: into });
    await deleteList(connection.send, structureId, sourceId);
    terminal.note(`Deleted the list ${JSON.stringify(source.name)}`);
  }
  connection.account.forget();
}

/**
 * From what the run has kept of names: the list may have another by
 * now. Where that is lost, the list of this name.
 */
async function findNewListId(
  { send, behaviors }: Connection,
  { manifest, folder }: RunInFolder,
  into: string,
): Promise<string | undefined> {
  const { readRunNames } = await import("../../../bulk/index.ts");
  const { lists } = await readRunNames(folder);
  const storedId = Object.keys(lists).find((id) => lists[id] === into);
  if (storedId !== undefined) return storedId;
  const { structureId } = manifest.account;
  const all = await fetchAllLists(send, structureId, behaviors(structureId));
  return all.find(({ name }) => name === into)?._id;
}

/** Before an undo: without their old lists, people would be in none. @throws UsageError */
export async function requireUndoableList(context: Context, { kind, options }: Manifest): Promise<void> {
  if (kind !== "merge" || options.deleteSources !== true) return;
  const { sources, into } = options as unknown as ComposeOptions;
  const { account } = await context.connect();
  const lists = await account.lists(await account.structure());
  const gone = sources.filter(({ _id }) => !lists.some((list) => list._id === _id));
  if (gone.length === 0) return;
  throw new UsageError(
    `The source lists were deleted (${gone.map((list) => JSON.stringify(list.name)).join(", ")}): an undo would leave their contacts in no list`,
    advise`To empty the new list anyway: ${ecm`contact mutate --list ${into} --remove-list ${into}`}`,
  );
}

/** Requests that follow on an undo: the new list, its members, and its deletion. */
export function countRequestsAfterUndo({ kind }: Manifest, deletesCreated: boolean): number {
  if (kind !== "merge" && kind !== "duplicate") return 0;
  return deletesCreated ? 3 : 2;
}

/** After an undo: the new list stays and is named; with `--delete-created` it goes when it is empty. */
export async function finishUndoingList(
  context: Context,
  undone: RunInFolder,
  { summary, stop }: Closed,
  deletesCreated: boolean,
): Promise<void> {
  const { kind, options, account: of } = undone.manifest;
  if ((kind !== "merge" && kind !== "duplicate") || stop || summary.status !== "completed") return;
  const connection = await context.connect();
  const { account, send } = connection;
  const { into } = options as unknown as ComposeOptions;
  const _id = await findNewListId(connection, undone, into);
  const list =
    _id === undefined
      ? undefined
      : await fetchList(send, of.structureId, _id, connection.behaviors(of.structureId));
  if (!list) return;
  const members = await countListMembers(connection, of.structureId, [list._id]);
  const isEmpty = members === 0 && !list.totalContacts;
  const name = JSON.stringify(list.name);
  if (deletesCreated && isEmpty) {
    await deleteList(send, of.structureId, list._id);
    account.forget();
    return context.terminal.note(`Deleted the list ${name}`);
  }
  const holds = isEmpty ? "empty" : formatCounted(Math.max(members, list.totalContacts ?? 0), "contact");
  const deletion = addFlagsToCommand(ecm`lists delete ${toOperands(list.name)}`, context.settings);
  context.terminal.note(`The list ${name} stays (${holds}); delete it with: ${formatCommand(deletion)}`);
}

/** Whoever applies the plan file would wait for it in vain. */
export function noteListsInNoPlan({ terminal, settings }: Context, lists: readonly string[]): void {
  const deletion = addFlagsToCommand(ecm`lists delete ${toOperands(...lists)}`, settings);
  terminal.note(
    `The plan holds changes of contacts: applying it deletes no list. After it, delete with: ${formatCommand(deletion)}`,
  );
}

/** How many are in all of these lists. */
async function countListMembers(
  { send, behaviors }: Connection,
  structureId: string,
  listIds: string[],
): Promise<number> {
  const filters = createFilter(...listIds.map((_id) => createEquals("LIST_ID", [_id])));
  const read = readSearchPages(send, { structureId, filters, source: ["_id"] }, behaviors(structureId));
  return (await read(1, 1)).total ?? 0;
}

/** Contacts may have been added since the members were read. @throws EcmError (exit 6) */
async function requireCovered(
  connection: Connection,
  structureId: string,
  source: ContactList,
  list: { _id: string; name: string },
): Promise<void> {
  const [all, moved] = [
    await countListMembers(connection, structureId, [source._id]),
    await countListMembers(connection, structureId, [source._id, list._id]),
  ];
  if (Math.max(all, source.totalContacts ?? 0) <= moved) return;
  const missing = Math.max(all, source.totalContacts ?? 0) - moved;
  throw new EcmError(
    exitCodes.conflict,
    `The list ${JSON.stringify(source.name)} was not deleted: ${formatCount(missing)} of its contacts ${missing === 1 ? "is" : "are"} not in ${JSON.stringify(list.name)}`,
    {
      type: "ListChangedError",
      applied: "no",
      hint: advise`Add them with: ${ecm`contact mutate --list ${source.name} --add-list ${list.name}`}; then: ${ecm`lists delete ${toOperands(source.name)}`}`,
    },
  );
}
