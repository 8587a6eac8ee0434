import { createHash } from "node:crypto";
import { resolve } from "node:path";
import type { Command } from "commander";
import type { Connection, Context, OutputFileFlags } from "../context.ts";
import { UsageError } from "../errors.ts";
import type { Cursor } from "../events/cursor.ts";
import { readFeed, readNewest, timeOf } from "../events/feed.ts";
import { type ContactEvent, dayMilliseconds, type EventQuery, oldestDays } from "../service/events.ts";
import type { OutputOptions } from "../terminal/format.ts";
import { openOutput, type Sink } from "../terminal/output-file.ts";
import { checkColumns, chooseColumns, hasColumns, presentList, type View } from "../terminal/present.ts";
import { addOutputFileFlags, repeatable, wholeNumber } from "./flags.ts";
import { describeCommand } from "./help-text.ts";
import { sayPart } from "./shown-part.ts";

interface EventsOptions extends OutputFileFlags {
  type?: string[];
  days?: number;
  since?: string;
  limit?: number;
  all?: boolean;
}

const usualDays = 30;
const usualLimit = 100;

/** @param keys of contacts by id; only for the column `key` */
function eventView(keys: ReadonlyMap<string, string> = new Map()): View<ContactEvent> {
  const more = [
    "source",
    "importId",
    "emailSubject",
    "emailCampaignId",
    "emailBounceDiagCode",
    "emailSmtpResponse",
  ] as const;
  return {
    columns: [
      { name: "time", value: (event) => event.timestamp, isTime: "minute" },
      { name: "type", value: (event) => event.type },
      { name: "email", value: (event) => event.emailTo },
      { name: "campaign", value: (event) => event.emailCampaignName },
      { name: "detail", value: detailOf },
      { name: "contactId", title: "contact", value: (event) => event.contactId, isWhole: true },
      { name: "key", value: (event) => event.emailTo ?? keys.get(event.contactId ?? ""), optional: true },
      ...more.map((name) => ({ name, value: (event: ContactEvent) => event[name], optional: true })),
    ],
    id: (event) => event.contactId ?? "",
  };
}

function detailOf(event: ContactEvent): string {
  const parts = [
    event.emailBounceType,
    event.emailBounceSubType,
    event.emailComplaintFeedbackType,
    event.emailDelayType,
    event.emailRejectReason,
    event.emailTargetUrl,
    event.importOriginalFileName,
  ];
  return parts.filter(Boolean).join(", ");
}

export function registerEvents(command: Command, context: Context): void {
  command
    .argument("[id-or-key]", "one contact's events (default: the whole account's)")
    .addOption(repeatable("--type <type>", "such as contact-unsubscribed or email-bounced (repeatable)"))
    .addOption(wholeNumber("--days <n>", `how far to look back, at most ${oldestDays} (${usualDays})`))
    .option(
      "--since <time>",
      "from this time on (RFC 3339, or a duration such as 24h); last: only events that this profile has not been shown yet with these types",
    )
    .addOption(
      wholeNumber(
        "--limit <n>",
        `the newest N (${usualLimit}; with --since TIME all); with --since last the oldest N`,
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
      5: "there is no such contact",
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
  checkColumns(output, eventView());
  const types = typesFrom(options.type);
  if (options.days !== undefined && options.days > oldestDays) {
    throw new UsageError(
      `--days: the service keeps events for ${oldestDays} days`,
      `Give --days ${oldestDays}`,
    );
  }
  const now = context.clock.now();
  const since =
    options.since === undefined || options.since === "last" ? undefined : sinceFrom(options.since, now);
  const connection = await context.connect();
  const contactId = idOrKey === undefined ? undefined : await idOf(connection, idOrKey);
  if (options.since === "last")
    return showNew(context, connection, { contactId, types, output, options, now });
  const sinceDays = since === undefined ? undefined : Math.ceil((now - since) / dayMilliseconds) + 1;
  const pastDays = Math.min(oldestDays, options.days ?? sinceDays ?? usualDays);
  const query = { contactId, types, pastDays };
  const { events, total } = await read(
    connection,
    query,
    since ?? oldestOf(options.days, contactId, now),
    options,
  );
  if (contactId === undefined && since !== undefined && since < now - oldestDays * dayMilliseconds) {
    context.terminal.warn(
      `The service keeps events for ${oldestDays} days: older ones are missing, although --since asks for them`,
    );
  }
  await present(context, connection, output, events);
  context.observer?.page?.({ total, hasMore: total !== undefined && events.length < total });
  if (events.length === 0) context.terminal.note("No events");
  else if (total !== undefined && events.length < total) {
    sayPart(
      context.terminal,
      `The newest ${events.length} of ${total.toLocaleString("en-US")} events · more: --limit ${Math.min(total, events.length * 10)} · all: --all`,
      options.limit !== undefined,
    );
  }
}

/** One contact's feed knows no days: they are held against each event here. */
function oldestOf(days: number | undefined, contactId: string | undefined, now: number): number | undefined {
  return days === undefined || contactId === undefined ? undefined : now - days * dayMilliseconds;
}

async function read(
  { send }: Connection,
  query: EventQuery,
  since: number | undefined,
  { limit, all }: EventsOptions,
): Promise<{ events: ContactEvent[]; total?: number }> {
  if (since === undefined && !all) return readNewest(send, query, limit ?? usualLimit);
  const found = await readFeed(send, query);
  const events = since === undefined ? found : found.filter((event) => timeOf(event) >= since);
  return { events: limit === undefined ? events : events.slice(-limit), total: events.length };
}

interface Wanted {
  contactId: string | undefined;
  types: string[];
  output: OutputOptions;
  options: EventsOptions;
  now: number;
}

/** What has not been shown yet; written down as shown once it has been. */
async function showNew(context: Context, connection: Connection, wanted: Wanted): Promise<void> {
  const { contactId, types, output, options, now } = wanted;
  const { profile, send } = connection;
  const { openCursor } = await import("../events/cursor.ts");
  const matter = [profile.baseUrl.value, profile.name?.value ?? null, types, contactId ?? null];
  const cursor = await openCursor(context.folders.state, matter);
  try {
    const gapDays = cursor.readAt === undefined ? 0 : Math.ceil((now - cursor.readAt) / dayMilliseconds) + 1;
    const pastDays = Math.min(oldestDays, Math.max(options.days ?? usualDays, gapDays));
    if (gapDays > oldestDays + 1) {
      context.terminal.warn(
        `These events were last read ${gapDays - 1} days ago, and the service keeps events for ${oldestDays} days: some may be missing`,
      );
    }
    const found = await readFeed(send, { contactId, types, pastDays });
    const oldest = oldestOf(pastDays, contactId, now) ?? Number.NEGATIVE_INFINITY;
    const fresh = cursor.newAmong(found.filter((event) => !(timeOf(event) < oldest)));
    const events = fresh.slice(0, options.limit);
    await presentThen(context, connection, output, events, cursor, now);
    if (events.length < fresh.length) {
      context.terminal.note(
        `${fresh.length - events.length} more new events; run the same command again for the next`,
      );
    }
  } finally {
    await cursor.release();
  }
}

/** A file is announced before it appears; on stdout they count as shown when all were taken. */
async function presentThen(
  context: Context,
  connection: Connection,
  output: OutputOptions,
  events: ContactEvent[],
  cursor: Cursor,
  now: number,
): Promise<void> {
  const { terminal } = context;
  if (output.outputFile === undefined) {
    await present(context, connection, output, events);
    if (terminal.isStdoutClosed) return;
  } else {
    const pieces: string[] = [];
    await present(context, connection, output, events, inMemory(pieces));
    const text = pieces.join("");
    const file = resolve(output.outputFile);
    await cursor.announce(events, file, createHash("sha256").update(text).digest("hex"), now);
    const sink = await openOutput(terminal, { ...output, bom: false });
    try {
      await sink.write(text);
      await sink.commit();
    } catch (error) {
      await sink.discard();
      throw error;
    }
  }
  await cursor.shown(events, now);
}

async function present(
  context: Context,
  connection: Connection,
  output: OutputOptions,
  events: ContactEvent[],
  sink?: Sink,
): Promise<void> {
  const wantsKeys =
    hasColumns(output) &&
    chooseColumns(eventView().columns, output.columns).some(({ name }) => name === "key");
  const view = eventView(wantsKeys ? await keysOf(connection, events) : undefined);
  await presentList(context.terminal, output, events, view, sink && { sink, count: 0, isOpened: false });
}

function inMemory(pieces: string[]): Sink {
  return {
    async write(text) {
      pieces.push(text);
    },
    isClosed: false,
    commit: () => Promise.resolve(),
    discard: () => Promise.resolve(),
  };
}

/** The keys of contacts that their events name by their ids alone; none for those that are gone. */
async function keysOf({ send }: Connection, events: ContactEvent[]): Promise<Map<string, string>> {
  const [{ fetchContact }, { ServiceError }] = await Promise.all([
    import("../service/mutate-contact.ts"),
    import("../errors.ts"),
  ]);
  // Another event may have it.
  const keys = new Map(
    events.flatMap(({ contactId, emailTo }) => (contactId && emailTo ? [[contactId, emailTo]] : [])),
  );
  for (const { contactId, emailTo } of events) {
    if (emailTo !== undefined || contactId === undefined || keys.has(contactId)) continue;
    try {
      keys.set(contactId, (await fetchContact(send, contactId)).key);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.status !== 404) throw error;
      keys.set(contactId, "");
    }
  }
  return keys;
}

async function idOf({ send, account }: Connection, idOrKey: string): Promise<string> {
  const [{ onContact }, { fetchContact }] = await Promise.all([
    import("../service/find-contact.ts"),
    import("../service/mutate-contact.ts"),
  ]);
  const structure = () => account.structure();
  const contact = await account.withRemembered("read", () =>
    onContact(send, structure, idOrKey, (id) => fetchContact(send, id)),
  );
  return contact._id;
}

/** In a fixed order, each once: the same types are the same cursor. Which exist is the service's to say. */
function typesFrom(given: string[] = []): string[] {
  const types = given.flatMap((text) => text.split(",")).map((type) => type.trim());
  if (types.includes("")) throw new UsageError("--type: a type is empty", "Such as --type email-bounced");
  return [...new Set(types)].sort();
}

const unitMilliseconds: Record<string, number> = {
  m: 60_000,
  h: 3_600_000,
  d: dayMilliseconds,
  w: 7 * dayMilliseconds,
};

/** A moment: RFC 3339, a date, or a duration back from now. @throws UsageError */
function sinceFrom(text: string, now: number): number {
  const duration = /^(\d+)([mhdw])$/.exec(text.trim());
  const isTime = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?$/.test(text.trim());
  const at = duration
    ? now - Number(duration[1]) * unitMilliseconds[duration[2]!]!
    : isTime
      ? Date.parse(text)
      : Number.NaN;
  if (!Number.isNaN(at) && at <= now) return at;
  throw new UsageError(
    `--since: ${JSON.stringify(text)} is not a time in the past`,
    "Give 2026-11-21T18:00:00Z, 2026-11-21, a duration such as 24h or 7d, or last",
  );
}
