/** The one encoding of a request's query. Pure. */
import type { ApiRequest } from "./wire.ts";

/** The path with the query, as it is sent. */
export function requestTarget({ path, query = [] }: Pick<ApiRequest, "path" | "query">): string {
  const pairs = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return pairs.length === 0 ? path : `${path}${path.includes("?") ? "&" : "?"}${pairs.join("&")}`;
}
