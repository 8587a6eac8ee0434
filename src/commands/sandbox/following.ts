/** The requests that a sandbox answers, one by one as it answers them. */
import type { Context } from "../../context.ts";
import type { FolderOperations } from "../../sandbox/admin-api/operations.ts";

type RequestQuery = NonNullable<Parameters<FolderOperations["requests"]>[0]>;
type LoggedRequest = ReturnType<FolderOperations["requests"]>[number];

const pollMilliseconds = 100;

/** What matches already when a start was named, then each further one, also of a log that begins anew. @throws the signal's reason */
export async function* following(
  context: Context,
  operations: FolderOperations,
  query: RequestQuery,
): AsyncGenerator<LoggedRequest> {
  let log = operations.logId();
  let next: RequestQuery = query;
  if (query.since === undefined && query.limit === undefined) {
    next = { ...query, since: String(operations.requests({ limit: 1 }).at(-1)?.n ?? 0) };
  }
  for (;;) {
    const found = operations.requests({ ...next, log });
    log = operations.logId();
    yield* found;
    const last = found.at(-1);
    if (last) next = { ...query, limit: undefined, since: String(last.n) };
    await context.clock.sleep(pollMilliseconds, context.signal);
  }
}
