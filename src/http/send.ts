/** Sends requests: signs one, sends it, repeats it where the retry rule allows, reads the limits. */
import { EcmError, interruptedError, isInterruption, readOnlyError, toStopSignal } from "../errors.ts";
import { requestTarget, requireSafePath } from "../request-target.ts";
import { version } from "../version.ts";
import type {
  ApiAnswer,
  ApiRequest,
  Clock,
  RateLimits,
  Send,
  SendEvent,
  SendOptions,
  SentText,
  Transport,
  TransportFailure,
  WireAnswer,
  WireRequest,
} from "../wire.ts";
import { brokenAnswerHints, readAnswer, toRawAnswer, toServiceError, unreadableError } from "./answer.ts";
import { readAnswerLimits } from "./limits.ts";
import { bodyTooLarge, describeReason, toTrouble, unreachableError } from "./no-answer.ts";
import {
  createRedact,
  type Redact,
  redactAnswer,
  redactBody,
  redactFailure,
  redactRequest,
} from "./redact.ts";
import { decideRetry, type Situation, type Trouble } from "./retry.ts";

export interface SendConfiguration {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
  transport: Transport;
  clock: Clock;
  /** Longest wait for one answer; 0 waits for ever. */
  timeoutSeconds: number;
  maxWaitSeconds: number;
  readOnly: boolean;
  signal: AbortSignal;
  /** Sees every event of every request: for `--verbose`, the rate-limit line, the stored limits. */
  onEvent?: (event: SendEvent) => void;
}

/** One attempt's end: an answer, or why there is none. */
type AttemptResult =
  | { answer: WireAnswer; limits: RateLimits; isCut?: boolean; failure?: undefined }
  | { failure: TransportFailure; answer?: undefined };

export function createSend(configuration: SendConfiguration): Send {
  const redact = createRedact(configuration.apiKey);
  return async <T>(request: ApiRequest, options: SendOptions = {}): Promise<ApiAnswer<T>> => {
    const sending = prepare(request, options, configuration, redact);
    const { signal } = sending.wire;
    try {
      return await sendUntilSettled<T>(sending);
    } catch (error) {
      if (signal.aborted && !(error instanceof EcmError)) throw toInterruption(signal);
      throw error;
    }
  };
}

interface SendState {
  configuration: SendConfiguration;
  /** As events and messages show it: without the key. */
  request: ApiRequest;
  sent: SentText;
  wire: WireRequest & { signal: AbortSignal };
  options: SendOptions;
  emit: (event: SendEvent) => void;
  redact: Redact;
}

/** @throws ReadOnlyError or UsageError for a request that must not be sent */
function prepare(
  request: ApiRequest,
  options: SendOptions,
  configuration: SendConfiguration,
  redact: Redact,
): SendState {
  const body = request.rawBody ?? (request.body === undefined ? undefined : JSON.stringify(request.body));
  const redactedRequest = redactRequest(request, body, redact);
  if (configuration.readOnly && request.effect === "write") {
    throw readOnlyError(`${redactedRequest.method} ${redactedRequest.path} would write and was not sent`);
  }
  requireSafePath(request.path, redactedRequest.path);
  const target = requestTarget(request);
  return {
    configuration,
    request: redactedRequest,
    sent: { target: redact(target), body: body && redactBody(body, redact) },
    wire: {
      ...sign({ method: request.method, target, body }, configuration),
      signal: options.signal ?? configuration.signal,
    },
    options,
    emit(event) {
      configuration.onEvent?.(event);
      options.onEvent?.(event);
    },
    redact,
  };
}

async function sendUntilSettled<T>(sending: SendState): Promise<ApiAnswer<T>> {
  const { configuration, request, options, emit, wire } = sending;
  const { clock } = configuration;
  const maxWaitSeconds = options.maxWaitSeconds ?? configuration.maxWaitSeconds;
  let tries = 0;
  let limitWaits = 0;
  let waitedSeconds = 0;
  for (let attempt = 1; ; attempt++) {
    wire.signal.throwIfAborted();
    options.beforeLeaving?.();
    const outcome = await attemptOnce(sending, attempt);
    if (outcome.answer && outcome.answer.status < 400) return toResult<T>(sending, outcome);
    const { trouble, why } = diagnose(outcome, sending);
    if (trouble?.kind !== "limited") tries += 1;
    const situation: Omit<Situation, "trouble"> = {
      effect: request.effect,
      tries,
      limitWaits,
      waitedSeconds,
      maxWaitSeconds,
    };
    const decision = trouble ? decideRetry({ ...situation, trouble }) : { action: "stop" as const };
    if (decision.action === "stop") return toResult<T>(sending, outcome);
    emit({ kind: "waiting", request, seconds: decision.seconds, why });
    await clock.sleep(decision.seconds * 1000, wire.signal);
    if (trouble?.kind === "limited") {
      limitWaits += 1;
      waitedSeconds += decision.seconds;
    }
  }
}

async function attemptOnce(sending: SendState, attempt: number): Promise<AttemptResult> {
  const { configuration, request, sent, wire, emit, redact } = sending;
  const { clock, transport, timeoutSeconds } = configuration;
  emit({ kind: "sent", request, attempt, sent });
  const start = clock.now();
  const milliseconds = () => Math.max(0, clock.now() - start);
  try {
    const answer = redactAnswer(await transport(wire), redact);
    const limits = readAnswerLimits(answer, clock.now());
    emit({
      kind: "answered",
      request,
      status: answer.status,
      milliseconds: milliseconds(),
      limits,
      text: answer.text,
    });
    return { answer, limits };
  } catch (error) {
    if (wire.signal.aborted) throw toInterruption(wire.signal, request);
    // The embedded service failed, not the exchange with it.
    if (error instanceof EcmError) throw error;
    const failure = redactFailure(error as TransportFailure, redact);
    emit({
      kind: "lost",
      request,
      milliseconds: milliseconds(),
      message: describeReason(failure, timeoutSeconds),
    });
    // A status outside 2xx says whether anything was applied, even if the words that went with it are lost.
    const { partial } = failure;
    if (partial && (partial.status < 200 || partial.status >= 300)) {
      const trouble = toTrouble(failure);
      const isCut = trouble.kind === "lost" && !trouble.isTimeout && failure.code !== bodyTooLarge;
      return { answer: partial, limits: readAnswerLimits(partial, clock.now()), isCut };
    }
    return { failure };
  }
}

/** What the retry rule has to know; no trouble when only stopping is possible. */
function diagnose(outcome: AttemptResult, sending: SendState): { trouble?: Trouble; why: string } {
  const { configuration, request } = sending;
  if (outcome.failure) {
    return {
      // The same request would bring the same answer.
      trouble: outcome.failure.code === bodyTooLarge ? undefined : toTrouble(outcome.failure),
      why: describeReason(outcome.failure, configuration.timeoutSeconds),
    };
  }
  const { status } = outcome.answer;
  if (status === 429) {
    const { limit = "hour", retryAfterSeconds } = toServiceError(
      outcome.answer,
      request,
      configuration.clock.now(),
    ).details;
    return {
      trouble: { kind: "limited", limit, retryAfterSeconds },
      why: "hourly limit reached",
    };
  }
  // The words decide what a refusal means: that a contact exists already, say.
  if (outcome.isCut && status >= 400 && status < 500)
    return { trouble: { kind: "unexplained" }, why: "the answer ended early" };
  return {
    trouble: status >= 500 ? { kind: "failed", status } : undefined,
    why: `the service answered ${status}`,
  };
}

/** The end of a request: its answer, or its error. */
function toResult<T>({ configuration, request, options }: SendState, outcome: AttemptResult): ApiAnswer<T> {
  const { timeoutSeconds, baseUrl, clock } = configuration;
  if (outcome.failure) {
    const { failure } = outcome;
    const trouble = toTrouble(failure);
    const isBroken = failure.partial && !(trouble.kind === "lost" && trouble.isTimeout);
    if (failure.partial && (isBroken || request.effect === "write")) {
      const reason = describeReason(failure, timeoutSeconds);
      if (failure.code === bodyTooLarge)
        throw unreadableError(failure.partial, request, `The answer cannot be read: ${reason}`);
      const length = failure.partial.text.length;
      const words = `The answer ended early, after ${length} characters: ${reason}`;
      throw unreadableError(failure.partial, request, words, brokenAnswerHints[request.effect]);
    }
    throw unreachableError(failure, request, new URL(baseUrl).origin, timeoutSeconds);
  }
  const { answer, limits } = outcome;
  const isDone = answer.status >= 200 && answer.status < 300;
  const problem = isDone ? undefined : toServiceError(answer, request, clock.now(), baseUrl);
  if (options.expect === "any") return toRawAnswer<T>(answer, limits, problem);
  if (problem) throw problem;
  return readAnswer<T>(answer, limits, request);
}

/** The request as it goes over the wire. */
function sign(
  { method, target, body }: { method: string; target: string; body: string | undefined },
  configuration: SendConfiguration,
): WireRequest {
  return {
    method,
    url: configuration.baseUrl + target,
    headers: {
      "x-api-key": configuration.apiKey,
      accept: "application/json, */*;q=0.1",
      "user-agent": `ecm/${version}`,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    body,
    timeoutMilliseconds: configuration.timeoutSeconds * 1000 || Number.POSITIVE_INFINITY,
  };
}

function toInterruption(signal: AbortSignal, request?: ApiRequest): EcmError {
  const reason = isInterruption(signal.reason) ? signal.reason : interruptedError();
  if (request?.effect !== "write") return reason;
  return interruptedError(toStopSignal(reason), "The request in flight may have been applied", {
    applied: "unknown",
  });
}
