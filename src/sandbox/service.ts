/** The service as its doors see it: a request in, and what becomes of it out, faults included. */
import type { Clock } from "../wire.ts";
import { isAdminPath } from "./admin-api/access.ts";
import { type App, type Bindings, respond } from "./app.ts";
import type { FaultsOf } from "./faults.ts";

/** An answer, and how it reaches the caller; without an answer the connection is dropped. */
export interface Outcome {
  response?: Response;
  /** Only the first half of the body arrives. */
  isCut?: boolean;
}

export type Service = (request: Request, bindings: Bindings) => Promise<Outcome>;

export interface ServiceParts {
  app: App;
  faultsOf: FaultsOf;
  clock: Clock;
  /** Fires when the service closes: then requests that are being delayed are dropped. */
  closing: AbortSignal;
  /** Logs a request that the application does not see. */
  log(request: Request, bindings: Bindings, response: Response | undefined): Promise<void>;
}

export function serviceOf({ app, faultsOf, clock, closing, log }: ServiceParts): Service {
  return async (request, given) => {
    const path = new URL(request.url).pathname;
    if (isAdminPath(path)) return { response: await app.fetch(request, given) };
    const fault = faultsOf(request.method, path);
    const bindings = { ...given, arrivedAt: performance.now(), fault: fault?.kind };
    const answer = async () => app.fetch(request, bindings);
    const instead = async (response?: Response): Promise<Outcome> => {
      await log(request, bindings, response);
      return { response };
    };
    switch (fault?.kind) {
      case undefined:
        return { response: await answer() };
      case "reset-before":
        return instead();
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
        return instead(
          failed(429, "TooManyRequestsError", `Rate limit exceeded. Retry after ${fault.seconds} seconds.`, {
            "Retry-After": String(fault.seconds),
          }),
        );
      case "503":
        return instead(failed(503, "ServiceUnavailable", "The service is not available, on purpose"));
      case "500":
        return instead(failed(500, "InternalError", "The service failed, on purpose"));
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
