/** CEL expressions (Common Expression Language): what every use of the library needs. */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";

export type Cel = typeof import("@marcbachmann/cel-js");

/** The library's own conversions, and what takes their place. */
export const strictNumbers: Record<string, string> = { int: "Int", uint: "Uint" };

/**
 * The library takes an empty text for 0, which the language calls an error: `int(Age) < 18` would match
 * every contact whose age is not known.
 */
export function registerStrictNumbers(cel: Cel, environment: Environment): void {
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

/**
 * Has calls made under other names: of the same length, so that the places in messages stay what they are.
 */
export function renameCalls(ast: ASTNode, op: "call" | "rcall", names: Record<string, string>): void {
  for (const node of walkNodes(ast)) {
    if (node.op === op && Object.hasOwn(names, node.args[0])) node.args[0] = names[node.args[0]]!;
  }
}

/** A node and all below it. */
export function* walkNodes(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) for (const each of value) yield* walkNodes(each);
  else if (typeof value === "object" && value !== null && "op" in value) {
    const node = value as ASTNode;
    yield node;
    yield* walkNodes(node.args);
  }
}

export function isComparison({ op }: ASTNode): boolean {
  return op === "==" || op === "!=" || op === "in";
}

export type TextNode = ASTNode & { args: string };

/** A text that is written out. */
export function isText(node: ASTNode): node is TextNode {
  return node.op === "value" && typeof node.args === "string";
}

/** What is wrong, without the place. */
export function summarize(error: unknown): string {
  return (error as { summary?: string }).summary ?? (error as Error).message;
}

export function describePlace(text: string, error: unknown): string {
  const range = (error as { range?: { start: number } }).range;
  return range ? at(text, range) : "";
}

/** ` (at character 9: Cty == "x")` */
export function at(text: string, { start }: { start: number }): string {
  const rest = text.slice(start, start + 20);
  if (rest === "") return " (at the end)";
  return ` (at character ${start + 1}: ${rest}${start + 20 < text.length ? "…" : ""})`;
}
