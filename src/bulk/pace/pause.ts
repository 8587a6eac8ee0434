/** The pause after a request that was refused for the hourly limit; it grows with every refusal in a row. */

export type Pause = ReturnType<typeof createPause>;

const maxPauseSeconds = 300;

export function createPause() {
  let until = 0;
  let retryAt = 0;
  let inARow = 0;
  return {
    /** @param reset the window's end, where known: past it there is nothing left to wait for */
    begin(retryAfterSeconds: number | undefined, now: number, reset: number | undefined): void {
      // Requests that were under way together are refused together: that is one refusal.
      if (until > now) return;
      const needed = Math.max(1, retryAfterSeconds ?? 1);
      retryAt = now + needed * 1000;
      const end = now + Math.min(needed * 2 ** Math.min(inARow, 20), maxPauseSeconds) * 1000;
      inARow++;
      until = reset !== undefined && reset > now ? Math.min(end, reset) : end;
    },
    /** The next pause is a short one again. */
    answered(): void {
      inARow = 0;
    },
    setBack(milliseconds: number): void {
      until -= milliseconds;
    },
    get until() {
      return until;
    },
    /** When the service said to try again; a pause may be shorter, to look whether others have left some. */
    get retryAt() {
      return retryAt;
    },
  };
}
