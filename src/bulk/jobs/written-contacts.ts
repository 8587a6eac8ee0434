/** What a run wrote to each contact, as its journal tells it. */
import { basename, join } from "node:path";
import { EcmError, exitCodes } from "../../errors.ts";
import { advise, ecm } from "../../hint.ts";
import type { Outcome, Write } from "../items.ts";
import { fileNames } from "../runs/folder.ts";
import { type JournalRecord, readJournal } from "../runs/journal.ts";

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
  return new EcmError(exitCodes.usage, `It is unknown whether ${writes} ${noun} of the run ${verb} applied`, {
    hint: advise`Resume it, then undo it: ${ecm`runs resume ${run}`}`,
  });
}

/** A contact that was written, and whose intent cannot be read: its id is all that is known of it. */
function toWrittenContact(ref: number, contactId: string): WrittenContact {
  const operation: Write = { kind: "change", id: contactId, body: {}, was: [] };
  return { ref, key: contactId, operation, isUnproven: true };
}

function isWritten(outcome: Outcome): boolean {
  return ["created", "updated", "removed", "deleted"].includes(outcome);
}
