/**
 * Sends the requests of a run: each waits until the budget allows it, is counted, and ends as one of three
 * things. What cannot continue ends the run by a `RunStop`.
 */
import { InterruptedError, ServiceError } from "../../errors.ts";
import type { ApiAnswer, ApiRequest, Clock, Send, SendEvent } from "../../wire.ts";
import type { Budget } from "./budget.ts";
import { createGate, type Gate } from "./gate.ts";
import { createOutage, type Outage } from "./outage.ts";
import { type Reply, readFailure } from "./reply.ts";
import { asRunStop, RunStop } from "./run-stop.ts";

export type RequestKind = "search" | "create" | "mutate" | "other";

/** Requests that left the machine; repeated ones are counted in their kind, and in `retried`. */
export type RequestCounts = Record<RequestKind | "retried" | "total", number>;

export interface WriteSteps {
  /**
   * Right before the request is sent, when the budget allows it: writes the intent to the disk.
   * @returns false where the request must not leave, since what it was decided on may not hold any more
   */
  beforeLeaving(): Promise<boolean>;
  /** It is certain that the request was not carried out, and it will be sent again. */
  notApplied(): void;
}

export interface PacedSend {
  /** @throws RunStop; whatever `beforeLeaving` throws */
  send(request: ApiRequest, kind: RequestKind, write?: WriteSteps): Promise<Reply>;
  /** The same as a plain `Send`, for reads of names and for what is made once. Throws what a `Send` throws, and RunStop. */
  readonly plain: Send;
  /** The same for the searches that the run is about: counted as such, and one that the key may not make ends the run. */
  readonly searches: Send;
  /** Ends the run: nothing more is sent. Requests under way may still be answered. */
  stop(reason: RunStop): void;
  readonly stopped: RunStop | undefined;
  /** Fires when the run ends. */
  readonly ended: AbortSignal;
  readonly counts: Readonly<RequestCounts>;
  /** Until when nothing leaves, and why; for the progress line. */
  readonly waiting: Gate["waiting"];
  /** When the last wait ended, in milliseconds since the epoch. */
  readonly waitEndedAt: number;
}

export interface PaceOptions {
  send: Send;
  budget: Budget;
  clock: Clock;
  concurrency: number;
  /** Its reason is an InterruptedError. Requests under way get `graceMilliseconds` to be answered. */
  signal: AbortSignal;
  /** Requests of this invocation that were sent already. */
  sentBefore?: number;
  graceMilliseconds?: number;
}

interface PacedRequest {
  request: ApiRequest;
  kind: RequestKind;
  isPlain: boolean;
}

export function createPacedSend({
  graceMilliseconds = 600,
  sentBefore = 0,
  ...options
}: PaceOptions): PacedSend {
  const { send, budget, clock, signal } = options;
  const outage = createOutage();
  const gate = createGate({ ...options, outage });
  const interruption = watchSignal(signal, gate, clock, graceMilliseconds);
  const counts: RequestCounts = {
    search: 0,
    create: 0,
    mutate: 0,
    other: sentBefore,
    retried: 0,
    total: sentBefore,
  };
  const dateOf = createDateReader();

  /** One attempt that may leave; undefined when it is certain that nothing was done and it should be sent again. */
  async function attempt(paced: PacedRequest, isRepeat: boolean): Promise<Reply | undefined> {
    const startedAt = clock.now();
    const onEvent = countSent(counts, paced.kind, isRepeat, budget);
    try {
      const answer = await send(paced.request, { maxWaitSeconds: 0, onEvent, signal: interruption.giveUp });
      budget.answered(answer.limits, clock.now(), dateOf(answer.headers));
      outage.reached();
      outage.end(paced.request.effect);
      return { kind: "answered", answer };
    } catch (error) {
      return judge(error, paced, startedAt);
    } finally {
      gate.update();
    }
  }

  /** @throws RunStop the first reason why the run ends */
  function judge(error: unknown, { request, isPlain }: PacedRequest, startedAt: number): Reply | undefined {
    const now = clock.now();
    noteFailure(error, request, now, budget, outage);
    const failure = readFailure(error, request, isPlain);
    if (failure.kind === "refused") return failure.reply;
    if (failure.kind === "interrupted") interruption.begin();
    // What was given up fails for that reason, and says nothing of the service.
    const isGivenUp = interruption.giveUp.aborted;
    if (failure.kind === "outage" && !isGivenUp && !outage.isHopeless(failure.error)) {
      if (!outage.noteFailure(request.effect, startedAt, now)) gate.close(asRunStop(error));
      return failure.reply;
    }
    gate.close(asRunStop(error));
    throw gate.closed;
  }

  async function sendPaced(paced: PacedRequest, write?: WriteSteps): Promise<Reply> {
    for (let tries = 0; ; tries++) {
      await gate.pass();
      let mayLeave: boolean | undefined;
      try {
        mayLeave = await write?.beforeLeaving();
      } catch (error) {
        budget.withdraw();
        gate.close(asRunStop(error));
        throw error;
      }
      if (mayLeave === false) {
        budget.withdraw();
        gate.update();
        return { kind: "withheld" };
      }
      if (gate.closed?.by === "signal" || gate.closed?.by === "error") {
        // That came while the intent was being written: the request is not sent any more.
        budget.withdraw();
        write?.notApplied();
        throw gate.closed;
      }
      const reply = await attempt(paced, tries > 0);
      if (reply) return reply;
      write?.notApplied();
    }
  }

  return {
    send: (request, kind, write) => sendPaced({ request, kind, isPlain: false }, write),
    plain: asSend((request) => sendPaced({ request, kind: "other", isPlain: true })),
    searches: asSend((request) => sendPaced({ request, kind: "search", isPlain: false })),
    stop: gate.close,
    get stopped() {
      return gate.closed;
    },
    ended: gate.signal,
    counts,
    get waiting() {
      return gate.waiting;
    },
    get waitEndedAt() {
      return gate.waitEndedAt;
    },
  };
}

function asSend(send: (request: ApiRequest) => Promise<Reply>): Send {
  return async (request) => {
    const reply = await send(request);
    if (reply.kind === "withheld") throw new Error("only a write is withheld");
    if (reply.kind !== "answered") throw reply.error;
    return reply.answer as ApiAnswer<never>;
  };
}

/**
 * At a signal, nothing more passes the gate, and requests under way are given up when their grace period is over.
 * `begin` does the same for a request that was interrupted otherwise.
 */
function watchSignal(signal: AbortSignal, gate: Gate, clock: Clock, graceMilliseconds: number) {
  const giveUp = new AbortController();
  function begin(): void {
    const reason = signal.reason instanceof InterruptedError ? signal.reason : new InterruptedError();
    gate.close(new RunStop("signal", reason));
    clock.sleep(graceMilliseconds, giveUp.signal).then(
      () => giveUp.abort(reason),
      () => undefined,
    );
  }
  if (signal.aborted) begin();
  else signal.addEventListener("abort", begin, { once: true });
  return { begin, giveUp: giveUp.signal };
}

/** Counts what one attempt sends, which may be more than one request. */
function countSent(counts: RequestCounts, kind: RequestKind, isRepeat: boolean, budget: Budget) {
  let wasSent = false;
  return (event: SendEvent): void => {
    if (event.kind !== "sent") return;
    counts.total++;
    counts[kind]++;
    if (wasSent || isRepeat) counts.retried++;
    if (wasSent) budget.repeat();
    wasSent = true;
  };
}

/** What a failed request tells of the limits and of whether the service can be reached. */
function noteFailure(
  error: unknown,
  { effect }: ApiRequest,
  now: number,
  budget: Budget,
  outage: Outage,
): void {
  const isAnswer = error instanceof ServiceError;
  if (isAnswer) outage.reached();
  if (!isAnswer || error.status >= 500) {
    budget.lost();
    return;
  }
  outage.end(effect);
  const { limits, limitKind = "hour", details } = error;
  if (error.status === 429) budget.limited(limitKind, details.retryAfterSeconds, limits, now);
  else budget.answered(limits, now);
}

/** Reads the date of an answer; answers of one second say the same. */
function createDateReader(): (headers: Record<string, string>) => number | undefined {
  let text: string | undefined;
  let at = Number.NaN;
  return ({ date }) => {
    if (date !== text) {
      text = date;
      at = date === undefined ? Number.NaN : Date.parse(date);
    }
    return Number.isNaN(at) ? undefined : at;
  };
}
