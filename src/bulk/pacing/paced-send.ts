/**
 * The engine's way to the service: every request waits for its turn and for the budget, is counted, and comes back as
 * one of three things. What cannot continue ends the run by a `RunStop`.
 */
import {
  type EcmError,
  InterruptedError,
  ServiceError,
  UnreachableError,
  UnreadableAnswerError,
} from "../../errors.ts";
import type { ApiAnswer, ApiRequest, Clock, RateLimits, Send, SendEvent } from "../../wire.ts";
import type { Budget } from "./budget.ts";
import { asRunStop, RunStop, stopOf } from "./run-stop.ts";

export type RequestKind = "search" | "create" | "mutate" | "other";

/** Requests that left the machine; repeated ones are counted in their kind, and in `retried`. */
export type RequestCounts = Record<RequestKind | "retried" | "total", number>;

export type Reply =
  | { kind: "answered"; answer: ApiAnswer }
  /** 4xx: the service understood and did not do it. */
  | { kind: "refused"; error: ServiceError }
  /** A write of which nobody knows whether it was applied. Never for a read. */
  | { kind: "uncertain"; error: EcmError };

export interface WriteSteps {
  /** Right before the request leaves, after its turn has come: puts the intent on the disk. */
  beforeLeaving(): Promise<void>;
  /** It is certain that the request was not carried out, and it will be sent again. */
  notApplied(): void;
}

export interface PacedSend {
  /** @throws RunStop; whatever `beforeLeaving` throws */
  send(request: ApiRequest, kind: RequestKind, write?: WriteSteps): Promise<Reply>;
  /** The same line as a plain `Send`, for reads of names and for what is made once. Throws what a `Send` throws, and RunStop. */
  readonly plain: Send;
  /** The same for the searches that the run is about: counted as such, and one that the key may not make ends the run. */
  readonly searches: Send;
  /** Ends the run: nothing leaves any more. What is under way may still come back. */
  stop(reason: RunStop): void;
  readonly stopped: RunStop | undefined;
  /** Fires when the run ends. */
  readonly ended: AbortSignal;
  readonly counts: Readonly<RequestCounts>;
  /** Until when nothing leaves, and why; for the progress line. */
  readonly waiting: { until: number; why: string } | undefined;
}

export interface PaceOptions {
  send: Send;
  budget: Budget;
  clock: Clock;
  concurrency: number;
  /** Its reason is an InterruptedError. Requests under way get `graceMilliseconds` to come back. */
  signal: AbortSignal;
  graceMilliseconds?: number;
}

interface Sending {
  request: ApiRequest;
  kind: RequestKind;
  isPlain: boolean;
}

/** Pauses after one, two, … failures in a row without a sign of life, in milliseconds; then the run stops. */
const pausesInTrouble = [50, 500, 1500, 4000, 8000];
/** Longest sleep without a look at the clock, in milliseconds: it may have been set, or the machine may have slept. */
const longestSleep = 15_000;
/** A clock that goes back by more than this was set. */
const leastSetBack = 1000;

export function createPacedSend(options: PaceOptions): PacedSend {
  const { send, budget, clock, concurrency, signal } = options;
  const counts: RequestCounts = { search: 0, create: 0, mutate: 0, other: 0, retried: 0, total: 0 };
  const queue: { go(): void; fail(error: RunStop): void }[] = [];
  const end = new AbortController();
  const giveUp = new AbortController();
  let waiting: { until: number; why: string } | undefined;
  let stopped: RunStop | undefined;
  let isSleeping = false;
  let lastRead = Number.NEGATIVE_INFINITY;
  const trouble = { failures: 0, since: 0, until: 0 };
  /** Whether the service has answered anything yet. */
  let isKnownToBeThere = false;

  function stop(reason: RunStop): void {
    if (stopped) return;
    stopped = reason;
    waiting = undefined;
    end.abort(reason);
    for (const waiter of queue.splice(0)) waiter.fail(reason);
  }

  if (signal.aborted) onSignal();
  else signal.addEventListener("abort", onSignal, { once: true });

  function onSignal(): void {
    const reason = signal.reason instanceof InterruptedError ? signal.reason : new InterruptedError();
    stop(new RunStop("signal", reason));
    clock.sleep(options.graceMilliseconds ?? 600, giveUp.signal).then(
      () => giveUp.abort(reason),
      () => undefined,
    );
  }

  /** Lets go as many as may go; arranges to be called again when time alone will change that. */
  function pump(): void {
    while (queue.length > 0 && !stopped) {
      const now = readClock();
      const isTroubled = trouble.failures > 0;
      if (isTroubled && trouble.until > now) {
        sleepUntil(trouble.until, "the service did not answer");
        return;
      }
      // After a failure one request goes ahead and looks.
      if (budget.underWay >= (isTroubled ? 1 : concurrency)) return;
      const verdict = budget.ask(now);
      if (verdict.kind === "hold") return;
      if (verdict.kind === "wait") {
        sleepUntil(verdict.until, verdict.why);
        return;
      }
      if (verdict.kind === "stop") {
        stop(stopOf(verdict.by, verdict.until));
        return;
      }
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
      trouble.until -= back;
      trouble.since -= back;
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
        pump();
      });
  }

  function turn(): Promise<void> {
    if (stopped) return Promise.reject(stopped);
    return new Promise((resolve, reject) => {
      queue.push({ go: resolve, fail: reject });
      pump();
    });
  }

  /** One attempt that has its turn; undefined when it is certain that nothing was done and it should be sent again. */
  async function attempt(sending: Sending, isRepeat: boolean): Promise<Reply | undefined> {
    const { request, kind } = sending;
    const startedAt = clock.now();
    let limits: RateLimits = {};
    let leftOnce = false;
    const onEvent = (event: SendEvent) => {
      if (event.kind === "answered") limits = event.limits;
      if (event.kind !== "sent") return;
      counts.total++;
      counts[kind]++;
      if (leftOnce || isRepeat) counts.retried++;
      if (leftOnce) budget.repeat();
      leftOnce = true;
    };
    try {
      const answer = await send(request, { maxWaitSeconds: 0, onEvent, signal: giveUp.signal });
      budget.answered(answer.limits, clock.now(), dateOf(answer.headers));
      isKnownToBeThere = true;
      trouble.failures = 0;
      return { kind: "answered", answer };
    } catch (error) {
      return judge(error, sending, limits, startedAt);
    } finally {
      pump();
    }
  }

  function judge(
    error: unknown,
    { request, isPlain }: Sending,
    limits: RateLimits,
    startedAt: number,
  ): Reply | undefined {
    const now = clock.now();
    if (error instanceof ServiceError) isKnownToBeThere = true;
    if (error instanceof ServiceError && error.status === 429) {
      const kind = error.limitKind ?? "hour";
      budget.limited(kind, error.details.retryAfterSeconds, limits, now);
      trouble.failures = 0;
      return undefined;
    }
    if (error instanceof ServiceError && error.status < 500) {
      budget.answered(limits, now);
      trouble.failures = 0;
      // A name that may not be read is for the caller to judge; a contact that may not be read ends the run.
      const isFinal = (error.status === 401 || error.status === 403) && !isPlain;
      if (!isFinal) return { kind: "refused", error };
      stop(new RunStop("error", error));
      throw stopped;
    }
    budget.lost();
    if (error instanceof InterruptedError || giveUp.signal.aborted) {
      onSignal();
      throw stopped;
    }
    const isFailure =
      error instanceof ServiceError ||
      error instanceof UnreachableError ||
      error instanceof UnreadableAnswerError;
    if (!isFailure || isHopeless(error)) {
      stop(asRunStop(error));
      throw stopped;
    }
    noteTrouble(error, startedAt, now);
    const isCertain = request.effect === "read" || error.details.applied === "no";
    return isCertain ? undefined : { kind: "uncertain", error };
  }

  /**
   * An outage is waited out, a wrong address is not: when no connection was ever made, the attempts of a single request
   * are enough. Nor is a certificate that is not accepted.
   */
  function isHopeless({ details }: EcmError): boolean {
    if (details.retryable === false) return true;
    return details.isUnconnected === true && !isKnownToBeThere;
  }

  function noteTrouble(error: EcmError, startedAt: number, now: number): void {
    // Requests that were under way together fail together: that is one failure.
    if (trouble.failures > 0 && startedAt < trouble.since) return;
    const pause = pausesInTrouble[trouble.failures];
    trouble.failures++;
    trouble.since = now;
    trouble.until = now + (pause ?? 0);
    if (pause === undefined) stop(new RunStop("error", error));
  }

  async function sendPaced(sending: Sending, write?: WriteSteps): Promise<Reply> {
    for (let tries = 0; ; tries++) {
      await turn();
      try {
        await write?.beforeLeaving();
      } catch (error) {
        budget.withdraw();
        stop(asRunStop(error));
        throw error;
      }
      if (stopped?.by === "signal" || stopped?.by === "error") {
        // That came while the intent was being written: the request does not leave any more.
        budget.withdraw();
        write?.notApplied();
        throw stopped;
      }
      const reply = await attempt(sending, tries > 0);
      if (reply) return reply;
      write?.notApplied();
    }
  }

  const asSend =
    (kind: RequestKind, isPlain: boolean): Send =>
    async (request) => {
      const reply = await sendPaced({ request, kind, isPlain });
      if (reply.kind !== "answered") throw reply.error;
      return reply.answer as ApiAnswer<never>;
    };

  return {
    send: (request, kind, write) => sendPaced({ request, kind, isPlain: false }, write),
    plain: asSend("other", true),
    searches: asSend("search", false),
    stop,
    get stopped() {
      return stopped;
    },
    ended: end.signal,
    counts,
    get waiting() {
      return waiting;
    },
  };
}

function dateOf(headers: Record<string, string>): number | undefined {
  const at = headers.date === undefined ? Number.NaN : Date.parse(headers.date);
  return Number.isNaN(at) ? undefined : at;
}
