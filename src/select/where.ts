/**
 * `--where`: a condition in CEL (Common Expression Language) over one contact. Everything that can be wrong
 * with it is found before a contact is read: its grammar at once, its names and types as soon as the
 * structure is known.
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
  describePlace,
  isComparison,
  isText,
  registerStrictNumbers,
  renameCalls,
  strictNumbers,
  summarize,
  walkNodes,
} from "./cel.ts";
import type { LocalCondition } from "./conditions.ts";
import { describeTypes, findHabit } from "./where-hints.ts";
import {
  builtIn,
  createVocabulary,
  findFieldAccess,
  requireNames,
  toVariable,
  type Vocabulary,
} from "./where-names.ts";
import { findComparedTexts, requireStatusWords } from "./where-status.ts";

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

const typeHint =
  'Fields are text (City == "Oslo", int(Age) > 30), lists and tags are lists of names ("VIP" in tags), createdAt and updatedAt are timestamps';

/** Loads the library, and parses. @throws UsageError with the place where the grammar breaks */
export async function parseWhere(text: string): Promise<Where> {
  const cel = await import("@marcbachmann/cel-js");
  const { ast } = parseGrammar(cel, text);
  requireStatusWords(text, ast);
  requireSoundLiterals(cel, text, ast);
  const names = listNames(ast);
  const texts = new Set([...walkNodes(ast)].flatMap((node) => (isText(node) ? [node.args] : [])));
  return {
    text,
    names(what, name) {
      if (what === "field")
        return names.has(toVariable(name)) || (names.has("fields") && isNamedField(ast, name));
      return names.has(`${what}s`) && texts.has(name);
    },
    async compile(account, structure) {
      const whole = names.has("tags") ? await account.complete(structure) : structure;
      const lists = names.has("lists") ? await account.lists(structure) : [];
      const vocabulary = createVocabulary(whole, lists);
      requireNames(text, ast, vocabulary);
      return compileCondition(cel, text, ast, vocabulary);
    },
  };
}

function compileCondition(cel: Cel, text: string, ast: ASTNode, vocabulary: Vocabulary): LocalCondition {
  const environment = new cel.Environment();
  for (const [name, { type }] of Object.entries(builtIn)) environment.registerVariable(name, type);
  const variables = new Map([...vocabulary.variables].filter(([name]) => canDeclare(environment, name)));
  registerStrictNumbers(cel, environment);
  // Statuses are compared in lower case, whichever letter case the service and the expression write them in.
  const program = withWhereErrors(text, () => environment.parse(foldStatuses(text, ast)));
  renameCalls(program.ast, "call", strictNumbers);
  const foldedKey = vocabulary.hasEmailKeys && declareFoldedKey(environment, program.ast);
  const checked = program.check();
  if (!checked.valid) throw whereError(text, checked.error, { vocabulary, ast });
  if (checked.type !== "bool") {
    throw usageError(
      `--where: ${JSON.stringify(text)} is not a condition: its type is ${checked.type}, not bool`,
      'Compare it with something, such as City == "Oslo"',
    );
  }
  const used = listNames(ast);
  const usedVariables = [...variables].filter(([name]) => used.has(name));
  const usedBuiltIn = Object.keys(builtIn).filter((name) => used.has(name));
  const needs = new Set(usedBuiltIn.flatMap((name) => builtIn[name]!.needs));
  if (usedVariables.length > 0) needs.add("fields");
  const read = createContactReader(vocabulary, usedBuiltIn, usedVariables);
  return {
    // The key names the contact in messages.
    needs: [...new Set(["key", ...needs])],
    fields: [...usedVariables.map(([, id]) => id), ...listNamedFields(ast, vocabulary)],
    holds(contact) {
      const values = read(contact);
      if (foldedKey) values[foldedKey] = contact.key?.toLowerCase() ?? "";
      try {
        return program(values) === true;
      } catch (error) {
        throw usageError(
          `--where: ${summarize(error)}${describePlace(text, error)}, for the contact ${contact.key ?? contact._id}`,
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

/** @returns the variable that is the key in lower case; undefined where it is not used */
function declareFoldedKey(environment: Environment, ast: ASTNode): string | undefined {
  let name = "folded_key";
  // A field may have this name.
  while (!canDeclare(environment, name)) name += "_";
  return foldKeyComparisons(ast, name) ? name : undefined;
}

/** A contact → the values that the expression uses, and no others. */
function createContactReader(
  vocabulary: Vocabulary,
  usedBuiltIn: readonly string[],
  usedVariables: readonly [name: string, fieldId: string][],
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

/** A time, a duration or a pattern that is written out is tried now, not at the first contact. */
function requireSoundLiterals(cel: Cel, text: string, ast: ASTNode): void {
  const environment = new cel.Environment();
  for (const node of walkNodes(ast)) {
    if (node.op === "rcall") requirePattern(text, node);
    if (node.op !== "call") continue;
    const [name, args] = node.args as [string, ASTNode[]];
    if (args.length === 0 || args.some((each) => each.op !== "value")) continue;
    try {
      environment.evaluate(text.slice(node.start, node.end));
    } catch (error) {
      const hint = name === "timestamp" ? 'Write it as timestamp("2026-01-01T00:00:00Z")' : undefined;
      throw usageError(`--where: ${summarize(error)}${at(text, node)}`, hint);
    }
  }
}

function requirePattern(text: string, node: ASTNode): void {
  const [name, , args] = node.args as [string, ASTNode, ASTNode[]];
  const [pattern] = args;
  if (name !== "matches" || pattern?.op !== "value" || typeof pattern.args !== "string") return;
  try {
    new RegExp(pattern.args);
  } catch (error) {
    throw usageError(`--where: ${(error as Error).message}${at(text, pattern)}`);
  }
}

/** Same length, so that places stay where they are. */
function foldStatuses(text: string, ast: ASTNode): string {
  let folded = text;
  const texts = [...walkNodes(ast)].filter(({ op }) => op !== "rcall").flatMap(findComparedTexts);
  for (const { literal } of texts) {
    const lower = folded.slice(literal.start, literal.end).toLowerCase();
    folded = folded.slice(0, literal.start) + lower + folded.slice(literal.end);
  }
  return folded;
}

function withWhereErrors<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw whereError(text, error);
  }
}

/** @throws UsageError with the place, and with what was most likely meant */
function parseGrammar(cel: Cel, text: string) {
  try {
    return new cel.Environment({ unlistedVariablesAreDyn: true }).parse(text);
  } catch (error) {
    const place = (error as { range?: { start: number } }).range?.start ?? 0;
    const habit = findHabit(text, place);
    if (!habit) throw whereError(text, error);
    throw usageError(`--where: ${habit.message}`, joinHints(habit.hint, seeHelp));
  }
}

const seeHelp = advise`See: ${ecm`help where`}`;

function whereError(
  text: string,
  error: unknown,
  known?: { vocabulary: Vocabulary; ast: ASTNode },
): EcmError {
  const summary = summarize(error);
  const place = describePlace(text, error);
  const [, unknown] = /^Unknown variable: (.*)$/.exec(summary) ?? [];
  if (unknown !== undefined && known) {
    const names = [...Object.keys(builtIn), ...known.vocabulary.variables.keys()];
    const likely = findClosest(unknown, names);
    const quoted = isCompared(known.ast, unknown) ? `Text goes in double quotes: "${unknown}"\n` : "";
    return usageError(
      `--where: Unknown name ${JSON.stringify(unknown)}${place}`,
      likely === undefined ? `${quoted}Names: ${names.join(", ")}` : `Did you mean ${likely}?`,
    );
  }
  const isNegated = summary.includes("overload for 'not(");
  const typed = isNegated ? "Write ! for not" : known && (describeTypes(text, known.ast) ?? typeHint);
  const hint = joinHints(typed, seeHelp);
  return usageError(`--where: ${withoutOddCharacter(summary)}${place}`, hint);
}

/** Whether a name is on the right of a comparison, where a text is more likely. */
function isCompared(ast: ASTNode, name: string): boolean {
  return [...walkNodes(ast)].some(({ op, args }) => {
    if (op !== "==" && op !== "!=") return false;
    const [, right] = args as [ASTNode, ASTNode];
    return right.op === "id" && right.args === name;
  });
}

/** The character that the library names is not always the one at the place. */
function withoutOddCharacter(summary: string): string {
  if (summary.startsWith("Unexpected character")) return "this cannot be read";
  return summary.replaceAll("google.protobuf.Timestamp", "timestamp");
}

function isNamedField(ast: ASTNode, name: string): boolean {
  return [...walkNodes(ast)].some((node) => findFieldAccess(node)?.name === name);
}

/** `fields["City"]`: ids of fields that are named so. */
function listNamedFields(ast: ASTNode, { fields }: Vocabulary): string[] {
  return [...walkNodes(ast)].flatMap((node) => {
    const named = findFieldAccess(node);
    const id = named && fields.get(named.name);
    return id === undefined ? [] : [id];
  });
}

/**
 * Compares keys with texts in lower case, as a whole. In other calls, and compared with the value of a field,
 * `key` stays as it is.
 * @param folded the variable that is the key in lower case
 * @returns whether it is used
 */
function foldKeyComparisons(ast: ASTNode, folded: string): boolean {
  let isUsed = false;
  for (const node of walkNodes(ast)) {
    if (!isComparison(node)) continue;
    const sides = node.args as { op: string; args: unknown }[];
    const key = sides.find((side) => side.op === "id" && side.args === "key");
    const texts = sides
      .filter((side) => side !== key)
      .flatMap((side) => (side.op === "list" ? (side.args as ASTNode[]) : [side as ASTNode]));
    if (!key || !texts.every(isText)) continue;
    key.args = folded;
    for (const text of texts as { args: string }[]) text.args = text.args.toLowerCase();
    isUsed = true;
  }
  return isUsed;
}
