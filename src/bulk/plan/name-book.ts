/**
 * The lists, tags and fields that a run speaks of: ids of the names in an input or in flags. What is missing
 * is created, or is an error that names all of it, and has a stand-in for its id until it exists.
 */
import type { InferOutput } from "valibot";
import { requireFreeListName } from "../../api/lists.ts";
import { findByName, foldCase, resolveTag, toStandInId, toStandInName } from "../../api/names.ts";
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
  /** Missing lists and tags are created; a function is told of them first, and refuses that by an error. */
  createMissing: true | ((missing: readonly Creation[]) => Promise<void>);
  /** Lists that are missing must be new: one that others create meanwhile is not taken for them. */
  isNew?: boolean;
}

export function toCreations(what: Creation["what"], names: Iterable<string>): Creation[] {
  return [...names].map((name) => ({ what, name }));
}

const maxTries = 3;

export class NameBook {
  /** What is missing so far; of names that differ in letter case alone, the one that was written first. */
  creations: readonly Creation[] = [];

  private readonly options: NameBookOptions;
  private readonly wanted: readonly Creation[];
  /** Stand-in → id; the stand-in of what is created, where that is missing. */
  private readonly ids = new Map<string, string>();
  private structure: ContactStructure;
  private lists: readonly Pick<ContactList, "_id" | "name">[] = [];

  private constructor(options: NameBookOptions, wanted: readonly Creation[]) {
    this.options = options;
    this.wanted = wanted;
    this.structure = options.structure;
  }

  /**
   * @param wanted fields among them are created whatever `createMissing` says
   * @throws UsageError for a name that means two things; what refuses to create what is missing
   */
  static async open(options: NameBookOptions, wanted: readonly Creation[]): Promise<NameBook> {
    const book = new NameBook(options, wanted);
    const { account, createMissing } = options;
    if (isOf(wanted, "list")) book.lists = await account.lists(book.structure);
    if (isOf(wanted, "tag")) book.structure = await account.complete(book.structure);
    book.note();
    const { creations } = book;
    if (createMissing !== true && isOf(creations, "list", "tag")) await createMissing(creations);
    // What an update of the structure needs is read before the price is said.
    if (isOf(creations, "field", "tag")) book.structure = await account.forUpdate(book.structure);
    return book;
  }

  // What is not created yet is named by its stand-in: a dry run only counts.
  listId(name: string): string {
    return this.toId({ what: "list", name });
  }

  tagId(name: string): string {
    return this.toId({ what: "tag", name });
  }

  /** The id behind the stand-in of a field, once it was created; any other id as it is. */
  fieldId(id: string): string {
    const name = toStandInName(id);
    return name === undefined ? id : this.toId({ what: "field", name });
  }

  /** The id of what is created, once it exists; its stand-in until then. */
  toId(creation: Creation): string {
    const standIn = toStandInId(creation);
    return this.ids.get(standIn) ?? standIn;
  }

  /** Requests that a real run would need to make what is missing. */
  get requestsToCreate(): number {
    const { creations, options, structure } = this;
    const lists = creations.filter(({ what }) => what === "list").length;
    const looks = lists > 0 ? options.account.requestsForLists(structure) : 0;
    return lists + looks + (isOf(creations, "field", "tag") ? 1 : 0);
  }

  /**
   * Creates what is missing: one request for each list, and a look before; one for all fields and tags. Where
   * an answer was lost, what it may have made is looked for before another try.
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
    const { send, account } = this.options;
    const ofKind = (kind: Kind) => this.creations.filter(({ what }) => what === kind);
    const names = ofKind("list").map(({ name }) => name);
    const parts = {
      fields: ofKind("field").map(({ name }) => ({ label: name, dataType: "text" })),
      tags: ofKind("tag").map(({ name }) => name),
    };
    if (names.length > 0) {
      const { lists, created } = await ensureLists(send, account, this.structure, names);
      const taken = names.find((name) => !created.has(name));
      if (mustBeNew && taken !== undefined) requireFreeListName(taken, [...lists.values()]);
      // The answer to a creation may hold nothing but the id. What another try finds is there already.
      const others = this.lists.filter(({ name = "" }) => !lists.has(name));
      this.lists = [...others, ...[...lists].map(([name, { _id }]) => ({ _id, name }))];
    }
    if (parts.fields.length + parts.tags.length > 0)
      this.structure = await ensureParts(send, account, this.structure, parts);
    this.note();
  }

  /** Notes ids, and what is missing. */
  private note(): void {
    const missing = new Map<string, Creation>();
    for (const each of this.wanted) {
      const standIn = toStandInId(each);
      const folded = foldCase(standIn);
      const id = this.findId(each);
      if (id === undefined && !missing.has(folded)) missing.set(folded, each);
      this.ids.set(standIn, id ?? toStandInId(missing.get(folded)!));
    }
    this.creations = [...missing.values()];
  }

  /** @throws NotFoundError where the service does not tell its tags: what is not known is not missing */
  private findId({ what, name }: Creation): string | undefined {
    const { structure, lists } = this;
    if (what === "list") return findByName(name, lists, (list) => list.name, what)?._id;
    if (what === "field") return findByName(name, structure.fields, ({ label }) => label, what)?._id;
    const { tags } = structure;
    return (tags ? findByName(name, tags, ({ label }) => label, what) : resolveTag(structure, name))?._id;
  }
}

function isOf(creations: readonly Creation[], ...kinds: Kind[]): boolean {
  return creations.some(({ what }) => kinds.includes(what));
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
  const structure = await place.account.structure();
  return NameBook.open({ ...place, structure, createMissing: true }, creations);
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
  const { names, selection } = head;
  const spoken = new Set<string>();
  for await (const { changes = [] } of lines())
    for (const { what, name } of changes) spoken.add(`${what} ${name}`);
  const chosen = new Set([...(selection?.lists ?? []), ...(selection?.tags ?? [])]);
  const where = selection?.where === undefined ? undefined : await readWhere(selection.where);
  const planned = (["field", "list", "tag"] as const).flatMap((what) =>
    Object.entries(names[`${what}s`])
      .map(([id, name]) => ({ what, id, name }))
      .filter(({ id, name }) => spoken.has(`${what} ${name}`) || chosen.has(id) || where?.names(what, name)),
  );
  const structure = await account.structure();
  const lists = isOf(planned, "list") ? await account.lists(structure) : [];
  const current = toStoredNames(isOf(planned, "tag") ? await account.complete(structure) : structure, lists);
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

async function readWhere(text: string) {
  const { parseWhere } = await import("../../select/where.ts");
  return parseWhere(text);
}
