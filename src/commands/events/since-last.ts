/** `ecm events --since last`: the events that have not been shown yet. */
import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { type ContactEvent, dayMilliseconds, maxDays } from "../../api/events.ts";
import type { Connection, Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import type { Cursor } from "../../events/cursor.ts";
import { type Feed, readFeed, toTime } from "../../events/feed.ts";
import type { ResolvedCampaign } from "../../service/resources.ts";
import type { OutputOptions } from "../../terminal/format.ts";
import { fillSink, openBodyFile, type Sink, wantsMark } from "../../terminal/output-file.ts";
import type { ListOutput } from "../../terminal/present.ts";
import { presentEvents } from "./view.ts";

/** What has not been shown yet; written down as shown once it has been. */
export async function showNew(
  context: Context,
  connection: Connection,
  request: WantedEvents,
): Promise<void> {
  const { contactId, campaign, types, output, options, now } = request;
  const { profile, send } = connection;
  const { openCursor } = await import("../../events/cursor.ts");
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
      feed.events.filter((event) => !(toTime(event) < oldest) && isFromCampaign(campaign, event)),
    );
    const events = fresh.slice(0, options.limit);
    const left = fresh.slice(events.length);
    const missingSince = feed.isComplete ? undefined : windowStart;
    const batch = { events, left, feed: feed.events, readAt: now, missingSince };
    const present = (to: ListOutput) => presentEvents(context, connection, to, events);
    if (output.outputFile === undefined) await present(output);
    else {
      await presentInFile(output, present, (file, sha256) => cursor.announce(batch, file, sha256));
    }
    // On stdout they count as shown when all were taken.
    if (output.outputFile !== undefined || !context.terminal.isStdoutClosed) await cursor.markShown(batch);
    if (left.length > 0) {
      context.terminal.note(
        `${formatCount(left.length)} more new events; run the same command again for the next`,
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

/** @param announce is told of the file, and of its content's digest, before the file appears */
async function presentInFile(
  output: OutputOptions,
  present: (output: ListOutput) => Promise<void>,
  announce: (file: string, sha256: string) => Promise<void>,
): Promise<void> {
  const { outputFile, isWorkbook } = output;
  const pieces: string[] = wantsMark(output) ? ["\ufeff"] : [];
  await present({ ...output, sink: createMemorySink(pieces) });
  const text = pieces.join("");
  const bytes = isWorkbook ? await toWorkbook(text) : Buffer.from(text);
  await announce(resolve(outputFile!), createHash("sha256").update(bytes).digest("hex"));
  await fillSink(await openBodyFile(outputFile!), (sink) => sink.write(bytes));
}

async function toWorkbook(lines: string): Promise<Buffer> {
  const { packWorkbookText } = await import("../../disk/workbook.ts");
  return packWorkbookText(lines);
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

// Which events are asked for, by whichever way they are read.

/** How far to look back where nobody says. */
export const defaultDays = 30;

export interface WantedEvents {
  contactId: string | undefined;
  campaign: Campaign | undefined;
  types: string[];
  output: OutputOptions;
  /** Of the flags. */
  options: { days?: number; limit?: number; all?: boolean };
  now: number;
}

export type Campaign = ResolvedCampaign;

/** The feed knows no campaigns: they are held against each event here. Without one, every event will do. */
export function isFromCampaign(
  campaign: Campaign | undefined,
  { emailCampaignId, emailCampaignName }: ContactEvent,
): boolean {
  if (campaign === undefined || emailCampaignId === campaign._id) return true;
  return emailCampaignId === undefined && campaign.name !== undefined && emailCampaignName === campaign.name;
}

/** What the pages do not hold cannot be shown, and is not passed over in silence. */
export function warnOfMissingEvents({ terminal }: Context, { announced, events }: Feed): void {
  if (announced === undefined) return;
  const [announcedCount, readCount] = [announced, events.length].map((count) => formatCount(count));
  terminal.warn(
    `The service counts ${announcedCount} events, but its pages hold ${readCount}: some may be missing`,
  );
}
