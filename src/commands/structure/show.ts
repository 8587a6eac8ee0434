/** What every command on one structure does: find it, show it, edit it. */

import { updateStructureRequest } from "../../api/structures.ts";
import type { Context } from "../../context.ts";
import type { Account } from "../../service/account.ts";
import { readFreshStructure, updateStructure } from "../../service/update-structure.ts";
import type { StructureEdit } from "../../structure/edit.ts";
import type { ContactStructure } from "../../wire.ts";
import type { Result } from "../output/presents.ts";
import { describeChange, toChangeLines } from "./shared/changes.ts";
import { listParts, partView, structureSummary, structureView } from "./shared/view.ts";

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
