/** What a run wrote to each contact, as its journal tells it; for people as the lines of its plan. */

import { basename, join } from "node:path";
import { EcmError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Operation } from "../desired.ts";
import type { Outcome, Write } from "../items.ts";
import { mergeNames, type StoredNames, toStandInName } from "../plan/names.ts";
import { readPlanHead, readPlanLines } from "../plan/plan-file.ts";
import { type PlanLine, toPlanLine, toPlanNames, toShownLine } from "../plan/plan-line.ts";
import type { Reject } from "../plan/session.ts";
import { fileNames, type Manifest } from "../runs/folder.ts";
import { type JournalRecord, readJournal } from "../runs/journal.ts";
import { readRunRecord } from "../runs/ledger.ts";
import { readRejects } from "./rejected.ts";

/**
 * What is told of a run that is on the disk, from its plan and its journal, without the account. Each is read
 * when it is asked for.
 */
export function readingsOf(run: { folder: string; manifest: Manifest }) {
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
 * @throws DamagedLineError for a damaged journal
 */
async function readRunChanges(
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
 * @throws EcmError when writes are open; DamagedLineError
 */
export async function* readWrittenContacts(
  folder: string,
  isPartial = false,
): AsyncGenerator<WrittenContact> {
  const writes = new WritesOfRun(isPartial);
  const passOver = isPartial ? () => undefined : undefined;
  for await (const { record } of readJournal(join(folder, fileNames.journal), passOver)) {
    const written = writes.take(record);
    if (written) yield written;
  }
  const unproven = writes.unproven();
  if (isPartial) yield* unproven;
  else if (unproven.length > 0) throw unknownEndError(unproven.length, basename(folder));
}

/** What a run meant to do to a contact. */
interface Intent {
  key: string;
  operation: Write;
}

/** Brings the outcomes of a journal together with their intents. */
class WritesOfRun {
  private readonly isPartial: boolean;
  private readonly open = new Map<number, Intent>();

  constructor(isPartial: boolean) {
    this.isPartial = isPartial;
  }

  /** @returns the contact whose outcome this is, where it was written */
  take(record: JournalRecord): WrittenContact | undefined {
    switch (record.kind) {
      case "intent":
        this.open.set(record.ref, record);
        return undefined;
      case "void":
        this.open.delete(record.ref);
        return undefined;
      case "done":
        return this.close(record);
      default:
        return undefined;
    }
  }

  /** Intents without an outcome. */
  unproven(): WrittenContact[] {
    return [...this.open].map(([ref, { key, operation }]) => ({ ref, key, operation, isUnproven: true }));
  }

  private close({
    ref,
    outcome,
    contactId,
  }: Extract<JournalRecord, { kind: "done" }>): WrittenContact | undefined {
    const wasWritten = isWritten(outcome);
    const intent = wasWritten ? this.open.get(ref) : undefined;
    this.open.delete(ref);
    if (!intent) {
      const isKnown = this.isPartial && wasWritten && contactId !== undefined;
      return isKnown ? toWrittenContact(ref, contactId) : undefined;
    }
    const { key, operation } = intent;
    return {
      ref,
      key,
      operation,
      ...(operation.kind === "create" && contactId !== undefined && { createdId: contactId }),
    };
  }
}

function unknownEndError(writes: number, run: string): EcmError {
  const [noun, verb] = writes === 1 ? ["write", "was"] : ["writes", "were"];
  return new EcmError(
    "unfit run",
    `It is unknown whether ${writes} ${noun} of the run ${verb} applied`,
    advise`Resume it, then undo it: ${ecm`runs resume ${run}`}`,
  );
}

/** A contact that was written, and whose intent cannot be read: its id is all that is known of it. */
function toWrittenContact(ref: number, contactId: string): WrittenContact {
  const operation: Write = { kind: "change", id: contactId, body: {}, was: [] };
  return { ref, key: contactId, operation, isUnproven: true };
}

function isWritten(outcome: Outcome): boolean {
  return ["created", "updated", "removed", "deleted"].includes(outcome);
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
