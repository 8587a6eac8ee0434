/** Which lists are meant where the command does not say, how lists look, new lists of others' contacts. */
import { isDeepStrictEqual } from "node:util";
import { createEquals, createFilter } from "../../api/contacts.ts";
import { requireFreeListName } from "../../api/lists.ts";
import { foldCase } from "../../api/names.ts";
import type { EditOptions, Manifest } from "../../bulk/index.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { EcmError } from "../../errors.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import type { Account } from "../../service/account.ts";
import type { View } from "../../terminal/present.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";
import { type BulkFlags, claimFiles, toRunOptions } from "../flags/bulk.ts";
import { type MissingArgument, requireChoice, requireChoices, toChoices } from "../flags/questions.ts";
import { countContacts } from "../selection/lookups.ts";

/** The word that was given, else the id of the list that a person chooses. @param verb of the command */
export function requireList(context: Context, typedList: string | undefined, verb: string): Promise<string> {
  return requireChoice(context, typedList, createMissingList(verb), () => readListChoices(context));
}

export function requireLists(context: Context, typedLists: string[], verb: string): Promise<string[]> {
  return requireChoices(context, typedLists, createMissingList(verb), () => readListChoices(context));
}

function createMissingList(verb: string): MissingArgument {
  return { what: `List to ${verb}`, usage: ecm`lists ${verb} LIST ${verb === "rename" ? ["NAME"] : []}` };
}

async function readListChoices(context: Context) {
  const { account } = await context.connect();
  return toChoices(await account.lists(await account.structure()));
}

export function toMissingName(usage: Hint): MissingArgument {
  return { what: "Name of the new list", usage };
}

/** Each list once, whatever it was called; all of them are found before anything is done to one. */
export async function resolveLists(
  account: Account,
  structure: ContactStructure,
  namesOrIds: readonly string[],
): Promise<ContactList[]> {
  const found = new Map<string, ContactList>();
  for (const each of namesOrIds) {
    const list = await account.list(structure, each);
    found.set(list._id, list);
  }
  return [...found.values()];
}

/** Such as `"Leads" (1,204 contacts)`; counted with one search where the listing has no number. */
export async function describeList(
  connection: Connection,
  structureId: string,
  { _id, name, totalContacts }: ContactList,
): Promise<string> {
  const filters = createFilter(createEquals("LIST_ID", [_id]));
  const count = totalContacts ?? (await countContacts(connection, structureId, filters));
  return `${JSON.stringify(name)} (${formatCounted(count, "contact")})`;
}

export const listView: View<ContactList> = {
  columns: [
    { name: "name", value: (list) => list.name },
    { name: "totalContacts", title: "contacts", value: (list) => list.totalContacts },
    { name: "_id", title: "id", value: (list) => list._id, isWhole: true, isAside: true },
    { name: "type", value: (list) => list.type, optional: true },
    { name: "createdAt", title: "created", value: (list) => list.createdAt, optional: true, isTime: true },
    { name: "updatedAt", title: "updated", value: (list) => list.updatedAt, optional: true, isTime: true },
    { name: "__v", value: (list) => list.__v, optional: true },
  ],
  id: (list) => list._id,
};

// `lists duplicate` and `lists merge`: a new list, and one edit that adds everybody in the others to it.

interface NewListRequest {
  /** Names or ids. */
  sources: string[];
  into: string;
  deletesSources?: boolean;
  by: "duplicate" | "merge";
}

export async function addToNewList(
  context: Context,
  { sources, into, deletesSources = false, by }: NewListRequest,
  flags: BulkFlags,
): Promise<undefined> {
  const options = toRunOptions(flags, context.clock.now());
  const [{ jobs }, { requireAnswer }, { openPlanSink }, { startRun }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/question.ts"),
    import("../bulk/plan.ts"),
    import("../bulk/start.ts"),
  ]);
  requireAnswer(context, deletesSources ? "delete" : "change", options.isDryRun);
  // A file that cannot be written is found out before the names of the lists are looked up.
  claimFiles(context, undefined, flags);
  await (await openPlanSink(context, flags))?.discard();
  const { account } = await context.connect("bulk", options.concurrency);
  const structure = await account.structure();
  const unfinished = await listUnfinished(context, structure._id);
  const lists = await resolveLists(account, structure, sources).catch(async (error: unknown) => {
    const run = findDeletion(unfinished, sources)?.id;
    if (run && error instanceof EcmError)
      error.details.hint = advise`Where the merge was stopped while it deleted the lists, resume it with: ${ecm`runs resume ${run}`}`;
    throw error;
  });
  const names = lists.map(({ name }) => JSON.stringify(name)).join(", ");
  const edit: EditOptions = {
    kind: "mutate",
    command: ["lists", by],
    title: `${names} into ${JSON.stringify(into)}`,
    // By their ids: a list may be renamed before the run is resumed.
    conditions: { list: lists.map(({ _id }) => _id) },
    wanted: { newList: into },
    after: deletesSources ? lists.map(({ _id, name }) => ({ _id, name, ifAllIn: into })) : undefined,
  };
  const isResumed = !options.isFresh && unfinished.some((run) => isSameEdit(run, edit));
  if (!isResumed) requireFreeListName(into, await account.lists(structure));
  if (deletesSources && !options.isDryRun)
    await context.confirm(`Delete ${names} after all contacts are in ${JSON.stringify(into)}?`);
  await startRun(context, {
    job: await jobs.mutate(edit),
    options,
    flags,
    what: `${by === "merge" ? "Merging" : "Duplicating"} ${edit.title}`,
    danger: "change",
  });
}

/** Runs of this structure that have not come to their end. */
async function listUnfinished(context: Context, structureId: string): Promise<Manifest[]> {
  const { listRuns } = await import("../../bulk/index.ts");
  const { profile } = await context.connect();
  const isHere = ({ account }: Manifest) =>
    account.baseUrl === profile.accountAddress && account.structureId === structureId;
  const runs = await listRuns(context.folders.state);
  return runs.flatMap(({ manifest, isFinished }) => (!isFinished && isHere(manifest) ? [manifest] : []));
}

/** The run that deletes one of these lists: it may have done so. @param sources names or ids */
function findDeletion(runs: readonly Manifest[], sources: readonly string[]): Manifest | undefined {
  const wanted = new Set(sources.map(foldCase));
  return runs.find(({ after = [] }) =>
    after.some(({ _id, name }) => wanted.has(_id) || wanted.has(foldCase(name))),
  );
}

/** Whether the same command has begun a run: then the new list may exist. */
function isSameEdit(run: Manifest, { kind, command, conditions, wanted, after }: EditOptions): boolean {
  // As a manifest has them: what is undefined is left out.
  const asStored = (value: object): unknown => JSON.parse(JSON.stringify(value));
  const same = asStored({ options: { command, conditions, wanted }, after });
  return run.kind === kind && isDeepStrictEqual(asStored({ options: run.options, after: run.after }), same);
}
