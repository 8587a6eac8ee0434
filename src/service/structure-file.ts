/** A structure as people keep it in version control: YAML, told apart by labels, without ids where they are not needed. */
import { parseDocument, stringify } from "yaml";
import { UsageError } from "../errors.ts";
import type { ContactStructure } from "../wire.ts";
import { fold } from "./names.ts";

/** What a file wants of a field. What is left out stays as it is in the account. */
export interface WantedField {
  label: string;
  /** Needed only to tell apart fields that share a label. */
  id?: string;
  /** The label that it had: a rename in place of a new field. */
  was?: string;
  type?: string;
  required?: boolean;
}

export type WantedTag = Pick<WantedField, "label" | "id" | "was">;

/** A part that is left out is not looked after by the file. */
export interface WantedStructure {
  /** Of the structure that it is, whatever its label. */
  id?: string;
  label?: string;
  keyName?: string;
  fields?: WantedField[];
  tags?: WantedTag[];
}

const preface = `# The fields and tags of an account's contacts.
#   ecm structure diff FILE     shows the differences
#   ecm structure apply FILE    changes the account to match this file
# To rename, change the label and say what it was; the contacts keep their values:
#   - label: Town
#     was: City
# Remove \`was\` once it is applied: labels that swapped would swap back.
# What is only in the account stays, unless apply is run with --prune.
`;

/** The file's content as plain data. Ids appear only where labels are not enough. */
export function wantedFrom(structure: ContactStructure): WantedStructure {
  const fieldId = idsOfShared(structure.fields);
  const tagId = idsOfShared(structure.tags ?? []);
  const fields = structure.fields.map((field) => ({
    label: field.label,
    ...fieldId(field),
    ...(field.dataType !== "text" && { type: field.dataType }),
    ...(field.required && { required: true }),
  }));
  const tags = structure.tags?.map((tag) => ({ label: tag.label, ...tagId(tag) }));
  return { label: structure.label, keyName: structure.keyName, fields, ...(tags && { tags }) };
}

export function formatStructureFile(wanted: WantedStructure): string {
  const tags = wanted.tags?.map((tag) => (Object.keys(tag).length === 1 ? tag.label : tag));
  return preface + stringify({ ...wanted, ...(tags && { tags }) }, { lineWidth: 0 });
}

/** @param file its name, for messages. @throws UsageError naming the place that is wrong. */
export function parseStructureFile(text: string, file: string): WantedStructure {
  // Every scalar stays the text it is: a tag named 2024 or no is no number and no truth value.
  const document = parseDocument(text, { schema: "failsafe", prettyErrors: true });
  const [problem] = document.errors;
  if (problem) throw new UsageError(`${file}: ${problem.message.split("\n")[0]}`);
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    // Aliases that expand to more than any structure holds.
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
  const content = recordAt(value, file, ["label", "keyName", "fields", "tags", "id"]);
  const wanted: WantedStructure = {
    ...textAt(content, "id", file),
    ...textAt(content, "label", file),
    ...textAt(content, "keyName", file),
  };
  if ("fields" in content) wanted.fields = elementsAt(content, "fields", file).map(readField);
  if ("tags" in content) wanted.tags = elementsAt(content, "tags", file).map(readTag);
  refuseRepeats(wanted.fields, `${file}: fields`);
  refuseRepeats(wanted.tags, `${file}: tags`);
  return wanted;
}

type Place = [value: unknown, where: string];

function readField([value, where]: Place): WantedField {
  if (typeof value === "string") return { label: labelAt(value, where) };
  const record = recordAt(value, where, ["label", "id", "was", "type", "required"]);
  const { required } = record;
  if (required !== undefined && required !== "true" && required !== "false") {
    throw new UsageError(`${where}: required is true or false`);
  }
  return {
    label: labelAt(record.label, where),
    ...textAt(record, "id", where),
    ...textAt(record, "was", where),
    ...textAt(record, "type", where),
    ...(required !== undefined && { required: required === "true" }),
  };
}

function readTag([value, where]: Place): WantedTag {
  if (typeof value === "string") return { label: labelAt(value, where) };
  const record = recordAt(value, where, ["label", "id", "was"]);
  return {
    label: labelAt(record.label, where),
    ...textAt(record, "id", where),
    ...textAt(record, "was", where),
  };
}

/** A mistyped name must not look like a change that was made. */
function recordAt(value: unknown, where: string, known: string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError(`${where}: expected ${known.map((name) => `${name}:`).join(", ")}`);
  }
  const unknownName = Object.keys(value).find((name) => !known.includes(name));
  if (unknownName === undefined) return value as Record<string, unknown>;
  throw new UsageError(
    `${where}: ${JSON.stringify(unknownName)} is not known here`,
    `Known: ${known.join(", ")}`,
  );
}

function elementsAt(content: Record<string, unknown>, part: "fields" | "tags", file: string): Place[] {
  const value = content[part];
  // `tags:` with nothing below it is an empty list to whoever writes it.
  if (value === null || value === "") return [];
  if (!Array.isArray(value)) throw new UsageError(`${file}: ${part} is not a list`);
  return value.map((each, index): Place => [each, `${file}: ${part}, number ${index + 1}`]);
}

function textAt(record: Record<string, unknown>, name: string, where: string): Record<string, string> {
  const value = record[name];
  if (value === undefined) return {};
  if (typeof value === "string" && value.trim() !== "") return { [name]: value };
  throw new UsageError(`${where}: ${name} is not text`);
}

function labelAt(value: unknown, where: string): string {
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new UsageError(`${where}: it has no label`);
}

function refuseRepeats(wanted: WantedTag[] | undefined, where: string): void {
  const seen = new Set<string>();
  for (const { label, id } of wanted ?? []) {
    const identity = id ?? fold(label);
    if (seen.has(identity)) throw new UsageError(`${where}: ${JSON.stringify(label)} appears twice`);
    seen.add(identity);
  }
}

/** The ids of those whose label others have too. */
function idsOfShared<T extends { _id: string; label: string }>(things: readonly T[]) {
  const counts = new Map<string, number>();
  for (const { label } of things) counts.set(fold(label), (counts.get(fold(label)) ?? 0) + 1);
  return ({ _id, label }: T): { id?: string } => (counts.get(fold(label))! > 1 ? { id: _id } : {});
}
