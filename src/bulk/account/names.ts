/** Names of lists and tags, in a file's cells or in flags → ids. What is missing is made, or is an error that names all of it. */
import { EcmError, NotFoundError, ServiceError } from "../../errors.ts";
import { type Account, ensureLists, ensureTags } from "../../service/account.ts";
import { findByName, fold } from "../../service/names.ts";
import type { ContactStructure, Send } from "../../wire.ts";

export interface NameBook {
  listId(name: string): string;
  tagId(name: string): string;
  /** Of every list that exists so far. */
  listIds(): string[];
  /** Requests that a real run would need to make what is missing; 0 once it is made. */
  readonly requestsToCreate: number;
  readonly missing: { lists: string[]; tags: string[] };
  /** Makes what is missing: one request for each list, one for all tags. */
  create(): Promise<void>;
}

export interface NameBookOptions {
  send: Send;
  account: Account;
  structure: ContactStructure;
  lists: Iterable<string>;
  tags: Iterable<string>;
  /** Without it a missing name is an error. */
  createMissing: boolean;
}

/** A lost answer may hide a list that was made: the lists are fetched again before another try. */
const mostTries = 3;

/** @throws NotFoundError naming everything that is missing, unless it is to be created; UsageError for a name that means two things */
export async function openNameBook(options: NameBookOptions): Promise<NameBook> {
  const { send, account, createMissing } = options;
  const listIds = new Map<string, string>();
  const tagIds = new Map<string, string>();
  const wantedLists = [...new Set(options.lists)];
  const wantedTags = [...new Set(options.tags)];
  let { structure } = options;

  async function look(): Promise<void> {
    const lists = wantedLists.length > 0 ? await account.lists(structure) : [];
    if (wantedTags.length > 0) structure = await account.complete(structure);
    for (const name of wantedLists) {
      const id = findByName(name, lists, (list) => list.name, "list")?._id;
      if (id) listIds.set(name, id);
    }
    noteTags();
  }

  async function makeMissing(): Promise<void> {
    const lists = wantedLists.filter((name) => !listIds.has(name));
    if (lists.length > 0)
      for (const [name, list] of await ensureLists(send, account, structure, lists))
        listIds.set(name, list._id);
    const tags = wantedTags.filter((name) => !tagIds.has(name));
    if (tags.length > 0) structure = await ensureTags(send, account, structure, tags);
    noteTags();
  }

  function noteTags(): void {
    for (const name of wantedTags) {
      const id = findByName(name, structure.tags ?? [], (tag) => tag.label, "tag")?._id;
      if (id) tagIds.set(name, id);
    }
  }

  await look();
  const missing = {
    lists: withoutTwins(wantedLists.filter((name) => !listIds.has(name))),
    tags: withoutTwins(wantedTags.filter((name) => !tagIds.has(name))),
  };
  if (!createMissing && missing.lists.length + missing.tags.length > 0) throw unknownNames(missing);
  let isMade = false;

  return {
    // What is not made yet stands for itself: a dry run only counts.
    listId: (name) => listIds.get(name) ?? `new list ${name}`,
    tagId: (name) => tagIds.get(name) ?? `new tag ${name}`,
    listIds: () => [...new Set(listIds.values())],
    get requestsToCreate() {
      return isMade ? 0 : missing.lists.length + (missing.tags.length > 0 ? 1 : 0);
    },
    missing,
    async create() {
      if (missing.lists.length + missing.tags.length === 0) return;
      for (let tries = 1; ; tries++) {
        try {
          await makeMissing();
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

/** Names that differ in letter case alone mean one thing. */
function withoutTwins(names: string[]): string[] {
  const byFold = new Map(names.toReversed().map((name) => [fold(name), name]));
  return [...byFold.values()].toReversed();
}

function mayBeTriedAgain(error: unknown): boolean {
  if (!(error instanceof EcmError)) return false;
  if (error instanceof ServiceError && error.status < 500) {
    return error.type === "ConcurrencyError" || error.type === "DuplicateFieldError";
  }
  return error.details.applied !== undefined;
}

function unknownNames({ lists, tags }: { lists: string[]; tags: string[] }): NotFoundError {
  const parts = [partOf("list", lists), partOf("tag", tags)].filter((part) => part !== "");
  return new NotFoundError(
    `the account has no ${parts.join(", and no ")}`,
    "mend the names, or make what is missing with --create-missing",
  );
}

function partOf(kind: string, names: string[]): string {
  if (names.length === 0) return "";
  return `${kind}${names.length > 1 ? "s" : ""} ${names.map((name) => JSON.stringify(name)).join(", ")}`;
}
