/** A contact and its changes, asked of a person; the answers are what the flags would have said. */

import { isId } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { usageError } from "../../errors.ts";
import { advise, ecm, type Hint } from "../../hint.ts";
import { type RequestedChanges, splitAssignment } from "../../service/contact-changes.ts";
import type { Prompter } from "../../terminal/prompter.ts";
import type { Contact, ContactList, ContactStructure, IdRef, TagDefinition } from "../../wire.ts";
import { checkText, requirePrompter, toChoices } from "../flags/questions.ts";
import { requireAddresses } from "../selection/keys.ts";
import { resolveContact } from "../selection/lookups.ts";

export interface NewContact {
  key?: string;
  set?: string[];
  list?: string[];
  tag?: string[];
}

/** Asks for the key, then for what no flag gives. @throws UsageError without a terminal */
export async function askContact(context: Context, partial: NewContact): Promise<NewContact> {
  const prompter = requirePrompter(context, {
    question: "",
    what: "the contact's key",
    usage: advise`${ecm`contact create --key KEY`}, or --data FILE`,
  });
  const { account } = await context.connect();
  const structure = await account.complete(await account.structure());
  const key = (await prompter.input(structure.keyName, undefined, checkText)).trim();
  const set = partial.set ?? (await askFields(prompter, structure));
  const lists = partial.list === undefined ? await account.lists(structure) : [];
  const list = partial.list ?? (await askSome(prompter, "Lists", lists, toListName));
  const tag = partial.tag ?? (await askSome(prompter, "Tags", structure.tags ?? [], toTagLabel));
  return { key, set, list, tag };
}

async function askFields(prompter: Prompter, { fields }: ContactStructure): Promise<string[]> {
  const set: string[] = [];
  for (const { _id, label, required } of fields) {
    const value = await prompter.input(
      required ? label : `${label} (empty for none)`,
      undefined,
      required ? checkText : undefined,
    );
    if (value !== "") set.push(`${_id}=${value}`);
  }
  return set;
}

type Action = "set" | "clear" | "addTag" | "removeTag" | "addList" | "removeList" | "done";

/** What a contact has so far; undefined when several are meant, of which each has its own. */
type CurrentContact = Pick<Contact, "fields" | "lists" | "tags"> | undefined;

/**
 * Asks for changes until a person says that is all.
 * @param idOrKey the contact, when it is one: then only what would change something is offered
 * @throws NotFoundError when there is no such contact
 */
export async function askChanges(
  context: Context,
  prompter: Prompter,
  idOrKey: string | undefined,
): Promise<RequestedChanges> {
  const connection = await context.connect();
  const { account } = connection;
  const structure = await account.complete(await account.structure());
  const lists = await account.lists(structure);
  const current = idOrKey === undefined ? undefined : await resolveContact(connection, idOrKey);
  return new ChangeQuestions(prompter, structure, lists, current).ask();
}

const actionTitles: Record<Action, string> = {
  set: "Set a field",
  clear: "Clear a field",
  addTag: "Add tags",
  removeTag: "Remove tags",
  addList: "Add to lists",
  removeList: "Remove from lists",
  done: "Done",
};

/** The questions about one contact or several, and what was answered so far. */
class ChangeQuestions {
  private readonly prompter: Prompter;
  private readonly structure: ContactStructure;
  private readonly lists: ContactList[];
  private readonly current: CurrentContact;
  private readonly answers: Record<Exclude<Action, "done" | "clear">, string[]> = {
    set: [],
    addTag: [],
    removeTag: [],
    addList: [],
    removeList: [],
  };

  constructor(
    prompter: Prompter,
    structure: ContactStructure,
    lists: ContactList[],
    current: CurrentContact,
  ) {
    this.prompter = prompter;
    this.structure = structure;
    this.lists = lists;
    this.current = current;
  }

  async ask(): Promise<RequestedChanges> {
    for (;;) {
      const isFirst = Object.values(this.answers).every((values) => values.length === 0);
      const question = isFirst ? "What to change" : "What else to change";
      const action = await this.prompter.select(question, this.listActions(isFirst));
      if (action === "done") break;
      if (action === "set" || action === "clear") await this.askField(action === "clear");
      else await this.askNames(action);
    }
    return Object.fromEntries(Object.entries(this.answers).filter(([, values]) => values.length > 0));
  }

  private listActions(isFirst: boolean) {
    const { structure, lists, current } = this;
    const tags = structure.tags ?? [];
    const can: Record<Action, boolean> = {
      set: structure.fields.length > 0,
      clear: structure.fields.length > 0 && current?.fields?.every(({ value }) => value === "") !== true,
      addTag: listOffered(tags, current?.tags, false).length > 0,
      removeTag: listOffered(tags, current?.tags, true).length > 0,
      addList: listOffered(lists, current?.lists, false).length > 0,
      removeList: listOffered(lists, current?.lists, true).length > 0,
      done: true,
    };
    const actions = (Object.keys(actionTitles) as Action[]).filter((action) => can[action]);
    // Once something was said, being done with it is the likely next word.
    if (!isFirst) actions.unshift(actions.pop()!);
    return actions.map((action) => ({ name: actionTitles[action], value: action }));
  }

  private async askField(isClearing: boolean): Promise<void> {
    const current = new Map(this.current?.fields?.map(({ _id, value }) => [_id, value]));
    const values = new Map([...current, ...this.answers.set.map(splitAssignment)]);
    const { fieldId, value } = await askAssignment(this.prompter, this.structure, values, isClearing);
    this.answers.set = this.answers.set.filter((each) => !each.startsWith(`${fieldId}=`));
    // What the contact has already is no change.
    if (!this.current || value !== (current.get(fieldId) ?? "")) this.answers.set.push(`${fieldId}=${value}`);
  }

  private async askNames(action: "addTag" | "removeTag" | "addList" | "removeList"): Promise<void> {
    const { prompter, current } = this;
    const isRemoval = action.startsWith("remove");
    this.answers[action] =
      action === "addTag" || action === "removeTag"
        ? await askSome(
            prompter,
            actionTitles[action],
            listOffered(this.structure.tags ?? [], current?.tags, isRemoval),
            toTagLabel,
          )
        : await askSome(
            prompter,
            actionTitles[action],
            listOffered(this.lists, current?.lists, isRemoval),
            toListName,
          );
  }
}

/** Enter keeps the value that the field has. @param values that it has, or is to have, by the field's id */
async function askAssignment(
  prompter: Prompter,
  { fields }: ContactStructure,
  values: ReadonlyMap<string, string>,
  isClearing: boolean,
): Promise<{ fieldId: string; value: string }> {
  const offered = fields.filter(({ _id }) => !isClearing || values.size === 0 || values.get(_id));
  const choices = offered.map(({ _id, label }) => {
    const value = values.get(_id);
    return { name: value ? `${label}  ${JSON.stringify(value)}` : label, value: _id };
  });
  const fieldId = await prompter.select(isClearing ? "Field to clear" : "Field to set", choices);
  if (isClearing) return { fieldId, value: "" };
  const { label } = fields.find(({ _id }) => _id === fieldId)!;
  const value = values.get(fieldId);
  const question = value ? `${label} (Enter keeps the current value)` : label;
  return { fieldId, value: await prompter.input(question, value || undefined) };
}

/** To remove: what the contact has; to add: what it does not have. All, where that is not known. */
function listOffered<T extends IdRef>(
  things: readonly T[],
  current: IdRef[] | undefined,
  isRemoval: boolean,
): T[] {
  if (current === undefined) return [...things];
  return things.filter(({ _id }) => current.some((each) => each._id === _id) === isRemoval);
}

/** Ids of what a person picks; nothing is asked where there is nothing to pick. */
async function askSome<T extends { _id: string }>(
  prompter: Prompter,
  message: string,
  things: readonly T[],
  toName: (thing: T) => string,
): Promise<string[]> {
  return things.length === 0 ? [] : prompter.checkbox(message, toChoices(things, toName));
}

const toListName = (list: ContactList) => list.name;
const toTagLabel = (tag: TagDefinition) => tag.label;

// People as they are named for an erasure or a dossier: by their keys, which may be spelled in several
// ways.

/** Each person once, in the spellings that the account may hold. @throws UsageError */
export async function readPeople(context: Context, typedKeys: string[], usage: Hint): Promise<string[][]> {
  if (typedKeys.length === 0) throw usageError("The contact's key is missing", advise`Name it: ${usage}`);
  await requireAddresses(context, typedKeys);
  const { toPersonIdentity, listSpellings } = await import("../../api/key-spelling.ts");
  const people = new Map<string, string[]>();
  for (const word of typedKeys) {
    const key = word.trim();
    if (key.length < 3 || isId(key)) {
      throw usageError(
        `${JSON.stringify(word)} is not the key of a contact`,
        advise`Name the contact by its key, such as an email address. To see the key: ${ecm`contact get ID`}`,
      );
    }
    people.set(toPersonIdentity(key), listSpellings(key));
  }
  return [...people.values()];
}
