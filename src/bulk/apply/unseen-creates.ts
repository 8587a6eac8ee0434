/**
 * Creates that the service refused as duplicates while no search showed the contact: a search may lag behind
 * the service's own check. They are looked up again at the end of the run, after a wait that the whole run
 * makes once.
 */
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
  private creates: (UnseenCreate & { refusedAt: number })[] = [];
  private readonly session: Session;
  private hasWaited = false;

  constructor(session: Session) {
    this.session = session;
  }

  get areMany(): boolean {
    return this.creates.length >= maxUnseen;
  }

  add(create: UnseenCreate): void {
    this.creates.push({ ...create, refusedAt: this.session.clock.now() });
  }

  /**
   * Looks all of them up again. Those that no search shows are skipped: a create of which nobody knows
   * whether it was applied is not counted as created then, since the contact may have been there before.
   */
  async settle(writing: Writing): Promise<void> {
    const { clock, send } = this.session;
    for (const pause of this.hasWaited ? [0] : visibilityPausesMilliseconds) {
      if (this.creates.length === 0) break;
      if (pause > 0) await clock.sleep(pause, send.ended);
      this.hasWaited = true;
      await this.lookAgain(writing);
      await writing.allEnded();
    }
    for (const { task } of this.creates.splice(0)) {
      const { ref } = task.item;
      recordInJournal(this.session, { kind: "done", ref, outcome: "skipped", code: "exists_hidden" });
    }
  }

  private async lookAgain(writing: Writing): Promise<void> {
    const { lookup, clock } = this.session;
    const creates = this.creates.splice(0);
    while (creates.length > 0) {
      const block = creates.splice(0, lookup.blockSize);
      const results = await lookup.findFresh(block.map(({ task }) => task.item));
      for (const create of block) {
        const found = results.get(create.task.item.ref) ?? {};
        const at = clock.now();
        if (!found.contact) {
          this.creates.push(create);
          continue;
        }
        lookup.behavior.learn("searchLag", Math.max(1, Math.round(at - create.refusedAt)));
        const again = { ...create.sent, conflicts: create.sent.conflicts + 1 };
        await writing.begin(create.task, create.freshness, decided(create.task, again, { found, at }));
      }
    }
  }
}
