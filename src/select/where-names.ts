/**
 * `--where`: the names that a condition can use in one structure, and whether those that it uses exist. Pure.
 */
import type { ASTNode } from "@marcbachmann/cel-js";
import { statusParts } from "../api/contacts.ts";
import { findClosest, isId } from "../api/names.ts";
import { isEmailKey } from "../api/structures.ts";
import { type EcmError, notFoundError, usageError } from "../errors.ts";
import type { ContactList, ContactStructure } from "../wire.ts";
import { at, isComparison, isText, walkNodes } from "./cel.ts";

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
  /** Variable → id of the field. */
  variables: Map<string, string>;
  /** Variables that two labels give, with these labels. */
  ambiguous: Map<string, string[]>;
  /** Label (id, where labels repeat) → id of the field. */
  fields: Map<string, string>;
  /** Id → name. Undefined: the service does not tell which tags there are. */
  lists: Map<string, string>;
  tags: Map<string, string> | undefined;
  /** Keys that differ in letter case alone are one. */
  hasEmailKeys: boolean;
}

/** The variable that a field's label gives. */
export function toVariable(label: string): string {
  return label.replace(/[^\p{L}\p{N}]/gu, "_");
}

export function createVocabulary(structure: ContactStructure, lists: readonly ContactList[]): Vocabulary {
  const byVariable = new Map<string, { _id: string; label: string }[]>();
  const fields = new Map<string, string>();
  for (const { _id, label } of structure.fields) {
    const isRepeated = structure.fields.filter((other) => other.label === label).length > 1;
    fields.set(isRepeated ? _id : label, _id);
    const variable = toVariable(label);
    if (Object.hasOwn(builtIn, variable)) continue;
    byVariable.set(variable, [...(byVariable.get(variable) ?? []), { _id, label: isRepeated ? _id : label }]);
  }
  const variables = new Map<string, string>();
  const ambiguous = new Map<string, string[]>();
  for (const [variable, meant] of byVariable) {
    if (meant.length === 1) variables.set(variable, meant[0]!._id);
    else
      ambiguous.set(
        variable,
        meant.map(({ label }) => label),
      );
  }
  return {
    variables,
    ambiguous,
    fields,
    lists: new Map(lists.map(({ _id, name }) => [_id, name])),
    tags: structure.tags && new Map(structure.tags.map(({ _id, label }) => [_id, label])),
    hasEmailKeys: isEmailKey(structure.keyType),
  };
}

/**
 * Names given as text where only a name makes sense: a misspelt one would match no contact, or all of them.
 * @throws UsageError with the place; NotFoundError where the service does not tell the names
 */
export function requireNames(text: string, ast: ASTNode, vocabulary: Vocabulary): void {
  if (!vocabulary.tags) refuseTagLabels(text, ast);
  for (const node of walkNodes(ast)) {
    if (node.op === "id") requireOneField(text, node, vocabulary);
    requireField(text, node, vocabulary);
    requireMember(text, node, vocabulary);
  }
}

function requireField(text: string, node: ASTNode, { fields }: Vocabulary): void {
  const named = findFieldAccess(node);
  if (named && !fields.has(named.name)) throw unknownNameError(text, named, "field", [...fields.keys()]);
}

function requireMember(text: string, node: ASTNode, vocabulary: Vocabulary): void {
  for (const named of findMemberNames(node)) {
    const known = vocabulary[named.part];
    if (!known) continue;
    const names = [...known.values()];
    if (names.includes(named.name)) continue;
    throw unknownNameError(text, named, named.part === "tags" ? "tag" : "list", names);
  }
}

/** Where the service does not tell the labels of tags, only their ids and their number can be compared. */
function refuseTagLabels(text: string, ast: ASTNode): void {
  const allowed = comparedWithoutLabels(ast);
  for (const node of walkNodes(ast)) {
    if (node.op !== "id" || node.args !== "tags" || allowed.has(node)) continue;
    throw notFoundError(
      `--where: the service did not say which tags there are, so tags${at(text, node)} cannot be compared with labels`,
      'Name the tag by its id, such as "64f0c2e19a7b5d0012c3a456" in tags',
    );
  }
}

/** What ids are looked for in, and what is counted. */
function comparedWithoutLabels(ast: ASTNode): Set<ASTNode | undefined> {
  const nodes = new Set<ASTNode | undefined>();
  for (const node of walkNodes(ast)) {
    const member = findMemberAccess(node);
    if (member?.part === "tags" && isId(member.name)) nodes.add((node.args as [ASTNode, ASTNode])[1]);
    if (node.op === "call" && node.args[0] === "size") nodes.add(node.args[1][0]);
    if (node.op === "rcall" && node.args[0] === "size") nodes.add(node.args[1]);
  }
  return nodes;
}

function requireOneField(text: string, node: ASTNode, { ambiguous }: Vocabulary): void {
  const labels = ambiguous.get(node.args as string);
  if (!labels) return;
  throw usageError(
    `--where: ${JSON.stringify(node.args)}${at(text, node)} can mean ${labels.length} fields`,
    `Name the one you mean: ${labels.map((label) => `fields[${JSON.stringify(label)}]`).join(" or ")}`,
  );
}

/** A name that is written as a text, and its node. */
interface NamedInText {
  node: ASTNode;
  name: string;
}

/** `fields["City"]`, `fields.City` */
export function findFieldAccess(node: ASTNode): NamedInText | undefined {
  if (node.op !== "[]" && node.op !== ".") return undefined;
  const [target, index] = node.args as [ASTNode, ASTNode | string];
  if (target.op !== "id" || target.args !== "fields") return undefined;
  if (typeof index === "string") return { node, name: index };
  return index.op === "value" && typeof index.args === "string"
    ? { node: index, name: index.args }
    : undefined;
}

type MemberName = NamedInText & { part: "lists" | "tags" };

/** `"VIP" in tags`, `"News" in lists` */
function findMemberAccess(node: ASTNode): MemberName | undefined {
  if (node.op !== "in") return undefined;
  const [name, target] = node.args as [ASTNode, ASTNode];
  const part = findPart(target);
  return part && isText(name) ? { node: name, name: name.args, part } : undefined;
}

function findPart({ op, args }: ASTNode): MemberName["part"] | undefined {
  return op === "id" && (args === "lists" || args === "tags") ? args : undefined;
}

/**
 * The texts that meet names of lists or tags in a node: also `tags == ["VIP"]`, `tags[0] == "VIP"`,
 * `tags.exists(t, t == "VIP")` and `["VIP"].exists(t, t in tags)`.
 */
function findMemberNames(node: ASTNode): MemberName[] {
  const named = findMemberAccess(node);
  if (named) return [named];
  if (node.op === "==" || node.op === "!=") return findComparedNames(node.args as [ASTNode, ASTNode]);
  return node.op === "rcall" ? findNamesInMacro(node) : [];
}

function findComparedNames([one, other]: [ASTNode, ASTNode]): MemberName[] {
  const toPart = (side: ASTNode) => findPart(side.op === "[]" ? (side.args as [ASTNode, ASTNode])[0] : side);
  const part = toPart(one) ?? toPart(other);
  return part ? [one, other].flatMap((side) => toNames(side, part)) : [];
}

function findNamesInMacro({ args }: ASTNode): MemberName[] {
  const [, target, [variable, ...body]] = args as [string, ASTNode, ASTNode[]];
  if (variable?.op !== "id") return [];
  const isVariable = ({ op, args }: ASTNode) => op === "id" && args === variable.args;
  const part = findPart(target);
  return [...walkNodes(body)].flatMap((node) => {
    if (!isComparison(node)) return [];
    const [one, other] = node.args as [ASTNode, ASTNode];
    if (!isVariable(one) && (node.op === "in" || !isVariable(other))) return [];
    if (part) return [one, other].flatMap((side) => toNames(side, part));
    const searched = node.op === "in" ? findPart(other) : undefined;
    return searched ? toNames(target, searched) : [];
  });
}

/** A text, or the texts of a list. */
function toNames(node: ASTNode, part: MemberName["part"]): MemberName[] {
  const texts = node.op === "list" ? (node.args as ASTNode[]) : [node];
  return texts.filter(isText).map((text) => ({ node: text, name: text.args, part }));
}

function unknownNameError(
  text: string,
  { node, name }: NamedInText,
  kind: string,
  names: string[],
): EcmError {
  return usageError(
    `--where: No ${kind} is named ${JSON.stringify(name)}${at(text, node)}`,
    hintFor(name, kind, names),
  );
}

function hintFor(name: string, kind: string, names: string[]): string {
  const likely = findClosest(name, names);
  if (likely !== undefined) return `Did you mean ${JSON.stringify(likely)}?`;
  if (names.length === 0) return `There is no ${kind} yet`;
  return `Known ${kind}s: ${names.slice(0, 10).join(", ")}`;
}
