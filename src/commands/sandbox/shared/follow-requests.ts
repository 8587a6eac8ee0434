/** The requests that a sandbox answers, one by one as it answers them. */
import type { Context } from "../../../context.ts";
import type { SandboxAdmin } from "../../../sandbox/admin.ts";
import type { LoggedRequest, RequestQuery } from "../../../sandbox/public-types.ts";

const pollMilliseconds = 100;

/**
 * With `since` or `limit` the matching requests that are there already; then each further one, also when the
 * log is cleared.
 * @throws the signal's reason
 */
export async function* followRequests(
  context: Context,
  admin: SandboxAdmin,
  query: RequestQuery,
): AsyncGenerator<LoggedRequest> {
  let log = admin.logId();
  let next: RequestQuery = query;
  if (query.since === undefined && query.limit === undefined) {
    next = { ...query, since: String(admin.requests({ limit: 1 }).at(-1)?.n ?? 0) };
  }
  for (;;) {
    const found = admin.requests({ ...next, log });
    log = admin.logId();
    yield* found;
    const last = found.at(-1);
    if (last) next = { ...query, limit: undefined, since: String(last.n) };
    await context.clock.sleep(pollMilliseconds, context.signal);
  }
}
