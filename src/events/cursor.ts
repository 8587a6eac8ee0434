/**
 * Remembers which events a profile has been shown: each one, rather than a time. By a time alone, events that
 * share it or arrive late would be lost or repeated. No address is stored.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type ContactEvent, dayMilliseconds, maxDays } from "../api/events.ts";
import { writeAtomically } from "../disk/atomic-file.ts";
import { type Lease, takeLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { failedError } from "../errors.ts";
import { toTime } from "./feed.ts";
import { countIdentities, takeIdentity, toIdentity, toLastingIdentity } from "./reading.ts";

/** What one command has read of the feed, and what of it appears. */
interface ShownBatch {
  /** Those that appear. */
  events: readonly ContactEvent[];
  /** Those that were new and do not appear yet. */
  left: readonly ContactEvent[];
  /** All events of the feed. */
  feed: readonly ContactEvent[];
  /** When the feed was read, in milliseconds since the epoch. */
  readAt: number;
  /** Where events may be missing: the time from which on they will be told again. */
  missingSince?: number;
}

export interface Cursor {
  /** When the feed was read last, in milliseconds since the epoch; undefined the first time. */
  readonly readAt: number | undefined;
  /** Since when events may not have been shown, in milliseconds since the epoch; undefined where all were. */
  readonly unshownSince: number | undefined;
  /** How far back the feed must be read, in days, so that nothing falls between two readings. */
  daysBack(now: number): number;
  /** Those that have not been shown, in the order given. */
  newAmong(events: readonly ContactEvent[]): ContactEvent[];
  /**
   * Writes down that these are about to appear as this file: when the process dies between the file's
   * appearing and `shown`, the file itself tells that they were shown.
   * @param sha256 of the file as it will be
   */
  announce(what: ShownBatch, file: string, sha256: string): Promise<void>;
  /** These have been shown. On the disk when it returns. */
  markShown(what: ShownBatch): Promise<void>;
  release(): Promise<void>;
}

/**
 * How often an event was shown, when it happened (null: no time that can be read), and its lasting identity.
 */
type ShownEntry = [count: number, at: number | null, lasting: string];

interface State {
  version: 1;
  readAt?: number;
  /** The time of the newest event so far, by the service's own clock. */
  newest?: number;
  unshownSince?: number;
  shown: Record<string, ShownEntry>;
}

interface Stored extends State {
  /** The state once this file is there. */
  pending?: State & { file: string; sha256: string };
}

/**
 * Opens the cursor, alone.
 * @param resource everything that makes it another cursor: account, profile, types, contact
 * @throws LockedError when another process holds it; EcmError when its file is damaged
 */
export async function openCursor(stateFolder: string, resource: readonly unknown[]): Promise<Cursor> {
  const folder = join(stateFolder, "events");
  const name = createHash("sha256").update(JSON.stringify(resource)).digest("hex").slice(0, 24);
  const file = join(folder, `${name}.json`);
  makeFolder(folder);
  const lease: Lease = await takeLease(join(stateFolder, "locks"), `events ${name}`, "these events");
  try {
    const state = await settlePending(await readStored(file));
    const write = (next: Stored) => writeAtomically(file, JSON.stringify(next));
    return {
      readAt: state.readAt,
      unshownSince: state.unshownSince,
      daysBack: (now) => countDaysBack(state, now),
      newAmong: (events) => findNew(state, events),
      async announce(what, target, sha256) {
        // A file like it that is there already would tell nothing.
        if ((await computeDigest(target)) === sha256) return;
        await write({ ...state, pending: { ...advance(state, what), file: target, sha256 } });
      },
      markShown: (what) => write(advance(state, what)),
      release: () => lease.release(),
    };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

async function readStored(file: string): Promise<Stored> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return { version: 1, shown: {} };
  try {
    const stored = JSON.parse(text) as Stored;
    if (stored.version === 1 && typeof stored.shown === "object" && stored.shown !== null) return stored;
  } catch {
    // Said below.
  }
  // Taken for none, it would show everything again.
  throw failedError(
    `Cannot read ${file}: this version of ecm did not write it`,
    "Remove the file to see all events again, or use --since TIME",
    { type: "CursorError" },
  );
}

/** An announced file that exists was shown, although the process died before it noted that. */
async function settlePending({ pending, ...state }: Stored): Promise<State> {
  if (!pending) return state;
  const { file, sha256, ...next } = pending;
  return (await computeDigest(file)) === sha256 ? next : state;
}

async function computeDigest(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

function countDaysBack({ readAt, newest, unshownSince }: State, now: number): number {
  if (readAt === undefined) return 0;
  // This clock or the one of then is wrong: nothing can be computed from it.
  if (now < readAt) return maxDays;
  const since = Math.min(readAt, newest ?? readAt, unshownSince ?? readAt);
  return Math.ceil((now - since) / dayMilliseconds) + 1;
}

/**
 * An event that was shown is known by all its members. One that is not in the feed any more, while one that
 * differs from it in a name is, was renamed.
 */
function findNew({ shown }: State, events: readonly ContactEvent[]): ContactEvent[] {
  const left = new Map(Object.entries(shown).map(([identity, [count]]) => [identity, count]));
  const unknown = events.filter((event) => !takeIdentity(left, toIdentity(event)));
  const gone = new Map<string, number>();
  for (const [identity, count] of left) {
    const lasting = shown[identity]![2];
    if (count > 0) gone.set(lasting, (gone.get(lasting) ?? 0) + count);
  }
  return unknown.filter((event) => !takeIdentity(gone, toLastingIdentity(event)));
}

/** The state once these have been shown. */
function advance(state: State, { events, left, feed, readAt, missingSince }: ShownBatch): State {
  const newest = sortTimes(feed).at(-1);
  const feedIdentities = new Set(feed.map(toIdentity));
  const horizon = Math.min(readAt, newest ?? readAt) - (maxDays + 1) * dayMilliseconds;
  // What no feed can tell any more is forgotten; neither this clock nor one odd event decides that alone.
  const isForgotten = (at: number | null) => at !== null && at < horizon;
  const shown = Object.fromEntries(
    Object.entries(state.shown).filter(
      ([identity, [, at]]) => feedIdentities.has(identity) || !isForgotten(at),
    ),
  );
  const counts = countIdentities(events.map(toIdentity));
  for (const event of events) {
    const identity = toIdentity(event);
    const count = (state.shown[identity]?.[0] ?? 0) + counts.get(identity)!;
    const at = toTime(event);
    shown[identity] = [count, Number.isNaN(at) ? null : at, toLastingIdentity(event)];
  }
  const unshown = [sortTimes(left)[0], missingSince].filter((time) => time !== undefined);
  return {
    version: 1,
    readAt,
    newest,
    unshownSince: unshown.length > 0 ? Math.min(...unshown) : undefined,
    shown,
  };
}

/** The times that can be read, the earliest first. */
function sortTimes(events: readonly ContactEvent[]): number[] {
  const times = events.map(toTime).filter((time) => !Number.isNaN(time));
  return times.sort((one, other) => one - other);
}
