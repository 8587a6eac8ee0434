/**
 * Ids of the names in an input or in flags. What is missing is created, or is an error that names all of it.
 */

import { requireFreeListName } from "../../api/lists.ts";
import { findByName, foldCase, resolveTag } from "../../api/names.ts";
import { type NewField, toNewFieldId } from "../../api/structures.ts";
import { EcmError, exitCodes, ServiceError } from "../../errors.ts";
import type { Account } from "../../service/account.ts";
import { ensureLists, ensureParts } from "../../service/create-names.ts";
import { countRequestsToReadAgain } from "../../service/list-pages.ts";
import type { ContactList, ContactStructure, Send } from "../../wire.ts";
import { type Creation, findMissing, type MissingNames, MissingNamesError, toStandInId } from "./names.ts";

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

/** A lost answer may hide a list that was made: the lists are fetched again before another try. */
const maxTries = 3;

export class NameBook {
  missing: MissingNames = { lists: [], tags: [], fields: [] };
  /** Every name that has a stand-in. */
  creations: readonly Creation[] = [];

  private readonly options: NameBookOptions;
  private readonly lists: WantedNames;
  private readonly tags: WantedNames;
  private readonly fields: readonly NewField[];
  /** Stand-in → id. */
  private readonly madeFields = new Map<string, string>();
  private structure: ContactStructure;
  private isMade = false;

  private constructor(options: NameBookOptions) {
    this.options = options;
    this.lists = new WantedNames("list", options.lists);
    this.tags = new WantedNames("tag", options.tags);
    this.fields = options.fields ?? [];
    this.structure = options.structure;
  }

  /**
   * @throws MissingNamesError naming everything that is missing, unless it is to be created; UsageError for a
   *   name that means two things
   */
  static async open(options: NameBookOptions): Promise<NameBook> {
    const book = new NameBook(options);
    const lists = await book.look();
    await book.prepareUpdate();
    book.noteMissing(lists);
    const { missing } = book;
    if (!options.createMissing && missing.lists.length + missing.tags.length > 0) {
      throw new MissingNamesError(missing);
    }
    return book;
  }

  // What is not created yet is named by its stand-in: a dry run only counts.
  listId(name: string): string {
    return this.lists.id(name);
  }

  tagId(name: string): string {
    return this.tags.id(name);
  }

  /**
   * The id behind the stand-in of a field that was created; any
   * other id, and a stand-in until then, as it is.
   */
  fieldId(id: string): string {
    return this.madeFields.get(id) ?? id;
  }

  /** Of every list that exists so far. */
  listIds(): string[] {
    return [...new Set(this.lists.ids.values())];
  }

  /** Its id once it exists. */
  toId({ what, name }: Creation): string {
    const ids = {
      list: () => this.lists.ids.get(name),
      tag: () => this.tags.ids.get(name),
      field: () => this.madeFields.get(toNewFieldId(name)),
    };
    const id = ids[what]();
    if (id === undefined) throw new Error(`the ${what} ${JSON.stringify(name)} was not created`);
    return id;
  }

  /** Requests that a real run would need to make what is missing; 0 once it is made. */
  get requestsToCreate(): number {
    if (this.isMade) return 0;
    const lists = this.missing.lists.length;
    const isPartMissing = this.missing.tags.length + this.fields.length > 0;
    return lists + this.requestsToLook(lists) + (isPartMissing ? 1 : 0);
  }

  /**
   * Creates what is missing: one request for each list, and looks
   * before and after; one for all fields and tags.
   */
  async create(): Promise<void> {
    if (this.creations.length === 0) return;
    const { account, isNew = false } = this.options;
    for (let tries = 1; ; tries++) {
      try {
        // A lost answer may have hidden that it was made.
        await this.makeMissing(isNew && tries === 1);
        this.isMade = true;
        return;
      } catch (error) {
        if (tries === maxTries || !isRetryable(error)) throw error;
        account.forget();
        this.structure = await account.structure(this.structure._id);
      }
    }
  }

  /** @returns the account's lists, where any are wanted */
  private async look(): Promise<ContactList[]> {
    const { account } = this.options;
    const lists = this.lists.wanted.length > 0 ? await account.lists(this.structure) : [];
    if (this.tags.wanted.length > 0) this.structure = await account.complete(this.structure);
    for (const name of this.lists.wanted) {
      const id = findByName(name, lists, (list) => list.name, "list")?._id;
      if (id) this.lists.ids.set(name, id);
    }
    this.noteTags();
    return lists;
  }

  /** What an update of the structure needs is read before the price is said. */
  private async prepareUpdate(): Promise<void> {
    const { account, createMissing } = this.options;
    const createsTags = createMissing && this.tags.unknown().length > 0;
    if (createsTags || this.fields.length > 0) this.structure = await account.forUpdate(this.structure);
  }

  private noteMissing(lists: readonly ContactList[]): void {
    const { fields } = this;
    const [unknownLists, unknownTags] = [this.lists.unknown(), this.tags.unknown()];
    this.missing = {
      lists: findMissing(
        unknownLists,
        lists.map((list) => list.name),
      ),
      tags: findMissing(unknownTags, this.structure.tags?.map((tag) => tag.label) ?? []),
      fields,
    };
    this.creations = [
      ...fields.map(({ label, dataType }) => ({ what: "field" as const, name: label, dataType })),
      ...unknownLists.map((name) => ({ what: "list" as const, name })),
      ...unknownTags.map((name) => ({ what: "tag" as const, name })),
    ];
  }

  private async makeMissing(mustBeNew: boolean): Promise<void> {
    const { send, account } = this.options;
    const lists = this.lists.unknown();
    if (lists.length > 0) await this.makeLists(lists, mustBeNew);
    const tags = this.tags.unknown();
    if (tags.length + this.fields.length > 0) {
      this.structure = await ensureParts(send, account, this.structure, { fields: [...this.fields], tags });
    }
    this.noteTags();
    for (const { label } of this.fields) {
      const id = findByName(label, this.structure.fields, (field) => field.label, "field")?._id;
      if (id) this.madeFields.set(toNewFieldId(label), id);
    }
  }

  private async makeLists(names: string[], mustBeNew: boolean): Promise<void> {
    const { send, account } = this.options;
    const ensured = await ensureLists(send, account, this.structure, names);
    const taken = names.find((name) => !ensured.created.has(name));
    if (taken !== undefined && mustBeNew) requireFreeListName(taken, [...ensured.lists.values()]);
    for (const [name, list] of ensured.lists) this.lists.ids.set(name, list._id);
  }

  private noteTags(): void {
    for (const name of this.tags.wanted) {
      const id = findTag(this.structure, name)?._id;
      if (id) this.tags.ids.set(name, id);
    }
  }

  /** Before and after the creation, where one request tells how many lists there are. */
  private requestsToLook(created: number): number {
    if (created === 0) return 0;
    const reading = this.options.account.lastReading(this.structure);
    if (!reading || reading.hasTotal) return (reading?.requests ?? 1) + 1;
    return reading.requests + countRequestsToReadAgain(reading, created);
  }
}

/** Names of lists or tags, and the ids of those that exist. */
class WantedNames {
  readonly wanted: readonly string[];
  readonly ids = new Map<string, string>();
  private readonly what: "list" | "tag";
  /** Names that differ in letter case alone mean one thing: it is created as it was written first. */
  private readonly firstSpellings = new Map<string, string>();

  constructor(what: "list" | "tag", names: Iterable<string>) {
    this.what = what;
    this.wanted = [...new Set(names)];
    for (const name of this.wanted) {
      const folded = foldCase(name);
      if (!this.firstSpellings.has(folded)) this.firstSpellings.set(folded, name);
    }
  }

  id(written: string): string {
    const id = this.ids.get(written);
    if (id !== undefined) return id;
    const name = this.firstSpelling(written);
    return this.ids.get(name) ?? toStandInId({ what: this.what, name });
  }

  /** Those that do not exist yet, each once. */
  unknown(): string[] {
    return this.wanted.filter((name) => !this.ids.has(name) && this.firstSpelling(name) === name);
  }

  private firstSpelling(name: string): string {
    return this.firstSpellings.get(foldCase(name)) ?? name;
  }
}

/** The names that a plan creates, as far as the account does not have them by now. */
export async function openPlannedNames({
  creations,
  ...place
}: Pick<NameBookOptions, "send" | "account"> & { creations: readonly Creation[] }): Promise<NameBook> {
  const listNames = (what: Creation["what"]) => creations.filter((each) => each.what === what);
  return NameBook.open({
    ...place,
    structure: await place.account.structure(),
    lists: listNames("list").map(({ name }) => name),
    tags: listNames("tag").map(({ name }) => name),
    fields: listNames("field").map(({ name, dataType = "text" }) => ({ label: name, dataType })),
    createMissing: true,
  });
}

/**
 * @throws NotFoundError where the service does not say which tags there are: what is not known is not missing
 */
function findTag(structure: ContactStructure, name: string) {
  const { tags } = structure;
  return tags ? findByName(name, tags, (tag) => tag.label, "tag") : resolveTag(structure, name);
}

function isRetryable(error: unknown): boolean {
  if (!(error instanceof EcmError)) return false;
  if (error instanceof ServiceError && error.status < 500) {
    return error.type === "ConcurrencyError" || error.type === "DuplicateFieldError";
  }
  return error.details.applied !== undefined && error.exitCode !== exitCodes.conflict;
}
