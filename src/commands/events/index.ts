import type { Command } from "@commander-js/extra-typings";

import { type ContactEvent, dayMilliseconds, type EventQuery, maxDays } from "../../api/events.ts";
import { findClosest } from "../../api/names.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import {
  EcmError,
  failedError,
  hasStatus,
  isGoneError,
  type ServiceError,
  usageError,
} from "../../errors.ts";
import { type Feed, readFeed, readNewest, toTime } from "../../events/feed.ts";
import { resolveCampaign } from "../../service/resources.ts";
import { checkColumns } from "../../terminal/present.ts";
import {
  addOutputFileFlags,
  type OptionsOf,
  parsePastTime,
  repeatableOption,
  wholeNumberOption,
} from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { announcePart } from "../output/announce-part.ts";
import {
  type Campaign,
  defaultDays,
  isFromCampaign,
  showNew,
  type WantedEvents,
  warnOfMissingEvents,
} from "./since-last.ts";
import { createEventView, maxLookups, presentEvents } from "./view.ts";

const defaultLimit = 100;

type EventsOptions = OptionsOf<typeof declareEvents>;

function declareEvents(command: Command) {
  const reading = command
    .argument("[id-or-key]", "one contact's events (default: the whole account's)")
    .addOption(
      repeatableOption("--type <type>", "such as contact-unsubscribed or email-bounced (repeatable)"),
    )
    .option("--campaign <campaign>", "only those of mails of this campaign, by name or id")
    .addOption(wholeNumberOption("--days <n>", `how far to look back, at most ${maxDays} (${defaultDays})`))
    .option(
      "--since <time>",
      "from this time on (RFC 3339, or a duration such as 24h); last: only events that this profile has not been shown yet with these types",
    )
    .addOption(
      wholeNumberOption(
        "--limit <n>",
        `the newest N (${defaultLimit}; with --since TIME all); with --since last the oldest N`,
      ).conflicts("all"),
    )
    .option("--all", "all of them");
  return addOutputFileFlags(reading);
}

export function registerEvents(command: Command, context: Context): void {
  const reading = declareEvents(command).action((idOrKey, options) => runEvents(context, idOrKey, options));
  describeCommand(reading, {
    examples: [
      "ecm events --type contact-unsubscribed --type email-bounced --days 7",
      "ecm events ada@example.com --json",
      "ecm events --since last --type contact-unsubscribed -o csv --columns time,key --output-file left.csv",
    ],
    output: `One row per event, oldest first; in JSON formats the service's own objects. A table shows the addresses of at most ${maxLookups} contacts that events name only by their ids, with --columns key any format those of all; each costs one request.`,
    exitCodes: {
      5: "there is no such contact or campaign",
      6: "another process is reading these events with --since last",
    },
  });
}

async function runEvents(
  context: Context,
  idOrKey: string | undefined,
  options: EventsOptions,
): Promise<void> {
  const output = context.output(options);
  checkColumns(output, createEventView());
  const types = parseTypes(options.type);
  if (options.days !== undefined && options.days > maxDays) {
    throw usageError(`--days: the service keeps events for ${maxDays} days`, `Give --days ${maxDays}`);
  }
  const now = context.clock.now();
  const isNewOnly = options.since === "last";
  const since = options.since === undefined || isNewOnly ? undefined : parseSince(options.since, now);
  const connection = await context.connect();
  const contactId = idOrKey === undefined ? undefined : await resolveContactId(connection, idOrKey);
  const campaign =
    options.campaign === undefined ? undefined : await resolveCampaign(connection.send, options.campaign);
  const request = { contactId, campaign, types, output, options, now };
  const show = isNewOnly
    ? showNew(context, connection, request)
    : showPast(context, connection, request, since);
  await show.catch((error: unknown) => {
    // The contact was found a moment ago.
    if (contactId !== undefined && isGoneError(error)) throw noEventsError(error);
    throw explainUnknownType(error, types);
  });
}

function noEventsError({ message, details }: ServiceError): EcmError {
  const words = `This account's service does not offer events of contacts (it answered ${details.status}: ${message})`;
  return new EcmError(
    "service",
    words,
    "The contact exists; the service's own pages may show its events",
    details,
  );
}

/** @param since milliseconds since the epoch, where the user has said so */
async function showPast(
  context: Context,
  connection: Connection,
  request: WantedEvents,
  since: number | undefined,
): Promise<void> {
  const { contactId, campaign, types, output, options, now } = request;
  const sinceDays = since === undefined ? undefined : Math.ceil((now - since) / dayMilliseconds) + 1;
  const pastDays = Math.min(maxDays, options.days ?? sinceDays ?? defaultDays);
  const period = { since: computeOldest(request, since), campaign };
  const past = await readRequestedEvents(connection, { contactId, types, pastDays }, period, options);
  if (contactId === undefined && since !== undefined && since < now - maxDays * dayMilliseconds) {
    context.terminal.warn(
      `The service keeps events for ${maxDays} days: older ones are missing, although --since asks for them`,
    );
  }
  if (past.feed) {
    warnOfMissingEvents(context, past.feed);
    if (!past.feed.isComplete) throw unstableFeed();
  }
  await presentEvents(context, connection, output, past.events);
  context.observer?.page?.({ total: past.total, hasMore: past.hasMore });
  if (past.events.length === 0) context.terminal.note("No events");
  else if (past.hasMore) sayWhichPart(context, past, options.limit !== undefined);
}

function unstableFeed(): EcmError {
  return failedError(
    "The feed changed its order while it was read; events may be missing",
    "Run the command again, or use --since last, which shows what is missing the next time",
    { type: "UnstableFeedError", retryable: true },
  );
}

function sayWhichPart(context: Context, { events, total }: PastEvents, isLimited: boolean): void {
  const all = total === undefined ? "" : ` of ${formatCount(total)}`;
  const next = Math.min(total ?? Number.POSITIVE_INFINITY, events.length * 10);
  announcePart(
    context,
    `The newest ${events.length}${all} events · more: --limit ${next} · all: --all`,
    isLimited,
    { shown: events.length, total, more: ["--limit", String(next)] },
  );
}

/** `--since` and `--days` both hold. One contact's feed knows no days: they are held against each event here. */
function computeOldest(
  { contactId, options, now }: WantedEvents,
  since: number | undefined,
): number | undefined {
  if (options.days === undefined || contactId === undefined) return since;
  return Math.max(now - options.days * dayMilliseconds, since ?? 0);
}

interface PastEvents {
  events: ContactEvent[];
  /** Of how many these are the newest, where that is known. */
  total?: number;
  hasMore: boolean;
  /** Where the feed was read whole. */
  feed?: Feed;
}

async function readRequestedEvents(
  { send }: Connection,
  query: EventQuery,
  { since, campaign }: { since: number | undefined; campaign: Campaign | undefined },
  { limit, all }: WantedEvents["options"],
): Promise<PastEvents> {
  if (since === undefined && campaign === undefined && !all)
    return readNewest(send, query, limit ?? defaultLimit);
  const feed = await readFeed(send, query);
  const isOld = (event: ContactEvent) => since !== undefined && toTime(event) < since;
  const found = feed.events.filter((event) => !isOld(event) && isFromCampaign(campaign, event));
  const most = limit ?? (since === undefined && !all ? defaultLimit : undefined);
  const events = most === undefined ? found : found.slice(-most);
  return { events, total: found.length, hasMore: events.length < found.length, feed };
}

async function resolveContactId(connection: Connection, idOrKey: string): Promise<string> {
  const { resolveContact } = await import("../selection/lookups.ts");
  const { account } = connection;
  return (await account.withRemembered("read", () => resolveContact(connection, idOrKey)))._id;
}

/** In a fixed order, each once: the same types are the same cursor. Which exist is the service's to say. */
function parseTypes(typed: string[] = []): string[] {
  const types = typed.flatMap((text) => text.split(",")).map((type) => type.trim());
  if (types.includes("")) throw usageError("--type: a type is empty", "Such as --type email-bounced");
  return [...new Set(types)].sort();
}

/** @throws UsageError */
function parseSince(text: string, now: number): number {
  const at = parsePastTime(text, "--since", now);
  if (at <= now) return at;
  throw usageError(
    `--since: ${JSON.stringify(text)} is not in the past`,
    "Give 2026-11-21T18:00:00Z, 2026-11-21, a duration such as 24h or 7d, or last",
  );
}

/**
 * Which types exist is the service's to say, and its refusal names them: the one that was meant is found there.
 * @returns the error itself where it is about something else
 */
function explainUnknownType(error: unknown, types: readonly string[]): unknown {
  if (!hasStatus(error, 400)) return error;
  const known: string[] = error.message.match(/\b[a-z]+(?:-[a-z]+)+\b/g) ?? [];
  const unknown = types.find((type) => !known.includes(type));
  if (known.length < 2 || unknown === undefined) return error;
  const meant = known.find((type) => type.split("-").includes(unknown)) ?? findClosest(unknown, known);
  const hint = meant ? `Did you mean ${meant}?` : `Types: ${known.join(", ")}`;
  return new EcmError("service", `There is no event type ${JSON.stringify(unknown)}`, hint, error.details);
}
