/**
 * `--where`: a condition in CEL (Common Expression Language) over one contact. Its grammar is checked at
 * once, its names and types as soon as the structure is known, before a contact is read.
 */
import type { ASTNode, Environment, EvaluationError } from "@marcbachmann/cel-js";
import { findStatus, statusParts } from "../api/contacts.ts";
import { findClosest, resolveTag } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { type EcmError, usageError } from "../errors.ts";
import { advise, ecm, joinHints } from "../hint.ts";
import type { Account } from "../service/account.ts";
import type { LocalCondition } from "../service/contact-search.ts";
import type { Contact, ContactList, ContactStructure } from "../wire.ts";
import { requireTold } from "./conditions.ts";
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
  const { ast } = parse(new cel.Environment({ unlistedVariablesAreDyn: true }), text);
  const nodes = [...walkNodes(ast)];
  const used = new Set(nodes.flatMap((node) => (node.op === "id" ? [node.args] : [])));
  return {
    text,
    names(what, name) {
      if (what !== "field")
        return used.has(`${what}s`) && nodes.some((node) => isText(node) && node.args === name);
      return used.has(toVariable(name)) || nodes.some((node) => findFieldAccess(node)?.args === name);
    },
    async compile(account, structure) {
      const whole = used.has("tags") ? await account.complete(structure) : structure;
      const lists = used.has("lists") ? await account.lists(structure) : [];
      return compileCondition(cel, text, createVocabulary(whole, lists));
    },
  };
}

function parse(environment: Environment, text: string) {
  try {
    return environment.parse(text);
  } catch (error) {
    throw whereError(text, error);
  }
}

function compileCondition(cel: Cel, text: string, vocabulary: Vocabulary): LocalCondition {
  const environment = new cel.Environment();
  const terms = Object.entries(vocabulary.terms).filter(([name, { type }]) => {
    try {
      return environment.registerVariable(name, type);
    } catch {
      // The language keeps the word for itself: such a field is reached through `fields`.
      return false;
    }
  });
  registerStrictNumbers(cel, environment);
  const program = parse(environment, text);
  resolveNames(text, program.ast, vocabulary);
  const checked = program.check();
  if (!checked.valid) {
    const names = terms.map(([name]) => name).filter((name) => name !== foldedKey);
    throw whereError(text, checked.error, names);
  }
  if (checked.type !== "bool") {
    throw usageError(
      `--where: ${JSON.stringify(text)} is not a condition: its type is ${checked.type}, not bool`,
      'Compare it with something, such as City == "Oslo"',
    );
  }
  const ids = new Set([...walkNodes(program.ast)].map(({ op, args }) => op === "id" && args));
  const used = terms.filter(([name]) => ids.has(name));
  return {
    // The key names the contact in messages.
    needs: [...new Set(["key", ...used.flatMap(([, { needs }]) => needs)])],
    holds(contact) {
      const values = Object.fromEntries(used.map(([name, { read }]) => [name, read(contact)]));
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

const typeHint =
  'Fields are text (City == "Oslo", int(Age) > 30), lists and tags are lists of names ("VIP" in tags), createdAt and updatedAt are timestamps';

/** @param names known ones, where the grammar is right */
function whereError(text: string, error: unknown, names?: readonly string[]): EcmError {
  const { summary, place, unknownName } = describe(text, error);
  if (unknownName !== undefined && names) {
    const likely = findClosest(unknownName, names);
    return usageError(
      `--where: Unknown name ${JSON.stringify(unknownName)}${place}`,
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

/** What is wrong, and where; where nothing has a name, that name. */
function describe(text: string, error: unknown): { summary: string; place: string; unknownName?: string } {
  const { summary, range, message, code, node } = error as Error & Partial<EvaluationError>;
  const unknownName = code === "unknown_variable" ? String(node?.args) : undefined;
  return { summary: summary ?? message, place: range ? at(text, range) : "", unknownName };
}

/** ` (at character 9: Cty == "x")` */
function at(text: string, { start }: { start: number }): string {
  const rest = text.slice(start, start + 20);
  if (rest === "") return " (at the end)";
  return ` (at character ${start + 1}: ${rest}${start + 20 < text.length ? "…" : ""})`;
}

// What an expression can speak of in one structure.

interface Term {
  /** In CEL. */
  type: string;
  /** The parts of a contact that it is read from. */
  needs: readonly string[];
  read(contact: Partial<Contact>): unknown;
}

interface Vocabulary {
  /** By variable. */
  terms: Record<string, Term>;
  /** Variable → the labels that give it. */
  labels: Map<string, string[]>;
  /** Label (id, where labels repeat) → id. */
  fields: Map<string, string>;
  lists: string[];
  structure: ContactStructure;
  /** Keys that differ in letter case alone are one. */
  hasEmailKeys: boolean;
}

/** The key in lower case. No expression and no label can give this name. */
const foldedKey = "folded key";

/** The variable that a field's label gives. */
function toVariable(label: string): string {
  return label.replace(/[^\p{L}\p{N}]/gu, "_");
}

function createVocabulary(structure: ContactStructure, lists: readonly ContactList[]): Vocabulary {
  const fields = new Map<string, string>();
  const labels = new Map<string, string[]>();
  const terms: Vocabulary["terms"] = {};
  for (const { _id, label } of structure.fields) {
    const isRepeated = structure.fields.some((other) => other.label === label && other._id !== _id);
    const name = isRepeated ? _id : label;
    const variable = toVariable(label);
    fields.set(name, _id);
    labels.set(variable, [...(labels.get(variable) ?? []), name]);
    terms[variable] = { type: "string", needs: ["fields"], read: (contact) => readField(contact, _id) };
  }
  const builtIn = createBuiltIn(
    fields,
    toNames(lists, ({ name }) => name),
    toNames(structure.tags, ({ label }) => label),
  );
  // A built-in name wins over the field of that name.
  for (const name of Object.keys(builtIn)) labels.delete(name);
  return {
    terms: { ...terms, ...builtIn },
    labels,
    fields,
    lists: lists.map(({ name }) => name),
    structure,
    hasEmailKeys: isEmailKey(structure.keyType),
  };
}

function toNames<T extends { _id: string }>(all: readonly T[] = [], nameOf: (each: T) => string) {
  return new Map(all.map((each) => [each._id, nameOf(each)]));
}

function createBuiltIn(
  fields: ReadonlyMap<string, string>,
  lists: ReadonlyMap<string, string>,
  tags: ReadonlyMap<string, string>,
): Record<string, Term> {
  const timestamp = (part: "createdAt" | "updatedAt"): Term => ({
    type: "google.protobuf.Timestamp",
    needs: [part],
    read: (contact) => new Date(requireTold(part, contact[part], "--where")),
  });
  const members = (part: "lists" | "tags", names: ReadonlyMap<string, string>): Term => ({
    type: "list<string>",
    needs: [part],
    read: (contact) => requireTold(part, contact[part], "--where").map(({ _id }) => names.get(_id) ?? _id),
  });
  const status = (part: "primary" | "secondary"): Term => ({
    type: "string",
    needs: statusParts,
    read: (contact) => requireTold("status", findStatus(contact), "--where")[part]?.toLowerCase() ?? "",
  });
  return {
    key: { type: "string", needs: ["key"], read: ({ key = "" }) => key },
    [foldedKey]: { type: "string", needs: ["key"], read: ({ key = "" }) => key.toLowerCase() },
    status: status("primary"),
    substatus: status("secondary"),
    lists: members("lists", lists),
    tags: members("tags", tags),
    fields: {
      type: "map<string, string>",
      needs: ["fields"],
      read: (contact) => new Map([...fields].map(([label, id]) => [label, readField(contact, id)])),
    },
    createdAt: timestamp("createdAt"),
    updatedAt: timestamp("updatedAt"),
  };
}

function readField({ fields }: Partial<Contact>, id: string): string {
  return requireTold("fields", fields, "--where").find(({ _id }) => _id === id)?.value ?? "";
}

/**
 * Requires that names given as text exist, where only a name makes sense: a misspelt one would match no
 * contact, or all of them. Statuses, and keys of e-mail that are compared as a whole, are compared in lower
 * case.
 * @throws UsageError with the place; NotFoundError where the service does not tell the names of tags
 */
function resolveNames(text: string, ast: ASTNode, vocabulary: Vocabulary): void {
  for (const node of walkNodes(ast)) resolveName(text, node, vocabulary);
  for (const { side, others, root } of findComparisons(ast, new Map())) {
    const texts = others.filter(isText);
    for (const each of texts) resolveText(text, each, root, vocabulary);
    if (side.op !== "id" || root !== "key" || !vocabulary.hasEmailKeys || texts.length < others.length)
      continue;
    (side as { args: string }).args = foldedKey;
    for (const each of texts) each.args = each.args.toLowerCase();
  }
}

/** @param root the variable that the text is compared with */
function resolveText(text: string, literal: TextNode, root: unknown, { lists, structure }: Vocabulary): void {
  if (root === "lists") requireKnown(text, literal, "list", lists);
  if (root === "tags") {
    const { tags } = structure;
    if (!tags) resolveTag(structure, literal.args);
    else
      requireKnown(
        text,
        literal,
        "tag",
        tags.map(({ label }) => label),
      );
  }
  if (root !== "status" && root !== "substatus") return;
  literal.args = literal.args.toLowerCase();
  if (root === "status") requireKnown(text, literal, "status", primaryStatuses);
  else literal.args = toSecondaryStatus(literal.args);
}

function resolveName(text: string, node: ASTNode, { labels, fields }: Vocabulary): void {
  if (node.op === "call") node.args[0] = strictNumbers.get(node.args[0]) ?? node.args[0];
  const field = findFieldAccess(node);
  if (field) requireKnown(text, field, "field", fields.keys());
  const meant = (node.op === "id" && labels.get(node.args)) || [];
  if (meant.length < 2) return;
  throw usageError(
    `--where: ${JSON.stringify(node.args)}${at(text, node)} can mean ${meant.length} fields`,
    `Name the one you mean: ${meant.map((label) => `fields[${JSON.stringify(label)}]`).join(" or ")}`,
  );
}

function requireKnown(text: string, literal: TextNode, kind: string, names: Iterable<string>): void {
  const known = [...names];
  const name = literal.args;
  if (known.includes(name)) return;
  const likely = findClosest(name, known);
  throw usageError(
    `--where: No ${kind} is named ${JSON.stringify(name)}${at(text, literal)}`,
    likely === undefined
      ? `Known: ${known.slice(0, 10).join(", ")}`
      : `Did you mean ${JSON.stringify(likely)}?`,
  );
}

// The tree of an expression.

type TextNode = ASTNode & { args: string };

/** A text that is written out. */
function isText(node: ASTNode): node is TextNode {
  return node.op === "value" && typeof node.args === "string";
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value;
}

/** A node and all below it. */
function* walkNodes(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) for (const each of value) yield* walkNodes(each);
  else if (isNode(value)) {
    yield value;
    yield* walkNodes(value.args);
  }
}

/** The name in `fields["City"]` and `fields.City`, with its place. */
function findFieldAccess(node: ASTNode): TextNode | undefined {
  if (node.op !== "[]" && node.op !== ".") return undefined;
  const [target, index] = node.args;
  if (target.op !== "id" || target.args !== "fields") return undefined;
  if (typeof index === "string") return { ...node, op: "value", args: index } as unknown as TextNode;
  return isText(index) ? index : undefined;
}

interface Comparison {
  side: ASTNode;
  /** The other side; of a list its elements. */
  others: ASTNode[];
  /** The variable of this side: `tags` in `tags[0] == "VIP"` and in `tags.exists(t, t == "VIP")`. */
  root: unknown;
}

/** @param bound variables of macros → what they are elements of */
function* findComparisons(value: unknown, bound: ReadonlyMap<unknown, unknown>): Generator<Comparison> {
  if (Array.isArray(value)) for (const each of value) yield* findComparisons(each, bound);
  if (!isNode(value)) return;
  let inner = bound;
  if (value.op === "==" || value.op === "!=" || value.op === "in") {
    const [one, other] = value.args;
    for (const [side, against] of [value.args, [other, one] as const])
      yield { side, others: against.op === "list" ? against.args : [against], root: findRoot(side, bound) };
  } else if (value.op === "rcall") {
    const [, target, [variable]] = value.args;
    if (variable?.op === "id") inner = new Map(bound).set(variable.args, findRoot(target, bound));
  }
  yield* findComparisons(value.args, inner);
}

function findRoot({ op, args }: ASTNode, bound: ReadonlyMap<unknown, unknown>): unknown {
  if (op === "[]") return findRoot(args[0], bound);
  if (op !== "id") return undefined;
  return bound.has(args) ? bound.get(args) : args;
}

/** The library's own conversions, and what takes their place: of the same length, so that places stay. */
const strictNumbers = new Map([
  ["int", "Int"],
  ["uint", "Uint"],
]);

/**
 * The library takes an empty text for 0, which the language calls an error: `int(Age) < 18` would match every
 * contact whose age is not known. Nor does it have `int(timestamp)`.
 */
function registerStrictNumbers(cel: Cel, environment: Environment): void {
  for (const [name, strict] of strictNumbers) {
    const convert = new cel.Environment().registerVariable("x", "dyn").parse(`${name}(x)`);
    environment.registerFunction(`${strict}(dyn): ${name}`, (x: unknown) => {
      if (x instanceof Date) return BigInt(Math.floor(x.getTime() / 1000));
      if (x !== "") return convert({ x });
      throw new cel.EvaluationError(`${name}() type error: an empty text is no number`);
    });
  }
}
