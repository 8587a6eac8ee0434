/** CEL expressions (Common Expression Language): what every use of the library needs. */
import type { ASTNode, Environment } from "@marcbachmann/cel-js";

export type Cel = typeof import("@marcbachmann/cel-js");

/** The library's own conversions, and what takes their place: of the same length, so that places stay. */
const strictNumbers: Record<string, string> = { int: "Int", uint: "Uint" };

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

export function useStrictNumbers(ast: ASTNode): void {
  for (const { op, args } of walkNodes(ast)) {
    if (op === "call" && Object.hasOwn(strictNumbers, args[0])) args[0] = strictNumbers[args[0]]!;
  }
}

/** A node and all below it. */
export function* walkNodes(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) for (const each of value) yield* walkNodes(each);
  else if (isNode(value)) {
    yield value;
    yield* walkNodes(value.args);
  }
}

export function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value;
}

/** The two sides of a comparison; undefined for any other node. */
export function findSides({ op, args }: ASTNode): [ASTNode, ASTNode] | undefined {
  return op === "==" || op === "!=" || op === "in" ? (args as [ASTNode, ASTNode]) : undefined;
}

export type TextNode = ASTNode & { args: string };

/** A text that is written out. */
export function isText(node: ASTNode): node is TextNode {
  return node.op === "value" && typeof node.args === "string";
}

/** A text that is written out, or the elements of a list. */
export function listElements(node: ASTNode): ASTNode[] {
  return node.op === "list" ? (node.args as ASTNode[]) : [node];
}

/** ` (at character 9: Cty == "x")` */
export function at(text: string, { start }: { start: number }): string {
  const rest = text.slice(start, start + 20);
  if (rest === "") return " (at the end)";
  return ` (at character ${start + 1}: ${rest}${start + 20 < text.length ? "…" : ""})`;
}
