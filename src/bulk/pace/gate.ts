/** The queue of requests that are ready to be sent: lets as many go as the budget and the concurrency allow. */
import type { Clock } from "../../wire.ts";
import type { Budget } from "./budget.ts";
import type { Outage } from "./outage.ts";
import { type RunStop, stopOf } from "./run-stop.ts";

export interface Gate {
  /** Resolves when one request may be sent, which the budget then counts. @throws RunStop */
  pass(): Promise<void>;
  /** To be called when a request has ended. */
  update(): void;
  /** Nothing passes any more. */
  close(reason: RunStop): void;
  readonly closed: RunStop | undefined;
  /** Fires when it closes. */
  readonly signal: AbortSignal;
  /** Until when nothing passes, and why. */
  readonly waiting: { until: number; why: string } | undefined;
  /** When something passed again after a wait, in milliseconds since the epoch; long ago before the first. */
  readonly waitEndedAt: number;
}

export interface GateOptions {
  budget: Budget;
  outage: Outage;
  clock: Clock;
  concurrency: number;
}

/** Longest sleep without a look at the clock, in milliseconds: it may have been set, or the machine may have slept. */
const longestSleep = 15_000;
/** A clock that goes back by more than this was set. */
const leastSetBack = 1000;

export function createGate({ budget, outage, clock, concurrency }: GateOptions): Gate {
  const queue: { go(): void; fail(error: RunStop): void }[] = [];
  const end = new AbortController();
  let waiting: Gate["waiting"];
  let closed: RunStop | undefined;
  let isSleeping = false;
  let lastRead = Number.NEGATIVE_INFINITY;
  let waitEndedAt = Number.NEGATIVE_INFINITY;

  function close(reason: RunStop): void {
    if (closed) return;
    closed = reason;
    waiting = undefined;
    end.abort(reason);
    for (const waiter of queue.splice(0)) waiter.fail(reason);
  }

  /** Arranges to be called again when time alone will change what may pass. */
  function update(): void {
    while (queue.length > 0 && !closed) {
      const now = readClock();
      const { until } = outage;
      if (until !== undefined && until > now) {
        sleepUntil(until, "the service did not answer");
        return;
      }
      // After a failure one request goes ahead and looks.
      if (budget.underWay >= (until === undefined ? concurrency : 1)) return;
      const verdict = budget.ask(now);
      if (verdict.kind !== "go") {
        if (verdict.kind === "wait") sleepUntil(verdict.until, verdict.why);
        if (verdict.kind === "stop") close(stopOf(verdict.by, verdict.until, now));
        return;
      }
      if (waiting) waitEndedAt = now;
      waiting = undefined;
      budget.leave();
      queue.shift()!.go();
    }
  }

  /** What is waited for does not move away when the clock is set back. */
  function readClock(): number {
    const now = clock.now();
    const back = lastRead - now;
    if (back > leastSetBack) {
      budget.setBack(back);
      outage.setBack(back);
    }
    lastRead = now;
    return now;
  }

  function sleepUntil(until: number, why: string): void {
    waiting = { until, why };
    if (isSleeping) return;
    isSleeping = true;
    clock
      .sleep(Math.min(Math.max(1, until - clock.now()), longestSleep), end.signal)
      .catch(() => undefined)
      .then(() => {
        isSleeping = false;
        update();
      });
  }

  return {
    pass() {
      if (closed) return Promise.reject(closed);
      return new Promise((go, fail) => {
        queue.push({ go, fail });
        update();
      });
    },
    update,
    close,
    get closed() {
      return closed;
    },
    signal: end.signal,
    get waiting() {
      return waiting;
    },
    get waitEndedAt() {
      return waitEndedAt;
    },
  };
}
