/** The pause after a request that was refused for the hourly limit; it grows with every refusal in a row. */

const maxPauseSeconds = 300;

export class Pause {
  until = 0;
  /** When the service said to try again; a pause may be shorter, to look whether others have left some. */
  retryAt = 0;
  private inARow = 0;

  /** @param reset the window's end, where known: past it there is nothing left to wait for */
  begin(retryAfterSeconds: number | undefined, now: number, reset: number | undefined): void {
    // Requests that were under way together are refused together: that is one refusal.
    if (this.until > now) return;
    const needed = Math.max(1, retryAfterSeconds ?? 1);
    this.retryAt = now + needed * 1000;
    const end = now + Math.min(needed * 2 ** Math.min(this.inARow, 20), maxPauseSeconds) * 1000;
    this.inARow++;
    this.until = reset !== undefined && reset > now ? Math.min(end, reset) : end;
  }

  /** The next pause is a short one again. */
  answered(): void {
    this.inARow = 0;
  }

  setBack(milliseconds: number): void {
    this.until -= milliseconds;
  }
}
