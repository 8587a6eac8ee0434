/** What every command on one structure does: find it, show it, edit it. */

import { updateStructureRequest } from "../../api/structures.ts";
import type { Context } from "../../context.ts";
import { formatCounted, quote } from "../../counts.ts";
import { readFreshStructure, updateStructure } from "../../service/update-structure.ts";
import { diffStructures, type Part, type StructureChange } from "../../structure/changes.ts";
import { editKnown, type StructureEdit } from "../../structure/edit.ts";
import type { StructureSpec } from "../../structure/file.ts";
import { readDataInput } from "../../terminal/data-input.ts";
import type { View } from "../../terminal/present.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import type { ContactStructure } from "../../wire.ts";
import { formatChanges } from "../output/change-lines.ts";
import { countContacts } from "../selection/lookups.ts";
import type { Result } from "../verb.ts";

/** @param nameOrId on the command line; else `--structure`, the profile's, or the only one */
export async function readWholeStructure(context: Context, nameOrId?: string): Promise<ContactStructure> {
  const { account } = await context.connect();
  return account.forUpdate(await account.structure(nameOrId));
}

/** A person sees its fields and tags line by line; every other format has one record. */
export function toStructureResult(context: Context, structure: ContactStructure) {
  const { terminal } = context;
  if (structure.tags === undefined) terminal.warn("The service did not say which tags there are");
  return { one: structure, view: structureView, screen: () => formatStructure(structure, terminal) };
}

/**
 * Sends an edit, planned again where others were faster; `unchanged` where there is nothing to do.
 * @param options `isAsked`: a person was asked since the structure was read; `isAnnounced`: the changes are
 *   said
 */
export async function editStructure(
  context: Context,
  structure: ContactStructure,
  edit: StructureEdit,
  { dryRun = false, isAsked = false, isAnnounced = false } = {},
): Promise<Result<ContactStructure>> {
  const { send, account } = await context.connect();
  const body = editKnown(structure, edit);
  if (!body) {
    context.terminal.note("unchanged");
    return toStructureResult(context, structure);
  }
  if (dryRun) {
    const changes = diffStructures(structure, body).map(describeChange).join("\n");
    const would = `change the structure ${JSON.stringify(structure.label)}:\n${changes}`;
    return { request: updateStructureRequest(structure._id, body), would };
  }
  // Where no version tells what others changed while a question stood, it is read again.
  const isDoubtful = isAsked && structure.__v === undefined;
  const current = isDoubtful ? await readFreshStructure(account, structure._id) : structure;
  // The last one that was sent is the one that was applied: others may have been faster before.
  let changes: StructureChange[] = [];
  const updated = await updateStructure(send, account, current, (now) => {
    const next = edit(now);
    changes = next ? diffStructures(now, next) : [];
    return next;
  });
  const result = toStructureResult(context, updated);
  if (isAnnounced) return result;
  return { ...result, screen: () => formatChanges(context.terminal, changes.map(describeChange)) };
}

// Reads a structure file, and describes differences to the account.

export const tagsLeftOut = "The service did not say which tags there are; tags are left out";

/** @throws UsageError when it cannot be read, or says something that means nothing. */
export async function readStructureFile(context: Context, file: string): Promise<StructureSpec> {
  const { parseStructureFile } = await import("../../structure/file.ts");
  const text = await readDataInput(context, file, "FILE");
  return parseStructureFile(text, file === "-" ? "standard input" : file);
}

/** One line: `+` comes, `~` changes, `-` goes, `=` stays although the file does not name it. */
export function describeChange(change: StructureChange): string {
  switch (change.action) {
    case "set":
      return `~ ${change.attribute}: ${quote(change.from)} → ${quote(change.to)}`;
    case "add":
      return change.part === "field"
        ? `+ field ${quote(change.label)} (${change.type}${change.required ? ", required" : ""})`
        : `+ tag ${quote(change.label)}`;
    case "rename":
      return `~ ${change.part} ${quote(change.label)} → ${quote(change.to)}`;
    case "change":
      return `~ field ${quote(change.label)}: ${change.attribute} ${change.from} → ${change.to}`;
    case "remove":
      return `- ${change.part} ${quote(change.label)} (every contact loses it)`;
    case "keep":
      return `= ${change.part} ${quote(change.label)} is only in the account; --prune removes it`;
  }
}

/** It costs one search: none is known that finds the contacts that have a value or a tag. */
export async function formatRemovalQuestion(
  context: Context,
  structure: ContactStructure,
  removals: readonly { part: Part; label: string }[],
): Promise<string> {
  const count = formatCounted(await countContacts(await context.connect(), structure._id), "contact");
  const [{ part, label }] = removals as [{ part: Part; label: string }];
  const losses = { field: "Every contact loses its value", tag: "Every contact that has it loses it" };
  if (removals.length === 1)
    return `Remove the ${part} ${quote(label)}? ${losses[part]}; the structure has ${count}.`;
  const counted = (["field", "tag"] as const)
    .map((each) => ({ each, of: removals.filter((removal) => removal.part === each).length }))
    .filter(({ of }) => of > 0)
    .map(({ each, of }) => formatCounted(of, each));
  return `Remove ${counted.join(" and ")}? Every contact loses what it has of them; the structure has ${count}.`;
}

export const structureView: View<ContactStructure> = {
  columns: [
    { name: "label", value: (structure) => structure.label },
    { name: "keyName", title: "key", value: (structure) => structure.keyName },
    { name: "keyType", title: "key type", value: (structure) => structure.keyType },
    { name: "fields", value: (structure) => structure.fields.map((field) => field.label) },
    { name: "tags", value: (structure) => structure.tags?.map((tag) => tag.label) },
    { name: "_id", title: "id", value: (structure) => structure._id, isWhole: true, isAside: true },
    { name: "__v", value: (structure) => structure.__v, optional: true },
  ],
  id: (structure) => structure._id,
};

async function formatStructure(
  { label, keyName, keyType, _id, fields, tags = [] }: ContactStructure,
  { columns: width, isColored }: Terminal,
): Promise<string> {
  const { fitColumns, renderRecord, renderTable } = await import("../../terminal/table.ts");
  const facts: [string, string][] = [
    ["label", label],
    ["key", keyName],
    ["key type", keyType],
    ["id", _id],
  ];
  const head = ["part", "label", "type", "required", "id"].map((name) => ({ name, isWhole: name === "id" }));
  const parts = [
    ...fields.map(({ label, dataType, required, _id }) => [
      "field",
      label,
      dataType,
      required ? "yes" : "",
      _id,
    ]),
    ...tags.map(({ label, _id }) => ["tag", label, "", "", _id]),
  ];
  const cells = parts.map((part) => part.map((cell) => cell ?? ""));
  const { columns, rows } = fitColumns(head, cells, width);
  const summary = renderRecord(facts, width, isColored.out);
  return `${summary}\n${renderTable(columns, rows, width, isColored.out)}`;
}
