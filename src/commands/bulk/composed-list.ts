/** What follows on a run that composed a list, and on its undoing: sources that go, and the new list. */
import type { Closed } from "../../bulk/engine/finish.ts";
import type { ComposeOptions } from "../../bulk/jobs/compose-list.ts";
import type { Manifest } from "../../bulk/runs/folder.ts";
import type { Connection, Context } from "../../context.ts";
import { EcmError, exitCodes, UsageError } from "../../errors.ts";
import { allOf, equals, readSearch, searchContactsRequest } from "../../service/contacts.ts";
import { deleteList } from "../../service/lists.ts";
import { shellArguments, shellWord } from "../../shell-word.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";
import { inSameAccount } from "../command-line.ts";
import { count, counted } from "./words.ts";

/** Reports the new list; deletes the sources if requested, once all of their contacts are in the new list. */
export async function finishComposing(
  context: Context,
  { into, sources, deleteSources }: ComposeOptions,
  { summary, stop }: Closed,
): Promise<void> {
  if (stop || summary.status !== "completed" || summary.rows.rejected > 0) return;
  const { terminal } = context;
  const connection = await context.connect();
  const { account } = connection;
  account.forget();
  const structure = await account.structure();
  const list = await account.list(structure, into);
  const members = await membersOf(connection, structure, [list]);
  terminal.note(`The list ${JSON.stringify(into)} has ${counted(members, "contact")}`);
  if (!deleteSources) return;
  const left = (await account.lists(structure)).filter(({ _id }) =>
    sources.some((source) => source._id === _id),
  );
  for (const source of left) {
    await requireCovered(connection, structure, source, list);
    await deleteList(connection.send, structure._id, source._id);
    terminal.note(`Deleted the list ${JSON.stringify(source.name)}`);
  }
  account.forget();
}

/** Before an undo: without their old lists, people would be in none. @throws UsageError */
export async function requireUndoableList(context: Context, { kind, options }: Manifest): Promise<void> {
  if (kind !== "merge" || options.deleteSources !== true) return;
  const { sources, into } = options as unknown as ComposeOptions;
  const { account } = await context.connect();
  const lists = await account.lists(await account.structure());
  const gone = sources.filter(({ _id }) => !lists.some((list) => list._id === _id));
  if (gone.length === 0) return;
  const name = shellWord(into);
  throw new UsageError(
    `The source lists were deleted (${gone.map((list) => JSON.stringify(list.name)).join(", ")}): an undo would leave their contacts in no list`,
    `To empty the new list anyway: ecm contact mutate --list ${name} --remove-list ${name}`,
  );
}

/** Requests that follow on an undo: the structure, its lists, the members of the new one, and its deletion. */
export function requestsAfterUndo({ kind }: Manifest, deletesCreated: boolean): number {
  if (kind !== "merge" && kind !== "duplicate") return 0;
  return deletesCreated ? 4 : 3;
}

/** After an undo: the new list stays and is named; with `--delete-created` it goes when it is empty. */
export async function finishUndoingList(
  context: Context,
  { kind, options }: Manifest,
  { summary, stop }: Closed,
  deletesCreated: boolean,
): Promise<void> {
  if ((kind !== "merge" && kind !== "duplicate") || stop || summary.status !== "completed") return;
  const connection = await context.connect();
  const { account, send } = connection;
  account.forget();
  const structure = await account.structure();
  const { into } = options as unknown as ComposeOptions;
  const list = (await account.lists(structure)).find(({ name }) => name === into);
  if (!list) return;
  const members = await membersOf(connection, structure, [list]);
  const isEmpty = members === 0 && !list.totalContacts;
  if (deletesCreated && isEmpty) {
    await deleteList(send, structure._id, list._id);
    account.forget();
    return context.terminal.note(`Deleted the list ${JSON.stringify(into)}`);
  }
  const holds = isEmpty ? "empty" : counted(Math.max(members, list.totalContacts ?? 0), "contact");
  const deletion = inSameAccount(`ecm lists delete ${shellArguments(into)}`, context.settings);
  context.terminal.note(`The list ${JSON.stringify(into)} stays (${holds}); delete it with: ${deletion}`);
}

/** How many are in all of these lists. */
async function membersOf(
  { send }: Connection,
  { _id: structureId }: ContactStructure,
  lists: ContactList[],
): Promise<number> {
  const request = searchContactsRequest({
    structureId,
    filters: allOf(...lists.map(({ _id }) => equals("LIST_ID", [_id]))),
    page: 1,
    pageSize: 1,
    source: ["_id"],
  });
  return readSearch(await send(request)).totalRecords;
}

/** Contacts may have been added since the members were read. @throws EcmError (exit 6) */
async function requireCovered(
  connection: Connection,
  structure: ContactStructure,
  source: ContactList,
  list: ContactList,
): Promise<void> {
  const [all, moved] = [
    await membersOf(connection, structure, [source]),
    await membersOf(connection, structure, [source, list]),
  ];
  if (Math.max(all, source.totalContacts ?? 0) <= moved) return;
  const missing = Math.max(all, source.totalContacts ?? 0) - moved;
  throw new EcmError(
    exitCodes.conflict,
    `The list ${JSON.stringify(source.name)} was not deleted: ${count(missing)} of its contacts ${missing === 1 ? "is" : "are"} not in ${JSON.stringify(list.name)}`,
    {
      type: "ListChangedError",
      applied: "no",
      hint: `Add them with: ecm contact mutate --list ${shellWord(source.name)} --add-list ${shellWord(list.name)}; then: ecm lists delete ${shellArguments(source.name)}`,
    },
  );
}
