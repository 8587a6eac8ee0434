/**
 * Remembers which events a profile has been shown: each one, rather than a time. By a time alone, events that
 * share it or arrive late would be lost or repeated. No address is stored.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { type ContactEvent, dayMilliseconds, maxDays } from "../api/events.ts";
import { writeAtomically } from "../disk/atomic-file.ts";
import { takeLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { readTextIfThere } from "../disk/walk.ts";
import { failedError } from "../errors.ts";
import { toIdentity, toTime } from "./feed.ts";

/** What one command has read of the feed, and what of it appears. */
interface ShownBatch {
  /** Those that appear, the oldest first. */
  events: readonly ContactEvent[];
  /** Those that were new and do not appear yet. */
  left: readonly ContactEvent[];
  /** When the feed was read, in milliseconds since the epoch. */
  readAt: number;
}

interface State {
  version: 1;
  readAt?: number;
  /** The time of the newest event that was shown, by the service's own clock. */
  newest?: number;
  /** The oldest event that was not shown yet. */
  unshownSince?: number;
  /** The identity of each event that was shown, and when it happened (null: no time that can be read). */
  shown: [identity: string, at: number | null][];
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
export async function openCursor(stateFolder: string, resource: readonly unknown[]) {
  const folder = join(stateFolder, "events");
  const name = createHash("sha256").update(JSON.stringify(resource)).digest("hex").slice(0, 24);
  const file = join(folder, `${name}.json`);
  makeFolder(folder);
  const lease = await takeLease(join(stateFolder, "locks"), `events ${name}`, "these events");
  try {
    const state = await settlePending(await readStored(file));
    const { readAt, newest, unshownSince } = state;
    const shown = new Set(state.shown.map(([identity]) => identity));
    const write = async (next: Stored) => writeAtomically(file, JSON.stringify(next));
    return {
      /** Until when all were shown, in milliseconds since the epoch; undefined the first time. */
      shownUntil: readAt === undefined ? undefined : Math.min(readAt, unshownSince ?? readAt),
      /** How far back the feed must be read, in days, so that nothing falls between two readings. */
      daysBack(now: number): number {
        if (readAt === undefined) return 0;
        // This clock or the one of then is wrong: nothing can be computed from it.
        if (now < readAt) return maxDays;
        const since = Math.min(readAt, newest ?? readAt, unshownSince ?? readAt);
        return Math.ceil((now - since) / dayMilliseconds) + 1;
      },
      newAmong: (events: readonly ContactEvent[]) => events.filter((event) => !shown.has(toIdentity(event))),
      /**
       * Writes down that these are about to appear as `target`: when the process dies between the file's
       * appearing and `markShown`, the file itself tells that they were shown.
       * @param written the file as it will be, under another name
       */
      async announce(what: ShownBatch, target: string, written: string): Promise<void> {
        const sha256 = (await computeDigest(written))!;
        // A file like it that is there already would tell nothing.
        if ((await computeDigest(target)) === sha256) return;
        await write({ ...state, pending: { ...advance(state, what), file: target, sha256 } });
      },
      markShown: (what: ShownBatch) => write(advance(state, what)),
      release: () => lease.release(),
    };
  } catch (error) {
    await lease.release();
    throw error;
  }
}

async function readStored(file: string): Promise<Stored> {
  const text = await readTextIfThere(file);
  if (text === undefined) return { version: 1, shown: [] };
  try {
    const stored = JSON.parse(text) as Stored;
    if (stored.version === 1 && Array.isArray(stored.shown)) return stored;
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

/** Undefined where there is no such file. */
async function computeDigest(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  } catch {
    // A file that cannot be read proves nothing either: its events are shown again.
    return undefined;
  }
  return hash.digest("hex");
}

/** The state once these have been shown. */
function advance(state: State, { events, left, readAt }: ShownBatch): State {
  const isTimed = (event: ContactEvent) => !Number.isNaN(toTime(event));
  const [last, next] = [events.findLast(isTimed), left.find(isTimed)];
  const newest = last ? Math.max(state.newest ?? 0, toTime(last)) : state.newest;
  // What no feed can tell any more is forgotten.
  const horizon = Math.min(readAt, newest ?? readAt) - (maxDays + 1) * dayMilliseconds;
  const fresh = events.map((event): State["shown"][number] => [toIdentity(event), toTime(event) || null]);
  const shown = [...state.shown, ...fresh].filter(([, at]) => at === null || at >= horizon);
  return { version: 1, readAt, newest, unshownSince: next && toTime(next), shown };
}
