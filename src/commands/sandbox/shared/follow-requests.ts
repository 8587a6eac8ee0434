/** The requests that a sandbox answers, one by one as it answers them. */
import type { Context } from "../../../context.ts";
import type { SandboxAdmin } from "../../../sandbox/admin.ts";
import type { LoggedRequest, RequestQuery } from "../../../sandbox/public-types.ts";

const pollMilliseconds = 100;
const maxAtOnce = 1000;

/**
 * With `since` or `limit` the matching requests that are there already; then each further one, also when the
 * log is cleared.
 * @throws the signal's reason
 */
export async function* followRequests(
  { clock, signal }: Context,
  admin: SandboxAdmin,
  query: RequestQuery,
): AsyncGenerator<LoggedRequest> {
  const { limit, ...all } = query;
  const newest = limit === undefined ? [] : admin.requests(query);
  yield* newest;
  const since = newest.at(-1)?.n ?? query.since ?? (limit === undefined ? undefined : 0);
  const follower = admin.followRequests({ ...all, since });
  for (;;) {
    const { requests } = follower.next(maxAtOnce);
    yield* requests;
    if (requests.length < maxAtOnce) await clock.sleep(pollMilliseconds, signal);
  }
}
