import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Command } from "commander";
import { type ContactEvent, dayMilliseconds, type EventQuery, maxDays } from "../api/events.ts";
import type { Connection, Context, OutputFileFlags } from "../context.ts";
import { EcmError, exitCodes, UsageError } from "../errors.ts";
import type { Cursor, ShownBatch } from "../events/cursor.ts";
import { type Feed, readFeed, readNewest, toTime } from "../events/feed.ts";
import { resolveCampaign } from "../service/campaigns.ts";
import type { OutputOptions } from "../terminal/format.ts";
import { openOutput, type Sink } from "../terminal/output-file.ts";
import { checkColumns } from "../terminal/present.ts";
import { announcePart } from "./shared/announce-part.ts";
import { createEventView, presentEvents } from "./shared/event-view.ts";
import { addOutputFileFlags, parsePastTime, repeatableOption, wholeNumberOption } from "./shared/flags.ts";
import { describeCommand } from "./shared/help-text.ts";

interface EventsOptions extends OutputFileFlags {
  type?: string[];
  campaign?: string;
  days?: number;
  since?: string;
  limit?: number;
  all?: boolean;
}

const defaultDays = 30;
const defaultLimit = 100;

export function registerEvents(command: Command, context: Context): void {
  command
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
    .option("--all", "all of them")
    .action((idOrKey: string | undefined, options: EventsOptions) => runEvents(context, idOrKey, options));
  describeCommand(addOutputFileFlags(command), {
    examples: [
      "ecm events --type contact-unsubscribed --type email-bounced --days 7",
      "ecm events ada@example.com --json",
      "ecm events --since last --type contact-unsubscribed -o csv --columns time,key --output-file left.csv",
    ],
    output:
      "One row per event, oldest first; in JSON formats the service's own objects. With --columns key, each contact that an event names only by its id costs one request.",
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
    throw new UsageError(`--days: the service keeps events for ${maxDays} days`, `Give --days ${maxDays}`);
  }
  const now = context.clock.now();
  const since =
    options.since === undefined || options.since === "last" ? undefined : parseSince(options.since, now);
  const connection = await context.connect();
  const contactId = idOrKey === undefined ? undefined : await resolveContactId(connection, idOrKey);
  const campaign =
    options.campaign === undefined ? undefined : await resolveCampaign(connection.send, options.campaign);
  if (options.since === "last")
    return showNew(context, connection, { contactId, campaign, types, output, options, now });
  const sinceDays = since === undefined ? undefined : Math.ceil((now - since) / dayMilliseconds) + 1;
  const pastDays = Math.min(maxDays, options.days ?? sinceDays ?? defaultDays);
  const query = { contactId, types, pastDays };
  const oldest = since ?? computeOldest(options.days, contactId, now);
  const { events, total, hasMore, feed } = await readRequestedEvents(
    connection,
    query,
    { since: oldest, campaign },
    options,
  );
  if (contactId === undefined && since !== undefined && since < now - maxDays * dayMilliseconds) {
    context.terminal.warn(
      `The service keeps events for ${maxDays} days: older ones are missing, although --since asks for them`,
    );
  }
  if (feed) warnOfMissingEvents(context, feed);
  if (feed?.isComplete === false) {
    throw new EcmError(
      exitCodes.failed,
      "The feed changed its order while it was read; events may be missing",
      {
        type: "UnstableFeedError",
        hint: "Run the command again, or use --since last, which shows what is missing the next time",
        retryable: true,
      },
    );
  }
  await presentEvents(context, connection, output, events);
  context.observer?.page?.({ total, hasMore });
  if (events.length === 0) context.terminal.note("No events");
  else if (hasMore) {
    const all = total === undefined ? "" : ` of ${total.toLocaleString("en-US")}`;
    const next = Math.min(total ?? Number.POSITIVE_INFINITY, events.length * 10);
    announcePart(
      context.terminal,
      `The newest ${events.length}${all} events · more: --limit ${next} · all: --all`,
      options.limit !== undefined,
    );
  }
}

/** What the pages do not hold cannot be shown, and is not passed over in silence. */
function warnOfMissingEvents({ terminal }: Context, { announced, events }: Feed): void {
  if (announced === undefined) return;
  const [announcedCount, readCount] = [announced, events.length].map((count) =>
    count.toLocaleString("en-US"),
  );
  terminal.warn(
    `The service counts ${announcedCount} events, but its pages hold ${readCount}: some may be missing`,
  );
}

/** One contact's feed knows no days: they are held against each event here. */
function computeOldest(
  days: number | undefined,
  contactId: string | undefined,
  now: number,
): number | undefined {
  return days === undefined || contactId === undefined ? undefined : now - days * dayMilliseconds;
}

async function readRequestedEvents(
  { send }: Connection,
  query: EventQuery,
  { since, campaign }: { since: number | undefined; campaign: Campaign | undefined },
  { limit, all }: EventsOptions,
): Promise<{ events: ContactEvent[]; total?: number; hasMore: boolean; feed?: Feed }> {
  if (since === undefined && campaign === undefined && !all)
    return readNewest(send, query, limit ?? defaultLimit);
  const feed = await readFeed(send, query);
  const isOld = (event: ContactEvent) => since !== undefined && toTime(event) < since;
  const found = feed.events.filter((event) => !isOld(event) && isOf(campaign, event));
  const most = limit ?? (since === undefined && !all ? defaultLimit : undefined);
  const events = most === undefined ? found : found.slice(-most);
  return { events, total: found.length, hasMore: events.length < found.length, feed };
}

type Campaign = Awaited<ReturnType<typeof resolveCampaign>>;

/** The feed knows no campaigns: they are held against each event here. Without one, every event will do. */
function isOf(campaign: Campaign | undefined, { emailCampaignId, emailCampaignName }: ContactEvent): boolean {
  if (campaign === undefined || emailCampaignId === campaign._id) return true;
  return emailCampaignId === undefined && campaign.name !== undefined && emailCampaignName === campaign.name;
}

interface EventsRequest {
  contactId: string | undefined;
  campaign: Campaign | undefined;
  types: string[];
  output: OutputOptions;
  options: EventsOptions;
  now: number;
}

/** What has not been shown yet; written down as shown once it has been. */
async function showNew(context: Context, connection: Connection, request: EventsRequest): Promise<void> {
  const { contactId, campaign, types, output, options, now } = request;
  const { profile, send } = connection;
  const { openCursor } = await import("../events/cursor.ts");
  const matter = [profile.baseUrl.value, profile.name?.value ?? null, types, contactId ?? null];
  if (campaign) matter.push(campaign._id);
  const cursor = await openCursor(context.folders.state, matter);
  try {
    const pastDays = Math.min(maxDays, Math.max(options.days ?? defaultDays, cursor.daysBack(now)));
    warnOfGap(context, cursor, now);
    const feed = await readFeed(send, { contactId, types, pastDays });
    warnOfMissingEvents(context, feed);
    const windowStart = now - pastDays * dayMilliseconds;
    const oldest = contactId === undefined ? Number.NEGATIVE_INFINITY : windowStart;
    const fresh = cursor.newAmong(
      feed.events.filter((event) => !(toTime(event) < oldest) && isOf(campaign, event)),
    );
    const events = fresh.slice(0, options.limit);
    const left = fresh.slice(events.length);
    const missingSince = feed.isComplete ? undefined : windowStart;
    const batch = { events, left, feed: feed.events, readAt: now, missingSince };
    await presentAndRelease(context, connection, output, batch, cursor);
    if (left.length > 0) {
      context.terminal.note(
        `${left.length.toLocaleString("en-US")} more new events; run the same command again for the next`,
      );
    }
    if (!feed.isComplete) {
      context.terminal.warn(
        "The feed changed its order while it was read; run the same command again for events that are missing",
      );
    }
  } finally {
    await cursor.release();
  }
}

function warnOfGap({ terminal }: Context, { readAt, unshownSince }: Cursor, now: number): void {
  const since = Math.min(readAt ?? now, unshownSince ?? now);
  const days = Math.floor((now - since) / dayMilliseconds);
  if (days < maxDays) return;
  terminal.warn(
    `These events were last read whole ${days} days ago, and the service keeps events for ${maxDays} days: some may be missing`,
  );
}

/** A file is announced before it appears; on stdout they count as shown when all were taken. */
async function presentAndRelease(
  context: Context,
  connection: Connection,
  output: OutputOptions,
  batch: ShownBatch,
  cursor: Cursor,
): Promise<void> {
  const { terminal } = context;
  const { events } = batch;
  if (output.outputFile === undefined) {
    await presentEvents(context, connection, output, events);
    if (terminal.isStdoutClosed) return;
  } else {
    const pieces: string[] = [];
    await presentEvents(context, connection, output, events, createMemorySink(pieces));
    const text = pieces.join("");
    const file = resolve(output.outputFile);
    await cursor.announce(batch, file, createHash("sha256").update(text).digest("hex"));
    const sink = await openOutput(terminal, { ...output, bom: false });
    try {
      await sink.write(text);
      await sink.commit();
    } catch (error) {
      await sink.discard();
      throw error;
    }
  }
  await cursor.markShown(batch);
}

function createMemorySink(pieces: string[]): Sink {
  return {
    async write(text) {
      pieces.push(text);
    },
    isClosed: false,
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}

async function resolveContactId({ send, account }: Connection, idOrKey: string): Promise<string> {
  const [{ performOnContact }, { fetchContact }] = await Promise.all([
    import("../service/find-contact.ts"),
    import("../service/mutate-contact.ts"),
  ]);
  const structure = () => account.structure();
  const contact = await account.withRemembered("read", () =>
    performOnContact({ send, structure }, idOrKey, (id) => fetchContact(send, id)),
  );
  return contact._id;
}

/** In a fixed order, each once: the same types are the same cursor. Which exist is the service's to say. */
function parseTypes(typed: string[] = []): string[] {
  const types = typed.flatMap((text) => text.split(",")).map((type) => type.trim());
  if (types.includes("")) throw new UsageError("--type: a type is empty", "Such as --type email-bounced");
  return [...new Set(types)].sort();
}

/** @throws UsageError */
function parseSince(text: string, now: number): number {
  const at = parsePastTime(text, "--since", now);
  if (at <= now) return at;
  throw new UsageError(
    `--since: ${JSON.stringify(text)} is not in the past`,
    "Give 2026-11-21T18:00:00Z, 2026-11-21, a duration such as 24h or 7d, or last",
  );
}
