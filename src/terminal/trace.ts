/** `--verbose`: what goes over the line, one stderr line for each thing that happens there. Pure. */
import type { SendEvent } from "../wire.ts";
import { formatRateLimitLine } from "./rate-limit.ts";

/** @param withBodies `--verbose=bodies` */
export function formatTrace(event: SendEvent, baseUrl: string, withBodies: boolean): string[] {
  switch (event.kind) {
    case "sent": {
      const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
      const { target, body } = event.sent;
      const lines = [`> ${event.request.method} ${baseUrl}${target}${again}`];
      return withBodies && body !== undefined ? [...lines, `> ${body}`] : lines;
    }
    case "answered": {
      const limits = formatRateLimitLine(event.limits)?.replace(/^rate-limit:/, "");
      const lines = [`< ${event.status} in ${Math.round(event.milliseconds)} ms${limits ?? ""}`];
      return withBodies && event.text !== "" ? [...lines, `< ${event.text}`] : lines;
    }
    case "lost":
      return [`* no complete answer after ${Math.round(event.milliseconds)} ms: ${event.message}`];
    case "waiting":
      return [`* waiting ${Number(event.seconds.toFixed(1))} s: ${event.why}`];
  }
}
