/**
 * The lists, tags and fields that a run speaks of: ids of the names in an input or in flags. What is missing is
 * created, or is an error that names all of it, and has a stand-in for its id until it exists.
 */
import type { InferOutput } from "valibot";
import { requireFreeListName } from "../../api/lists.ts";
import { findByName, foldCase, resolveTag } from "../../api/names.ts";
import { type NewField, parseNewFieldId } from "../../api/structures.ts";
import { EcmError, exitCodes, usageError } from "../../errors.ts";
import type { StoredSelection } from "../../select/selection.ts";
import type { Account } from "../../service/account.ts";
import { ensureLists } from "../../service/create-lists.ts";
import { ensureParts } from "../../service/update-structure.ts";
import type { ContactList, ContactStructure, Send } from "../../wire.ts";
import type * as schema from "./plan-schema.ts";

/** A list, a tag or a field that does not exist yet. */
export type Creation = InferOutput<typeof schema.creation>;
type Kind = Creation["what"];

/** How desired values name what does not exist yet. No id holds a blank. */
export function toStandInId({ what, name }: Pick<Creation, "what" | "name">): string {
  return `new ${what} ${name}`;
}

/** The name behind a stand-in; undefined for an id. */
export function toStandInName(id: string): string | undefined {
  return /^new (?:list|tag|field) (.*)$/s.exec(id)?.[1];
}

/** Id → name, each. */
export type StoredNames = InferOutput<typeof schema.names>;

/** What something is called that the account has, or that is yet to be made; an unknown id stays as it is. */
export function nameOf(names: StoredNames, what: Kind, id: string): string {
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
  /** Missing lists and tags are created; a function is told of them first, and refuses that by an error. */
  createMissing: true | ((missing: readonly Creation[]) => Promise<void>);
  /** Lists that are missing must be new: one that others create meanwhile is not taken for them. */
  isNew?: boolean;
  /** Created whatever `createMissing` says. */
  fields?: readonly NewField[];
}

type NamedList = Pick<ContactList, "_id" | "name">;

const maxTries = 3;

export class NameBook {
  /** What is missing so far; of names that differ in letter case alone, the one that was written first. */
  creations: readonly Creation[] = [];

  private readonly options: NameBookOptions;
  private readonly wanted: readonly Creation[];
  /** The id of each wanted name as it was written, or a stand-in. */
  private readonly ids = new Map<string, string>();
  private structure: ContactStructure;

  private constructor(options: NameBookOptions) {
    const { lists, tags, fields = [] } = options;
    this.options = options;
    this.structure = options.structure;
    this.wanted = [
      ...fields.map(({ label, dataType }) => ({ what: "field" as const, name: label, dataType })),
      ...[...new Set(lists)].map((name) => ({ what: "list" as const, name })),
      ...[...new Set(tags)].map((name) => ({ what: "tag" as const, name })),
    ];
  }

  /**
   * @throws UsageError for a name that means two things; what refuses to create what is missing
   */
  static async open(options: NameBookOptions): Promise<NameBook> {
    const book = new NameBook(options);
    const { account, createMissing } = options;
    const wants = (what: Kind) => book.wanted.some((each) => each.what === what);
    const lists = wants("list") ? await account.lists(book.structure) : [];
    if (wants("tag")) book.structure = await account.complete(book.structure);
    book.note(lists);
    const isOpen = book.creations.some(({ what }) => what !== "field");
    if (createMissing !== true && isOpen) await createMissing(book.creations);
    // What an update of the structure needs is read before the price is said.
    if (book.creations.some(({ what }) => what !== "list"))
      book.structure = await account.forUpdate(book.structure);
    return book;
  }

  // What is not created yet is named by its stand-in: a dry run only counts.
  listId(name: string): string {
    return this.idOf("list", name);
  }

  tagId(name: string): string {
    return this.idOf("tag", name);
  }

  /** The id behind the stand-in of a field, once it was created; any other id as it is. */
  fieldId(id: string): string {
    const label = parseNewFieldId(id);
    return label === undefined ? id : this.idOf("field", label);
  }

  /** Its id once it exists. */
  toId({ what, name }: Creation): string {
    return this.idOf(what, name);
  }

  /** Requests that a real run would need to make what is missing. */
  get requestsToCreate(): number {
    const lists = this.namesToCreate("list").length;
    const isPartMissing = this.creations.length > lists;
    const looks = lists > 0 ? this.options.account.requestsForLists(this.structure) : 0;
    return lists + looks + (isPartMissing ? 1 : 0);
  }

  /**
   * Creates what is missing: one request for each list, and a look before; one for all fields and tags. Where an
   * answer was lost, what it may have made is looked for before another try.
   */
  async create(): Promise<void> {
    const { account, isNew = false } = this.options;
    for (let tries = 1; ; tries++) {
      try {
        return await this.make(isNew && tries === 1);
      } catch (error) {
        if (!mayHaveMade(error) || tries === maxTries) throw error;
        account.forget();
        this.structure = await account.structure(this.structure._id);
      }
    }
  }

  private async make(mustBeNew: boolean): Promise<void> {
    const { send, account, fields = [] } = this.options;
    const names = this.namesToCreate("list");
    const isPartMissing = this.creations.length > names.length;
    let known: NamedList[] = [];
    if (names.length > 0) {
      const { lists, created } = await ensureLists(send, account, this.structure, names);
      const taken = names.find((name) => !created.has(name));
      if (mustBeNew && taken !== undefined) requireFreeListName(taken, [...lists.values()]);
      // The answer to a creation may hold nothing but the id.
      known = [...lists].map(([name, { _id }]) => ({ _id, name }));
    }
    const parts = { fields, tags: this.namesToCreate("tag") };
    if (isPartMissing) this.structure = await ensureParts(send, account, this.structure, parts);
    this.note(known);
  }

  /** Notes ids, and what is missing. @param lists of the account; those of which the id is known may lack */
  private note(lists: readonly NamedList[]): void {
    const missing = new Map<string, Creation>();
    for (const each of this.wanted) {
      const { what, name } = each;
      const existing = this.findId(each, lists) ?? this.ids.get(`${what} ${name}`);
      const isThere = existing !== undefined && toStandInName(existing) === undefined;
      const folded = `${what} ${foldCase(name)}`;
      if (!isThere && !missing.has(folded)) missing.set(folded, each);
      this.ids.set(`${what} ${name}`, isThere ? existing : toStandInId(missing.get(folded)!));
    }
    this.creations = [...missing.values()];
  }

  /** @throws NotFoundError where the service does not say which tags there are: what is not known is not missing */
  private findId({ what, name }: Creation, lists: readonly NamedList[]): string | undefined {
    const { structure } = this;
    if (what === "list") return findByName(name, lists, (list) => list.name, what)?._id;
    if (what === "field") return findByName(name, structure.fields, ({ label }) => label, what)?._id;
    const { tags } = structure;
    return (tags ? findByName(name, tags, ({ label }) => label, what) : resolveTag(structure, name))?._id;
  }

  private idOf(what: Kind, name: string): string {
    return this.ids.get(`${what} ${name}`) ?? toStandInId({ what, name });
  }

  private namesToCreate(kind: Kind): string[] {
    return this.creations.flatMap(({ what, name }) => (what === kind ? [name] : []));
  }
}

/** Whether the answer to a creation was lost, so that it may have been carried out. */
function mayHaveMade(error: unknown): boolean {
  if (!(error instanceof EcmError) || error.exitCode === exitCodes.conflict) return false;
  return error.details.applied === "unknown" || error.details.applied === "yes";
}

/** The names that a plan creates, as far as the account does not have them by now. */
export async function openPlannedNames({
  creations,
  ...place
}: Pick<NameBookOptions, "send" | "account"> & { creations: readonly Creation[] }): Promise<NameBook> {
  const ofKind = (kind: Kind) => creations.filter(({ what }) => what === kind);
  return NameBook.open({
    ...place,
    structure: await place.account.structure(),
    lists: ofKind("list").map(({ name }) => name),
    tags: ofKind("tag").map(({ name }) => name),
    fields: ofKind("field").map(({ name, dataType = "text" }) => ({ label: name, dataType })),
    createMissing: true,
  });
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
  const planned = (["field", "list", "tag"] as const).flatMap((what) =>
    Object.entries(head.names[`${what}s`])
      .map(([id, name]) => ({ what, id, name }))
      .filter(({ id, name }) => spoken.has(`${what} ${name}`) || isChosenBy(what, id, name)),
  );
  const needs = (kind: Kind) => planned.some(({ what }) => what === kind);
  const structure = await account.structure();
  const lists = needs("list") ? await account.lists(structure) : [];
  const current = toStoredNames(needs("tag") ? await account.complete(structure) : structure, lists);
  const renamed = planned.flatMap(({ what, id, name }) => {
    const now = current[`${what}s`][id] ?? name;
    return now === name ? [] : [`the ${what} ${JSON.stringify(name)} is called ${JSON.stringify(now)} now`];
  });
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
): Promise<(what: Kind, id: string, name: string) => boolean> {
  const ids = new Set([...(selection?.lists ?? []), ...(selection?.tags ?? [])]);
  if (selection?.where === undefined) return (_, id) => ids.has(id);
  const { parseWhere } = await import("../../select/where.ts");
  const where = await parseWhere(selection.where);
  return (what, id, name) => ids.has(id) || where.names(what, name);
}
