/**
 * A structure as people keep it in version control: YAML, told apart by labels, without ids where they are
 * not needed.
 */
import { parseDocument, stringify } from "yaml";
import { foldCase } from "../api/names.ts";
import { usageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";

/** What a file wants of a field. What is left out stays as it is in the account. */
export interface FieldSpec {
  label: string;
  /** Needed only to tell apart fields that share a label. */
  id?: string;
  /** The label that it had: a rename in place of a new field. */
  was?: string;
  type?: string;
  required?: boolean;
}

export type TagSpec = Pick<FieldSpec, "label" | "id" | "was">;

/** A part that is left out is not looked after by the file. */
export interface StructureSpec {
  /** The id of the structure, whatever its label. */
  id?: string;
  label?: string;
  keyName?: string;
  fields?: FieldSpec[];
  tags?: TagSpec[];
}

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
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: true });
  const [problem] = document.errors;
  if (problem) throw usageError(`${file}: ${problem.message.split("\n")[0]!.replace(/:$/, "")}`);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases that expand to more than any structure holds.
    throw usageError(`${file}: ${(error as Error).message}`);
  }
  const content = readRecord(value, file, ["label", "keyName", "fields", "tags", "id"]);
  const spec: StructureSpec = {
    ...readOptionalText(content, "id", file),
    ...readOptionalText(content, "label", file),
    ...readOptionalText(content, "keyName", file),
  };
  if ("fields" in content) spec.fields = readElements(content, "fields", file).map(readField);
  if ("tags" in content) spec.tags = readElements(content, "tags", file).map(readTag);
  requireNoRepeats(spec.fields, `${file}: fields`);
  requireNoRepeats(spec.tags, `${file}: tags`);
  return spec;
}

type Place = [value: unknown, where: string];

function readField([value, where]: Place): FieldSpec {
  if (typeof value === "string") return { label: readLabel(value, where) };
  const record = readRecord(value, where, ["label", "id", "was", "type", "required"]);
  const { required } = record;
  if (required !== undefined && required !== "true" && required !== "false") {
    throw usageError(`${where}: required is true or false`);
  }
  return {
    label: readLabel(record.label, where),
    ...readOptionalText(record, "id", where),
    ...readOptionalText(record, "was", where),
    ...readOptionalText(record, "type", where),
    ...(required !== undefined && { required: required === "true" }),
  };
}

function readTag([value, where]: Place): TagSpec {
  if (typeof value === "string") return { label: readLabel(value, where) };
  const record = readRecord(value, where, ["label", "id", "was"]);
  return {
    label: readLabel(record.label, where),
    ...readOptionalText(record, "id", where),
    ...readOptionalText(record, "was", where),
  };
}

/** A mistyped name must not look like a change that was made. */
function readRecord(value: unknown, where: string, allowedMembers: string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw usageError(`${where}: expected ${allowedMembers.map((name) => `${name}:`).join(", ")}`);
  }
  const unknownName = Object.keys(value).find((name) => !allowedMembers.includes(name));
  if (unknownName === undefined) return value as Record<string, unknown>;
  throw usageError(
    `${where}: ${JSON.stringify(unknownName)} is not known here`,
    `Known: ${allowedMembers.join(", ")}`,
  );
}

function readElements(content: Record<string, unknown>, part: "fields" | "tags", file: string): Place[] {
  const value = content[part];
  // `tags:` with nothing below it means an empty list.
  if (value === null || value === "") return [];
  if (!Array.isArray(value)) throw usageError(`${file}: ${part} is not a list`);
  return value.map((each, index): Place => [each, `${file}: ${part}, number ${index + 1}`]);
}

function readOptionalText(
  record: Record<string, unknown>,
  name: string,
  where: string,
): Record<string, string> {
  const value = record[name];
  if (value === undefined) return {};
  if (typeof value === "string" && value.trim() !== "") return { [name]: value };
  throw usageError(`${where}: ${name} is not text`);
}

function readLabel(value: unknown, where: string): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw usageError(`${where}: it has no label`);
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
