/** An exchange that brought no answer → what went wrong, and what is known of a write. Pure. */
import { EcmError } from "../errors.ts";
import { advise, ecm, type Hint } from "../hint.ts";
import type { ApiRequest, TransportFailure } from "../wire.ts";
import type { Trouble } from "./retry.ts";

/** Failures before any byte of a request left. */
const unsentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** Largest body of an answer that is held in memory, in bytes; a longer one is not read to its end. */
export const maxBodyBytes = 64 * 1024 * 1024;
/** The code of a failure by such a body. */
export const bodyTooLarge = "ECM_BODY_TOO_LARGE";

/** A failure that this program finds, not the network. */
export function createFailure(code: string): TransportFailure {
  return Object.assign(new Error(code), { code });
}

const timeouts = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"]);
const certificate = /^(CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|.*_CERT(IFICATE)?(_|$)|UNABLE_TO_)/;

const speaksNoTls = /WRONG_VERSION_NUMBER|wrong version number|PACKET_LENGTH_TOO_LONG/;

const codeMessages: Record<string, string> = {
  ECONNREFUSED: "the connection was refused",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host name could not be resolved",
  EHOSTUNREACH: "the host is unreachable",
  ENETUNREACH: "the network is unreachable",
  ECONNRESET: "the connection was lost",
  EPIPE: "the connection was lost",
  UND_ERR_SOCKET: "the connection was lost",
  UND_ERR_CONNECT_TIMEOUT: "the connection timed out",
  [bodyTooLarge]: `it is larger than ${maxBodyBytes / 1024 / 1024} MiB`,
};

/** Which kind of trouble a failed exchange is. */
export function toTrouble(failure: TransportFailure): Trouble {
  const code = failure.code ?? "";
  if (failure.wasSent === false || unsentCodes.has(code)) {
    return { kind: "unconnected", isLasting: certificate.test(code) };
  }
  return { kind: "lost", isTimeout: timeouts.has(code) };
}

/** What happened, in words. @param timeoutSeconds the limit that a time-out ran into */
export function describeReason(failure: TransportFailure, timeoutSeconds: number): string {
  const code = failure.code ?? "";
  if (timeouts.has(code)) return `it did not answer within ${timeoutSeconds} s`;
  if (speaksNoTls.test(code + failure.message)) return "it does not speak TLS (https) at that port";
  if (certificate.test(code)) return `its TLS certificate was not accepted (${code})`;
  return codeMessages[code] ?? (failure.message || code || "the request failed");
}

/**
 * The hint names the right place to look: the proxy, where that is in the way, not the service.
 */
function findUnconnectedHint(failure: TransportFailure): Hint {
  if (!failure.isProxied || certificate.test(failure.code ?? ""))
    return advise`Check the base URL and the network with: ${ecm`doctor`}`;
  return "Check HTTPS_PROXY, and whether the proxy allows this host; NO_PROXY names hosts that are reached directly";
}

function findUnansweredHint(isWrite: boolean, isTimeout: boolean): Hint {
  const longer = "Set a longer timeout with --timeout";
  if (isWrite) {
    const look = "See whether it was applied before you send it again";
    return isTimeout ? `${look}. ${longer}` : look;
  }
  return isTimeout ? longer : advise`Try again; check the base URL and the network with: ${ecm`doctor`}`;
}

/** The error of a request that brought no answer. @param origin of the base address */
export function unreachableError(
  failure: TransportFailure,
  request: ApiRequest,
  origin: string,
  timeoutSeconds: number,
): EcmError {
  const code = failure.code ?? "";
  const reason = describeReason(failure, timeoutSeconds);
  const trouble = toTrouble(failure);
  const isWrite = request.effect === "write";
  if (trouble.kind === "unconnected") {
    return new EcmError(
      "unreachable",
      `Cannot reach ${origin}${failure.isProxied ? " through the proxy" : ""}: ${reason}${isWrite ? "; the request was not applied" : ""}`,
      findUnconnectedHint(failure),
      {
        applied: isWrite ? "no" : undefined,
        isUnconnected: true,
        retryable: !trouble.isLasting,
        cause: failure,
      },
    );
  }
  return new EcmError(
    "unreachable",
    `No answer from ${origin}: ${reason}${isWrite ? "; the request may have been applied" : ""}`,
    findUnansweredHint(isWrite, timeouts.has(code)),
    { applied: isWrite ? "unknown" : undefined, cause: failure },
  );
}
