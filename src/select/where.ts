/**
 * `--where`: a condition in CEL (Common Expression Language) over one contact. Its grammar is checked at once,
 * its names and types as soon as the structure is known, before a contact is read.
 */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { findStatus, statusParts } from "../api/contacts.ts";
import { findClosest, isId } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { type EcmError, notFoundError, unreadableAnswerError, usageError } from "../errors.ts";
import { advise, ecm, joinHints } from "../hint.ts";
import type { Account } from "../service/account.ts";
import type { Contact, ContactList, ContactStructure } from "../wire.ts";
import type { LocalCondition } from "./conditions.ts";
import { primaryStatuses, toSecondaryStatus } from "./status-filter.ts";

type Cel = typeof import("@marcbachmann/cel-js");

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

// The names that a condition can use in one structure, and whether those that it uses exist.

/** Names that every structure has, with the parts of a contact that they need. */
const builtIn: Record<string, { type: string; needs: readonly string[] }> = {
  key: { type: "string", needs: ["key"] },
  status: { type: "string", needs: statusParts },
  substatus: { type: "string", needs: statusParts },
  lists: { type: "list<string>", needs: ["lists"] },
  tags: { type: "list<string>", needs: ["tags"] },
  fields: { type: "map<string, string>", needs: ["fields"] },
  createdAt: { type: "google.protobuf.Timestamp", needs: ["createdAt"] },
  updatedAt: { type: "google.protobuf.Timestamp", needs: ["updatedAt"] },
};

/** What an expression can speak of in one structure. */
interface Vocabulary {
  /** Variable → the fields whose labels give it: one, where it can be used. */
  variables: Map<string, { _id: string; name: string }[]>;
  /** Label (id, where labels repeat) → id of the field. */
  fields: Map<string, string>;
  /** Id → name. */
  lists: Map<string, string>;
  /** Undefined: the service does not tell which tags there are. */
  tags: Map<string, string> | undefined;
  /** Keys that differ in letter case alone are one. */
  hasEmailKeys: boolean;
}

/** The variable that a field's label gives. */
function toVariable(label: string): string {
  return label.replace(/[^\p{L}\p{N}]/gu, "_");
}

function createVocabulary(structure: ContactStructure, lists: readonly ContactList[]): Vocabulary {
  const variables: Vocabulary["variables"] = new Map();
  const fields = new Map<string, string>();
  for (const { _id, label } of structure.fields) {
    const isRepeated = structure.fields.some((other) => other.label === label && other._id !== _id);
    const name = isRepeated ? _id : label;
    fields.set(name, _id);
    const variable = toVariable(label);
    if (Object.hasOwn(builtIn, variable)) continue;
    variables.set(variable, [...(variables.get(variable) ?? []), { _id, name }]);
  }
  return {
    variables,
    fields,
    lists: new Map(lists.map(({ _id, name }) => [_id, name])),
    tags: structure.tags && new Map(structure.tags.map(({ _id, label }) => [_id, label])),
    hasEmailKeys: isEmailKey(structure.keyType),
  };
}

/**
 * Names given as text where only a name makes sense: a misspelt one would match no contact, or all of them.
 * @throws UsageError with the place; NotFoundError where the service does not tell the names of tags
 */
function requireNames(text: string, ast: ASTNode, vocabulary: Vocabulary): void {
  for (const node of walkNodes(ast)) {
    requireOneField(text, node, vocabulary);
    const field = findFieldAccess(node);
    if (field) requireKnown(text, field, "field", vocabulary.fields.keys());
    for (const status of findStatuses(node)) requireKnown(text, status, "status", primaryStatuses);
  }
  for (const { part, text: literal } of findMembers(ast, new Map())) {
    const kind = part === "tags" ? "tag" : "list";
    const known = vocabulary[part];
    if (known) requireKnown(text, literal, kind, known.values());
    else if (!isId(literal.args)) {
      throw notFoundError(
        `--where: the service did not say which tags there are, so ${JSON.stringify(literal.args)}${at(text, literal)} has no id`,
        'Name the tag by its id, such as "64f0c2e19a7b5d0012c3a456" in tags',
      );
    }
  }
}

function requireOneField(text: string, node: ASTNode, { variables }: Vocabulary): void {
  const meant = node.op === "id" ? (variables.get(node.args as string) ?? []) : [];
  if (meant.length < 2) return;
  throw usageError(
    `--where: ${JSON.stringify(node.args)}${at(text, node)} can mean ${meant.length} fields`,
    `Name the one you mean: ${meant.map(({ name }) => `fields[${JSON.stringify(name)}]`).join(" or ")}`,
  );
}

function requireKnown(text: string, literal: TextNode, kind: string, names: Iterable<string>): void {
  const known = [...names];
  const name = kind === "status" ? literal.args.toLowerCase() : literal.args;
  if (known.includes(name)) return;
  const likely = findClosest(name, known);
  throw usageError(
    `--where: No ${kind} is named ${JSON.stringify(literal.args)}${at(text, literal)}`,
    likely === undefined
      ? `Known: ${known.slice(0, 10).join(", ")}`
      : `Did you mean ${JSON.stringify(likely)}?`,
  );
}

/** The name in `fields["City"]` and `fields.City`, with its place. */
function findFieldAccess(node: ASTNode): TextNode | undefined {
  if (node.op !== "[]" && node.op !== ".") return undefined;
  const [target, index] = node.args as [ASTNode, ASTNode | string];
  if (target.op !== "id" || target.args !== "fields") return undefined;
  if (typeof index === "string") return { ...node, op: "value", args: index } as unknown as TextNode;
  return isText(index) ? index : undefined;
}

/** Texts that `status` is compared with. */
function findStatuses(node: ASTNode): TextNode[] {
  const sides = findSides(node);
  const isCompared = sides?.some(({ op, args }) => op === "id" && args === "status");
  return isCompared ? sides!.flatMap(listElements).filter(isText) : [];
}

type MemberPart = "lists" | "tags";

/**
 * Texts that are compared with names of lists or tags: `"VIP" in tags`, `tags == ["VIP"]`, `tags[0] == "VIP"`,
 * `tags.exists(t, t == "VIP")`.
 * @param bound variables of macros that stand for names
 */
function* findMembers(
  value: unknown,
  bound: ReadonlyMap<unknown, MemberPart>,
): Generator<{ part: MemberPart; text: TextNode }> {
  if (Array.isArray(value)) for (const each of value) yield* findMembers(each, bound);
  if (!isNode(value)) return;
  const sides = findSides(value);
  const part = sides?.map((side) => findPart(side, bound)).find((each) => each !== undefined);
  if (part) for (const text of sides!.flatMap(listElements)) if (isText(text)) yield { part, text };
  yield* findMembers(value.args, value.op === "rcall" ? bindVariable(value, bound) : bound);
}

function findPart({ op, args }: ASTNode, bound: ReadonlyMap<unknown, MemberPart>): MemberPart | undefined {
  if (op === "[]") return findPart((args as [ASTNode, ASTNode])[0], bound);
  if (op !== "id") return undefined;
  return args === "lists" || args === "tags" ? args : bound.get(args);
}

/** `tags.exists(t, …)`: within it, `t` is a name. */
function bindVariable({ args }: ASTNode, bound: ReadonlyMap<unknown, MemberPart>) {
  const [, target, [variable]] = args as [string, ASTNode, (ASTNode | undefined)[]];
  const part = findPart(target, bound);
  return part && variable?.op === "id" ? new Map(bound).set(variable.args, part) : bound;
}

// Expressions: the numbers of the language, and the nodes of its tree.

/** The library's own conversions, and what takes their place: of the same length, so that places stay. */
const strictNumbers: Record<string, string> = { int: "Int", uint: "Uint" };

/**
 * The library takes an empty text for 0, which the language calls an error: `int(Age) < 18` would match
 * every contact whose age is not known.
 */
function registerStrictNumbers(cel: Cel, environment: Environment): void {
  for (const [name, strict] of Object.entries(strictNumbers)) {
    const convert = new cel.Environment().registerVariable("x", "dyn").parse(`${name}(x)`);
    for (const type of ["string", "int", "uint", "double"]) {
      environment.registerFunction(`${strict}(${type}): ${name}`, (x: unknown) => {
        if (x !== "") return convert({ x });
        throw new cel.EvaluationError(`${name}() type error: an empty text is no number`);
      });
    }
  }
  environment.registerFunction("Int(google.protobuf.Timestamp): int", (x: Date) =>
    BigInt(Math.floor(x.getTime() / 1000)),
  );
}

function useStrictNumbers(ast: ASTNode): void {
  for (const { op, args } of walkNodes(ast)) {
    if (op === "call" && Object.hasOwn(strictNumbers, args[0])) args[0] = strictNumbers[args[0]]!;
  }
}

/** A node and all below it. */
function* walkNodes(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) for (const each of value) yield* walkNodes(each);
  else if (isNode(value)) {
    yield value;
    yield* walkNodes(value.args);
  }
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value;
}

/** The two sides of a comparison; undefined for any other node. */
function findSides({ op, args }: ASTNode): [ASTNode, ASTNode] | undefined {
  return op === "==" || op === "!=" || op === "in" ? (args as [ASTNode, ASTNode]) : undefined;
}

type TextNode = ASTNode & { args: string };

/** A text that is written out. */
function isText(node: ASTNode): node is TextNode {
  return node.op === "value" && typeof node.args === "string";
}

/** A text that is written out, or the elements of a list. */
function listElements(node: ASTNode): ASTNode[] {
  return node.op === "list" ? (node.args as ASTNode[]) : [node];
}

/** ` (at character 9: Cty == "x")` */
function at(text: string, { start }: { start: number }): string {
  const rest = text.slice(start, start + 20);
  if (rest === "") return " (at the end)";
  return ` (at character ${start + 1}: ${rest}${start + 20 < text.length ? "…" : ""})`;
}
