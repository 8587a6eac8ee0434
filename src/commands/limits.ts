import type { Command } from "@commander-js/extra-typings";
import { type CachedLimits, readCachedLimits } from "../config/caches.ts";
import type { Context } from "../context.ts";
import { formatCount } from "../counts.ts";
import { advise, ecm } from "../hint.ts";
import { formatMoment } from "../moments.ts";
import { formatTimestamp } from "../rate-limits.ts";
import { isForPeople, isJson } from "../terminal/format.ts";
import type { View } from "../terminal/present.ts";
import { formatForAccount } from "./help/command-line.ts";
import { describeCommand } from "./help/help-text.ts";
import { presents } from "./output/presents.ts";

/** The JSON form: times in RFC 3339. Nothing is there when nothing was seen yet. */
interface LimitsReport {
  hour?: { limit: number; remaining: number; reset?: string };
  month?: { limit?: number; remaining: number; reset?: string };
  seenAt?: string;
}

export function registerLimits(command: Command, context: Context): void {
  const asking = command.option("--refresh", "ask the service (sends one request)");
  describeCommand(asking, {
    examples: ["ecm limits", "ecm limits --json", "ecm limits --refresh"],
    output:
      'The limits of the last answer, without a request: { "hour": { "limit", "remaining", "reset" }, "month": { "limit", "remaining" }, "seenAt" } in JSON; {} when nothing is known yet. Where the month is used up, its "reset" too.',
  });
  asking.action(
    presents(context, {}, async ({ refresh }) => {
      const { identity, name } = await context.profile();
      const known = () => readCachedLimits(context.folders.cache, identity);
      const cached = refresh ? await refreshLimits(context) : known();
      const output = context.output();
      if (!cached) sayUnknown(context, name?.value, refresh);
      if (!cached && !isJson(output.format)) return undefined;
      const now = context.clock.now();
      const view =
        isForPeople(output) && cached ? createShortView(now, cached) : createLimitsView(now, cached);
      return { one: toReport(cached), view };
    }),
  );
}

function sayUnknown({ terminal, settings }: Context, profile: string | undefined, isAsked = false): void {
  const whose = profile === undefined ? "this account" : `profile ${profile}`;
  const hint = advise`No limits of ${whose} are known yet. Ask for them with: ${ecm`limits --refresh`}`;
  terminal.note(isAsked ? "The service sent no limits with its answer" : formatForAccount(hint, settings));
}

async function refreshLimits(context: Context): Promise<CachedLimits | undefined> {
  const { account } = await context.connect();
  await account.structures();
  const limits = context.limits();
  return limits && { limits, seenAt: context.clock.now() };
}

function toReport(cached: CachedLimits | undefined): LimitsReport {
  if (!cached) return {};
  const { hour, month, monthReset } = cached.limits;
  // Only a refusal says when the month ends: nothing is left of it then.
  const reset = monthReset === undefined ? {} : { reset: formatTimestamp(monthReset) };
  return {
    ...(hour
      ? { hour: { ...hour, reset: hour.reset === undefined ? undefined : formatTimestamp(hour.reset) } }
      : {}),
    ...(month || monthReset !== undefined ? { month: { remaining: 0, ...month, ...reset } } : {}),
    seenAt: new Date(cached.seenAt).toISOString(),
  };
}

function createLimitsView(now: number, cached: CachedLimits | undefined): View<LimitsReport> {
  const reset = cached?.limits.hour?.reset;
  const isOver = reset !== undefined && reset * 1000 <= now;
  return {
    columns: [
      { name: "hour remaining", value: ({ hour }) => hour?.remaining },
      { name: "hour limit", value: ({ hour }) => hour?.limit },
      {
        name: "hour reset",
        value: ({ hour }) => hour && (isOver ? `${hour.reset} (over: a new hour began)` : hour.reset),
      },
      { name: "month remaining", value: ({ month }) => month?.remaining },
      { name: "month limit", value: ({ month }) => month?.limit },
      { name: "seen at", value: ({ seenAt }) => seenAt },
      { name: "age", value: () => cached && formatAge(now - cached.seenAt) },
    ],
    id: ({ seenAt }) => seenAt ?? "",
  };
}

/** What is left, in a line each. */
function createShortView(now: number, { limits, seenAt }: CachedLimits): View<LimitsReport> {
  const formatLeft = (
    part: { limit?: number; remaining: number },
    reset: number | undefined,
    over: string,
  ) => {
    const of = part.limit === undefined ? "" : ` of ${formatCount(part.limit)}`;
    const left = `${formatCount(part.remaining)}${of} left`;
    if (reset === undefined) return left;
    return reset * 1000 <= now ? `${left}; ${over}` : `${left}, resets ${formatMoment(reset * 1000, now)}`;
  };
  return {
    columns: [
      {
        name: "hour",
        value: ({ hour }) =>
          hour && formatLeft(hour, limits.hour?.reset, "reset since: a new hour has begun"),
      },
      {
        name: "month",
        value: ({ month }) =>
          month && formatLeft(month, limits.monthReset, "reset since: a new month has begun"),
      },
      { name: "as of", value: () => `${formatAge(now - seenAt)} ago` },
    ],
    id: () => "",
  };
}

/** A length of time for people: its one or two largest parts. */
function formatAge(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3600) % 24,
    Math.floor(seconds / 60) % 60,
  ];
  if (days > 0) return `${days} d ${hours} h`;
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
}
