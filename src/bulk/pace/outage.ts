/** Whether the service answers at all. */
import type { EcmError } from "../../errors.ts";
import type { ApiRequest } from "../../wire.ts";

type Effect = ApiRequest["effect"];

/** Pauses after one, two, … failures, in milliseconds; then it has lasted too long. */
const pausesMilliseconds = [50, 500, 1500, 4000, 8000];
const maxPause = 8000;

/**
 * Failures in a row without an answer of the service: an outage is waited out, by one request at a time with
 * growing pauses between them, until one is answered or the attempts are used up. Each lost write is followed
 * by a read, so only an answered write shows that writes are answered again. Where writes were answered, and
 * since then one contact's alone are lost while reads are answered, that is no outage: the contact is at fault.
 */
export class Outage {
  private failures = 0;
  private lostWrites = 0;
  private since = 0;
  private end = 0;
  private wasReached = false;
  private wasWritten = false;
  /** The contacts whose writes were lost since the last that was answered. */
  private readonly lost = new Set<number>();

  /** Until when nothing is sent; undefined while the service answers. */
  get until(): number | undefined {
    return this.failures > 0 ? this.end : undefined;
  }

  /** The service was reached, whatever it said. */
  noteReached(): void {
    this.wasReached = true;
  }

  /** It answered in its right mind: the outage, if there was one, is over. */
  noteAnswer(effect: Effect): void {
    this.failures = 0;
    if (effect === "read") return;
    this.lostWrites = 0;
    this.wasWritten = true;
    this.lost.clear();
  }

  /** @param ref of the contact that is written, if any @returns false when it has lasted too long */
  noteFailure({ effect, ref }: { effect: Effect; ref?: number }, startedAt: number, now: number): boolean {
    if (ref !== undefined) this.lost.add(ref);
    const isOneContact = ref !== undefined && this.lost.size === 1 && this.wasWritten && this.failures === 0;
    const before = effect === "write" ? Math.max(this.failures, this.lostWrites) : this.failures;
    // Requests that were under way together fail together: that is one failure.
    if (before > 0 && startedAt < this.since) return true;
    const pause = isOneContact ? (pausesMilliseconds[before] ?? maxPause) : pausesMilliseconds[before];
    this.failures = before + 1;
    if (effect === "write") this.lostWrites = this.failures;
    this.since = now;
    this.end = now + (pause ?? 0);
    return pause !== undefined;
  }

  /**
   * Whether waiting cannot help. A wrong address: when no connection was ever made, the attempts of a single
   * request are enough. Or a certificate that is not accepted.
   */
  isHopeless({ details }: EcmError): boolean {
    if (details.retryable === false) return true;
    return details.isUnconnected === true && !this.wasReached;
  }
}
