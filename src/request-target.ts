/** The path and the query of a request, as they may be sent. Pure. */
import { usageError } from "./errors.ts";
import type { ApiRequest } from "./wire.ts";

/** The path with the query, as it is sent. */
export function requestTarget({ path, query = [] }: Pick<ApiRequest, "path" | "query">): string {
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}

/**
 * Servers fold `..`: a contact whose id is `..` would turn one endpoint into another. A fragment would be cut
 * off, and other characters mean different things to different servers.
 * @param shown the path as a message may show it
 * @throws UsageError for a path that may reach something else
 */
export function requireSafePath(path: string, shown: string = path): void {
  if (isSafePath(path)) return;
  throw usageError(
    `${JSON.stringify(shown)} is not a valid path`,
    "It starts with /, has no blanks, no # and no part that is . or .., and other characters are percent-encoded",
  );
}

function isSafePath(path: string): boolean {
  if (!/^\/[\x21\x22\x24-\x7e]*$/.test(path)) return false;
  if (!path.includes(".") && !path.includes("%")) return true;
  const segments = path.split("?")[0]!.split(/[/\\]/);
  return !segments.some((segment) => /^(\.|%2e){1,2}$/i.test(segment));
}
