/** `send` over the real network to a server of a test's own, on a clock that never makes anybody wait. */
import { onTestFinished } from "vitest";
import { openNetwork } from "../../src/http/network.ts";
import { createSend, type SendConfiguration } from "../../src/http/send.ts";
import type { Clock, Send, SendEvent } from "../../src/wire.ts";

export const testKey = `ecm_us_${"Zk3".repeat(15).slice(0, 43)}`;

export interface TestSend {
  send: Send;
  events: SendEvent[];
  /** Seconds of every wait, in order. */
  waits: number[];
}

/** A clock that jumps ahead by what it is asked to sleep. */
export function jumpingClock(waits: number[], start = Date.parse("2026-11-21T13:00:00Z")): Clock {
  let now = start;
  return {
    now: () => now,
    sleep(milliseconds, signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      waits.push(milliseconds / 1000);
      now += milliseconds;
      return Promise.resolve();
    },
  };
}

export async function createSendTo(
  baseUrl: string,
  overrides: Partial<SendConfiguration> = {},
  purpose: "single" | "bulk" = "single",
): Promise<TestSend> {
  const network = await openNetwork({ baseUrl, purpose });
  onTestFinished(() => network.close());
  const events: SendEvent[] = [];
  const waits: number[] = [];
  const send = createSend({
    baseUrl,
    apiKey: testKey,
    transport: network.transport,
    clock: jumpingClock(waits),
    timeoutSeconds: 5,
    maxWaitSeconds: 300,
    readOnly: false,
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
    ...overrides,
  });
  return { send, events, waits };
}
