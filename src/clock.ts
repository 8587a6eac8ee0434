/** Real time. */
import { setTimeout as sleepFor } from "node:timers/promises";
import type { Clock } from "./wire.ts";

// Longer timers overflow and fire at once.
const maxTimerMilliseconds = 2 ** 31 - 1;

export const realClock: Clock = {
  now: () => Date.now(),
  async sleep(milliseconds, signal) {
    let left = milliseconds;
    do {
      signal?.throwIfAborted();
      const step = Math.min(left, maxTimerMilliseconds);
      await sleepFor(Math.max(0, step), undefined, { signal }).catch((error) => {
        throw signal?.aborted ? signal.reason : error;
      });
      left -= step;
    } while (left > 0);
  },
};
