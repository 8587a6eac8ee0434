/** The objects of a mapping file → entries and expectations. What is wrong is said with file and line. */
import { UsageError } from "../../../errors.ts";
import { findNearestName } from "../names.ts";
import { requireDateFormat } from "./dates.ts";
import type { BlankRule, ColumnExpectation, Expectations, MappingEntry } from "./entry.ts";
import { createPattern, maxPatterns } from "./pattern.ts";
import type { YamlMember, YamlNode } from "./yaml-tree.ts";

const entryKeys = ["field", "tags", "lists", "value", "constant", "date", "map", "else", "split", "blank"];
const blankRules = ["keep", "clear", "only-if-empty"];
const elseWords = ["keep", "blank", "reject"];
const maxFormats = 10;

/** @param file for messages. @throws UsageError */
export function entryFrom(name: string, node: YamlNode & { kind: "map" }, file: string): MappingEntry {
  const place = `${file}:${node.line}`;
  const fail = (what: string, hint?: string) => new UsageError(`${place}: ${quote(name)}: ${what}`, hint);
  const members = membersIn(node, entryKeys, fail);
  const text = (key: string) => textIn(members, key, fail);
  const entry: MappingEntry = { name, target: targetFrom(name, members, fail), place };
  const value = text("value");
  const constant = text("constant");
  const split = text("split");
  const blank = wordIn(members, "blank", blankRules, fail) as BlankRule | undefined;
  const otherwise = wordIn(members, "else", elseWords, fail) as MappingEntry["else"];
  if (value !== undefined) entry.value = value;
  if (constant !== undefined) entry.constant = constant;
  if (split !== undefined) entry.split = split;
  if (blank !== undefined) entry.blank = blank;
  if (otherwise !== undefined) entry.else = otherwise;
  if (members.has("date")) entry.date = formatsFrom(members.get("date")!, `${place}: ${quote(name)}`, fail);
  if (members.has("map")) entry.map = tableFrom(members.get("map")!, fail);
  requireSense(entry, fail);
  return entry;
}

type Fail = (what: string, hint?: string) => UsageError;

function targetFrom(
  name: string,
  members: ReadonlyMap<string, YamlNode>,
  fail: Fail,
): MappingEntry["target"] {
  const named = ["field", "tags", "lists"].filter((key) => members.has(key));
  if (named.length > 1) throw fail(`has ${named.join(" and ")}`, "Name one of them");
  const [kind = "field"] = named;
  if (kind === "field") return { kind, field: textIn(members, "field", fail) ?? name };
  if (textIn(members, kind, fail) !== "true") throw fail(`${kind} is not true`, `Write ${kind}: true`);
  return { kind: kind as "tags" | "lists" };
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

function formatsFrom(node: YamlNode, place: string, fail: Fail): string[] {
  const formats = textsFrom(node, "date", fail);
  if (formats.length === 0 || formats.length > maxFormats) {
    throw fail(`date takes 1 to ${maxFormats} formats`, "Such as date: DD.MM.YYYY");
  }
  for (const format of formats) requireDateFormat(format, place);
  return formats;
}

function tableFrom(node: YamlNode, fail: Fail): [string, string][] {
  if (node.kind !== "map") throw fail("map is not a table of values", "Such as map: { DE: Germany }");
  return node.members.map(({ key, value }) => {
    if (value.kind !== "text") throw fail(`the value of ${quote(key)} is not text`);
    return [key, value.text];
  });
}

const expectationKeys = ["filled", "unique", "values", "matches", "warn"];

/** @param node what stands under `expect:`. @throws UsageError */
export function expectationsFrom(node: YamlNode & { kind: "map" }, file: string): Expectations {
  const expectations: Expectations = { columns: [], file };
  if (node.members.length > maxPatterns) {
    throw new UsageError(`${file}:${node.line}: expect: more than ${maxPatterns} rules`, "Use fewer");
  }
  for (const member of node.members) {
    const { key, line, value } = member;
    const fail: Fail = (what, hint) =>
      new UsageError(`${file}:${line}: expect: ${quote(key)}: ${what}`, hint);
    if (value.kind !== "map") throw fail("is not a rule", "Such as City: { filled: 80% }");
    if (key === "rows" && isRowCount(value.members)) expectations.rows = rowsFrom(value, fail);
    else expectations.columns.push({ ...columnFrom(member, value, fail), place: `${file}:${line}` });
  }
  return expectations;
}

/** A column can be called `rows` too. */
function isRowCount(members: readonly YamlMember[]): boolean {
  return !members.some(({ key }) => expectationKeys.includes(key) && key !== "warn");
}

function rowsFrom(node: YamlNode & { kind: "map" }, fail: Fail): Expectations["rows"] {
  const members = membersIn(node, ["min", "max", "warn"], fail);
  const count = (key: string) => {
    const text = textIn(members, key, fail);
    if (text === undefined || /^\d{1,15}$/.test(text)) return text === undefined ? undefined : Number(text);
    throw fail(`${key} is not a number of rows`, `Such as ${key}: 100`);
  };
  return { min: count("min"), max: count("max"), warn: flagIn(members, "warn", fail) };
}

function columnFrom({ key }: YamlMember, node: YamlNode & { kind: "map" }, fail: Fail): ColumnExpectation {
  const members = membersIn(node, expectationKeys, fail);
  const matches = textIn(members, "matches", fail);
  if (matches !== undefined) requirePattern(matches, fail);
  const values = members.get("values");
  return {
    name: key,
    filled: shareIn(members, fail),
    unique: flagIn(members, "unique", fail),
    values: values && textsFrom(values, "values", fail),
    matches,
    warn: flagIn(members, "warn", fail),
  };
}

function requirePattern(pattern: string, fail: Fail): void {
  try {
    createPattern(pattern);
  } catch (error) {
    throw fail((error as Error).message);
  }
}

function shareIn(members: ReadonlyMap<string, YamlNode>, fail: Fail): number | undefined {
  const text = textIn(members, "filled", fail);
  if (text === undefined) return undefined;
  const [, digits] = /^(\d{1,3}(?:\.\d{1,6})?)\s?%$/.exec(text) ?? [];
  const percent = Number(digits);
  if (digits !== undefined && percent <= 100) return percent;
  throw fail(`filled is not a share: ${quote(text)}`, "Such as filled: 80%");
}

function flagIn(members: ReadonlyMap<string, YamlNode>, key: string, fail: Fail): boolean | undefined {
  return members.has(key) ? wordIn(members, key, ["true", "false"], fail) === "true" : undefined;
}

function membersIn(
  node: YamlNode & { kind: "map" },
  allowed: readonly string[],
  fail: Fail,
): Map<string, YamlNode> {
  for (const { key } of node.members) {
    if (allowed.includes(key)) continue;
    const near = findNearestName(key, allowed);
    throw fail(`unknown rule ${quote(key)}`, near ? `Did you mean ${near}?` : `Rules: ${allowed.join(", ")}`);
  }
  return new Map(node.members.map(({ key, value }) => [key, value]));
}

function textIn(members: ReadonlyMap<string, YamlNode>, key: string, fail: Fail): string | undefined {
  const node = members.get(key);
  if (node === undefined || node.kind === "text") return node?.text;
  throw fail(`${key} is not text`, "Put it in quotes");
}

function wordIn(
  members: ReadonlyMap<string, YamlNode>,
  key: string,
  words: readonly string[],
  fail: Fail,
): string | undefined {
  const text = textIn(members, key, fail);
  if (text === undefined || words.includes(text)) return text;
  throw fail(`${key}: ${quote(text)} is none of ${words.join(", ")}`);
}

function textsFrom(node: YamlNode, key: string, fail: Fail): string[] {
  const items = node.kind === "list" ? node.items : [node];
  return items.map((item) => {
    if (item.kind !== "text") throw fail(`${key} is not text`, "Put it in quotes");
    return item.text;
  });
}

function quote(text: string): string {
  return JSON.stringify(text);
}
