/**
 * The lists, tags and fields that a run speaks of. Ids of the names in an input or in flags; what is missing is
 * created, or is an error that names all of it, and has a stand-in for its id until it exists.
 */

import type { InferOutput } from "valibot";
import { requireFreeListName } from "../../api/lists.ts";
import { findByName, findClosest, foldCase, resolveTag } from "../../api/names.ts";
import { type NewField, parseNewFieldId, toNewFieldId } from "../../api/structures.ts";
import { EcmError, exitCodes, isServiceError, usageError } from "../../errors.ts";
import type { StoredSelection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import { ensureLists } from "../../service/create-lists.ts";
import { ensureParts } from "../../service/update-structure.ts";
import type { ContactList, ContactStructure, Send } from "../../wire.ts";
import type * as schema from "./plan-schema.ts";

/** A list, a tag or a field that does not exist yet. */
export type Creation = InferOutput<typeof schema.creation>;

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

/** What is not made yet has a stand-in for its id. No id holds a blank. */
const newListPrefix = "new list ";
const newTagPrefix = "new tag ";

/** The name behind a stand-in; undefined for an id. */
export function toStandInName(id: string): string | undefined {
  for (const start of [newListPrefix, newTagPrefix]) if (id.startsWith(start)) return id.slice(start.length);
  return parseNewFieldId(id);
}

/** How operations name what does not exist yet. */
export function toStandInId({ what, name }: Creation): string {
  if (what === "field") return toNewFieldId(name);
  return `${what === "list" ? newListPrefix : newTagPrefix}${name}`;
}

/** @param names that the account does not have @param existing those that it has */
export function findMissing(names: readonly string[], existing: string[]): MissingName[] {
  return names.map((name) => {
    const near = findTypo(name, existing);
    const parts = name
      .split(/[;|]/)
      .map((part) => part.trim())
      .filter((part) => part !== "");
    return { name, ...(near !== undefined && { near }), ...(parts.length > 1 && { parts }) };
  });
}

/**
 * The name that was probably meant. Short names, and names that
 * differ in their numbers, are meant as they are.
 */
function findTypo(name: string, existing: string[]): string | undefined {
  if (name.length < 4) return undefined;
  const near = findClosest(name, existing);
  const letters = (text: string) => foldCase(text).replace(/\d+/g, "");
  return near !== undefined && letters(near) !== letters(name) ? near : undefined;
}

/** Id → name, each. */
export type StoredNames = InferOutput<typeof schema.names>;

/** Of what the account has and of what is yet to be made; an id whose name is not known is returned as it is. */
export function nameOf(names: StoredNames, what: Creation["what"], id: string): string {
  return names[`${what}s`][id] ?? toStandInName(id) ?? id;
}

export function toStoredNames(structure: ContactStructure, lists: readonly ContactList[]): StoredNames {
  return {
    fields: Object.fromEntries(structure.fields.map(({ _id, label }) => [_id, label])),
    lists: Object.fromEntries(lists.map(({ _id, name }) => [_id, name])),
    tags: Object.fromEntries((structure.tags ?? []).map(({ _id, label }) => [_id, label])),
  };
}

/** Later names win. */
export function mergeNames(...names: Partial<StoredNames>[]): StoredNames {
  return {
    fields: Object.assign({}, ...names.map(({ fields }) => fields)),
    lists: Object.assign({}, ...names.map(({ lists }) => lists)),
    tags: Object.assign({}, ...names.map(({ tags }) => tags)),
  };
}

export interface NameBookOptions {
  send: Send;
  account: Account;
  structure: ContactStructure;
  lists: Iterable<string>;
  tags: Iterable<string>;
  /** Missing names are created; a function is told of them first, and refuses that by an error. */
  createMissing: true | ((missing: MissingNames) => Promise<void>);
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
  /** Those that are created. */
  private readonly fields: WantedNames;
  private readonly newFields: readonly NewField[];
  private structure: ContactStructure;
  private isMade = false;

  private constructor(options: NameBookOptions) {
    this.options = options;
    this.lists = new WantedNames("list", options.lists);
    this.tags = new WantedNames("tag", options.tags);
    this.newFields = options.fields ?? [];
    this.fields = new WantedNames(
      "field",
      this.newFields.map(({ label }) => label),
    );
    this.structure = options.structure;
  }

  /**
   * @throws UsageError for a name that means two things; what refuses to create what is missing
   */
  static async open(options: NameBookOptions): Promise<NameBook> {
    const book = new NameBook(options);
    book.noteMissing(await book.look());
    const { createMissing } = options;
    const { lists, tags } = book.missing;
    if (createMissing !== true && lists.length + tags.length > 0) await createMissing(book.missing);
    await book.prepareUpdate();
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
    const label = parseNewFieldId(id);
    return label === undefined ? id : this.fields.id(label);
  }

  /** Of every list that exists so far. */
  listIds(): string[] {
    return [...new Set(this.lists.ids.values())];
  }

  /** Its id once it exists. */
  toId({ what, name }: Creation): string {
    const id = { list: this.lists, tag: this.tags, field: this.fields }[what].ids.get(name);
    if (id === undefined) throw new Error(`the ${what} ${JSON.stringify(name)} was not created`);
    return id;
  }

  /** Requests that a real run would need to make what is missing; 0 once it is made. */
  get requestsToCreate(): number {
    if (this.isMade) return 0;
    const lists = this.missing.lists.length;
    const isPartMissing = this.missing.tags.length + this.newFields.length > 0;
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
    const { account } = this.options;
    if (this.tags.unknown().length > 0 || this.newFields.length > 0)
      this.structure = await account.forUpdate(this.structure);
  }

  private noteMissing(lists: readonly ContactList[]): void {
    const { newFields: fields } = this;
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
    if (tags.length + this.newFields.length > 0) {
      this.structure = await ensureParts(send, account, this.structure, {
        fields: [...this.newFields],
        tags,
      });
    }
    this.noteTags();
    for (const label of this.fields.wanted) {
      const id = findByName(label, this.structure.fields, (field) => field.label, "field")?._id;
      if (id) this.fields.ids.set(label, id);
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

  /** At most: before the creation, and after it, where one request may tell how many lists there are. */
  private requestsToLook(created: number): number {
    if (created === 0) return 0;
    const { requests, hasTotal } = this.options.account.lastReading(this.structure) ?? {
      requests: 1,
      hasTotal: true,
    };
    return requests + (hasTotal ? 1 : requests + 1);
  }
}

/** Names of one kind, and the ids of those that exist. */
class WantedNames {
  readonly wanted: readonly string[];
  readonly ids = new Map<string, string>();
  private readonly what: Creation["what"];
  /** Names that differ in letter case alone mean one thing: it is created as it was written first. */
  private readonly firstSpellings = new Map<string, string>();

  constructor(what: Creation["what"], names: Iterable<string>) {
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
  if (isServiceError(error) && error.details.status < 500) {
    return error.type === "ConcurrencyError" || error.type === "DuplicateFieldError";
  }
  return error.details.applied !== undefined && error.exitCode !== exitCodes.conflict;
}

/** What of a plan has names. */
interface PlanWithNames {
  head: { names: StoredNames; selection?: StoredSelection };
  lines(): AsyncIterable<{ changes?: readonly { what: string; name: string }[] }>;
}

/**
 * Whether lists, tags and fields are still called what a plan calls them: what was agreed to had these names.
 * @throws UsageError that says both names, for each that the plan's changes or its conditions speak of
 */
export async function requireKeptNames({ head, lines }: PlanWithNames, account: Account): Promise<void> {
  const spoken = new Set<string>();
  for await (const { changes = [] } of lines())
    for (const { what, name } of changes) spoken.add(`${what} ${name}`);
  const isChosenBy = await readSelectionNames(head.selection);
  const structure = await account.structure();
  const current = {
    field: async () => structure.fields.map(({ _id, label }) => ({ _id, name: label })),
    list: async () => account.lists(structure),
    tag: async () =>
      ((await account.complete(structure)).tags ?? []).map(({ _id, label }) => ({ _id, name: label })),
  };
  const renamed: string[] = [];
  for (const what of ["field", "list", "tag"] as const) {
    const planned = Object.entries(head.names[`${what}s`] ?? {}).filter(
      ([id, name]) => spoken.has(`${what} ${name}`) || isChosenBy(what, id, name),
    );
    if (planned.length === 0) continue;
    const names = new Map((await current[what]()).map(({ _id, name }) => [_id, name]));
    for (const [id, name] of planned) {
      const now = names.get(id) ?? name;
      if (now !== name)
        renamed.push(`the ${what} ${JSON.stringify(name)} is called ${JSON.stringify(now)} now`);
    }
  }
  if (renamed.length === 0) return;
  throw usageError(
    `The plan was made with other names: ${renamed.join("; ")}`,
    "Nothing was written. Plan it again with the names of now, or give them their names back",
    { type: "PlanRefusedError" },
  );
}

/** Whether the conditions of a plan speak of a field, a list or a tag. */
async function readSelectionNames(
  selection: StoredSelection | undefined,
): Promise<(what: "field" | "list" | "tag", id: string, name: string) => boolean> {
  if (!selection) return () => false;
  const ids = new Set([...selection.lists, ...selection.tags]);
  if (selection.where === undefined) return (_, id) => ids.has(id);
  const { parseWhere } = await import("../../select/where.ts");
  const where = await parseWhere(selection.where);
  return (what, id, name) => ids.has(id) || where.names(what, name);
}
