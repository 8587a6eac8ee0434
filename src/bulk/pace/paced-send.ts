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
import { Outage } from "./outage.ts";
import { RunStop, toErrorStop, toRunStop } from "./run-stop.ts";

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
    while (this.queue.length > 0 && !this.stopped) {
      const now = clock.now();
      const verdict = this.decide(now);
      if (verdict.kind !== "go") {
        if (verdict.kind === "wait") this.sleepUntil(verdict.until, verdict.why);
        if (verdict.kind === "stop") this.stop(toRunStop(verdict.by, verdict.until, now));
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
    const startedAt = clock.now();
    const onEvent = this.countSent(paced.kind, isRepeat);
    try {
      const { signal } = this.giveUp;
      const answer = await send(paced.request, { maxWaitSeconds: 0, onEvent, signal });
      budget.noteAnswer(answer.limits, clock.now(), readServiceDate(answer.headers));
      this.outage.noteReached();
      this.outage.noteAnswer(paced.request.effect);
      return { kind: "answered", answer };
    } catch (error) {
      return this.judge(error, paced, startedAt);
    } finally {
      this.update();
    }
  }

  /** @throws RunStop the first reason why the run ends */
  private judge(
    error: unknown,
    { request, isPlain, write }: PacedRequest,
    startedAt: number,
  ): Reply | undefined {
    const { outage } = this;
    const now = this.options.clock.now();
    this.noteFailure(error, request, now);
    const failure = readFailure(error, request, isPlain);
    if (failure.kind === "refused") return failure.reply;
    if (failure.kind === "interrupted") this.interrupt();
    // What was given up fails for that reason, and says nothing of the service.
    const isGivenUp = this.giveUp.signal.aborted;
    if (failure.kind === "outage" && !isGivenUp && !outage.isHopeless(failure.error)) {
      // One at a time, nothing tells the fault of a contact from an outage.
      const ref = this.options.concurrency > 1 ? write?.ref : undefined;
      const mayGoOn = outage.noteFailure({ effect: request.effect, ref }, startedAt, now);
      if (!mayGoOn) this.stop(toErrorStop(error));
      return failure.reply;
    }
    // Whoever undoes the run later can rely on it.
    if (error instanceof EcmError && error.details.applied === "no") write?.notApplied();
    this.stop(toErrorStop(error));
    throw this.stopped;
  }

  /** What a failed request tells of the limits and of whether the service can be reached. */
  private noteFailure(error: unknown, { effect }: ApiRequest, now: number): void {
    const { outage } = this;
    const { budget } = this.options;
    const isAnswer = isServiceError(error);
    if (isAnswer) outage.noteReached();
    if (!isAnswer || error.details.status >= 500) {
      budget.noteLost();
      return;
    }
    outage.noteAnswer(effect);
    const { limits = {}, limit = "hour", retryAfterSeconds } = error.details;
    if (error.details.status === 429) {
      budget.noteLimited(limit, { retryAfterSeconds, limits }, now);
    } else budget.noteAnswer(limits, now);
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

/** What a request of a run came to. */
export type Reply =
  | { kind: "answered"; answer: ApiAnswer }
  /** 4xx: the service understood and did not do it. */
  | { kind: "refused"; error: ServiceError }
  /** A write of which nobody knows whether it was applied. Never for a read. */
  | { kind: "uncertain"; error: EcmError }
  /** It did not leave: its sender wants to look again first. */
  | { kind: "withheld" };

/** Where a reply may be absent: it is certain that nothing was done, and the request can be sent again. */
type Failure =
  | { kind: "refused"; reply?: Reply }
  /** It may be over later. */
  | { kind: "outage"; error: EcmError; reply?: Reply }
  | { kind: "interrupted" | "final" };

/** @param isPlain the caller judges whether what it asks for may be read; otherwise that ends the run */
function readFailure(error: unknown, { effect }: ApiRequest, isPlain: boolean): Failure {
  if (isServiceError(error) && error.details.status < 500) {
    if (error.details.status === 429) return { kind: "refused" };
    const isFinal = (error.details.isNotOffered || [401, 403].includes(error.details.status)) && !isPlain;
    return isFinal ? { kind: "final" } : { kind: "refused", reply: { kind: "refused", error } };
  }
  if (isInterruption(error)) return { kind: "interrupted" };
  if (!mayBeOver(error)) return { kind: "final" };
  const isCertain = effect === "read" || error.details.applied === "no";
  return { kind: "outage", error, reply: isCertain ? undefined : { kind: "uncertain", error } };
}

function mayBeOver(error: unknown): error is EcmError {
  return isKind(error, "service", "unreachable", "unreadable answer");
}
