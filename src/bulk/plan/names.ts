/** Names of lists and tags, in a file's cells or in flags → ids. What is missing is created, or is an error that names all of it. */
import { EcmError, exitCodes, NotFoundError, ServiceError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import { ensureLists, ensureParts } from "../../service/create-names.ts";
import { requestsToLookAgain } from "../../service/list-pages.ts";
import { requireFreeListName } from "../../service/lists.ts";
import { closest, findByName, fold, resolveTag } from "../../service/names.ts";
import type { ContactList, ContactStructure, Send } from "../../wire.ts";
import { type NewField, newFieldId, newFieldLabel } from "../read/new-fields.ts";

export interface NameBook {
  listId(name: string): string;
  tagId(name: string): string;
  /** The id behind the stand-in of a field that was created; any other id, and a stand-in until then, as it is. */
  fieldId(id: string): string;
  /** Of every list that exists so far. */
  listIds(): string[];
  /** Requests that a real run would need to make what is missing; 0 once it is made. */
  readonly requestsToCreate: number;
  readonly missing: MissingNames;
  /** Every name that has a stand-in. */
  readonly creations: Creation[];
  /** Creates what is missing: one request for each list, and looks before and after; one for all fields and tags. */
  create(): Promise<void>;
  /** Its id once it exists. */
  idOf(creation: Creation): string;
}

/** A list, a tag or a field that does not exist yet. */
export interface Creation {
  what: "list" | "tag" | "field";
  name: string;
  dataType?: string;
}

/** A list or tag that the account does not have. */
export interface MissingName {
  name: string;
  /** One that the account has and whose name is nearly the same. */
  near?: string;
  /** What it would be if a semicolon or a bar in it separated several names. */
  parts?: string[];
}

export interface MissingNames {
  lists: MissingName[];
  tags: MissingName[];
  /** Fields that a person has agreed to create. */
  fields: readonly NewField[];
}

/** What is missing, where nobody has agreed to create it. */
export class MissingNamesError extends NotFoundError {
  readonly missing: MissingNames;

  constructor(missing: MissingNames) {
    const { lists, tags } = missing;
    const parts = [partOf("list", lists), partOf("tag", tags)].filter((part) => part !== "");
    const hints = [...doubtsAbout(missing), "Fix the names, or create what is missing with --create-missing"];
    super(`The account has no ${parts.join(", and no ")}`, hints.join("; "));
    this.missing = missing;
  }
}

export interface NameBookOptions {
  send: Send;
  account: Account;
  structure: ContactStructure;
  lists: Iterable<string>;
  tags: Iterable<string>;
  /** Without it a missing name is an error. */
  createMissing: boolean;
  /** Lists that are missing must be new: one that others create meanwhile is not taken for them. */
  isNew?: boolean;
  /** Created whatever `createMissing` says. */
  fields?: readonly NewField[];
}

/** The names that a plan creates, as far as the account does not have them by now. */
export async function openPlannedNames({
  creations,
  ...place
}: Pick<NameBookOptions, "send" | "account"> & { creations: readonly Creation[] }): Promise<NameBook> {
  const named = (what: Creation["what"]) => creations.filter((each) => each.what === what);
  return openNameBook({
    ...place,
    structure: await place.account.structure(),
    lists: named("list").map(({ name }) => name),
    tags: named("tag").map(({ name }) => name),
    fields: named("field").map(({ name, dataType = "text" }) => ({ label: name, dataType })),
    createMissing: true,
  });
}

/** What is not made yet has a stand-in for its id. No id holds a blank. */
const newList = "new list ";
const newTag = "new tag ";

/** The name behind a stand-in; undefined for an id. */
export function standInName(id: string): string | undefined {
  for (const start of [newList, newTag]) if (id.startsWith(start)) return id.slice(start.length);
  return newFieldLabel(id);
}

/** A lost answer may hide a list that was made: the lists are fetched again before another try. */
const mostTries = 3;

/** @throws MissingNamesError naming everything that is missing, unless it is to be created; UsageError for a name that means two things */
export async function openNameBook(options: NameBookOptions): Promise<NameBook> {
  const { send, account, createMissing, isNew = false, fields = [] } = options;
  const listIds = new Map<string, string>();
  const tagIds = new Map<string, string>();
  const fieldIds = new Map<string, string>();
  const wantedLists = [...new Set(options.lists)];
  const wantedTags = [...new Set(options.tags)];
  let { structure } = options;

  let lists: ContactList[] = [];

  async function look(): Promise<void> {
    lists = wantedLists.length > 0 ? await account.lists(structure) : [];
    if (wantedTags.length > 0) structure = await account.complete(structure);
    for (const name of wantedLists) {
      const id = findByName(name, lists, (list) => list.name, "list")?._id;
      if (id) listIds.set(name, id);
    }
    noteTags();
  }

  async function makeMissing(mustBeNew: boolean): Promise<void> {
    const lists = wantedLists.filter((name) => !listIds.has(name));
    if (lists.length > 0) {
      const ensured = await ensureLists(send, account, structure, lists);
      const taken = lists.find((name) => !ensured.created.has(name));
      if (taken !== undefined && mustBeNew) requireFreeListName(taken, [...ensured.lists.values()]);
      for (const [name, list] of ensured.lists) listIds.set(name, list._id);
    }
    const tags = wantedTags.filter((name) => !tagIds.has(name));
    if (tags.length + fields.length > 0)
      structure = await ensureParts(send, account, structure, { fields: [...fields], tags });
    noteTags();
    for (const { label } of fields) {
      const id = findByName(label, structure.fields, (field) => field.label, "field")?._id;
      if (id) fieldIds.set(newFieldId(label), id);
    }
  }

  function noteTags(): void {
    for (const name of wantedTags) {
      const id = findTag(structure, name)?._id;
      if (id) tagIds.set(name, id);
    }
  }

  /** Before and after the creation, where one request tells how many lists there are. */
  function requestsToLook(created: number): number {
    if (created === 0) return 0;
    const reading = account.lastReading(structure);
    if (!reading || reading.hasTotal) return (reading?.requests ?? 1) + 1;
    return reading.requests + requestsToLookAgain(reading, created);
  }

  await look();
  const isTagMissing = wantedTags.some((name) => !tagIds.has(name));
  // Read before the price is said.
  if ((createMissing && isTagMissing) || fields.length > 0) structure = await account.forUpdate(structure);
  const missing = {
    lists: missingAmong(
      wantedLists.filter((name) => !listIds.has(name)),
      lists.map((list) => list.name),
    ),
    tags: missingAmong(
      wantedTags.filter((name) => !tagIds.has(name)),
      structure.tags?.map((tag) => tag.label) ?? [],
    ),
    fields,
  };
  if (!createMissing && missing.lists.length + missing.tags.length > 0) throw new MissingNamesError(missing);
  const isPartMissing = missing.tags.length + fields.length > 0;
  let isMade = false;
  const creations: Creation[] = [
    ...fields.map(({ label, dataType }) => ({ what: "field" as const, name: label, dataType })),
    ...wantedLists.filter((name) => !listIds.has(name)).map((name) => ({ what: "list" as const, name })),
    ...wantedTags.filter((name) => !tagIds.has(name)).map((name) => ({ what: "tag" as const, name })),
  ];

  return {
    // What is not created yet is named by its placeholder: a dry run only counts.
    listId: (name) => listIds.get(name) ?? `${newList}${name}`,
    tagId: (name) => tagIds.get(name) ?? `${newTag}${name}`,
    listIds: () => [...new Set(listIds.values())],
    fieldId: (id) => fieldIds.get(id) ?? id,
    get requestsToCreate() {
      if (isMade) return 0;
      const created = missing.lists.length;
      return created + requestsToLook(created) + (isPartMissing ? 1 : 0);
    },
    missing,
    creations,
    idOf: ({ what, name }) => {
      const id =
        what === "list"
          ? listIds.get(name)
          : what === "tag"
            ? tagIds.get(name)
            : fieldIds.get(newFieldId(name));
      if (id === undefined) throw new Error(`the ${what} ${JSON.stringify(name)} was not created`);
      return id;
    },
    async create() {
      if (creations.length === 0) return;
      for (let tries = 1; ; tries++) {
        try {
          // A lost answer may have hidden that it was made.
          await makeMissing(isNew && tries === 1);
          isMade = true;
          return;
        } catch (error) {
          if (tries === mostTries || !mayBeTriedAgain(error)) throw error;
          account.forget();
          structure = await account.structure(structure._id);
        }
      }
    },
  };
}

/** @throws NotFoundError where the service does not say which tags there are: what is not known is not missing */
function findTag(structure: ContactStructure, name: string) {
  const { tags } = structure;
  return tags ? findByName(name, tags, (tag) => tag.label, "tag") : resolveTag(structure, name);
}

/** How operations name what does not exist yet. */
export function standInFor({ what, name }: Creation): string {
  if (what === "field") return newFieldId(name);
  return `${what === "list" ? newList : newTag}${name}`;
}

/** Names that differ in letter case alone mean one thing. */
function missingAmong(wanted: string[], there: string[]): MissingName[] {
  const byFold = new Map(wanted.toReversed().map((name) => [fold(name), name]));
  return [...byFold.values()].toReversed().map((name) => {
    const near = slipOf(name, there);
    const parts = name
      .split(/[;|]/)
      .map((part) => part.trim())
      .filter((part) => part !== "");
    return { name, ...(near !== undefined && { near }), ...(parts.length > 1 && { parts }) };
  });
}

function mayBeTriedAgain(error: unknown): boolean {
  if (!(error instanceof EcmError)) return false;
  if (error instanceof ServiceError && error.status < 500) {
    return error.type === "ConcurrencyError" || error.type === "DuplicateFieldError";
  }
  return error.details.applied !== undefined && error.exitCode !== exitCodes.conflict;
}

function partOf(kind: string, names: MissingName[]): string {
  if (names.length === 0) return "";
  return `${kind}${names.length > 1 ? "s" : ""} ${names.map(({ name }) => JSON.stringify(name)).join(", ")}`;
}

/** The name that was probably meant. Short names, and names that differ in their numbers, are meant as they are. */
function slipOf(name: string, there: string[]): string | undefined {
  if (name.length < 4) return undefined;
  const near = closest(name, there);
  const letters = (text: string) => fold(text).replace(/\d+/g, "");
  return near !== undefined && letters(near) !== letters(name) ? near : undefined;
}

/** Names that may be misspelled, and cells that may hold several names, each in a sentence. */
export function doubtsAbout({ lists, tags }: Pick<MissingNames, "lists" | "tags">): string[] {
  const doubts: string[] = [];
  for (const { name, near } of [...lists, ...tags]) {
    if (near !== undefined) doubts.push(`${JSON.stringify(name)}: did you mean ${JSON.stringify(near)}?`);
  }
  for (const { name, parts } of [...lists, ...tags]) {
    if (parts) {
      doubts.push(
        `${JSON.stringify(name)} is read as one name; several names in a cell are separated by commas: "${parts.join(", ")}"`,
      );
    }
  }
  return doubts.length > doubtsShown
    ? [...doubts.slice(0, doubtsShown), `and ${doubts.length - doubtsShown} more`]
    : doubts;
}

const doubtsShown = 10;
