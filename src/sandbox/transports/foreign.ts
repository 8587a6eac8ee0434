/**
 * Requests that a web page makes in a browser on the machine of the sandbox. On
 * loopback only programs of this machine can connect, and the browser is one of them:
 * it carries requests for every page that it shows. Pure.
 */
import type { IncomingHttpHeaders } from "node:http";

/** Whether an address is of this machine alone: 127.0.0.0/8, ::1, or the former written as IPv6. */
export function isLoopbackAddress(address: string): boolean {
  return /^(::ffff:)?127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/i.test(address) || address === "::1";
}

/**
 * Which header shows that a request was made for another site;
 * undefined for a program, or a page of this machine.
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
 * `localhost` and names below it, which never leave the machine
 * (RFC 6761), or a loopback address; with any port.
 */
function isLoopbackHost(host: string): boolean {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
  const name = bracketed ?? plain ?? "";
  return isLoopbackAddress(name) || (bracketed === undefined && /^([^.]+\.)*localhost\.?$/i.test(name));
}
