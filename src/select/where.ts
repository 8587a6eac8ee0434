/**
 * `--where`: a condition in CEL (Common Expression Language) over one contact. Its grammar is checked at once,
 * its names and types as soon as the structure is known, before a contact is read.
 */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { findStatus } from "../api/contacts.ts";
import { findClosest } from "../api/names.ts";
import { type EcmError, unreadableAnswerError, usageError } from "../errors.ts";
import { advise, ecm, joinHints } from "../hint.ts";
import type { Account } from "../service/account.ts";
import type { Contact, ContactStructure } from "../wire.ts";
import {
  at,
  type Cel,
  findSides,
  isText,
  listElements,
  registerStrictNumbers,
  useStrictNumbers,
  walkNodes,
} from "./cel.ts";
import type { LocalCondition } from "./conditions.ts";
import { toSecondaryStatus } from "./status-filter.ts";
import {
  builtIn,
  createVocabulary,
  findFieldAccess,
  requireNames,
  toVariable,
  type Vocabulary,
} from "./where-names.ts";

/** An expression whose grammar is right. */
export interface Where {
  text: string;
  /** Whether it speaks of a field, a list or a tag of this name. */
  names(what: "field" | "list" | "tag", name: string): boolean;
  /**
   * @throws UsageError for a name that does not exist, or an expression that is no condition, with the place
   */
  compile(account: Account, structure: ContactStructure): Promise<LocalCondition>;
}

/** Loads the library, and parses. @throws UsageError with the place where the grammar breaks */
export async function parseWhere(text: string): Promise<Where> {
  const cel = await import("@marcbachmann/cel-js");
  const { ast } = withWhereErrors(text, () =>
    new cel.Environment({ unlistedVariablesAreDyn: true }).parse(text),
  );
  const nodes = [...walkNodes(ast)];
  const names = listNames(ast);
  return {
    text,
    names(what, name) {
      if (what !== "field")
        return names.has(`${what}s`) && nodes.some((node) => isText(node) && node.args === name);
      return names.has(toVariable(name)) || nodes.some((node) => findFieldAccess(node)?.args === name);
    },
    async compile(account, structure) {
      const whole = names.has("tags") ? await account.complete(structure) : structure;
      const lists = names.has("lists") ? await account.lists(structure) : [];
      const vocabulary = createVocabulary(whole, lists);
      requireNames(text, ast, vocabulary);
      return compileCondition(cel, text, vocabulary);
    },
  };
}

function compileCondition(cel: Cel, text: string, vocabulary: Vocabulary): LocalCondition {
  const environment = new cel.Environment();
  for (const [name, { type }] of Object.entries(builtIn)) environment.registerVariable(name, type);
  const variables = [...vocabulary.variables].flatMap(([name, [field]]) =>
    canDeclare(environment, name) ? [[name, field!._id] as const] : [],
  );
  registerStrictNumbers(cel, environment);
  const program = withWhereErrors(text, () => environment.parse(text));
  const { ast } = program;
  const used = listNames(ast);
  useStrictNumbers(ast);
  foldStatuses(ast);
  const foldedKey = vocabulary.hasEmailKeys ? foldKeys(ast, environment) : undefined;
  const checked = program.check();
  if (!checked.valid)
    throw whereError(text, checked.error, [...Object.keys(builtIn), ...variables.map(([name]) => name)]);
  if (checked.type !== "bool") {
    throw usageError(
      `--where: ${JSON.stringify(text)} is not a condition: its type is ${checked.type}, not bool`,
      'Compare it with something, such as City == "Oslo"',
    );
  }
  const usedVariables = variables.filter(([name]) => used.has(name));
  const usedBuiltIn = Object.keys(builtIn).filter((name) => used.has(name));
  const needs = usedBuiltIn.flatMap((name) => builtIn[name]!.needs);
  if (usedVariables.length > 0) needs.push("fields");
  const read = createContactReader(vocabulary, usedBuiltIn, usedVariables);
  return {
    // The key names the contact in messages.
    needs: [...new Set(["key", ...needs])],
    holds(contact) {
      const values = read(contact);
      if (foldedKey) values[foldedKey] = contact.key?.toLowerCase() ?? "";
      try {
        return program(values) === true;
      } catch (error) {
        const { summary, place } = describe(text, error);
        throw usageError(
          `--where: ${summary}${place}, for the contact ${contact.key ?? contact._id}`,
          'Guard it, such as Age != "" && int(Age) > 30',
        );
      }
    },
  };
}

function listNames(ast: ASTNode): Set<string> {
  return new Set([...walkNodes(ast)].flatMap((node) => (node.op === "id" ? [node.args as string] : [])));
}

/** A label can be a word that CEL keeps for itself; such a field is reached through `fields`. */
function canDeclare(environment: Environment, name: string): boolean {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return false;
  try {
    environment.registerVariable(name, "string");
    return true;
  } catch {
    return false;
  }
}

/** Statuses are compared in lower case, and by the words of `--status`: `unsubscribed` is `unsubscribe`. */
function foldStatuses(ast: ASTNode): void {
  for (const node of walkNodes(ast)) {
    const sides = findSides(node);
    const status = sides?.find(({ op, args }) => op === "id" && (args === "status" || args === "substatus"));
    if (!status) continue;
    for (const text of sides!.flatMap(listElements).filter(isText)) {
      const word = text.args.toLowerCase();
      (text as { args: string }).args = status.args === "substatus" ? toSecondaryStatus(word) : word;
    }
  }
}

/**
 * Compares keys with texts in lower case, as a whole. In other calls, and compared with the value of a field,
 * `key` stays as it is.
 * @returns the variable that is the key in lower case; undefined where it is not used
 */
function foldKeys(ast: ASTNode, environment: Environment): string | undefined {
  let folded: string | undefined;
  for (const node of walkNodes(ast)) {
    const sides = findSides(node) as { op: string; args: unknown }[] | undefined;
    const key = sides?.find((side) => side.op === "id" && side.args === "key");
    const texts = sides?.filter((side) => side !== key).flatMap((side) => listElements(side as ASTNode));
    if (!key || !texts!.every(isText)) continue;
    folded ??= declareNew(environment, "folded_key");
    key.args = folded;
    for (const text of texts as { args: string }[]) text.args = text.args.toLowerCase();
  }
  return folded;
}

/** A field may have the name. */
function declareNew(environment: Environment, name: string): string {
  return canDeclare(environment, name) ? name : declareNew(environment, `${name}_`);
}

/** A contact → the values that the expression uses, and no others. */
function createContactReader(
  vocabulary: Vocabulary,
  usedBuiltIn: readonly string[],
  usedVariables: readonly (readonly [name: string, fieldId: string])[],
): (contact: Partial<Contact>) => Record<string, unknown> {
  const readNames = (part: "lists" | "tags", contact: Partial<Contact>) =>
    requirePresent(part, contact[part]).map(({ _id }) => vocabulary[part]?.get(_id) ?? _id);
  const readers: Record<string, (contact: Partial<Contact>, values: Map<string, string>) => unknown> = {
    key: (contact) => contact.key ?? "",
    status: (contact) => requirePresent("status", findStatus(contact)).primary.toLowerCase(),
    substatus: (contact) => requirePresent("status", findStatus(contact)).secondary?.toLowerCase() ?? "",
    lists: (contact) => readNames("lists", contact),
    tags: (contact) => readNames("tags", contact),
    fields: (_contact, values) =>
      new Map([...vocabulary.fields].map(([label, id]) => [label, values.get(id) ?? ""])),
    createdAt: (contact) => new Date(requirePresent("createdAt", contact.createdAt)),
    updatedAt: (contact) => new Date(requirePresent("updatedAt", contact.updatedAt)),
  };
  const readsFields = usedVariables.length > 0 || usedBuiltIn.includes("fields");
  return (contact) => {
    const values = new Map(
      readsFields
        ? requirePresent("fields", contact.fields).map(({ _id, value }) => [_id, value] as const)
        : [],
    );
    const read: Record<string, unknown> = Object.create(null);
    for (const name of usedBuiltIn) read[name] = readers[name]!(contact, values);
    for (const [name, id] of usedVariables) read[name] = values.get(id) ?? "";
    return read;
  };
}

function requirePresent<T>(part: string, value: T | undefined): T {
  if (value !== undefined) return value;
  throw unreadableAnswerError(
    `The service did not tell the ${part} of the contacts`,
    "--where cannot be evaluated without it",
  );
}

function withWhereErrors<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw whereError(text, error);
  }
}

const typeHint =
  'Fields are text (City == "Oslo", int(Age) > 30), lists and tags are lists of names ("VIP" in tags), createdAt and updatedAt are timestamps';

/** @param names known ones, where the grammar is right */
function whereError(text: string, error: unknown, names?: readonly string[]): EcmError {
  const { summary, place } = describe(text, error);
  const [, unknown] = /^Unknown variable: (.*)$/.exec(summary) ?? [];
  if (unknown !== undefined && names) {
    const likely = findClosest(unknown, names);
    return usageError(
      `--where: Unknown name ${JSON.stringify(unknown)}${place}`,
      likely === undefined
        ? `Names: ${names.join(", ")}. Text goes in double quotes`
        : `Did you mean ${likely}?`,
    );
  }
  return usageError(
    `--where: ${summary}${place}`,
    joinHints(names && typeHint, advise`See: ${ecm`help where`}`),
  );
}

/** What is wrong, and where. */
function describe(text: string, error: unknown): { summary: string; place: string } {
  const { summary, range, message } = error as Error & { summary?: string; range?: { start: number } };
  return { summary: summary ?? message, place: range ? at(text, range) : "" };
}
