/**
 * `value:` in a mapping: CEL over `row`, the cells of a row by column. Everything but the cells themselves is
 * checked before the first row, and no expression takes unbounded time or memory, whoever wrote it.
 */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";
import { formatCount } from "../../../counts.ts";
import { UsageError } from "../../../errors.ts";
import {
  at,
  type Cel,
  describePlace,
  registerStrictNumbers,
  renameCalls,
  strictNumbers,
  summarize,
  walkNodes,
} from "../../../select/cel.ts";
import { createPattern, maxPatterns } from "./pattern.ts";
import { addStringFunctions, maxTextCharacters } from "./string-functions.ts";

/** What a value may be: a text, several, or nothing. */
export type Computed = string | readonly string[] | undefined;

/** The cells of one row, by index; undefined for one that is missing. */
export type CellAt = (index: number) => string | undefined;

export interface Expression {
  /** Indexes of the columns that it reads. */
  reads: number[];
  /** Whether it gives a list of texts. */
  isList: boolean;
  /** Undefined where it reads cells and all of them are missing. @throws Error with what is wrong */
  compute(cellAt: CellAt): Computed;
}

const maxCharacters = 5000;
const limits = {
  maxAstNodes: 500,
  maxDepth: 60,
  maxListElements: 200,
  maxMapEntries: 200,
  maxCallArguments: 16,
};
const macros = ["all", "exists", "exists_one", "filter", "map"];
/** Types of which adding two takes no more than their length. */
const addable = ["string", "int", "uint", "double", "google.protobuf.Timestamp", "google.protobuf.Duration"];
const results = [
  "string",
  "int",
  "uint",
  "double",
  "bool",
  "google.protobuf.Timestamp",
  "null",
  "list<string>",
];

/** The refusal of an expression, with its place and that of the node. */
export type Refuse = (what: string, hint?: string, node?: ASTNode) => UsageError;

/** Loaded once for all expressions of a mapping. */
export class ExpressionCompiler {
  readonly #cel: Cel;
  readonly #environment: Environment;
  #patterns = 0;

  private constructor(cel: Cel) {
    this.#cel = cel;
    this.#environment = new cel.Environment({ homogeneousAggregateLiterals: false, limits });
    this.#environment.registerVariable("row", "map<string, string>");
    registerStrictNumbers(cel, this.#environment);
    const patterns = new Map<string, (text: string) => boolean>();
    this.#environment.registerFunction("string.Matches(string): bool", (text: string, pattern: string) => {
      const known = patterns.get(pattern) ?? createPattern(pattern);
      patterns.set(pattern, known);
      return known(text);
    });
    addStringFunctions(this.#environment);
  }

  static async load(): Promise<ExpressionCompiler> {
    return new ExpressionCompiler(await import("@marcbachmann/cel-js"));
  }

  /**
   * @param place such as `people.yaml:4: "Full name"`
   * @param findColumn its index by its name in the expression; throws for one that does not exist
   * @throws UsageError with the place in the expression
   */
  compile(text: string, place: string, findColumn: (column: string, refuse: Refuse) => number): Expression {
    const refuse: Refuse = (what, hint, node) =>
      new UsageError(`${place}: ${what}${node ? at(text, node) : ""}`, hint);
    if (text.length > maxCharacters)
      throw refuse(`the value is longer than ${maxCharacters} characters`, "Shorten it");
    const program = this.#parse(text, refuse);
    const columns = columnsIn(program.ast, refuse, findColumn);
    requireBounded(program.ast, refuse);
    this.#patterns += patternsIn(program.ast);
    if (this.#patterns > maxPatterns)
      throw refuse(`the mapping has more than ${maxPatterns} patterns`, "Use fewer");
    // An empty text is no number, and a pattern takes linear time.
    renameCalls(program.ast, "call", strictNumbers);
    renameCalls(program.ast, "rcall", { matches: "Matches" });
    const checked = program.check();
    if (!checked.valid) throw toExpressionError(text, checked.error, refuse);
    requireAddable(program.ast, refuse);
    const type = checked.type ?? "";
    if (!results.includes(type)) {
      throw refuse(
        `the value is of the type ${type}, not text`,
        'Make it a text, such as string(…) or ….join(", ")',
      );
    }
    return {
      reads: [...columns.values()],
      isList: type === "list<string>",
      compute: computeWith(program, columns),
    };
  }

  #parse(text: string, refuse: Refuse): ReturnType<Environment["parse"]> {
    try {
      return this.#environment.parse(text);
    } catch (error) {
      if (error instanceof this.#cel.ParseError) throw toExpressionError(text, error, refuse);
      // The library calls itself for each level.
      throw refuse("the value is nested too deeply", "Simplify it");
    }
  }
}

function computeWith(
  program: (context: Record<string, unknown>) => unknown,
  columns: ReadonlyMap<string, number>,
): Expression["compute"] {
  const row = new Map<string, string>();
  const context = { row };
  const named = [...columns];
  return (cellAt) => {
    let isMissing = named.length > 0;
    for (const [name, index] of named) {
      const cell = cellAt(index);
      isMissing &&= cell === undefined;
      if (cell !== undefined && cell.length > maxTextCharacters) throw tooLongError();
      row.set(name, cell ?? "");
    }
    return isMissing ? undefined : textFrom(evaluate(program, context));
  };
}

function evaluate(
  program: (context: Record<string, unknown>) => unknown,
  context: { row: unknown },
): unknown {
  try {
    return program(context);
  } catch (error) {
    throw new Error(summarize(error));
  }
}

function textFrom(value: unknown): Computed {
  if (typeof value === "string") return checkedText(value);
  if (Array.isArray(value)) return value.map((each) => checkedText(String(each)));
  if (value === null) return "";
  if (value instanceof Date) return value.toISOString().replace(".000Z", "Z");
  return String(value);
}

const loneSurrogate = /\p{Surrogate}/u;

function checkedText(text: string): string {
  if (text.length > maxTextCharacters) throw tooLongError();
  if (loneSurrogate.test(text)) throw new Error("the value is cut within a character");
  return text;
}

function tooLongError(): Error {
  return new Error(`a text is longer than ${formatCount(maxTextCharacters)} characters`);
}

/** The columns that an expression names, each by a text: `row["Full name"]`, `row.City`. */
function columnsIn(
  ast: ASTNode,
  refuse: Refuse,
  findColumn: (column: string, refuse: Refuse) => number,
): Map<string, number> {
  const columns = new Map<string, number>();
  const named = new Set<ASTNode>();
  for (const node of walkNodes(ast)) {
    const column = columnNamedIn(node);
    if (!column) continue;
    named.add(column.row);
    columns.set(
      column.name,
      findColumn(column.name, (what, hint) => refuse(what, hint, column.place)),
    );
  }
  for (const node of walkNodes(ast)) {
    if (node.op !== "id" || node.args !== "row" || named.has(node)) continue;
    throw refuse(
      "row is used without the name of a column",
      'Name the column as text, such as row["Full name"]',
      node,
    );
  }
  return columns;
}

/** The column that a node names by a text, the `row` before it, and the node at whose place the name is. */
function columnNamedIn(node: ASTNode): { row: ASTNode; name: string; place: ASTNode } | undefined {
  if (node.op !== "[]" && node.op !== ".") return undefined;
  const [row, name] = node.args as [ASTNode, ASTNode | string];
  if (row.op !== "id" || row.args !== "row") return undefined;
  if (typeof name === "string") return { row, name, place: node };
  const literal: unknown = name.op === "value" ? name.args : undefined;
  return typeof literal === "string" ? { row, name: literal, place: name } : undefined;
}

const maxLoops = 3;

/** No loop within a loop, and nothing that multiplies what it is given. @throws UsageError */
function requireBounded(ast: ASTNode, refuse: Refuse): void {
  let loops = 0;
  for (const node of walkNodes(ast)) {
    requireAllowedCall(node, refuse);
    if (!isMacro(node)) continue;
    loops += 1;
    const [name, , args] = node.args as [string, ASTNode, ASTNode[]];
    const isNested = args.some((arg) => [...walkNodes(arg)].some(isMacro));
    if (isNested) throw refuse(`${name}() within another loop`, "Simplify the value", node);
    if (loops > maxLoops) throw refuse(`more than ${maxLoops} loops`, "Simplify the value", node);
  }
}

/** No call that escapes the types or the bounds, and no pattern that is computed. @throws UsageError */
function requireAllowedCall(node: ASTNode, refuse: Refuse): void {
  if (node.op === "call" && node.args[0] === "dyn")
    throw refuse("dyn() cannot be used here", "Leave it out", node);
  if (node.op !== "rcall") return;
  const [name, target, args] = node.args as [string, ASTNode, ASTNode[]];
  if (target.op === "id" && target.args === "cel")
    throw refuse(`cel.${name} cannot be used here`, "Write the value out", node);
  if (name === "matches") requirePattern(args[0], refuse);
}

function patternsIn(ast: ASTNode): number {
  return [...walkNodes(ast)].filter(({ op, args }) => op === "rcall" && args[0] === "matches").length;
}

function isMacro(node: ASTNode): boolean {
  return node.op === "rcall" && macros.includes(node.args[0]);
}

function requirePattern(pattern: ASTNode | undefined, refuse: Refuse): void {
  if (pattern?.op !== "value" || typeof pattern.args !== "string")
    throw refuse("matches() takes a pattern in quotes", 'Such as "^[0-9]+$"', pattern);
  try {
    createPattern(pattern.args);
  } catch (error) {
    throw refuse((error as Error).message, undefined, pattern);
  }
}

/** Lists that are added double at each step. The library notes the type of each node when it checks. */
function requireAddable(ast: ASTNode, refuse: Refuse): void {
  for (const node of walkNodes(ast)) {
    if (node.op !== "+") continue;
    const type = (node as { checkedType?: { name?: string } }).checkedType?.name;
    if (type === undefined || !addable.includes(type))
      throw refuse("only texts and numbers can be added", "Use join()", node);
  }
}

function toExpressionError(text: string, error: unknown, refuse: Refuse): UsageError {
  const summary = summarize(error);
  const isName = /^Unknown variable/.test(summary);
  return refuse(
    `${summary}${describePlace(text, error)}`,
    isName ? 'The cells are in row, such as row["Full name"]' : undefined,
  );
}
