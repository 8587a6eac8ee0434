/**
 * Who may use /__sandbox/, and which requests come from web pages. Pure, but for the comparison of tokens in
 * constant time.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { forbidden, type Refusal, unauthorized } from "../rules/refusal.ts";

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
 * With a token: anyone who sends it, from anywhere. Without: programs of this machine, and pages of this very
 * address.
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

// Requests that a web page makes in a browser on the machine of the sandbox. On loopback only programs of
// this machine can connect, and the browser is one of them: it carries requests for every page that it shows.

/** Whether an address is of this machine alone: 127.0.0.0/8, ::1, or the former written as IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(address) || address === "::1";
}

/**
 * Which header shows that a request was made for another site; undefined for a program, or a page of this
 * machine.
 *
 * - `Host`: contains the name as it was typed, also where an attacker's DNS points it at 127.0.0.1.
 * - `Origin`: sent with every request that is not a plain GET; `null` for a sandboxed frame or a file.
 * - `Sec-Fetch-Site`: sent with images and scripts too, which have no `Origin`.
 */
export function findForeignHeader(
  headers: IncomingHttpHeaders,
): "Host" | "Origin" | "Sec-Fetch-Site" | undefined {
  const { host, origin } = headers;
  if (host !== undefined && !isLoopbackHost(host)) return "Host";
  if (origin !== undefined && !isLoopbackHost(/^https?:\/\/([^/]*)$/i.exec(origin)?.[1] ?? ""))
    return "Origin";
  return headers["sec-fetch-site"] === "cross-site" ? "Sec-Fetch-Site" : undefined;
}

/**
 * `localhost` and names below it, which never leave the machine (RFC 6761), or a loopback address; with any
 * port.
 */
function isLoopbackHost(host: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  const name = bracketed ?? plain ?? "";
  return isLoopbackAddress(name) || (bracketed === undefined && /^([^.]+\.)*localhost\.?$/i.test(name));
}
