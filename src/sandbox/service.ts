/** The service as its transports see it: takes a request, and answers it or simulates a fault. */
import type { Clock } from "../wire.ts";
import { type App, applyHeaderVariant } from "./app.ts";
import type { Faults } from "./faults.ts";
import { createLogEntry } from "./log-entry.ts";
import { type Answer, type ReceivedRequest, refusalAnswer, targetPath, toAnswer } from "./request.ts";
import type { AccountLimits } from "./rules/limits.ts";
import { type Store, serviceTime } from "./store/index.ts";
import type { TransactionQueue } from "./transaction-queue.ts";
import type { Variants } from "./variants.ts";

/** An answer, and how it reaches the caller; without an answer the connection is dropped. */
export interface ServiceReply {
  answer?: Answer;
  /** Only the first half of the body arrives. */
  isCut?: boolean;
}

export type Service = (request: ReceivedRequest) => Promise<ServiceReply>;

export interface ServiceParts {
  app: App;
  store: Store;
  queue: TransactionQueue;
  faults: Faults;
  limits: AccountLimits;
  clock: Clock;
  variants: Variants;
  /** Fires when the service closes: then requests that are being delayed are dropped. */
  closing: AbortSignal;
}

export function createService(parts: ServiceParts): Service {
  const { app, store, queue, faults, limits, clock, variants, closing } = parts;
  return async (request) => {
    const fault = faults.pick(request.method, targetPath(request.target));
    request.arrivedAt = performance.now();
    request.fault = fault?.kind;
    /** Logs an answer that does not come from the application, which logs its own. */
    const instead = async (answer?: Answer): Promise<ServiceReply> => {
      await queue.runInTransaction(() => {
        const { status = null, text = null } = answer ?? {};
        const now = serviceTime(store, clock);
        store.requests.add(createLogEntry({ request, body: undefined, status, answer: text, now }));
      });
      return { answer };
    };
    const hourlyLimitReached = (seconds: number) => {
      const now = serviceTime(store, clock);
      return applyHeaderVariant(
        refusalAnswer(limits.hourlyLimitReached(now + seconds * 1000, now)),
        variants,
      );
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
