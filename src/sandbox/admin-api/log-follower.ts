/** Reads on in the log of requests, also when it is cleared meanwhile. */
import type { LoggedRequest, RequestQuery } from "../public-types.ts";
import type { RequestFilter, RequestLog } from "../store/request-log.ts";
import { parseRequestQuery } from "./bodies.ts";

/** What follows in the log. */
export interface FollowingRequests {
  /** Id of the log. */
  log: string;
  /** Whether it is another log than before: the reader starts over. */
  isAnother: boolean;
  /** The oldest first. */
  requests: LoggedRequest[];
}

export class LogFollower {
  private readonly requests: RequestLog;
  private readonly filter: RequestFilter;
  private log: string;

  /**
   * Begins where the query says, or after the last request that there is now.
   * @param lastEventId the id of the last event that was received, such as `0123456789abcdef-17`
   * @throws Refusal for a query that is none
   */
  constructor(requests: RequestLog, query: RequestQuery, lastEventId = "") {
    this.requests = requests;
    this.filter = parseRequestQuery(query, requests.id()).filter;
    const [, seenLog = query.log, lastSeen] = /^(?:([0-9a-f]{16})-)?(\d{1,15})$/.exec(lastEventId) ?? [];
    if (lastSeen !== undefined) this.filter.after = Number(lastSeen);
    else if (query.since === undefined) this.filter.after = requests.last();
    this.log = seenLog ?? requests.id();
  }

  /** At most so many requests. */
  next(limit: number): FollowingRequests {
    const log = this.requests.id();
    const isAnother = log !== this.log;
    if (isAnother) this.filter.after = 0;
    this.log = log;
    const last = this.requests.last();
    const requests = this.requests.find(this.filter, limit, "oldest");
    const lastFound = requests.at(-1)?.n ?? 0;
    // What did not match is not looked at again.
    this.filter.after = Math.max(this.filter.after ?? 0, lastFound, requests.length < limit ? last : 0);
    return { log, isAnother, requests };
  }
}
