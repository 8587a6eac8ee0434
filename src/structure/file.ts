/**
 * A structure as people keep it in version control: YAML, told apart by labels, without ids where they are
 * not needed.
 */
import * as v from "valibot";
import { LineCounter, parseDocument, stringify } from "yaml";
import { foldCase } from "../api/names.ts";
import { usageError } from "../errors.ts";
import { isObject } from "../json.ts";
import type { ContactStructure } from "../wire.ts";

const text = v.pipe(
  v.string("it is not text"),
  v.check((value) => value.trim() !== "", "it is empty"),
);

const tagSpec = v.strictObject({
  label: text,
  /** Needed only to tell apart parts that share a label. */
  id: v.optional(text),
  /** The label that it had: a rename in place of a new one. */
  was: v.optional(text),
});

const fieldSpec = v.strictObject({
  ...tagSpec.entries,
  type: v.optional(text),
  required: v.optional(
    v.pipe(
      v.picklist(["true", "false"], "it is true or false"),
      v.transform((word) => word === "true"),
    ),
  ),
});

/** What a file wants of a tag or a field. What is left out stays as it is in the account. */
export type TagSpec = v.InferOutput<typeof tagSpec>;
export type FieldSpec = v.InferOutput<typeof fieldSpec>;

/** An entry that is a text is a label. Nothing below `tags:` is an empty list. */
function listOf<T extends typeof tagSpec | typeof fieldSpec>(entry: T) {
  const expanded = (each: unknown) => (typeof each === "string" ? { label: each } : each);
  return v.pipe(
    v.unknown(),
    v.transform((value) => (Array.isArray(value) ? value.map(expanded) : value || [])),
    v.array(entry, "it is not a list"),
  );
}

const structureSpec = v.strictObject({
  /** The id of the structure, whatever its label. */
  id: v.optional(text),
  label: v.optional(text),
  keyName: v.optional(text),
  // A part that is left out is not looked after by the file.
  fields: v.optional(listOf(fieldSpec)),
  tags: v.optional(listOf(tagSpec)),
});

export type StructureSpec = v.InferOutput<typeof structureSpec>;

const fileComment = `# The fields and tags of an account's contacts.
#   ecm structure diff FILE     shows the differences
#   ecm structure apply FILE    changes the account to match this file
# To rename, change the label and say what it was; the contacts keep their values:
#   - label: Town
#     was: City
# Remove \`was\` once it is applied.
# What is only in the account stays, unless apply is run with --prune.
`;

/** The file's content as plain data. Ids appear only where labels are not enough. */
export function toStructureSpec(structure: ContactStructure): StructureSpec {
  const fieldId = findSharedIds(structure.fields);
  const tagId = findSharedIds(structure.tags ?? []);
  const fields = structure.fields.map((field) => ({
    label: field.label,
    ...fieldId(field),
    ...(field.dataType !== "text" && { type: field.dataType }),
    ...(field.required && { required: true }),
  }));
  const tags = structure.tags?.map((tag) => ({ label: tag.label, ...tagId(tag) }));
  return { label: structure.label, keyName: structure.keyName, fields, ...(tags && { tags }) };
}

export function formatStructureFile(spec: StructureSpec): string {
  const tags = spec.tags?.map((tag) => (Object.keys(tag).length === 1 ? tag.label : tag));
  return fileComment + stringify({ ...spec, ...(tags && { tags }) }, { lineWidth: 0 });
}

/** @param file its name, for messages. @throws UsageError naming the place that is wrong. */
export function parseStructureFile(text: string, file: string): StructureSpec {
  // Every scalar stays the text it is: a tag named 2024 or no is no number and no truth value.
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: false, lineCounter });
  const [problem] = document.errors;
  if (problem) {
    const { line, col } = lineCounter.linePos(problem.pos[0]);
    throw usageError(`${file}: ${problem.message} at line ${line}, column ${col}`);
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases that expand to more than any structure holds.
    throw usageError(`${file}: ${(error as Error).message}`);
  }
  if (!isObject(value)) throw usageError(`${file}: it has no label, keyName, fields or tags`);
  const { success, output: spec, issues } = v.safeParse(structureSpec, value);
  if (!success) throw usageError(`${file}: ${describeIssues(issues)}`);
  requireNoRepeats(spec.fields, `${file}: fields`);
  requireNoRepeats(spec.tags, `${file}: tags`);
  return spec;
}

/** A mistyped name must not look like a change that was made: it is said first. */
function describeIssues(issues: v.BaseIssue<unknown>[]): string {
  const isUnknown = ({ type, received }: v.BaseIssue<unknown>) =>
    type === "strict_object" && received !== "undefined";
  const issue = issues.find(isUnknown) ?? issues[0]!;
  const place = issue.path
    ?.map(({ key }) => (typeof key === "number" ? `number ${key + 1}` : key))
    .join(", ");
  if (isUnknown(issue)) return `${place}: it is not known here`;
  return `${place}: ${issue.type === "strict_object" ? "it is missing" : issue.message}`;
}

function requireNoRepeats(specs: TagSpec[] | undefined, where: string): void {
  const labels = new Set<string>();
  for (const { label, id } of specs ?? []) {
    const identity = id ?? foldCase(label);
    if (labels.has(identity)) throw usageError(`${where}: ${JSON.stringify(label)} appears twice`);
    labels.add(identity);
  }
}

/** The ids of those whose label others have too. */
function findSharedIds<T extends { _id: string; label: string }>(things: readonly T[]) {
  const counts = new Map<string, number>();
  for (const { label } of things) counts.set(foldCase(label), (counts.get(foldCase(label)) ?? 0) + 1);
  return ({ _id, label }: T): { id?: string } => (counts.get(foldCase(label))! > 1 ? { id: _id } : {});
}
