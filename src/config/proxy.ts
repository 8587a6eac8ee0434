/**
 * Whether requests go through a proxy: HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in either letter case, as curl
 * reads them. Pure.
 */
import { usageError } from "../errors.ts";
import type { Environment } from "./settings.ts";

export interface Proxy {
  /** With credentials, if the variable has them. */
  url: string;
  /** The address without credentials, as it may be shown. */
  shown: string;
  /** The variable that names it. */
  variable: string;
}

/**
 * The proxy for an address; undefined when it is reached directly. This machine always is: no proxy could
 * reach it, and the key would go out unencrypted.
 * @throws UsageError for a proxy that is no address
 */
export function findProxy(baseUrl: string, env: Environment): Proxy | undefined {
  const { protocol, hostname, port } = new URL(baseUrl);
  if (isThisMachine(hostname)) return undefined;
  const names = protocol === "https:" ? ["https_proxy", "HTTPS_PROXY"] : [];
  const found = [...names, "http_proxy", "HTTP_PROXY"].find((name) => env[name]);
  if (found === undefined) return undefined;
  const noProxy = env.no_proxy || env.NO_PROXY || "";
  if (isExcepted(hostname, port || (protocol === "https:" ? "443" : "80"), noProxy)) return undefined;
  const url = parseProxyAddress(env[found]!, found);
  return { url: url.href, shown: `${url.protocol}//${url.host}`, variable: found };
}

function isThisMachine(hostname: string): boolean {
  return /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);
}

function isExcepted(hostname: string, port: string, noProxy: string): boolean {
  return noProxy
    .split(/[,\s]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, host = entry, own] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
      const domain = host.replace(/^\*?\./, "");
      return (own === undefined || own === port) && (hostname === domain || hostname.endsWith(`.${domain}`));
    });
}

/** `proxy:3128` is an address too. */
function parseProxyAddress(text: string, variable: string): URL {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && url.hostname !== "" && /^https?:$/.test(url.protocol)) return url;
  // It may hold a password: it is not shown.
  throw usageError(
    `${variable} is not the address of an HTTP proxy`,
    `Such as ${variable}=http://proxy.example.com:3128; NO_PROXY names hosts that are reached directly`,
    { type: "ProxyError" },
  );
}
