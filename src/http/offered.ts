/** Endpoints that the service of an account may not have: its documents name them without showing them. */
import type { ApiRequest, WireError } from "../wire.ts";

type Endpoint = Pick<ApiRequest, "method" | "path">;

/** What each is for, as a sentence says it. The first that fits counts. */
const endpoints: [method: RegExp, path: RegExp, what: string][] = [
  [/^DELETE$/, /^\/api\/contact\/[^/]+$/, "the deletion of contacts"],
  [/^GET$/, /^\/api\/contact\/(?:[^/]+\/)?events$/, "events of contacts"],
  [/^GET$/, /^\/api\/contact-structure\/[^/]+$/, "structures one by one"],
  [/^GET$/, /^\/api\/contact-structure\/[^/]+\/lists\/[^/]+$/, "lists one by one"],
  [/^(?:PATCH|PUT)$/, /^\/api\/contact-structure\/[^/]+\/lists\/[^/]+$/, "the renaming of lists"],
  [/^DELETE$/, /^\/api\/contact-structure\/[^/]+\/lists/, "the deletion of lists"],
  [/^GET$/, /^\/api\/email\/campaign/, "campaigns"],
  [/^GET$/, /^\/api\/email\/template/, "templates"],
  [/^GET$/, /^\/api\/email\/domain/, "domains"],
  [/^GET$/, /^\/api\/reports\//, "reports"],
];

/**
 * What this account's service does not offer, judged by its refusal: an endpoint that a key cannot reach, or
 * one that it does not know. A record that does not exist is neither.
 * @param found the refusal, where it has the documented form
 */
export function findMissingOffer(
  { method, path }: Endpoint,
  status: number,
  found: Partial<WireError> | undefined,
): string | undefined {
  const what = endpoints.find(([methods, paths]) => methods.test(method) && paths.test(path))?.[2];
  if (status === 403 && /not accessible via API key/i.test(found?.message ?? ""))
    return what ?? `${method} ${path}`;
  const isUnknown = [404, 405].includes(status) && !/NotFound$/.test(found?.errorType ?? "");
  return isUnknown ? what : undefined;
}
