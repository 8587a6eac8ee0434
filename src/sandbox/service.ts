/** The service as its transports see it: a request in, and its answer out, simulated faults included. */
import type { Clock } from "../wire.ts";
import type { App } from "./app.ts";
import type { FaultPicker } from "./faults.ts";
import { type Answer, type ReceivedRequest, targetPath, toAnswer } from "./request.ts";

/** An answer, and how it reaches the caller; without an answer the connection is dropped. */
export interface ServiceReply {
  answer?: Answer;
  /** Only the first half of the body arrives. */
  isCut?: boolean;
}

export type Service = (request: ReceivedRequest) => Promise<ServiceReply>;

export interface ServiceParts {
  app: App;
  pickFault: FaultPicker;
  clock: Clock;
  /** Fires when the service closes: then requests that are being delayed are dropped. */
  closing: AbortSignal;
  /** The answer when the hourly limit is used up, and its window ends in so many seconds. */
  hourlyLimitReached(seconds: number): Answer;
  /** Logs a request that the application does not see. */
  log(request: ReceivedRequest, answer: Answer | undefined): Promise<void>;
}

export function createService({
  app,
  pickFault,
  clock,
  closing,
  hourlyLimitReached,
  log,
}: ServiceParts): Service {
  return async (request) => {
    const fault = pickFault(request.method, targetPath(request.target));
    request.arrivedAt = performance.now();
    request.fault = fault?.kind;
    const instead = async (answer?: Answer): Promise<ServiceReply> => {
      await log(request, answer);
      return { answer };
    };
    switch (fault?.kind) {
      case undefined:
        return { answer: await app(request) };
      case "reset-before":
        return instead();
      case "reset-after":
        await app(request);
        return {};
      case "delay":
        await clock.sleep(fault.seconds * 1000, closing).catch(() => {});
        if (closing.aborted) return {};
        return { answer: await app(request) };
      case "truncate":
        return { answer: await app(request), isCut: true };
      case "429":
        return instead(hourlyLimitReached(fault.seconds));
      case "503":
        return instead(errorAnswer(503, "ServiceUnavailable", "Not available (simulated by --fault)"));
      case "500":
        return instead(errorAnswer(500, "InternalError", "Failed (simulated by --fault)"));
    }
  };
}

function errorAnswer(status: number, errorType: string, message: string): Answer {
  return toAnswer({ status, body: { errors: [{ errorType, message }] }, headers: {} });
}
