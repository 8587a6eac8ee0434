/** What every command on one structure does: find it, show it, edit it. */

import { updateStructureRequest } from "../../api/structures.ts";
import type { Context, OutputFileFlags } from "../../context.ts";
import type { Account } from "../../service/account.ts";
import type { StructureEdit } from "../../structure/edit.ts";
import { readFreshStructure, updateStructure } from "../../structure/update.ts";
import { explainDryRun } from "../../terminal/dry-run.ts";
import { isForPeople } from "../../terminal/format.ts";
import { checkColumns, presentList, presentOne } from "../../terminal/present.ts";
import type { ContactStructure } from "../../wire.ts";
import { showsChanges } from "../shared/change-lines.ts";
import { describeChange, presentStructureChanges } from "./shared/changes.ts";
import { listParts, partColumns, structureSummary, structureView } from "./shared/view.ts";

/** @param named on the command line; else `--structure`, the profile's, or the only one */
export async function readWholeStructure(account: Account, nameOrId?: string): Promise<ContactStructure> {
  return account.forUpdate(await account.structure(nameOrId));
}

/** A person sees its fields and tags line by line; every other format has one record. */
export async function showStructure(
  context: Context,
  structure: ContactStructure,
  flags: OutputFileFlags = {},
): Promise<void> {
  const output = context.output(flags);
  if (structure.tags === undefined) context.terminal.warn("The service did not say which tags there are");
  if (!isForPeople(output)) {
    return presentOne(context.terminal, output, structure, structureView);
  }
  await presentOne(context.terminal, output, structure, structureSummary);
  await context.terminal.write("\n");
  await presentList(context.terminal, output, listParts(structure), {
    columns: partColumns,
    id: (part) => part.id,
  });
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
 * Applies an edit, or prints it with `--dry-run`; shows the structure as it is afterwards, or to a person
 * what has changed.
 * @param options `isAnnounced`: the changes were said already
 */
export async function runEdit(
  context: Context,
  edit: StructureEdit,
  options: { nameOrId?: string; dryRun?: boolean; structure?: ContactStructure; isAnnounced?: boolean },
): Promise<void> {
  const output = context.output();
  checkColumns(output, structureView);
  const { send, account } = await context.connect();
  const structure = await readStructureToEdit(account, options);
  const { editKnown } = await import("../../structure/edit.ts");
  const body = editKnown(structure, edit);
  if (!body) {
    context.terminal.note("unchanged");
    return showStructure(context, structure);
  }
  if (options.dryRun) {
    const request = updateStructureRequest(structure._id, body);
    const { diffStructures } = await import("../../structure/changes.ts");
    const changes = diffStructures(structure, body).map(describeChange).join("\n");
    const would = `change the structure ${JSON.stringify(structure.label)}:\n${changes}`;
    return explainDryRun(context.terminal, output, would, request);
  }
  // The last one that was sent is the one that was applied: others may have been faster before.
  let applied = { before: structure, body };
  const noted: StructureEdit = (current) => {
    const next = edit(current);
    if (next) applied = { before: current, body: next };
    return next;
  };
  const updated = await updateStructure(send, account, structure, noted);
  if (options.isAnnounced || !showsChanges(context.terminal, output)) return showStructure(context, updated);
  const { diffStructures } = await import("../../structure/changes.ts");
  await presentStructureChanges(context, diffStructures(applied.before, applied.body));
}
