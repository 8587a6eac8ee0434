/**
 * Edits of a structure, as pure functions from the structure to the body of an update. An update
 * replaces the whole structure: every field and tag goes back with all its attributes, those that
 * we do not know included. Of the structure itself the body has the published members and no
 * other (published reference, updating a structure).
 */

import { foldCase } from "../api/names.ts";
import { conflictError, type EcmError, failedError, usageError } from "../errors.ts";
import { advise, ecm, quoteShellWord } from "../hint.ts";

import type { ContactStructure, UpdateStructureBody } from "../wire.ts";

/** From the structure as it is to the update; undefined when there is nothing to update. */
export type StructureEdit = (structure: ContactStructure) => UpdateStructureBody | undefined;

/**
 * The update that changes nothing: the ground for every edit. A deep copy, free to change.
 * @throws EcmError when the structure's tags are unknown: an update would delete them all.
 */
export function toUpdateBody(structure: ContactStructure): UpdateStructureBody {
  if (structure.tags === undefined)
    throw unknownTagsError(structure, toUpdateBody({ ...structure, tags: [] }));
  const { label, keyName, fields, tags, __v } = structuredClone(structure);
  return { label, keyName, fields, tags, __v } as UpdateStructureBody;
}

/**
 * An edit of a structure whose tags may be unknown.
 * @throws EcmError with the whole update to be sent by hand, where they are
 */
export function editKnown(structure: ContactStructure, edit: StructureEdit): UpdateStructureBody | undefined {
  if (structure.tags !== undefined) return edit(structure);
  const body = edit({ ...structure, tags: [] });
  if (body) throw unknownTagsError(structure, body);
}

/** @param body the update, without the tags, which are unknown */
function unknownTagsError({ _id }: ContactStructure, body: UpdateStructureBody): EcmError {
  const tags = [{ _id: "TAG-ID", label: "TAG" }, ...body.tags];
  const text = quoteShellWord(JSON.stringify({ ...body, tags }));
  const message =
    "The service did not say which tags the structure has; an update without them could delete them from every contact, so it was not sent";
  return failedError(
    message,
    advise`Put all tags that the structure has in place of TAG-ID and TAG (one left out is deleted from every contact; none: take that entry out), then: echo ${text} | ${ecm`api PUT /api/contact-structure/${_id} --data - --yes`}`,
    { type: "IncompleteStructureError", applied: "no" },
  );
}

/** Sets the label, the name of the key, or both. */
export function updateNames(
  structure: ContactStructure,
  names: { label?: string; keyName?: string },
): UpdateStructureBody | undefined {
  const { label = structure.label, keyName = structure.keyName } = names;
  if (label === structure.label && keyName === structure.keyName) return undefined;
  return { ...toUpdateBody(structure), label, keyName };
}

/** @throws EcmError (conflict) when a field has this label already. */
export function addField(
  structure: ContactStructure,
  field: { label: string; dataType: string; required: boolean },
): UpdateStructureBody {
  requireFreeLabel("field", field.label, structure.fields);
  const body = toUpdateBody(structure);
  body.fields.push({ ...field });
  return body;
}

/** Adds the fields and tags that are not there yet; labels are compared ignoring case. */
export function addParts(
  structure: ContactStructure,
  { fields, tags }: { fields: readonly { label: string; dataType: string }[]; tags: readonly string[] },
): UpdateStructureBody | undefined {
  const existingLabels = new Set(structure.fields.map(({ label }) => foldCase(label)));
  const missing = fields.filter(
    ({ label }) => !existingLabels.has(foldCase(label)) && existingLabels.add(foldCase(label)),
  );
  const withTags = addTags(structure, tags);
  if (missing.length === 0) return withTags;
  const body = withTags ?? toUpdateBody(structure);
  for (const { label, dataType } of missing) body.fields.push({ label, dataType, required: false });
  return body;
}

/** Adds the labels that are not there yet; a label counts once, whatever its case. */
export function addTags(
  structure: ContactStructure,
  labels: readonly string[],
): UpdateStructureBody | undefined {
  const existingNames = new Set((structure.tags ?? []).flatMap(({ _id, label }) => [_id, foldCase(label)]));
  const missing = new Map<string, string>();
  for (const label of labels) {
    requireLabel("tag", label);
    const isKnown = existingNames.has(label) || existingNames.has(foldCase(label));
    if (!isKnown && !missing.has(foldCase(label))) missing.set(foldCase(label), label);
  }
  if (missing.size === 0) return undefined;
  const body = toUpdateBody(structure);
  body.tags.push(...[...missing.values()].map((label) => ({ label })));
  return body;
}

/** @param id so that what was meant at first is renamed, whatever it is called by now */
export function renamePart(
  structure: ContactStructure,
  part: "field" | "tag",
  id: string,
  label: string,
): UpdateStructureBody | undefined {
  const body = toUpdateBody(structure);
  const things: { _id?: string; label: string }[] = part === "field" ? body.fields : body.tags;
  const renamed = things.find(({ _id }) => _id === id)!;
  if (renamed.label === label) return undefined;
  requireFreeLabel(
    part,
    label,
    things.filter((each) => each !== renamed),
  );
  renamed.label = label;
  return body;
}

/** @param id so that what was confirmed is removed, whatever it is called by now */
export function removePart(
  structure: ContactStructure,
  part: "field" | "tag",
  id: string,
): UpdateStructureBody {
  const body = toUpdateBody(structure);
  if (part === "field") body.fields = body.fields.filter(({ _id }) => _id !== id);
  else body.tags = body.tags.filter(({ _id }) => _id !== id);
  return body;
}

function requireFreeLabel(kind: string, label: string, things: readonly { label: string }[]): void {
  requireLabel(kind, label);
  const existing = things.find((thing) => foldCase(thing.label) === foldCase(label));
  if (!existing) return;
  throw conflictError(
    `A ${kind} named ${JSON.stringify(existing.label)} already exists`,
    "Upper and lower case count as the same name; choose another",
    { type: "DuplicateFieldError", applied: "no" },
  );
}

function requireLabel(kind: string, label: string): void {
  if (label.trim() === "")
    throw usageError(`A ${kind} needs a label that is not blank`, "Give a label, such as City");
}
