/** Who may use /__sandbox/. Pure, but for the comparison of tokens in constant time. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { forbidden, type Refusal, unauthorized } from "../rules/refusal.ts";
import { findForeignHeader, isLoopbackAddress } from "../transports/foreign.ts";

/** Where the paths of this API begin. */
export const adminRoot = "/__sandbox";

/** Where the paths of worlds begin; what follows is the id of one. */
export const worldsRoot = "/__world";

const adminForm = new RegExp(`^(?:${worldsRoot}/[^/]*)?${adminRoot}(?:/|$)`);

/** Whether a path belongs to this API: limits, faults, keys and the log have nothing to do with it. */
export function isAdminPath(path: string): boolean {
  return adminForm.test(path);
}

/**
 * With a token: anyone who sends it, from anywhere. Without: programs of
 * this machine, and pages of this very address.
 * @param address of the peer; undefined within this process, where everything is allowed
 */
export function refuseAccess(
  address: string | undefined,
  headers: IncomingHttpHeaders,
  token: string | undefined,
): Refusal | undefined {
  if (address === undefined) return undefined;
  if (token !== undefined) {
    const [, given = ""] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "") ?? [];
    return isSame(given, token)
      ? undefined
      : unauthorized(`Send the token that the sandbox was started with: Authorization: Bearer TOKEN`);
  }
  if (!isLoopbackAddress(address)) {
    return forbidden(
      "Without a token, /__sandbox/ answers this machine alone; start the sandbox with --admin-token",
    );
  }
  const foreign = findForeignHeader(headers) ?? (isOwnOrigin(headers) ? undefined : "Origin");
  return foreign && forbidden(`/__sandbox/ answers no requests from other sites (header ${foreign})`);
}

/** Another port of this machine is another site: a page there may be anybody's. */
function isOwnOrigin({ origin, host = "" }: IncomingHttpHeaders): boolean {
  return origin === undefined || origin.toLowerCase() === `http://${host.toLowerCase()}`;
}

function isSame(given: string, token: string): boolean {
  const [one, other] = [given, token].map((text) => createHash("sha256").update(text).digest());
  return timingSafeEqual(one!, other!);
}
