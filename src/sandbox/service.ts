/** The service as its doors see it: a request in, and what becomes of it out, faults included. */
import type { Clock } from "../wire.ts";
import { type App, type Bindings, respond } from "./app.ts";
import type { FaultsOf } from "./faults.ts";

/** An answer, and how it reaches the caller; without an answer the connection is dropped. */
export interface Outcome {
  response?: Response;
  /** Only the first half of the body arrives. */
  isCut?: boolean;
}

export type Service = (request: Request, bindings: Bindings) => Promise<Outcome>;

/** @param closing fires when the service closes: then requests that are being delayed are dropped */
export function serviceOf(app: App, faultsOf: FaultsOf, clock: Clock, closing: AbortSignal): Service {
  return async (request, bindings) => {
    const fault = faultsOf(request.method, new URL(request.url).pathname);
    const answer = async () => app.fetch(request, bindings);
    switch (fault?.kind) {
      case undefined:
        return { response: await answer() };
      case "reset-before":
        return {};
      case "reset-after":
        await answer();
        return {};
      case "delay":
        await clock.sleep(fault.seconds * 1000, closing).catch(() => {});
        if (closing.aborted) return {};
        return { response: await answer() };
      case "truncate":
        return { response: await answer(), isCut: true };
      case "429":
        return {
          response: failed(
            429,
            "TooManyRequestsError",
            `Rate limit exceeded. Retry after ${fault.seconds} seconds.`,
            {
              "Retry-After": String(fault.seconds),
            },
          ),
        };
      case "503":
        return { response: failed(503, "ServiceUnavailable", "The service is not available, on purpose") };
      case "500":
        return { response: failed(500, "InternalError", "The service failed, on purpose") };
    }
  };
}

function failed(
  status: number,
  errorType: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  return respond({ status, body: { errors: [{ errorType, message }] }, headers });
}
