/** Requests that wait to be logged, in the form in which they are kept: one text, which the garbage collector has no work with. */
import type { RequestEntry } from "./request-log.ts";

/** A request without what costs the most to keep: names of members, and the same headers again. */
export type KeptRequest = [
  request: [
    time: number,
    method: string,
    path: string,
    query: string,
    /** Place in the headers that are kept with it. */
    headers: number,
    body: string | null,
    status: number | null,
    milliseconds: number,
    fault: string | null,
  ],
  /** A text where it was cut. */
  answer: unknown,
];

export interface WaitingRequests {
  readonly count: number;
  readonly bytes: number;
  add(entry: RequestEntry): void;
  /** What waits now stays when `dropUnsettled` takes the others away. */
  settle(): void;
  dropUnsettled(): void;
  clear(): void;
  /** JSON array of the headers that were sent with them, each once. */
  headers(): string;
  /** JSON array of `KeptRequest`, the oldest first, where there is one; valid until the next is added. */
  requests(): Uint8Array;
}

// Longer ones are cut: a page of 1,000 contacts is not what a log is read for.
const longestBody = 64 * 1024;
const longestAnswer = 16 * 1024;
/** What is kept of a longer answer: cut off, it can be looked at and not be parsed, and most of it would cost as much as the search. */
const beginningOfAnswer = 1024;
const fewestBytes = 64 * 1024;
const mostBytesOfACharacter = 3;
const end = "]";

export function waitingRequests(): WaitingRequests {
  /** Headers as JSON, with their places. */
  const headers = new Map<string, number>();
  let buffer = Buffer.allocUnsafe(fewestBytes);
  let length = 0;
  let count = 0;
  let settled = { length, count };

  const append = (text: string) => {
    const needed = length + text.length * mostBytesOfACharacter + end.length;
    if (needed > buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * buffer.length));
      buffer.copy(larger, 0, 0, length);
      buffer = larger;
    }
    length += buffer.write(text, length);
  };

  return {
    get count() {
      return count;
    },
    get bytes() {
      return length;
    },
    add({ time, method, path, query, headers: sent, body, status, milliseconds, fault, answer }) {
      const place = headers.get(sent) ?? headers.size;
      headers.set(sent, place);
      const most = [time, method, path, query, place, cut(body, longestBody), status, milliseconds, fault];
      append(`${count === 0 ? "[" : ","}[${JSON.stringify(most)},${jsonOfAnswer(answer)}]`);
      count += 1;
    },
    settle() {
      settled = { length, count };
    },
    dropUnsettled() {
      ({ length, count } = settled);
    },
    clear() {
      if (buffer.length > 2 ** 20) buffer = Buffer.allocUnsafe(fewestBytes);
      length = 0;
      count = 0;
      settled = { length, count };
      headers.clear();
    },
    headers: () => `[${[...headers.keys()].join()}]`,
    requests() {
      buffer.write(end, length);
      return buffer.subarray(0, length + end.length);
    },
  };
}

function jsonOfAnswer(answer: string | null): string {
  return answer && answer.length > longestAnswer
    ? JSON.stringify(cut(answer, beginningOfAnswer))
    : String(answer);
}

function cut(text: string | null, longest: number): string | null {
  if (text === null || text.length <= longest) return text;
  return `${text.slice(0, longest)}…`;
}
