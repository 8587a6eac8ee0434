/** Base addresses: which ones a key may be sent to, and how they are written down. Pure. */
import { UsageError } from "../errors.ts";

/**
 * The address in its one spelling: no trailing slash, no default port; a path prefix stays.
 * @param where the flag, variable or profile that it stands in, for messages
 * @param insecureHttp `ECM_INSECURE_HTTP`: the one other host that
 *   plain http may go to, as `host` or `host:port`
 * @throws UsageError unless it is https, or http on a loopback address, and nothing but an address
 */
export function parseBaseUrl(text: string, where: string, insecureHttp?: string): string {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  // The text itself is not repeated when it may hold a password.
  if (!url) throw baseUrlError(`${where}: ${JSON.stringify(removeUserInfo(text))} is not a URL`);
  if (url.username || url.password) throw baseUrlError(`${where}: the URL contains a user name or password`);
  if (url.search || url.hash) throw baseUrlError(`${where}: ${url.origin} must not have a query or fragment`);
  if (!["https:", "http:"].includes(url.protocol)) {
    throw baseUrlError(
      `${where}: ${JSON.stringify(url.protocol.slice(0, -1))} is no scheme of the API: it is https`,
    );
  }
  if (url.protocol === "http:" && !mayBePlain(url, insecureHttp)) {
    throw baseUrlError(
      `${where}: plain http to ${url.host}: the API key would be sent unencrypted`,
      `Use https; for a sandbox in your own network: ECM_INSECURE_HTTP=${url.host}`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/** Whether the key goes to this address unencrypted over a network. */
export function isInsecure(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !isLoopback(hostname);
}

function mayBePlain(url: URL, insecureHttp: string | undefined): boolean {
  return isLoopback(url.hostname) || (insecureHttp !== undefined && matchesHost(url, insecureHttp.trim()));
}

/** Without a port any port of the host is meant; nothing stands for several hosts. */
function matchesHost(url: URL, host: string): boolean {
  if (!/^(\[[\da-f:.]+\]|[\w.-]+)(:\d{1,5})?$/i.test(host) || !URL.canParse(`http://${host}`)) return false;
  const hostUrl = new URL(`http://${host}`);
  const hasPort = /:\d+$/.test(host.replace(/^\[.*?\]/, ""));
  return hostUrl.hostname === url.hostname && (!hasPort || hostUrl.port === url.port);
}

/** @param hostname as `URL` gives it: numbers normalised, IPv6 in brackets */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether a key meant for one address may go to the other: same scheme, host and port. */
export function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

function removeUserInfo(text: string): string {
  return text.replace(/[^/]*@/, "…@");
}

function baseUrlError(
  message: string,
  hint = "Give the account's base URL, such as https://api.example.com",
): UsageError {
  return new UsageError(message, hint, { type: "BaseUrlError" });
}
