/** What a run wrote to each contact, as its journal tells it; for people as the lines of its plan. */

import { basename, join } from "node:path";
import { EcmError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Operation } from "../desired.ts";
import type { Outcome, Write } from "../items.ts";
import { mergeNames, type StoredNames, toStandInName } from "../plan/names.ts";
import { readPlanHead, readPlanLines } from "../plan/plan-file.ts";
import { type PlanLine, toPlanLine, toShownLine } from "../plan/plan-line.ts";
import type { Reject } from "../plan/session.ts";
import { fileNames, type Manifest, type Run } from "../runs/folder.ts";
import { type JournalRecord, readJournal } from "../runs/journal.ts";
import { readRunRecord } from "../runs/ledger.ts";
import { readRejects } from "./rejected.ts";

/**
 * What is told of a run that is on the disk, from its plan and its journal, without the account. Each is read
 * when it is asked for.
 */
export function readingsOf(run: Run) {
  const plan = join(run.folder, fileNames.plan);
  return {
    /** Of its plan; undefined where it has none. */
    head: async () => (await readPlanHead(plan))?.head,
    /** What was planned for each contact, as people read it. */
    async *lines(): AsyncGenerator<PlanLine> {
      for await (const line of readPlanLines(plan)) yield toShownLine(line);
    },
    /** What its fields, lists and tags were called. */
    names: () => readRunNames(run.folder),
    changes: (limit?: number) => readRunChanges(run, limit),
    async *rejects(): AsyncGenerator<Reject> {
      const { ledger } = await readRunRecord(run);
      yield* readRejects(plan, ledger);
    },
  };
}

/**
 * One line for each contact that the run wrote, in input order. A write of which it is not known whether it
 * was applied says so in its message. Keeps a line of text for each contact in memory.
 * @param limit only so many, the first ones; no more than twice as many are kept in memory
 * @throws JournalDamagedError for a damaged journal
 */
async function readRunChanges(run: Run, limit = Number.POSITIVE_INFINITY): Promise<PlanLine[]> {
  const names = await readRunNames(run.folder);
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

/** What a run did to a contact. */
export interface WrittenContact {
  ref: number;
  key: string;
  operation: Write;
  /** Of a contact that the run created. */
  createdId?: string;
  /** The journal is damaged: whether this was carried out is not known. */
  isUnproven?: boolean;
}

/**
 * The contacts that a run has written, with what it did to each, in the order of its outcomes.
 * @param isPartial the journal is damaged: passes over what cannot be read, and gives intents without an
 *   outcome as unproven
 * @throws EcmError when writes are open; JournalDamagedError
 */
export async function* readWrittenContacts(
  folder: string,
  isPartial = false,
): AsyncGenerator<WrittenContact> {
  /** What the run meant to do, where it is not known yet whether it did. */
  const open = new Map<number, Intent>();
  const passOver = isPartial ? () => undefined : undefined;
  for await (const { record } of readJournal(join(folder, fileNames.journal), passOver)) {
    if (record.kind === "intent") open.set(record.ref, record);
    else if (record.kind === "void") open.delete(record.ref);
    else if (record.kind === "done") {
      const written = toWrittenContact(record, open.get(record.ref), isPartial);
      open.delete(record.ref);
      if (written) yield written;
    }
  }
  if (!isPartial && open.size > 0) throw unknownEndError(open.size, basename(folder));
  for (const [ref, { key, operation }] of open) yield { ref, key, operation, isUnproven: true };
}

type Intent = Pick<WrittenContact, "key" | "operation">;

const writtenOutcomes: readonly Outcome[] = ["created", "updated", "removed", "deleted"];

/** @param intent undefined where it cannot be read: then the id is all that is known of the contact */
function toWrittenContact(
  { ref, outcome, contactId }: Extract<JournalRecord, { kind: "done" }>,
  intent: Intent | undefined,
  isPartial: boolean,
): WrittenContact | undefined {
  if (!writtenOutcomes.includes(outcome)) return undefined;
  if (intent) {
    const isCreated = intent.operation.kind === "create" && contactId !== undefined;
    return { ref, key: intent.key, operation: intent.operation, ...(isCreated && { createdId: contactId }) };
  }
  if (!isPartial || contactId === undefined) return undefined;
  const operation: Write = { kind: "change", id: contactId, body: {}, was: [] };
  return { ref, key: contactId, operation, isUnproven: true };
}

function unknownEndError(writes: number, run: string): EcmError {
  const [noun, verb] = writes === 1 ? ["write", "was"] : ["writes", "were"];
  return new EcmError(
    "unfit run",
    `It is unknown whether ${writes} ${noun} of the run ${verb} applied`,
    advise`Resume it, then undo it: ${ecm`runs resume ${run}`}`,
  );
}

/** What the run's fields, lists and tags were called when it was planned; what it created is there too. */
export async function readRunNames(folder: string): Promise<StoredNames> {
  const plan = await readPlanHead(join(folder, fileNames.plan)).catch(() => undefined);
  // Ids are shown as they are.
  if (!plan) return { fields: {}, lists: {}, tags: {} };
  if (plan.creations.length === 0) return plan.head.names;
  const created: Record<string, string> = {};
  // A damaged journal may still tell them.
  for await (const { record } of readJournal(join(folder, fileNames.journal), () => undefined)) {
    if (record.kind !== "names") continue;
    for (const [standIn, id] of Object.entries(record.ids)) created[id] = toStandInName(standIn)!;
  }
  // An id says what it is of: no two kinds share one.
  return mergeNames(plan.head.names, { fields: created, lists: created, tags: created });
}
