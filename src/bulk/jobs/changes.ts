/** What a run did, as the lines of its plan: from its journal, without the account. */
import type { Operation } from "../desired.ts";
import { type PlanLine, toPlanLine, toPlanNames } from "../plan/plan-line.ts";
import { readRunNames } from "../plan/run-names.ts";
import type { Manifest } from "../runs/folder.ts";
import { readWrittenContacts } from "./written-contacts.ts";

/**
 * One line for each contact that the run wrote, in input order. A write of which it is not known whether it
 * was applied says so in its message. Keeps a line of text for each contact in memory.
 * @param limit only so many, the first ones; no more than twice as many are kept in memory
 * @throws DamagedLineError for a damaged journal
 */
export async function readRunChanges(
  run: { folder: string; manifest: Manifest },
  limit = Number.POSITIVE_INFINITY,
): Promise<PlanLine[]> {
  const names = toPlanNames(await readRunNames(run.folder));
  const found: { ref: number; line: PlanLine }[] = [];
  const sortFound = () => found.sort((one, other) => one.ref - other.ref).splice(limit);
  for await (const done of readWrittenContacts(run.folder, true)) {
    const { ref, key, operation, createdId, isUnproven } = done;
    const line = hasLine(run.manifest, operation) ? ref : null;
    const contact = { line, key, found: createdId ? { _id: createdId } : undefined };
    const written = toPlanLine(contact, operation, names);
    const message = isUnproven ? "it is unknown whether this was applied" : written.message;
    const code = isUnproven ? "unproven" : written.code;
    found.push({ ref, line: { ...written, code, message } });
    if (found.length >= 2 * limit) sortFound();
  }
  sortFound();
  return found.map(({ line }) => line);
}

/** A selection has no input, and members that a sync removes are on no line of it. */
function hasLine({ kind, input }: Manifest, operation: Operation): boolean {
  if (kind === "undo" || input.file === "") return false;
  const isRemoval = operation.kind === "change" && operation.body.removeLists !== undefined;
  return kind !== "sync" || !isRemoval;
}
