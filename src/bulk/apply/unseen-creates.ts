/**
 * Creates that the service refused as duplicates while no search showed the contact: a search may lag behind
 * the service's own check. They are looked up again at the end of the run, after a wait that the whole run
 * makes once.
 */
import { exitCodes } from "../../errors.ts";
import { RunStop } from "../pace/run-stop.ts";
import { recordInJournal, type Session } from "../plan/session.ts";
import { type Attempt, decided, type Freshness, type SentAttempt } from "./attempt.ts";
import type { Task } from "./outcomes.ts";
import { visibilityPausesMilliseconds } from "./read-back.ts";

export interface UnseenCreate {
  readonly task: Task;
  /** As it was refused. */
  readonly sent: SentAttempt;
  readonly freshness: Freshness;
}

export interface Writing {
  /** Begins to write what was decided of a contact, once there is room. */
  begin(task: Task, freshness: Freshness, start: Attempt): Promise<void>;
  /** Resolves when all that was begun has ended. @throws what failed */
  allEnded(): Promise<void>;
}

/** More are settled before the end: they have to fit into memory. */
const maxUnseen = 10_000;

export class UnseenCreates {
  private readonly creates = new Set<UnseenCreate & { refusedAt: number }>();
  private readonly session: Session;
  /** Contacts that were done when this invocation began. */
  private readonly doneBefore: number;
  private hasWaited = false;

  constructor(session: Session) {
    this.session = session;
    this.doneBefore = countDone(session);
  }

  get areMany(): boolean {
    return this.creates.size >= maxUnseen;
  }

  add(create: UnseenCreate): void {
    this.creates.add({ ...create, refusedAt: this.session.clock.now() });
  }

  /**
   * Looks all of them up again. Those that no search shows are skipped: a create of which nobody knows
   * whether it was applied is not counted as created then, since the contact may have been there before.
   */
  async settle(writing: Writing): Promise<void> {
    const { clock, send } = this.session;
    for (const pause of this.hasWaited ? [0] : visibilityPausesMilliseconds) {
      if (this.creates.size === 0) break;
      if (pause > 0) await clock.sleep(pause, send.ended);
      this.hasWaited = true;
      await this.lookAgain(writing);
      await writing.allEnded();
    }
    this.skipAll();
  }

  /**
   * A run that is stopped tries them again when it is resumed. Where all that this invocation could send was
   * spent on them, the next one would do the same, and the run never get on: then they are skipped now.
   */
  settleAtStop(stop: unknown): void {
    const isBudget = stop instanceof RunStop && stop.failure.exitCode === exitCodes.outOfBudget;
    if (isBudget && countDone(this.session) === this.doneBefore) this.skipAll();
  }

  private skipAll(): void {
    for (const { task } of this.creates) {
      const { ref } = task.item;
      recordInJournal(this.session, { kind: "done", ref, outcome: "skipped", code: "exists_hidden" });
    }
    this.creates.clear();
  }

  private async lookAgain(writing: Writing): Promise<void> {
    const { lookup, clock } = this.session;
    const creates = [...this.creates];
    while (creates.length > 0) {
      const block = creates.splice(0, lookup.blockSize);
      const results = await lookup.findFresh(block.map(({ task }) => task.item));
      for (const create of block) {
        const found = results.get(create.task.item.ref) ?? {};
        const at = clock.now();
        if (!found.contact) continue;
        this.creates.delete(create);
        lookup.behavior.learn("searchLag", Math.max(1, Math.round(at - create.refusedAt)));
        const again = { ...create.sent, conflicts: create.sent.conflicts + 1 };
        await writing.begin(create.task, create.freshness, decided(create.task, again, { found, at }));
      }
    }
  }
}

function countDone({ ledger: { counts } }: Session): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
