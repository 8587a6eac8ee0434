/** Which lists are meant, where the command does not say; and what is said of them before they go. */
import { isDeepStrictEqual } from "node:util";
import { createEquals, createFilter } from "../../api/contacts.ts";
import { requireFreeListName } from "../../api/lists.ts";
import type { AfterStep, EditOptions, RunOptions } from "../../bulk/index.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { isKind } from "../../errors.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import type { Account } from "../../service/account.ts";
import { readSearchPages } from "../../service/contact-pages.ts";
import type { View } from "../../terminal/present.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";
import { type BulkFlags, claimFiles, toRunOptions } from "../flags/bulk.ts";
import {
  type MissingArgument,
  requireChoice,
  requireChoices,
  requireTextOrAsk,
  toChoices,
} from "../flags/questions.ts";

/** The word that was given, else the id of the list that a person chooses. @param verb of the command */
export function requireList(context: Context, typedList: string | undefined, verb: string): Promise<string> {
  return requireChoice(context, typedList, createMissingList(verb), () => readListChoices(context));
}

/** The same for several lists. */
export function requireLists(context: Context, typedLists: string[], verb: string): Promise<string[]> {
  return requireChoices(context, typedLists, createMissingList(verb), () => readListChoices(context));
}

/**
 * Each list once, whatever it was called; all of them are found before anything is done to one.
 * @throws NotFoundError, UsageError
 */
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

/** Such as `"Leads" (1,204 contacts)`. */
export function describeList({ name, totalContacts }: ContactList): string {
  const count =
    totalContacts === undefined ? "number of contacts unknown" : formatCounted(totalContacts, "contact");
  return `${JSON.stringify(name)} (${count})`;
}

/** The list with the number of its contacts; counted with one search where the listing has none. */
export async function describeListWithCount(
  { send, behaviors }: Pick<Connection, "send" | "behaviors">,
  structureId: string,
  list: ContactList,
): Promise<ContactList> {
  if (list.totalContacts !== undefined) return list;
  const filters = createFilter(createEquals("LIST_ID", [list._id]));
  const read = readSearchPages(send, { structureId, filters, source: ["_id"] }, behaviors(structureId));
  return { ...list, totalContacts: (await read(1, 1)).total };
}

function createMissingList(verb: string): MissingArgument {
  return {
    question: `List to ${verb}`,
    what: "the list",
    usage: ecm`lists ${verb} LIST ${verb === "rename" ? ["NAME"] : []}`,
  };
}

async function readListChoices(context: Context) {
  const { account } = await context.connect();
  return toChoices(await account.lists(await account.structure()), (list) => list.name);
}

// How lists look to people.

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

/** The name that was typed, else the one that a person gives. @param usage the whole command */
export function requireNewName(
  context: Context,
  typedName: string | undefined,
  usage: Hint,
): Promise<string> {
  const missing = { question: "Name of the new list", what: "the new list's name", usage };
  return requireTextOrAsk(context, typedName, missing);
}

export async function addToNewList(
  context: Context,
  { sources, into, deletesSources = false, by }: NewListRequest,
  flags: BulkFlags,
): Promise<void> {
  const options = toRunOptions(flags, context.clock.now());
  const { requireAnswer } = await import("../bulk/question.ts");
  requireAnswer(context, deletesSources ? "delete" : "change", options.isDryRun);
  await requirePlaces(context, options, flags);
  const { account } = await context.connect("bulk", options.concurrency);
  const structure = await account.structure();
  const lists = await resolveLists(account, structure, sources).catch((error: unknown) =>
    explainGoneList(context, error, into),
  );
  const names = lists.map(({ name }) => JSON.stringify(name)).join(", ");
  const deletions = deletesSources ? lists.map(({ _id, name }) => toDeletion({ _id, name }, into)) : [];
  const edit: EditOptions = {
    kind: "mutate",
    command: ["lists", by],
    title: `${names} into ${JSON.stringify(into)}`,
    // By their ids: a list may be renamed before the run is resumed.
    conditions: { list: lists.map(({ _id }) => _id) },
    wanted: { newList: into },
    after: [{ what: "count-members", list: { name: into } }, ...deletions],
  };
  const [{ jobs }, { startRun }, { noteListsInNoPlan }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/start.ts"),
    import("../bulk/end.ts"),
  ]);
  const isResumed = !options.isFresh && (await isUnfinished(context, edit, structure._id));
  if (!isResumed) requireFreeListName(into, await account.lists(structure));
  if (deletesSources && !options.isDryRun) {
    await context.confirm(`Delete ${names} after all contacts are in ${JSON.stringify(into)}?`);
  }
  const what = `${by === "merge" ? "Merging" : "Duplicating"} ${edit.title}`;
  await startRun(context, {
    job: await jobs.mutate(edit),
    options,
    flags,
    what,
    danger: "change",
    ended() {
      if (deletesSources && options.isDryRun && flags.plan) noteListsInNoPlan(context, sources);
    },
  });
}

function toDeletion(list: { _id: string; name: string }, ifAllIn: string): AfterStep {
  return { what: "delete-list", list, ifAllIn };
}

/** A run of the same command may have deleted some of its sources, and was killed before the others. */
async function explainGoneList(context: Context, error: unknown, into: string): Promise<never> {
  if (!isKind(error, "not found")) throw error;
  const { listRuns } = await import("../../bulk/index.ts");
  const { profile } = await context.connect();
  const begun = (await listRuns(context.folders.state)).find(
    ({ manifest, isFinished }) =>
      !isFinished &&
      manifest.account.baseUrl === profile.baseUrl.value &&
      manifest.after?.some(({ what, ifAllIn }) => what === "delete-list" && ifAllIn === into),
  );
  if (begun) error.details.hint = advise`Resume with: ${ecm`runs resume ${begun.manifest.id}`}`;
  throw error;
}

/**
 * Found out before the names of the lists are looked up.
 * @throws UsageError for a file that cannot be written
 */
async function requirePlaces(context: Context, options: RunOptions, flags: BulkFlags): Promise<void> {
  const { openPlanOutput } = await import("../bulk/plan.ts");
  claimFiles(context, undefined, flags);
  const plan = await openPlanOutput(context, flags, options.isDryRun);
  await plan.discard();
}

/** Whether the same command has begun already: then the new list may exist. */
async function isUnfinished(
  context: Context,
  { kind, command, conditions, wanted, after }: EditOptions,
  structureId: string,
): Promise<boolean> {
  const { listRuns } = await import("../../bulk/index.ts");
  const { profile } = await context.connect();
  // As a manifest has them.
  const same: unknown = JSON.parse(JSON.stringify({ options: { command, conditions, wanted }, after }));
  return (await listRuns(context.folders.state)).some(
    ({ manifest, isFinished }) =>
      manifest.kind === kind &&
      !isFinished &&
      manifest.account.baseUrl === profile.baseUrl.value &&
      manifest.account.structureId === structureId &&
      isDeepStrictEqual({ options: manifest.options, after: manifest.after }, same),
  );
}
