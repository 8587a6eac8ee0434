/**
 * Sends the requests of a run: each waits until the budget allows it, is counted, and ends as one of three
 * things. What cannot continue ends the run by a `RunStop`.
 */
import {
  type EcmError,
  InterruptedError,
  ServiceError,
  UnreachableError,
  UnreadableAnswerError,
} from "../../errors.ts";
import type { ApiAnswer, ApiRequest, Clock, Send, SendEvent } from "../../wire.ts";
import type { Budget } from "./budget.ts";
import { createGate, type Gate } from "./gate.ts";
import { createOutage } from "./outage.ts";
import { asRunStop, RunStop } from "./run-stop.ts";

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
  /** Right before the request is sent, when the budget allows it: writes the intent to the disk. */
  beforeLeaving(): Promise<void>;
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
}

export interface PaceOptions {
  send: Send;
  budget: Budget;
  clock: Clock;
  concurrency: number;
  /** Its reason is an InterruptedError. Requests under way get `graceMilliseconds` to be answered. */
  signal: AbortSignal;
  graceMilliseconds?: number;
}

interface PacedRequest {
  request: ApiRequest;
  kind: RequestKind;
  isPlain: boolean;
}

export function createPacedSend({ graceMilliseconds = 600, ...options }: PaceOptions): PacedSend {
  const { send, budget, clock, signal } = options;
  const counts: RequestCounts = { search: 0, create: 0, mutate: 0, other: 0, retried: 0, total: 0 };
  const outage = createOutage();
  const gate = createGate({ ...options, outage });
  const giveUp = new AbortController();
  const dateOf = createDateReader();

  if (signal.aborted) onSignal();
  else signal.addEventListener("abort", onSignal, { once: true });

  function onSignal(): void {
    const reason = signal.reason instanceof InterruptedError ? signal.reason : new InterruptedError();
    gate.close(new RunStop("signal", reason));
    clock.sleep(graceMilliseconds, giveUp.signal).then(
      () => giveUp.abort(reason),
      () => undefined,
    );
  }

  /** One attempt that may leave; undefined when it is certain that nothing was done and it should be sent again. */
  async function attempt(paced: PacedRequest, isRepeat: boolean): Promise<Reply | undefined> {
    const { request, kind } = paced;
    const startedAt = clock.now();
    let wasSent = false;
    const onEvent = (event: SendEvent) => {
      if (event.kind !== "sent") return;
      counts.total++;
      counts[kind]++;
      if (wasSent || isRepeat) counts.retried++;
      if (wasSent) budget.repeat();
      wasSent = true;
    };
    try {
      const answer = await send(request, { maxWaitSeconds: 0, onEvent, signal: giveUp.signal });
      budget.answered(answer.limits, clock.now(), dateOf(answer.headers));
      outage.reached();
      outage.end();
      return { kind: "answered", answer };
    } catch (error) {
      return judge(error, paced, startedAt);
    } finally {
      gate.update();
    }
  }

  /** @throws RunStop for what ends the run */
  function judge(error: unknown, { request, isPlain }: PacedRequest, startedAt: number): Reply | undefined {
    const now = clock.now();
    if (error instanceof ServiceError) {
      const { limits } = error;
      outage.reached();
      if (error.status < 500) outage.end();
      if (error.status === 429) {
        budget.limited(error.limitKind ?? "hour", error.details.retryAfterSeconds, limits, now);
        return undefined;
      }
      if (error.status < 500) {
        budget.answered(limits, now);
        // A name that may not be read is for the caller to judge; a contact that may not be read ends the run.
        const isFinal = (error.status === 401 || error.status === 403) && !isPlain;
        return isFinal ? fail(new RunStop("error", error)) : { kind: "refused", error };
      }
    }
    budget.lost();
    if (error instanceof InterruptedError || giveUp.signal.aborted) {
      onSignal();
      throw gate.closed;
    }
    if (!isFailure(error) || outage.isHopeless(error)) return fail(asRunStop(error));
    if (!outage.noteFailure(startedAt, now)) gate.close(new RunStop("error", error));
    const isCertain = request.effect === "read" || error.details.applied === "no";
    return isCertain ? undefined : { kind: "uncertain", error };
  }

  /** @throws the first reason why the run ends */
  function fail(reason: RunStop): never {
    gate.close(reason);
    throw gate.closed;
  }

  async function sendPaced(paced: PacedRequest, write?: WriteSteps): Promise<Reply> {
    for (let tries = 0; ; tries++) {
      await gate.pass();
      try {
        await write?.beforeLeaving();
      } catch (error) {
        budget.withdraw();
        gate.close(asRunStop(error));
        throw error;
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
    stop: gate.close,
    get stopped() {
      return gate.closed;
    },
    ended: gate.signal,
    counts,
    get waiting() {
      return gate.waiting;
    },
  };
}

/** What may be over later. */
function isFailure(error: unknown): error is EcmError {
  return (
    error instanceof ServiceError ||
    error instanceof UnreachableError ||
    error instanceof UnreadableAnswerError
  );
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
