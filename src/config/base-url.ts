/** Base addresses: which ones a key may be sent to, and how they are written down. Pure. */
import { type EcmError, usageError } from "../errors.ts";

/** The documented form of a key, and that of before regions. */
const keyForm = /[A-Za-z0-9]{3}_(?:[a-z]{2}_)?[A-Za-z0-9_-]{43}/i;

/**
 * A base URL is printed, logged and stored; a key must never be. The error does not repeat the text.
 * @param key where it is known: it may have another form
 * @throws UsageError
 */
export function requireNoKeyWithin(text: string, where: string, key?: string): void {
  const spellings = [
    text,
    text.replace(/%[0-9a-f]{2}/gi, (each) => String.fromCharCode(Number(`0x${each.slice(1)}`))),
  ];
  const holdsKey = (spelling: string) =>
    keyForm.test(spelling) || (key !== undefined && key.length >= minKeyLength && spelling.includes(key));
  if (!spellings.some(holdsKey)) return;
  throw baseUrlError(
    `${where}: the URL contains an API key`,
    "Give the host alone, such as https://api.example.com, and the key with ECM_API_KEY or at the login",
  );
}

/** Shorter texts would occur in other words. */
const minKeyLength = 8;

/**
 * The address in its one spelling: no trailing slash, no default port; a path prefix stays.
 * @param where the flag, variable or profile that it stands in, for messages
 * @param insecureHttp `ECM_INSECURE_HTTP`: the one other host that
 *   plain http may go to, as `host` or `host:port`
 * @throws UsageError unless it is https, or http on a loopback address, and nothing but an address
 */
export function parseBaseUrl(text: string, where: string, insecureHttp?: string): string {
  requireNoKeyWithin(text, where);
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined;
  // The text itself is not repeated: it may hold a password, or be a key.
  if (!url) throw baseUrlError(`${where}: this is not a URL`);
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

/**
 * What names the account, in all that is kept for it: the loopback names of one port are one account.
 * @param baseUrl in its one spelling
 */
export function toAccountAddress(baseUrl: string): string {
  return baseUrl.replace(/(?<=^https?:\/\/)(?:localhost|\[::1\])(?=[:/]|$)/, "127.0.0.1");
}

/** Whether the key goes to this address unencrypted over a network. */
export function isInsecure(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === "http:" && !isLoopback(hostname);
}

/** Without a port any port of the host is meant; nothing stands for several hosts. */
function mayBePlain({ hostname, port }: URL, insecureHttp: string | undefined): boolean {
  const allowed = insecureHttp?.trim().toLowerCase();
  return isLoopback(hostname) || allowed === hostname || allowed === `${hostname}:${port || "80"}`;
}

/** @param hostname as `URL` gives it: numbers normalised, IPv6 in brackets */
function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether a key meant for one address may go to the other: same scheme, host and port. */
export function isSameOrigin(one: string, other: string): boolean {
  return new URL(one).origin === new URL(other).origin;
}

function baseUrlError(
  message: string,
  hint = "Give the account's base URL, such as https://api.example.com",
): EcmError {
  return usageError(message, hint, { type: "BaseUrlError" });
}
