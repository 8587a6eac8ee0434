/** What every command on one structure does: find it, show it, edit it. */

import type { Command } from "@commander-js/extra-typings";
import { updateStructureRequest } from "../../api/structures.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCounted } from "../../counts.ts";
import { hasStatus } from "../../errors.ts";
import { ecm, type Hint } from "../../hint.ts";
import type { Account } from "../../service/account.ts";
import { askSearch } from "../../service/contact-search.ts";
import { readFreshStructure, updateStructure } from "../../service/update-structure.ts";
import type { Part, StructureChange } from "../../structure/changes.ts";
import { removePart, renamePart, type StructureEdit } from "../../structure/edit.ts";
import type { StructureSpec } from "../../structure/file.ts";
import { readDataInput } from "../../terminal/data-input.ts";
import type { View } from "../../terminal/present.ts";
import type { ContactStructure, TagDefinition } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { requireChoice, requireTextOrAsk, toChoices } from "../flags/questions.ts";
import { describeCommand } from "../help/help-text.ts";
import type { ChangeLine } from "../output/change-lines.ts";
import { presents, type Result } from "../output/presents.ts";

/** @param named on the command line; else `--structure`, the profile's, or the only one */
export async function readWholeStructure(account: Account, nameOrId?: string): Promise<ContactStructure> {
  return account.forUpdate(await account.structure(nameOrId));
}

/** A person sees its fields and tags line by line; every other format has one record. */
export function toStructureResult(context: Context, structure: ContactStructure): Result<ContactStructure> {
  if (structure.tags === undefined) context.terminal.warn("The service did not say which tags there are");
  const screen = { view: structureSummary, parts: listParts(structure), partView };
  return { one: structure, view: structureView, screen };
}

/** Where no version tells what others change while a question stands, it is read again. */
async function readStructureToEdit(
  account: Account,
  { structure, nameOrId, dryRun }: { structure?: ContactStructure; nameOrId?: string; dryRun?: boolean },
): Promise<ContactStructure> {
  if (!structure) return readWholeStructure(account, nameOrId);
  return structure.__v === undefined && !dryRun ? readFreshStructure(account, structure._id) : structure;
}

/**
 * Applies an edit; with `--dry-run` nothing is sent. The structure as it is afterwards is shown, or to a person
 * what has changed.
 * @param options `isAnnounced`: the changes were said already
 */
export async function editStructure(
  context: Context,
  edit: StructureEdit,
  options: { nameOrId?: string; dryRun?: boolean; structure?: ContactStructure; isAnnounced?: boolean },
): Promise<Result<ContactStructure>> {
  const { send, account } = await context.connect();
  const structure = await readStructureToEdit(account, options);
  const { editKnown } = await import("../../structure/edit.ts");
  const body = editKnown(structure, edit);
  if (!body) {
    context.terminal.note("unchanged");
    return toStructureResult(context, structure);
  }
  const { diffStructures } = await import("../../structure/changes.ts");
  if (options.dryRun) {
    const changes = diffStructures(structure, body).map(describeChange).join("\n");
    return {
      request: updateStructureRequest(structure._id, body),
      would: `change the structure ${JSON.stringify(structure.label)}:\n${changes}`,
    };
  }
  // The last one that was sent is the one that was applied: others may have been faster before.
  let applied = { before: structure, body };
  const noted: StructureEdit = (current) => {
    const next = edit(current);
    if (next) applied = { before: current, body: next };
    return next;
  };
  const updated = await updateStructure(send, account, structure, noted);
  const result = toStructureResult(context, updated);
  if (options.isAnnounced) return result;
  return { ...result, changes: toChangeLines(diffStructures(applied.before, applied.body)) };
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

/** The changes as a person sees them at a terminal. */
export function toChangeLines(changes: readonly StructureChange[]): ChangeLine[] {
  return changes
    .map(describeChange)
    .map((line) => ({ mark: line.charAt(0) as ChangeLine["mark"], text: line.slice(2) }));
}

function quote(name: string): string {
  return JSON.stringify(name);
}

// What a removal takes from contacts, for the question that goes before it.

interface Removal {
  part: Part;
  label: string;
}

/**
 * A question for all of them; it costs one search. No search is known that finds the contacts that have a
 * value or a tag.
 */
export async function formatRemovalQuestion(
  { send }: Connection,
  structure: ContactStructure,
  removals: readonly Removal[],
): Promise<string> {
  const count = await countContacts(send, structure._id);
  const among = count === undefined ? "" : `; the structure has ${formatContacts(count)}`;
  const [{ part, label }, ...others] = removals as [Removal, ...Removal[]];
  const losses = { field: "Every contact loses its value", tag: "Every contact that has it loses it" };
  if (others.length === 0) return `Remove the ${part} ${JSON.stringify(label)}? ${losses[part]}${among}.`;
  const counted = (["field", "tag"] as const)
    .map((each) => ({ each, count: removals.filter((removal) => removal.part === each).length }))
    .filter(({ count }) => count > 0)
    .map(({ each, count }) => formatCounted(count, each));
  return `Remove ${counted.join(" and ")}? Every contact loses what it has of them${among}.`;
}

/** Undefined when the service refuses such a search: the question can be asked without. */
async function countContacts(send: Connection["send"], structureId: string) {
  const query = { structureId, filters: [], page: 1, pageSize: 1, source: ["_id"] };
  try {
    return (await askSearch(send, query)).totalRecords;
  } catch (error) {
    if (hasStatus(error, 400)) return undefined;
    throw error;
  }
}

function formatContacts(count: number): string {
  return count === 0 ? "no contact" : formatCounted(count, "contact");
}

// How structures look to people.

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

/** Shown above the table of fields and tags. */
const structureSummary: View<ContactStructure> = {
  ...structureView,
  columns: structureView.columns.filter(({ name }) => name !== "fields" && name !== "tags"),
};

interface StructurePart {
  kind: "field" | "tag";
  label: string;
  type?: string;
  isRequired?: boolean;
  id: string;
}

/** One line per field and tag, for people who read a single structure. */
function listParts(structure: ContactStructure): StructurePart[] {
  return [
    ...structure.fields.map(
      ({ _id, label, dataType, required }): StructurePart => ({
        kind: "field",
        label,
        type: dataType,
        isRequired: required,
        id: _id,
      }),
    ),
    ...(structure.tags ?? []).map(({ _id, label }): StructurePart => ({ kind: "tag", label, id: _id })),
  ];
}

const partView: View<StructurePart> = {
  columns: [
    { name: "part", value: (part) => part.kind },
    { name: "label", value: (part) => part.label },
    { name: "type", value: (part) => part.type },
    { name: "required", value: (part) => (part.isRequired ? "yes" : "") },
    { name: "_id", title: "id", value: (part) => part.id, isWhole: true },
  ],
  id: (part) => part.id,
};

// `rename` and `remove` of `ecm structure field` and `ecm structure tag`: the same for both.

/** What every command on a field or a tag prints. */
export const editOutput = "The updated structure, or at a terminal what changed (old → new).";

export interface PartCommands {
  part: Part;
  /** What becomes of contacts. */
  onRename: string;
  onRemove: string;
  /** A label and a new one, for the examples; a label that is removed. */
  exampleRename: string;
  exampleRemove: string;
  /** Those that a person can choose from. */
  list(account: Account): Promise<readonly TagDefinition[]>;
  resolve(structure: ContactStructure, nameOrId: string): TagDefinition;
}

export function registerRenameAndRemove(group: Command, context: Context, commands: PartCommands): void {
  const { part } = commands;
  const rename = group
    .command("rename")
    .description(`rename a ${part}; ${commands.onRename}`)
    .argument(`[${part}]`, "its label or id")
    .argument("[label]", "the new label");
  const renaming = describeCommand(addDryRunFlag(rename), {
    examples: [`ecm structure ${part} rename ${commands.exampleRename}`],
    output: editOutput,
    writes: true,
    exitCodes: { 6: `another ${part} has this label, or others keep changing the structure` },
  });
  renaming.action(
    presents(context, { view: structureView }, (name, label, { dryRun }) =>
      renameNamed(context, commands, { name, label }, dryRun),
    ),
  );

  const remove = group
    .command("remove")
    .description(`remove a ${part}; ${commands.onRemove} (asks first)`)
    .argument(`[${part}]`, "its label or id");
  const example = `ecm structure ${part} remove ${commands.exampleRemove}`;
  const removing = describeCommand(addDryRunFlag(remove), {
    examples: [example, `${example} --yes`],
    output: editOutput,
    writes: true,
    asks: true,
  });
  removing.action(
    presents(context, { view: structureView }, (name, { dryRun }) =>
      removeNamed(context, commands, name, dryRun),
    ),
  );
}

async function renameNamed(
  context: Context,
  commands: PartCommands,
  typed: { name?: string; label?: string },
  dryRun?: boolean,
): Promise<Result<ContactStructure>> {
  const { part, resolve } = commands;
  const usage = ecm`structure ${part} rename ${part.toUpperCase()} LABEL`;
  const nameOrId = await requirePart(context, commands, typed.name, { verb: "rename", usage });
  const missing = { question: "New label", what: "the new label", usage };
  const label = await requireTextOrAsk(context, typed.label, missing);
  // Planned again after somebody else's change, it is the one that was meant at first, whatever it is called
  // by then.
  let id: string | undefined;
  const edit: StructureEdit = (structure) => {
    id ??= resolve(structure, nameOrId)._id;
    return renamePart(structure, part, id, label);
  };
  return editStructure(context, edit, { dryRun });
}

async function removeNamed(
  context: Context,
  commands: PartCommands,
  typedName: string | undefined,
  dryRun?: boolean,
): Promise<Result<ContactStructure>> {
  const { part, resolve } = commands;
  const usage = ecm`structure ${part} remove ${part.toUpperCase()}`;
  const nameOrId = await requirePart(context, commands, typedName, { verb: "remove", usage });
  if (!dryRun) context.requireConfirmable();
  const connection = await context.connect();
  const structure = await readWholeStructure(connection.account);
  const { _id, label } = resolve(structure, nameOrId);
  if (!dryRun) {
    await context.confirm(() => formatRemovalQuestion(connection, structure, [{ part, label }]));
  }
  return editStructure(context, (current) => removePart(current, part, _id), { dryRun, structure });
}

function requirePart(
  context: Context,
  { part, list }: PartCommands,
  typedName: string | undefined,
  { verb, usage }: { verb: string; usage: Hint },
): Promise<string> {
  const question = `${part === "field" ? "Field" : "Tag"} to ${verb}`;
  return requireChoice(context, typedName, { question, what: `the ${part}`, usage }, async () => {
    const { account } = await context.connect();
    return toChoices(await list(account), ({ label }) => label);
  });
}
