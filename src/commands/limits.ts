import type { Command } from "@commander-js/extra-typings";
import { type CachedLimits, openLimitsFile } from "../config/caches.ts";
import type { Context } from "../context.ts";
import { advise, ecm } from "../hint.ts";
import { formatDuration } from "../moments.ts";
import { formatRateLimitSentence, formatTimestamp } from "../rate-limits.ts";
import { isJson } from "../terminal/format.ts";
import { fitMessage } from "../terminal/message-lines.ts";
import type { View } from "../terminal/present.ts";
import { formatForAccount } from "./help/command-line.ts";
import { verb } from "./verb.ts";

/** The limits as JSON shows them, with times in RFC 3339; empty when no answer was seen yet. */
interface LimitsReport {
  hour?: { limit: number; remaining: number; reset?: string };
  month?: { limit?: number; remaining: number; reset?: string };
  seenAt?: string;
}

const createView = (now: number): View<LimitsReport> => ({
  columns: [
    { name: "hour remaining", value: ({ hour }) => hour?.remaining },
    { name: "hour limit", value: ({ hour }) => hour?.limit },
    { name: "hour reset", value: ({ hour }) => hour?.reset },
    { name: "month remaining", value: ({ month }) => month?.remaining },
    { name: "month limit", value: ({ month }) => month?.limit },
    { name: "month reset", value: ({ month }) => month?.reset },
    { name: "seen at", value: ({ seenAt }) => seenAt },
    { name: "age", value: ({ seenAt }) => seenAt && formatDuration((now - Date.parse(seenAt)) / 1000) },
  ],
  id: ({ seenAt }) => seenAt ?? "",
});

export function register(command: Command, context: Context): void {
  const asking = command.option("--refresh", "ask the service (sends one request)");
  verb(context, asking, {
    examples: ["ecm limits", "ecm limits --json", "ecm limits --refresh"],
    output:
      'The limits of the last answer, without a request: { "hour": { "limit", "remaining", "reset" }, "month": { "limit", "remaining" }, "seenAt" } in JSON; {} when nothing is known yet. Where the month is used up, its "reset" too.',
    view: createView(context.clock.now()),
    async run({ refresh = false }) {
      const { identity, name } = await context.profile();
      const cached = refresh
        ? await refreshLimits(context)
        : openLimitsFile(context.folders, identity).read();
      if (!cached) {
        const whose = name === undefined ? "this account" : `profile ${name.value}`;
        const hint = advise`No limits of ${whose} are known yet. Ask for them with: ${ecm`limits --refresh`}`;
        const advice = refresh ? "The service sent no limits with its answer" : hint;
        context.terminal.note(formatForAccount(advice, context.settings));
        return isJson(context.output().format) ? { one: {} } : undefined;
      }
      const now = context.clock.now();
      return { one: toReport(cached), screen: () => toScreen(context, formatSeen(cached, now)) };
    },
  });
}

async function refreshLimits(context: Context): Promise<CachedLimits | undefined> {
  const { account } = await context.connect();
  await account.structures();
  const limits = context.limits();
  return limits && { limits, seenAt: context.clock.now() };
}

function toReport({ limits: { hour, month, monthReset }, seenAt }: CachedLimits): LimitsReport {
  // The end of the month is known only after a refusal, when nothing is left.
  const reset = monthReset === undefined ? {} : { reset: formatTimestamp(monthReset) };
  return {
    ...(hour && {
      hour: { ...hour, reset: hour.reset === undefined ? undefined : formatTimestamp(hour.reset) },
    }),
    ...((month || monthReset !== undefined) && { month: { remaining: 0, ...month, ...reset } }),
    seenAt: new Date(seenAt).toISOString(),
  };
}

function toScreen({ terminal }: Context, text: string): string {
  return terminal.isStdoutTerminal ? fitMessage(text, terminal.columns) : text;
}

function formatSeen({ limits, seenAt }: CachedLimits, now: number): string {
  const isOver = (limits.hour?.reset ?? Number.POSITIVE_INFINITY) * 1000 <= now;
  const left = formatRateLimitSentence(isOver ? { ...limits, hour: undefined } : limits, now);
  return [
    ...(isOver ? ["A new hour has begun since the last answer"] : []),
    ...(left === undefined ? [] : [left]),
    `As of ${formatDuration((now - seenAt) / 1000)} ago\n`,
  ].join("\n");
}
