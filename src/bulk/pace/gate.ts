/**
 * The queue of requests that are ready to be sent: lets as many go as the budget and the concurrency allow.
 */

import type { EcmError } from "../../errors.ts";
import type { ApiRequest, Clock } from "../../wire.ts";
import type { Budget, Verdict } from "./budget.ts";
import { type RunStop, toRunStop } from "./run-stop.ts";

interface GateOptions {
  budget: Budget;
  outage: Outage;
  clock: Clock;
  concurrency: number;
}

/** Until when nothing is sent, in milliseconds since the epoch, and why. */
export interface Wait {
  until: number;
  why: string;
}

/**
 * Longest sleep without a look at the clock, in milliseconds: it may
 * have been set, or the machine may have slept.
 */
const maxSleep = 15_000;

export class Gate {
  /** Told of each wait: when it begins, when its end is another, and when it is over. */
  onWait: (wait: Wait | undefined) => void = () => undefined;
  /** When something passed again after a wait, in milliseconds since the epoch; long ago before the first. */
  waitEndedAt = Number.NEGATIVE_INFINITY;
  closed: RunStop | undefined;

  private readonly options: GateOptions;
  private wait: Wait | undefined;
  private readonly queue: { go(): void; fail(error: RunStop): void }[] = [];
  private readonly end = new AbortController();
  private isSleeping = false;

  constructor(options: GateOptions) {
    this.options = options;
  }

  /** Until when nothing passes, and why. */
  get waiting(): Wait | undefined {
    return this.wait;
  }

  /** Fires when it closes. */
  get signal(): AbortSignal {
    return this.end.signal;
  }

  /** Resolves when one request may be sent, which the budget then counts. @throws RunStop */
  pass(): Promise<void> {
    if (this.closed) return Promise.reject(this.closed);
    return new Promise((go, fail) => {
      this.queue.push({ go, fail });
      this.update();
    });
  }

  /** Nothing passes any more. */
  close(reason: RunStop): void {
    if (this.closed) return;
    this.closed = reason;
    this.setWait(undefined);
    this.end.abort(reason);
    for (const waiter of this.queue.splice(0)) waiter.fail(reason);
  }

  /** To be called when a request has ended. Calls itself again when time alone changes what may pass. */
  update(): void {
    const { budget, clock } = this.options;
    while (this.queue.length > 0 && !this.closed) {
      const now = clock.now();
      const verdict = this.verdict(now);
      if (verdict.kind !== "go") {
        if (verdict.kind === "wait") this.sleepUntil(verdict.until, verdict.why);
        if (verdict.kind === "stop") this.close(toRunStop(verdict.by, verdict.until, now));
        return;
      }
      if (this.wait) this.waitEndedAt = now;
      this.setWait(undefined);
      budget.reserve();
      this.queue.shift()!.go();
    }
  }

  private verdict(now: number): Verdict {
    const { budget, outage, concurrency } = this.options;
    const { until } = outage;
    if (until !== undefined && until > now) return { kind: "wait", until, why: "the service did not answer" };
    // After a failure one request goes ahead and looks.
    if (budget.underWay >= (until === undefined ? concurrency : 1)) return { kind: "hold" };
    return budget.decide(now);
  }

  private setWait(wait: Wait | undefined): void {
    const isSame = wait?.until === this.wait?.until && wait?.why === this.wait?.why;
    this.wait = wait;
    if (!isSame) this.onWait(wait);
  }

  private sleepUntil(until: number, why: string): void {
    const { clock } = this.options;
    this.setWait({ until, why });
    if (this.isSleeping) return;
    this.isSleeping = true;
    clock
      .sleep(Math.min(Math.max(1, until - clock.now()), maxSleep), this.signal)
      .catch(() => undefined)
      .then(() => {
        this.isSleeping = false;
        this.update();
      });
  }
}

type Effect = ApiRequest["effect"];

/** Pauses after one, two, … failures, in milliseconds; then it has lasted too long. */
const pausesMilliseconds = [50, 500, 1500, 4000, 8000];
const maxPause = 8000;

/**
 * Failures in a row without an answer of the service: an outage is waited out, by one request at a time with
 * growing pauses between them, until one is answered or the attempts are used up. Each lost write is followed
 * by a read, so only an answered write shows that writes are answered again. Where writes were answered, and
 * since then one contact's alone are lost while reads are answered, that is no outage: the contact is at fault.
 */
export class Outage {
  private failures = 0;
  private lostWrites = 0;
  private since = 0;
  private end = 0;
  private wasReached = false;
  private wasWritten = false;
  /** The contacts whose writes were lost since the last that was answered. */
  private readonly lost = new Set<number>();

  /** Until when nothing is sent; undefined while the service answers. */
  get until(): number | undefined {
    return this.failures > 0 ? this.end : undefined;
  }

  /** The service was reached, whatever it said. */
  noteReached(): void {
    this.wasReached = true;
  }

  /** It answered in its right mind: the outage, if there was one, is over. */
  noteAnswer(effect: Effect): void {
    this.failures = 0;
    if (effect === "read") return;
    this.lostWrites = 0;
    this.wasWritten = true;
    this.lost.clear();
  }

  /** @param ref of the contact that is written, if any @returns false when it has lasted too long */
  noteFailure({ effect, ref }: { effect: Effect; ref?: number }, startedAt: number, now: number): boolean {
    if (ref !== undefined) this.lost.add(ref);
    const isOneContact = ref !== undefined && this.lost.size === 1 && this.wasWritten && this.failures === 0;
    const before = effect === "write" ? Math.max(this.failures, this.lostWrites) : this.failures;
    // Requests that were under way together fail together: that is one failure.
    if (before > 0 && startedAt < this.since) return true;
    const pause = isOneContact ? (pausesMilliseconds[before] ?? maxPause) : pausesMilliseconds[before];
    this.failures = before + 1;
    if (effect === "write") this.lostWrites = this.failures;
    this.since = now;
    this.end = now + (pause ?? 0);
    return pause !== undefined;
  }

  /**
   * Whether waiting cannot help. A wrong address: when no connection was ever made, the attempts of a single
   * request are enough. Or a certificate that is not accepted.
   */
  isHopeless({ details }: EcmError): boolean {
    if (details.retryable === false) return true;
    return details.isUnconnected === true && !this.wasReached;
  }
}
