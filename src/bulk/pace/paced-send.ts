/**
 * Sends the requests of a run: each waits until the budget allows it, is counted, and ends as one of three
 * things. What cannot continue ends the run by a `RunStop`.
 */

import {
  EcmError,
  interruptedError,
  isInterruption,
  isKind,
  isServiceError,
  type ServiceError,
} from "../../errors.ts";
import type { ApiAnswer, ApiRequest, Clock, Send, SendEvent } from "../../wire.ts";
import type { Budget, Verdict } from "./budget.ts";
import { RunStop, reserveError, toErrorStop, toRunStop } from "./run-stop.ts";

export type RequestKind = "search" | "create" | "mutate" | "other";

/** Requests that left the machine; repeated ones are counted in their kind, and in `retried`. */
export type RequestCounts = Record<RequestKind | "retried" | "total", number>;

interface WriteSteps {
  /** The contact that is written. */
  ref: number;
  /**
   * Right before the request is sent, when the budget allows it: writes the intent to the disk.
   * @returns false where the request must not leave, since what it was decided on may not hold any more
   */
  beforeLeaving(): Promise<boolean>;
  /** It is certain that the request was not carried out. */
  notApplied(): void;
}

interface PaceOptions {
  send: Send;
  budget: Budget;
  clock: Clock;
  concurrency: number;
  /** Its reason is an InterruptedError. Requests under way get a moment to be answered. */
  signal: AbortSignal;
  /** Requests of this invocation that were sent already. */
  sentBefore: number;
}

/** Until when nothing is sent, in milliseconds since the epoch, and why. */
export interface Wait {
  until: number;
  why: string;
}

const graceMilliseconds = 600;

/**
 * Longest sleep without a look at the clock, in milliseconds: it may
 * have been set, or the machine may have slept.
 */
const maxSleep = 15_000;

interface PacedRequest {
  request: ApiRequest;
  kind: RequestKind;
  isPlain: boolean;
  write?: WriteSteps;
}

export class PacedSend {
  /** For reads of names, and for what is made once. Throws what a `Send` throws, and RunStop. */
  readonly plain: Send = toSend((request) => this.sendPaced({ request, kind: "other", isPlain: true }));
  /**
   * For the searches that the run is about: counted as such, and one that the key may not make ends the run.
   */
  readonly searches: Send = toSend((request) => this.sendPaced({ request, kind: "search", isPlain: false }));
  readonly counts: Readonly<RequestCounts>;
  /** Why nothing leaves any more. */
  stopped: RunStop | undefined;
  /** Until when nothing leaves, and why; for the progress line. */
  waiting: Wait | undefined;
  /** When something left again after a wait, in milliseconds since the epoch; long ago before the first. */
  waitEndedAt = Number.NEGATIVE_INFINITY;

  private readonly options: PaceOptions;
  private readonly sent: RequestCounts;
  private readonly outage = new Outage();
  private readonly queue: { go(): void; fail(error: RunStop): void }[] = [];
  private readonly end = new AbortController();
  /** Fires when requests under way are given up. */
  private readonly giveUp = new AbortController();
  private isSleeping = false;
  private onWait: (wait: Wait | undefined) => void = () => undefined;

  constructor(options: PaceOptions) {
    const { signal, sentBefore } = options;
    this.options = options;
    this.sent = { search: 0, create: 0, mutate: 0, other: sentBefore, retried: 0, total: sentBefore };
    this.counts = this.sent;
    if (signal.aborted) this.interrupt();
    else signal.addEventListener("abort", () => this.interrupt(), { once: true });
  }

  /** Fires when the run ends. */
  get ended(): AbortSignal {
    return this.end.signal;
  }

  /** Tells of each wait from now on: when it begins, when its end is another, and when it is over. */
  watchWaits(onWait: (wait: Wait | undefined) => void): void {
    this.onWait = onWait;
  }

  /** @throws RunStop; whatever `beforeLeaving` throws */
  send(request: ApiRequest, kind: RequestKind, write?: WriteSteps): Promise<Reply> {
    return this.sendPaced({ request, kind, isPlain: false, write });
  }

  /** Ends the run: nothing more is sent. Requests under way may still be answered. */
  stop(reason: RunStop): void {
    if (this.stopped) return;
    this.stopped = reason;
    this.setWait(undefined);
    this.end.abort(reason);
    for (const waiter of this.queue.splice(0)) waiter.fail(reason);
  }

  /** Nothing more is sent, and requests under way are given up when their grace period is over. */
  private interrupt(): void {
    const { signal, clock } = this.options;
    const reason = isInterruption(signal.reason) ? signal.reason : interruptedError();
    this.stop(new RunStop("signal", reason));
    clock.sleep(graceMilliseconds, this.giveUp.signal).then(
      () => this.giveUp.abort(reason),
      () => undefined,
    );
  }

  /** Resolves when one request may be sent, which the budget then counts. @throws RunStop */
  private pass(): Promise<void> {
    if (this.stopped) return Promise.reject(this.stopped);
    return new Promise((go, fail) => {
      this.queue.push({ go, fail });
      this.update();
    });
  }

  /** To be called when a request has ended. Calls itself again when time alone changes what may pass. */
  private update(): void {
    const { budget, clock } = this.options;
    const { maxRequests, reserve } = budget.options;
    while (this.queue.length > 0 && !this.stopped) {
      const now = clock.now();
      const verdict = this.decide(now);
      if (verdict.kind !== "go") {
        if (verdict.kind === "wait") this.sleepUntil(verdict.until, verdict.why);
        if (verdict.kind === "stop") this.stop(toRunStop(verdict.by, { ...verdict, now, maxRequests }));
        if (verdict.kind === "never") this.stop(new RunStop("error", reserveError(reserve, verdict.limit)));
        return;
      }
      if (this.waiting) this.waitEndedAt = now;
      this.setWait(undefined);
      budget.reserve();
      this.queue.shift()!.go();
    }
  }

  private decide(now: number): Verdict {
    const { budget, concurrency } = this.options;
    const { until } = this.outage;
    if (until !== undefined && until > now) return { kind: "wait", until, why: "the service did not answer" };
    // After a failure one request goes ahead and looks.
    if (budget.underWay >= (until === undefined ? concurrency : 1)) return { kind: "hold" };
    return budget.decide(now);
  }

  private setWait(wait: Wait | undefined): void {
    const isSame = wait?.until === this.waiting?.until && wait?.why === this.waiting?.why;
    this.waiting = wait;
    if (!isSame) this.onWait(wait);
  }

  private sleepUntil(until: number, why: string): void {
    const { clock } = this.options;
    this.setWait({ until, why });
    if (this.isSleeping) return;
    this.isSleeping = true;
    clock
      .sleep(Math.min(Math.max(1, until - clock.now()), maxSleep), this.ended)
      .catch(() => undefined)
      .then(() => {
        this.isSleeping = false;
        this.update();
      });
  }

  private async sendPaced(paced: PacedRequest): Promise<Reply> {
    const { write } = paced;
    for (let tries = 0; ; tries++) {
      await this.pass();
      if (write && !(await this.mayLeave(write))) return { kind: "withheld" };
      const reply = await this.attempt(paced, tries > 0);
      if (reply) return reply;
      write?.notApplied();
    }
  }

  /** Asked once the budget allows the request. @throws RunStop; whatever `beforeLeaving` throws */
  private async mayLeave(write: WriteSteps): Promise<boolean> {
    const { budget } = this.options;
    let mayLeave: boolean;
    try {
      mayLeave = await write.beforeLeaving();
    } catch (error) {
      budget.release();
      this.stop(toErrorStop(error));
      throw error;
    }
    if (!mayLeave) {
      budget.release();
      this.update();
      return false;
    }
    const { stopped } = this;
    if (stopped?.by === "signal" || stopped?.by === "error") {
      // That came while the intent was being written: the request is not sent any more.
      budget.release();
      write.notApplied();
      throw stopped;
    }
    return true;
  }

  /**
   * One attempt that may leave; undefined when it is certain that
   * nothing was done and it should be sent again.
   */
  private async attempt(paced: PacedRequest, isRepeat: boolean): Promise<Reply | undefined> {
    const { send, budget, clock } = this.options;
    const { request, kind, write } = paced;
    const startedAt = clock.now();
    const onEvent = this.countSent(kind, isRepeat);
    try {
      const { signal } = this.giveUp;
      const answer = await send(request, { maxWaitSeconds: 0, onEvent, signal });
      budget.noteAnswer(answer.limits, clock.now(), readServiceDate(answer.headers));
      this.outage.noteAnswer(request.effect);
      return { kind: "answered", answer };
    } catch (error) {
      if (isServiceError(error) && error.details.status < 500) return this.takeRefusal(error, paced);
      budget.noteLost();
      if (isOutage(error)) return this.takeOutage(error, paced, startedAt);
      if (isInterruption(error)) this.interrupt();
      return this.fail(error, write);
    } finally {
      this.update();
    }
  }

  /** A 429 is sent again once the budget allows it. @throws RunStop */
  private takeRefusal(error: ServiceError, { request, isPlain, write }: PacedRequest): Reply | undefined {
    const { budget, clock } = this.options;
    const { status, isNotOffered, limits = {}, limit = "hour", retryAfterSeconds } = error.details;
    this.outage.noteAnswer(request.effect);
    if (status === 429) {
      budget.noteLimited(limit, { retryAfterSeconds, limits }, clock.now());
      return undefined;
    }
    budget.noteAnswer(limits, clock.now());
    const isFinal = (isNotOffered || [401, 403].includes(status)) && !isPlain;
    return isFinal ? this.fail(error, write) : { kind: "refused", error };
  }

  /** It may be over later. @throws RunStop where it cannot be, or has lasted too long */
  private takeOutage(
    error: EcmError,
    { request: { effect }, write }: PacedRequest,
    startedAt: number,
  ): Reply | undefined {
    const { clock, concurrency } = this.options;
    if (isServiceError(error)) this.outage.noteReached();
    // What was given up fails for that reason, and says nothing of the service.
    if (this.giveUp.signal.aborted || this.outage.isHopeless(error)) return this.fail(error, write);
    // One at a time, nothing tells the fault of a contact from an outage.
    const ref = concurrency > 1 ? write?.ref : undefined;
    if (!this.outage.noteFailure({ effect, ref }, startedAt, clock.now())) this.stop(toErrorStop(error));
    const isCertain = effect === "read" || error.details.applied === "no";
    return isCertain ? undefined : { kind: "uncertain", error };
  }

  /** @throws RunStop the first reason why the run ends */
  private fail(error: unknown, write: WriteSteps | undefined): never {
    // An undo of the run can rely on it.
    if (error instanceof EcmError && error.details.applied === "no") write?.notApplied();
    this.stop(toErrorStop(error));
    throw this.stopped;
  }

  /** Counts what one attempt sends, which may be more than one request. */
  private countSent(kind: RequestKind, isRepeat: boolean): (event: SendEvent) => void {
    const { sent } = this;
    const { budget } = this.options;
    let wasSent = false;
    return (event) => {
      if (event.kind !== "sent") return;
      sent.total++;
      sent[kind]++;
      if (wasSent || isRepeat) sent.retried++;
      if (wasSent) budget.noteRepeat();
      wasSent = true;
    };
  }
}

function toSend(send: (request: ApiRequest) => Promise<Reply>): Send {
  return async (request) => {
    const reply = await send(request);
    if (reply.kind === "withheld") throw new Error("only a write is withheld");
    if (reply.kind !== "answered") throw reply.error;
    return reply.answer as ApiAnswer<never>;
  };
}

function readServiceDate({ date = "" }: Record<string, string>): number | undefined {
  const at = Date.parse(date);
  return Number.isNaN(at) ? undefined : at;
}

function isOutage(error: unknown): error is EcmError {
  return isKind(error, "service", "unreachable", "unreadable answer");
}

/** Pauses after one, two, … failures, in milliseconds; then it has lasted too long. */
const pausesMilliseconds = [50, 500, 1500, 4000, 8000];

/**
 * Whether the service answers at all. An outage is waited out, by one request at a time with growing pauses
 * between them, until one is answered or the attempts are used up. Each lost write is followed by a read, so
 * only an answered write shows that writes are answered again. Where writes were answered, and since then one
 * contact's alone are lost while reads are answered, that is no outage: the contact is at fault.
 */
class Outage {
  /** Until when nothing is sent; undefined while the service answers. */
  until: number | undefined;
  /** In a row without an answer. */
  private failures = 0;
  private lostWrites = 0;
  /** When the last of them was noted. */
  private since = 0;
  private wasReached = false;
  private wasWritten = false;
  /** The contacts whose writes were lost since the last that was answered. */
  private readonly lost = new Set<number>();

  /** The service was reached, whatever it said. */
  noteReached(): void {
    this.wasReached = true;
  }

  /** It answered in its right mind: the outage, if there was one, is over. */
  noteAnswer(effect: ApiRequest["effect"]): void {
    this.wasReached = true;
    this.failures = 0;
    this.until = undefined;
    if (effect === "read") return;
    this.lostWrites = 0;
    this.wasWritten = true;
    this.lost.clear();
  }

  /** @param ref of the contact that is written, if any @returns false when it has lasted too long */
  noteFailure(
    { effect, ref }: { effect: ApiRequest["effect"]; ref?: number },
    startedAt: number,
    now: number,
  ): boolean {
    if (ref !== undefined) this.lost.add(ref);
    const isOneContact = ref !== undefined && this.lost.size === 1 && this.wasWritten && this.failures === 0;
    const before = effect === "write" ? Math.max(this.failures, this.lostWrites) : this.failures;
    // Requests that were under way together fail together: that is one failure.
    if (before > 0 && startedAt < this.since) return true;
    const pause = pausesMilliseconds[before] ?? (isOneContact ? pausesMilliseconds.at(-1) : undefined);
    this.failures = before + 1;
    if (effect === "write") this.lostWrites = this.failures;
    this.since = now;
    this.until = now + (pause ?? 0);
    return pause !== undefined;
  }

  /**
   * Whether waiting cannot help: a wrong address, where the attempts of a single request are enough, or a
   * certificate that is not accepted.
   */
  isHopeless({ details }: EcmError): boolean {
    return details.retryable === false || (details.isUnconnected === true && !this.wasReached);
  }
}

/** What a request of a run came to. */
export type Reply =
  | { kind: "answered"; answer: ApiAnswer }
  /** 4xx: the service understood and did not do it. */
  | { kind: "refused"; error: ServiceError }
  /** A write of which nobody knows whether it was applied. Never for a read. */
  | { kind: "uncertain"; error: EcmError }
  /** It did not leave: its sender wants to look again first. */
  | { kind: "withheld" };
