/**
 * `--where`: the names that a condition can use in one structure, and whether those that it uses exist. Pure.
 */
import type { ASTNode } from "@marcbachmann/cel-js";
import { statusParts } from "../api/contacts.ts";
import { findClosest, isId } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { notFoundError, usageError } from "../errors.ts";
import type { ContactList, ContactStructure } from "../wire.ts";
import { at, findSides, isNode, isText, listElements, type TextNode, walkNodes } from "./cel.ts";
import { primaryStatuses } from "./status-filter.ts";

/** Names that every structure has, with the parts of a contact that they need. */
export const builtIn: Record<string, { type: string; needs: readonly string[] }> = {
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
export interface Vocabulary {
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
export function toVariable(label: string): string {
  return label.replace(/[^\p{L}\p{N}]/gu, "_");
}

export function createVocabulary(structure: ContactStructure, lists: readonly ContactList[]): Vocabulary {
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
export function requireNames(text: string, ast: ASTNode, vocabulary: Vocabulary): void {
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
export function findFieldAccess(node: ASTNode): TextNode | undefined {
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
