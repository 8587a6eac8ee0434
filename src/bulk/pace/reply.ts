/** What a request of a run came to, and what a failed one means for the run. */
import {
  type EcmError,
  InterruptedError,
  ServiceError,
  UnreachableError,
  UnreadableAnswerError,
} from "../../errors.ts";
import type { ApiAnswer, ApiRequest } from "../../wire.ts";

export type Reply =
  | { kind: "answered"; answer: ApiAnswer }
  /** 4xx: the service understood and did not do it. */
  | { kind: "refused"; error: ServiceError }
  /** A write of which nobody knows whether it was applied. Never for a read. */
  | { kind: "uncertain"; error: EcmError }
  /** It did not leave: its sender wants to look again first. */
  | { kind: "withheld" };

/** Where a reply may be absent: it is certain that nothing was done, and the request can be sent again. */
export type Failure =
  | { kind: "refused"; reply?: Reply }
  /** It may be over later. */
  | { kind: "outage"; error: EcmError; reply?: Reply }
  | { kind: "interrupted" | "final" };

/** @param isPlain the caller judges whether what it asks for may be read; otherwise that ends the run */
export function readFailure(error: unknown, { effect }: ApiRequest, isPlain: boolean): Failure {
  if (error instanceof ServiceError && error.status < 500) {
    if (error.status === 429) return { kind: "refused" };
    const isFinal = (error.details.isNotOffered || [401, 403].includes(error.status)) && !isPlain;
    return isFinal ? { kind: "final" } : { kind: "refused", reply: { kind: "refused", error } };
  }
  if (error instanceof InterruptedError) return { kind: "interrupted" };
  if (!mayBeOver(error)) return { kind: "final" };
  const isCertain = effect === "read" || error.details.applied === "no";
  return { kind: "outage", error, reply: isCertain ? undefined : { kind: "uncertain", error } };
}

function mayBeOver(error: unknown): error is EcmError {
  return [ServiceError, UnreachableError, UnreadableAnswerError].some((kind) => error instanceof kind);
}
