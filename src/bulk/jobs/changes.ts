/** What a run wrote to each contact, as its journal tells it; for people as the lines of its plan. */

import { basename, join } from "node:path";
import { toStandInName } from "../../api/names.ts";
import { EcmError } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Operation, Outcome, Write } from "../desired.ts";
import { mergeNames, type StoredNames } from "../plan/name-book.ts";
import { readPlanHead, readPlanLines } from "../plan/plan-file.ts";
import { type PlanLine, toPlanLine, toShownLine } from "../plan/plan-line.ts";
import type { Reject } from "../plan/session.ts";
import { fileNames, type Manifest, type Run } from "../runs/folder.ts";
import { readJournal } from "../runs/journal.ts";
import { readRunRecord } from "../runs/ledger.ts";
import { readRejects } from "./rejects.ts";

/**
 * What is told of a run that is on the disk, from its plan and its journal, without the account. Each is read
 * when it is asked for.
 */
export function readingsOf(run: Run) {
  const plan = join(run.folder, fileNames.plan);
  return {
    /** The head of its plan; undefined where it has none. */
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
      yield* readRejects({ plan, ledger });
    },
  };
}

/**
 * One line for each contact that the run wrote, in input order. A write of which it is not known whether it
 * was applied has the code `unproven`.
 * @param limit only so many, the first ones
 * @throws JournalDamagedError for a damaged journal
 */
async function readRunChanges(run: Run, limit = Number.POSITIVE_INFINITY): Promise<PlanLine[]> {
  const names = await readRunNames(run.folder);
  const lines: PlanLine[] = [];
  for await (const { ref, key, operation, createdId, isUnproven } of readWritten(run.folder, true)) {
    if (lines.length >= limit) break;
    const line = hasLine(run.manifest, operation) ? ref : null;
    const contact = { line, key, found: createdId ? { _id: createdId } : undefined };
    const written = toPlanLine(contact, operation, names);
    lines.push({ ...written, ...(isUnproven && { code: "unproven" }) });
  }
  return lines;
}

/** A selection has no input, and members that a sync removes are on no line of it. */
function hasLine({ kind, input }: Manifest, operation: Operation): boolean {
  if (kind === "undo" || input.file === "") return false;
  const isRemoval =
    operation.kind === "change" && operation.values.some(({ what, to }) => what === "list" && !to);
  return kind !== "sync" || !isRemoval;
}

/** What a run did to a contact. */
export interface WrittenContact {
  ref: number;
  key: string;
  operation: Write;
  /** The id of a contact that the run created. */
  createdId?: string;
  /** It is not known whether this was carried out: the journal has no outcome of it. */
  isUnproven?: true;
}

/**
 * The contacts that a run has written, with what it did to each, in the order of the run; the journal has
 * them in the order of their outcomes.
 * @param withOpen intents without an outcome are given as unproven
 * @throws EcmError for such intents otherwise; JournalDamagedError
 */
export async function* readWritten(folder: string, withOpen = false): AsyncGenerator<WrittenContact> {
  const refs: number[] = [];
  for await (const { ref } of readOutcomes(folder, withOpen)) refs.push(ref);
  refs.sort((one, other) => one - other);
  const waiting = new Map<number, WrittenContact>();
  let next = 0;
  for await (const each of readOutcomes(folder, withOpen)) {
    waiting.set(each.ref, each);
    for (let ready = waiting.get(refs[next]!); ready; ready = waiting.get(refs[next]!)) {
      waiting.delete(refs[next++]!);
      yield ready;
    }
  }
}

const writtenOutcomes: readonly Outcome[] = ["created", "updated", "removed", "deleted"];

async function* readOutcomes(folder: string, withOpen: boolean): AsyncGenerator<WrittenContact> {
  /** What the run meant to do, where it is not known yet whether it did. */
  const open = new Map<number, Pick<WrittenContact, "key" | "operation">>();
  for await (const { record } of readJournal(join(folder, fileNames.journal))) {
    if (record.kind === "intent") open.set(record.ref, record);
    else if (record.kind === "void") open.delete(record.ref);
    else if (record.kind === "done") {
      const { ref, outcome, contactId: createdId } = record;
      const intent = open.get(ref);
      open.delete(ref);
      if (!intent || !writtenOutcomes.includes(outcome)) continue;
      const { key, operation } = intent;
      yield { ref, key, operation, ...(operation.kind === "create" && { createdId }) };
    }
  }
  if (!withOpen && open.size > 0) throw unknownEndError(open.size, basename(folder));
  for (const [ref, { key, operation }] of open) yield { ref, key, operation, isUnproven: true };
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
