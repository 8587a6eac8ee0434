/** `ecm events`: what happened to contacts; with `--since last` only events that were not shown yet. */
import { resolve } from "node:path";
import type { Command } from "@commander-js/extra-typings";
import { type ContactEvent, dayMilliseconds, maxDays } from "../api/events.ts";
import type { Connection, Context } from "../context.ts";
import { formatCount } from "../counts.ts";
import { EcmError, isGoneError, usageError } from "../errors.ts";
import { type Feed, readFeed, readNewest, toTime } from "../events/feed.ts";
import { resolveCampaign } from "../service/resources.ts";
import { isForPeople, type OutputOptions } from "../terminal/format.ts";
import { type Column, chooseColumns, hasColumns, type View } from "../terminal/present.ts";
import { addOutputFileFlags, type OptionsOf, repeatableOption, wholeNumberOption } from "./flags/flags.ts";
import { parsePastTime } from "./flags/times.ts";
import { resolveContact } from "./selection/lookups.ts";
import { type Result, verb } from "./verb.ts";

const defaultLimit = 100;
const defaultDays = 30;

type EventsOptions = OptionsOf<typeof declareEvents>;

function declareEvents(command: Command) {
  const reading = command
    .argument("[id-or-key]", "one contact's events (default: the whole account's)")
    .addOption(
      repeatableOption("--type <type>", "such as contact-unsubscribed or email-bounced (repeatable)"),
    )
    .option("--campaign <campaign>", "only those of mails of this campaign, by name or id")
    .addOption(
      wholeNumberOption(
        "--days <n>",
        `how far to look back, at most ${maxDays} (${defaultDays})`,
        1,
        maxDays,
      ),
    )
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

export function register(command: Command, context: Context): void {
  const reading = declareEvents(command);
  verb(context, reading, {
    examples: [
      "ecm events --type contact-unsubscribed --type email-bounced --days 7",
      "ecm events ada@example.com --json",
      "ecm events --since last --type contact-unsubscribed -o csv --columns time,key --output-file left.csv",
    ],
    output: `One row per event, oldest first; in JSON formats the service's own objects. A table shows the addresses of at most ${maxLookups} contacts that events name only by their ids, with --columns key any format those of all; each costs one request.`,
    exitCodes: { 6: "another process is reading these events with --since last" },
    view: eventView,
    run: (idOrKey, options) => showEvents(context, idOrKey, options),
  });
}

interface WantedEvents {
  options: EventsOptions;
  contactId: string | undefined;
  types: string[];
  /** An id. The feed cannot be filtered by campaign, so events are compared with it here. */
  campaign: string | undefined;
  now: number;
}

async function showEvents(
  context: Context,
  idOrKey: string | undefined,
  options: EventsOptions,
): Promise<Result<ContactEvent>> {
  const now = context.clock.now();
  const isNew = options.since === "last";
  const types = parseTypes(options.type);
  const since =
    options.since === undefined || isNew ? undefined : parsePastTime(options.since, "--since", now);
  const connection = await context.connect();
  const { account, send } = connection;
  const contactId =
    idOrKey === undefined
      ? undefined
      : (await account.withRemembered("read", () => resolveContact(connection, idOrKey)))._id;
  const campaign = options.campaign === undefined ? undefined : await resolveCampaign(send, options.campaign);
  const wanted: WantedEvents = { options, contactId, types, campaign, now };
  try {
    return await (isNew
      ? showNew(context, connection, wanted)
      : showPast(context, connection, wanted, since));
  } catch (error) {
    // The contact exists, since it was just found: the endpoint does not.
    if (contactId === undefined || !isGoneError(error)) throw error;
    const { message, details } = error;
    throw new EcmError(
      "service",
      `This account's service does not offer events of contacts (it answered ${details.status}: ${message})`,
      "The contact exists; the service's own pages may show its events",
      details,
    );
  }
}

async function showPast(
  context: Context,
  connection: Connection,
  { options, contactId, types, campaign, now }: WantedEvents,
  since: number | undefined,
): Promise<Result<ContactEvent>> {
  const { days, limit, all = false } = options;
  const query = { contactId, types, pastDays: days ?? countDays(since, now) };
  // The feed of one contact cannot be limited to days.
  const daysAgo = contactId === undefined || days === undefined ? 0 : now - days * dayMilliseconds;
  const oldest = Math.max(since ?? 0, daysAgo);
  if (contactId === undefined && oldest > 0 && oldest < now - maxDays * dayMilliseconds)
    context.terminal.warn(
      `The service keeps events for ${maxDays} days: older ones are missing, although --since asks for them`,
    );
  const isWhole = oldest > 0 || campaign !== undefined || all;
  const most = limit ?? (since === undefined && !all ? defaultLimit : Number.POSITIVE_INFINITY);
  const feed = isWhole
    ? await readFeed(connection.send, query)
    : await readNewest(connection.send, query, most);
  if (isWhole) warnOfMissing(context, feed);
  const found = feed.events.filter(isWanted(campaign, oldest));
  const events = found.slice(-most);
  const total = isWhole ? found.length : feed.total;
  const page = {
    things: "events",
    total,
    hasMore: isWhole ? events.length < found.length : feed.hasMore,
    size: 0,
    next: `more: --limit ${Math.min(total ?? Number.POSITIVE_INFINITY, events.length * 10)}`,
    isRequested: limit !== undefined,
  };
  return { many: events, ...(await planEventView(connection, context.output(options), events)), page };
}

function countDays(since: number | undefined, now: number): number {
  if (since === undefined) return defaultDays;
  return Math.min(maxDays, Math.max(1, Math.ceil((now - since) / dayMilliseconds) + 1));
}

/** Events that were not shown yet; once they were, the cursor records them. */
async function showNew(
  context: Context,
  connection: Connection,
  { options, contactId, types, campaign, now }: WantedEvents,
): Promise<Result<ContactEvent>> {
  const { terminal } = context;
  const { profile, send } = connection;
  const { openCursor } = await import("../events/cursor.ts");
  const resource = [profile.baseUrl.value, profile.name?.value ?? null, types, contactId ?? null];
  if (campaign !== undefined) resource.push(campaign);
  const cursor = await openCursor(context.folders.state, resource);
  try {
    const gap = Math.floor((now - (cursor.shownUntil ?? now)) / dayMilliseconds);
    if (gap >= maxDays)
      terminal.warn(
        `These events were last read whole ${gap} days ago, and the service keeps events for ${maxDays} days: some may be missing`,
      );
    const pastDays = Math.min(maxDays, Math.max(options.days ?? defaultDays, cursor.daysBack(now)));
    const feed = await readFeed(send, { contactId, types, pastDays });
    warnOfMissing(context, feed);
    const oldest = contactId === undefined ? 0 : now - pastDays * dayMilliseconds;
    const fresh = cursor.newAmong(feed.events.filter(isWanted(campaign, oldest)));
    const events = fresh.slice(0, options.limit);
    const batch = { events, left: fresh.slice(events.length), readAt: now };
    const output = context.output(options);
    return {
      many: events,
      ...(await planEventView(connection, output, events)),
      beforeRename: (written) => cursor.announce(batch, resolve(output.outputFile!), written),
      async last() {
        // On stdout they count as shown only if the reader took all of them.
        if (output.outputFile !== undefined || !terminal.isStdoutClosed) await cursor.markShown(batch);
        if (batch.left.length > 0)
          terminal.note(
            `${formatCount(batch.left.length)} more new events; run the same command again for the next`,
          );
      },
      release: () => cursor.release(),
    };
  } catch (error) {
    await cursor.release();
    throw error;
  }
}

/** An event whose time cannot be read is never too old. */
function isWanted(campaign: string | undefined, oldest: number): (event: ContactEvent) => boolean {
  return (event) =>
    !(toTime(event) < oldest) && (campaign === undefined || event.emailCampaignId === campaign);
}

function warnOfMissing({ terminal }: Context, { events, total = 0, hasMore }: Feed): void {
  if (!hasMore) return;
  terminal.warn(
    `The service counts ${formatCount(total)} events, but its pages hold ${formatCount(events.length)}: some may be missing`,
  );
}

/** The types sorted, each once, so that the same types share a cursor. Unknown types go to the service. */
function parseTypes(typed: string[] = []): string[] {
  const types = typed.flatMap((text) => text.split(",")).map((type) => type.trim());
  if (types.includes("")) throw usageError("--type: a type is empty", "Such as --type email-bounced");
  return [...new Set(types)].sort();
}

// The columns of events, and the keys of their contacts.

const more = [
  "source",
  "importId",
  "emailSubject",
  "emailCampaignId",
  "emailBounceDiagCode",
  "emailSmtpResponse",
] as const;

const columns: Column<ContactEvent>[] = [
  { name: "time", value: (event) => event.timestamp, isTime: "minute" },
  { name: "type", value: (event) => event.type },
  { name: "contactId", title: "contact", value: (event) => event.contactId, isWhole: true },
  { name: "email", value: (event) => event.emailTo },
  { name: "campaign", value: (event) => event.emailCampaignName },
  { name: "detail", value: formatDetail },
  { name: "key", value: (event) => event.emailTo, optional: true },
  ...more.map((name) => ({ name, value: (event: ContactEvent) => event[name], optional: true })),
];

const eventView: View<ContactEvent> = {
  columns,
  id: (event) => event.contactId ?? "",
  empty: "No events",
};

function formatDetail(event: ContactEvent): string {
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

/** How many contacts are looked up for a table at a terminal, at most. */
const maxLookups = 20;

/** Looks up the keys of contacts that events name only by id: all with `--columns key`, a few for a table. */
async function planEventView({ send }: Connection, output: OutputOptions, events: readonly ContactEvent[]) {
  const isScreen = isForPeople(output);
  if (
    !isScreen &&
    !(hasColumns(output) && chooseColumns(columns, output.columns).some(({ name }) => name === "key"))
  )
    return { view: eventView };
  const keys = new Map<string, string>();
  for (const { contactId, emailTo } of events) if (contactId && emailTo) keys.set(contactId, emailTo);
  const ids = new Set(events.flatMap(({ contactId }) => contactId ?? []));
  const unknown = [...ids].filter((id) => !keys.has(id));
  const isTooMuch = isScreen && unknown.length > maxLookups;
  const { fetchContactIfThere } = await import("../service/mutate-contact.ts");
  for (const id of isTooMuch ? [] : unknown) {
    const contact = await fetchContactIfThere(send, id);
    if (contact) keys.set(id, contact.key);
  }
  const toKey = ({ emailTo, contactId = "" }: ContactEvent) => emailTo ?? keys.get(contactId);
  const named = columns.map((column) => {
    if (column.name === "key") return { ...column, value: toKey };
    if (column.name !== "contactId" || !isScreen) return column;
    return { ...column, value: (event: ContactEvent) => toKey(event) ?? event.contactId };
  });
  return {
    view: { ...eventView, columns: named.filter(({ name }) => !isScreen || name !== "email") },
    note: isTooMuch ? `Addresses of all: --columns time,type,key (${unknown.length} requests)` : undefined,
  };
}
