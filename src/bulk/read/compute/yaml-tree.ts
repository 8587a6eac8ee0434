/**
 * A YAML or JSON text as a tree of texts with their lines. Its size, depth
 * and aliases are bounded, however it is written.
 */
import type { Document, LineCounter, Node } from "yaml";
import { UsageError } from "../../../errors.ts";

export type YamlNode = { line: number } & (
  | { kind: "text"; text: string }
  | { kind: "list"; items: YamlNode[] }
  | { kind: "map"; members: YamlMember[] }
);

export type YamlMap = YamlNode & { kind: "map" };

interface YamlMember {
  key: string;
  line: number;
  value: YamlNode;
}

const maxCharacters = 1024 * 1024;
const maxDepth = 8;
const maxAliases = 100;
const maxNodes = 200_000;

/**
 * Every scalar is the text as it is written: `01` and `no` stay what they are.
 * @param name of the file, for messages
 * @throws UsageError with the line
 */
export async function readYamlTree(text: string, name: string): Promise<YamlNode> {
  if (text.length > maxCharacters) throw new UsageError(`${name} is larger than 1 MiB`, "Use a smaller file");
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  let document: Document.Parsed;
  try {
    // JSON is YAML too. The library compares each key with all others; see `readMembers`.
    document = yaml.parseDocument(text.replace(/^\ufeff/, ""), {
      schema: "failsafe",
      uniqueKeys: false,
      lineCounter: lines,
      logLevel: "silent",
    });
  } catch {
    // The library calls itself for each level.
    throw new UsageError(`${name} is nested too deeply`, "Write lines such as E-mail: key");
  }
  const [failure] = document.errors;
  if (failure) throw new UsageError(`${name}: ${failure.message.split(":\n")[0]}`);
  return new Reader(yaml, document, lines, name).read(document.contents, 0);
}

class Reader {
  readonly #yaml: typeof import("yaml");
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #name: string;
  #nodes = 0;
  #aliases = 0;

  constructor(yaml: typeof import("yaml"), document: Document.Parsed, lines: LineCounter, name: string) {
    this.#yaml = yaml;
    this.#document = document;
    this.#lines = lines;
    this.#name = name;
  }

  read(node: unknown, depth: number): YamlNode {
    const yaml = this.#yaml;
    const line = this.#findLine(node);
    this.#nodes += 1;
    if (this.#nodes > maxNodes) throw this.#refused(line, "holds too many values", "Use a smaller file");
    if (depth > maxDepth) throw this.#refused(line, "nested too deeply", "Write lines such as E-mail: key");
    if (yaml.isAlias(node)) return this.read(this.#resolved(node, line), depth + 1);
    if (yaml.isMap(node)) return { kind: "map", line, members: this.#readMembers(node.items, depth) };
    if (yaml.isSeq(node))
      return { kind: "list", line, items: node.items.map((item) => this.read(item, depth + 1)) };
    return { kind: "text", line, text: this.#readText(node) };
  }

  #readMembers(items: readonly { key: unknown; value: unknown }[], depth: number): YamlMember[] {
    const seen = new Set<string>();
    return items.map(({ key, value }) => {
      const line = this.#findLine(key);
      if (!this.#yaml.isScalar(key)) throw this.#refused(line, "a name is not text", "Put it in quotes");
      const name = String(key.value ?? "");
      if (seen.has(name)) {
        throw this.#refused(line, `${JSON.stringify(name)} is written twice`, "Remove one of the two");
      }
      seen.add(name);
      return { key: name, line, value: value === null ? emptyAt(line) : this.read(value, depth + 1) };
    });
  }

  #resolved(alias: unknown, line: number): unknown {
    this.#aliases += 1;
    if (this.#aliases > maxAliases) throw this.#refused(line, "has too many aliases", "Write the values out");
    const found = (alias as { resolve(document: Document): Node | undefined }).resolve(this.#document);
    if (!found) throw this.#refused(line, "names an anchor that does not exist", "Write the value out");
    return found;
  }

  /** `null` and `~` mean nothing in YAML and in JSON, unless they are quoted. */
  #readText(node: unknown): string {
    if (!this.#yaml.isScalar(node)) return "";
    const text = String(node.value ?? "");
    return node.type === "PLAIN" && (text === "null" || text === "~") ? "" : text;
  }

  #findLine(node: unknown): number {
    const [start] = (node as { range?: [number, number, number] } | null)?.range ?? [];
    return start === undefined ? 1 : this.#lines.linePos(start).line;
  }

  #refused(line: number, what: string, hint: string): UsageError {
    return new UsageError(`${this.#name}:${line}: ${what}`, hint);
  }
}

function emptyAt(line: number): YamlNode {
  return { kind: "text", line, text: "" };
}
