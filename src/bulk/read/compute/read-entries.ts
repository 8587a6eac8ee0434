/** The objects of a mapping file → entries and expectations. What is wrong is said with file and line. */
import { UsageError } from "../../../errors.ts";
import { findNearestName } from "../names.ts";
import { requireDateFormat } from "./dates.ts";
import type { ColumnExpectation, Expectations, MappingEntry } from "./entry.ts";
import { createPattern, maxPatterns } from "./pattern.ts";
import type { YamlMap, YamlNode } from "./yaml-tree.ts";

const entryKeys = ["field", "tags", "lists", "value", "constant", "date", "map", "else", "split", "blank"];
const blankRules = ["keep", "clear", "only-if-empty"] as const;
const elseWords = ["keep", "blank", "reject"] as const;
const maxFormats = 10;

type Fail = (what: string, hint?: string) => UsageError;

/** The members of an object, read one by one. */
class Members {
  readonly fail: Fail;
  readonly #members: ReadonlyMap<string, YamlNode>;

  /** @throws UsageError for one that is not allowed */
  constructor(node: YamlMap, allowed: readonly string[], fail: Fail) {
    this.fail = fail;
    for (const { key } of node.members) {
      if (allowed.includes(key)) continue;
      const near = findNearestName(key, allowed);
      throw fail(
        `unknown rule ${quote(key)}`,
        near ? `Did you mean ${near}?` : `Rules: ${allowed.join(", ")}`,
      );
    }
    this.#members = new Map(node.members.map(({ key, value }) => [key, value]));
  }

  has(key: string): boolean {
    return this.#members.has(key);
  }

  node(key: string): YamlNode | undefined {
    return this.#members.get(key);
  }

  text(key: string): string | undefined {
    const node = this.node(key);
    if (node === undefined || node.kind === "text") return node?.text;
    throw this.fail(`${key} is not text`, "Put it in quotes");
  }

  word<T extends string>(key: string, words: readonly T[]): T | undefined {
    const text = this.text(key);
    const word = words.find((each) => each === text);
    if (text === undefined || word !== undefined) return word;
    throw this.fail(`${key}: ${quote(text)} is none of ${words.join(", ")}`);
  }

  flag(key: string): boolean | undefined {
    const word = this.word(key, ["true", "false"]);
    return word === undefined ? undefined : word === "true";
  }

  /** One text, or a list of them. */
  texts(key: string): string[] | undefined {
    const node = this.node(key);
    if (node === undefined) return undefined;
    return (node.kind === "list" ? node.items : [node]).map((item) => {
      if (item.kind !== "text") throw this.fail(`${key} is not text`, "Put it in quotes");
      return item.text;
    });
  }
}

/** @param file for messages. @throws UsageError */
export function entryFrom(name: string, node: YamlMap, file: string): MappingEntry {
  const place = `${file}:${node.line}`;
  const fail: Fail = (what, hint) => new UsageError(`${place}: ${quote(name)}: ${what}`, hint);
  const members = new Members(node, entryKeys, fail);
  const entry: MappingEntry = {
    name,
    target: readTarget(name, members),
    place,
    value: members.text("value"),
    constant: members.text("constant"),
    split: members.text("split"),
    blank: members.word("blank", blankRules),
    else: members.word("else", elseWords),
    date: readFormats(members, `${place}: ${quote(name)}`),
    map: readTable(members),
  };
  requireSense(entry, fail);
  return entry;
}

function readTarget(name: string, members: Members): MappingEntry["target"] {
  const named = (["field", "tags", "lists"] as const).filter((key) => members.has(key));
  if (named.length > 1) throw members.fail(`has ${named.join(" and ")}`, "Name one of them");
  const [kind = "field"] = named;
  if (kind === "field") return { kind, field: members.text("field") ?? name };
  if (members.text(kind) !== "true") throw members.fail(`${kind} is not true`, `Write ${kind}: true`);
  return { kind };
}

/** What contradicts itself, or would be passed over. */
function requireSense(entry: MappingEntry, fail: Fail): void {
  const { value, constant, date, map, split, blank, target } = entry;
  const isField = target.kind === "field";
  const contradictions: [boolean, string, string?][] = [
    [value !== undefined && constant !== undefined, "has value and constant", "Remove one of the two"],
    [date !== undefined && map !== undefined, "has date and map", "Remove one of the two"],
    [
      constant !== undefined && (date ?? map ?? split) !== undefined,
      "a constant is not changed any further",
      "Remove date, map and split",
    ],
    [entry.else !== undefined && map === undefined, "has else without map", "Add map, or remove else"],
    [
      split !== undefined && isField,
      "has split, and a field takes one value",
      "Add tags: true or lists: true",
    ],
    [split === "", "split is empty", 'Such as split: ";"'],
    [blank !== undefined && !isField, "has blank, and is not a field", "Remove blank"],
  ];
  const found = contradictions.find(([holds]) => holds);
  if (found) throw fail(found[1], found[2]);
}

function readFormats(members: Members, place: string): string[] | undefined {
  const formats = members.texts("date");
  if (formats === undefined) return undefined;
  if (formats.length === 0 || formats.length > maxFormats)
    throw members.fail(`date takes 1 to ${maxFormats} formats`, "Such as date: DD.MM.YYYY");
  for (const format of formats) requireDateFormat(format, place);
  return formats;
}

function readTable(members: Members): [string, string][] | undefined {
  const node = members.node("map");
  if (node === undefined) return undefined;
  if (node.kind !== "map") throw members.fail("map is not a table of values", "Such as map: { DE: Germany }");
  return node.members.map(({ key, value }) => {
    if (value.kind !== "text") throw members.fail(`the value of ${quote(key)} is not text`);
    return [key, value.text];
  });
}

const expectationKeys = ["filled", "unique", "values", "matches", "warn"];

/** @param node what stands under `expect:`. @throws UsageError */
export function expectationsFrom(node: YamlMap, file: string): Expectations {
  const expectations: Expectations = { columns: [], file };
  if (node.members.length > maxPatterns) {
    throw new UsageError(`${file}:${node.line}: expect: more than ${maxPatterns} rules`, "Use fewer");
  }
  for (const { key, line, value } of node.members) {
    const place = `${file}:${line}`;
    const fail: Fail = (what, hint) => new UsageError(`${place}: expect: ${quote(key)}: ${what}`, hint);
    if (value.kind !== "map") throw fail("is not a rule", "Such as City: { filled: 80% }");
    if (key === "rows" && isRowCount(value)) {
      expectations.rows = readRowCounts(new Members(value, ["min", "max", "warn"], fail));
    } else {
      const expected = readColumnExpectation(key, new Members(value, expectationKeys, fail));
      expectations.columns.push({ ...expected, place });
    }
  }
  return expectations;
}

/** A column can be called `rows` too. */
function isRowCount({ members }: YamlMap): boolean {
  return !members.some(({ key }) => expectationKeys.includes(key) && key !== "warn");
}

function readRowCounts(members: Members): Expectations["rows"] {
  const count = (key: string) => {
    const text = members.text(key);
    if (text === undefined || /^\d{1,15}$/.test(text)) return text === undefined ? undefined : Number(text);
    throw members.fail(`${key} is not a number of rows`, `Such as ${key}: 100`);
  };
  return { min: count("min"), max: count("max"), warn: members.flag("warn") };
}

function readColumnExpectation(name: string, members: Members): ColumnExpectation {
  return {
    name,
    filled: readShare(members),
    unique: members.flag("unique"),
    values: members.texts("values"),
    matches: readPattern(members),
    warn: members.flag("warn"),
  };
}

function readPattern(members: Members): string | undefined {
  const pattern = members.text("matches");
  if (pattern === undefined) return undefined;
  try {
    createPattern(pattern);
    return pattern;
  } catch (error) {
    throw members.fail((error as Error).message);
  }
}

/** In percent. */
function readShare(members: Members): number | undefined {
  const text = members.text("filled");
  if (text === undefined) return undefined;
  const [, digits] = /^(\d{1,3}(?:\.\d{1,6})?)\s?%$/.exec(text) ?? [];
  const percent = Number(digits);
  if (digits !== undefined && percent <= 100) return percent;
  throw members.fail(`filled is not a share: ${quote(text)}`, "Such as filled: 80%");
}

function quote(text: string): string {
  return JSON.stringify(text);
}
