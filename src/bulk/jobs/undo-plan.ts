/**
 * The plan of an undo: one line for each contact, in the order of the run that is undone. Each is decided right before
 * it is written, on the contact as it is then. Reading everyone first, for a plan that is whole before the first write,
 * would read each contact twice, and could say of it what does not hold any more.
 */
import { type PlanLine, type PlanSink, planLineOf } from "../engine/plan.ts";
import { planNames } from "../engine/planning.ts";
import type { SessionPlan } from "../engine/session.ts";
import type { KeptNames } from "../runs/names-file.ts";
import type { UndoItem } from "./undo-work.ts";

export interface UndoPlan extends SessionPlan {
  /** Writes what was decided and waits for contacts before it, also where these were never decided. */
  end(): Promise<void>;
}

/** @param refs of the contacts that are left. The journal has them in the order of their outcomes */
export function planOfUndo(sink: PlanSink, refs: readonly number[], kept: KeptNames): UndoPlan {
  const names = planNames(kept);
  const order = [...new Set(refs)].sort((one, other) => one - other);
  const waiting = new Map<number, PlanLine>();
  let next = 0;
  let writing = Promise.resolve();

  function write(ready: readonly number[]): Promise<void> {
    const lines = ready.map((ref) => waiting.get(ref)!);
    for (const ref of ready) waiting.delete(ref);
    writing = writing.then(async () => {
      for (const line of lines) await sink({ ...line, line: null });
    });
    return writing;
  }

  return {
    recorder: {
      pass: () => undefined,
      seal: () => ({
        fill(lines) {
          for (const line of lines) waiting.set(line.line!, line);
          const start = next;
          while (waiting.has(order[next]!)) next++;
          return write(order.slice(start, next));
        },
      }),
      end: () => writing,
    },
    /** `line` is the contact's place in the run until the lines are in order. An undo has no input. */
    lineOf({ ref, key, operation, contactId }: UndoItem, decision, { contact }) {
      const id = operation.kind === "create" ? contactId : operation.contactId;
      const known = operation.kind === "delete" || id === undefined ? undefined : { _id: id };
      return planLineOf({ line: ref, key: key.written, found: contact ?? known }, decision, names);
    },
    end: () => write([...waiting.keys()].sort((one, other) => one - other)),
  };
}
