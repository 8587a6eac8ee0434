/**
 * Which events a profile has been shown: not up to when, but which. Of events that share a time, and of such as arrive late, a
 * time alone would lose some or repeat them. No address is stored.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../disk/atomic-file.ts";
import { type Lease, takeLease } from "../disk/lease.ts";
import { makeFolder } from "../disk/make-folder.ts";
import { EcmError, exitCodes } from "../errors.ts";
import { type ContactEvent, dayMilliseconds, oldestDays } from "../service/events.ts";
import { countsOf, identityOf, timeOf } from "./feed.ts";

export interface Cursor {
  /** When the feed was read last, in milliseconds since the epoch; undefined the first time. */
  readonly readAt: number | undefined;
  /** Those that have not been shown, in the order given. */
  newAmong(events: readonly ContactEvent[]): ContactEvent[];
  /**
   * Writes down that these are about to appear as this file: when the process dies between the file's appearing and
   * `shown`, the file itself tells that they were shown.
   * @param sha256 of the file as it will be
   * @param readAt as `shown` takes it
   */
  announce(events: readonly ContactEvent[], file: string, sha256: string, readAt: number): Promise<void>;
  /** These have been shown. On the disk when it returns. @param readAt when the feed was read, in milliseconds */
  shown(events: readonly ContactEvent[], readAt: number): Promise<void>;
  release(): Promise<void>;
}

interface Stored {
  format: 1;
  readAt?: number;
  /** Identity → how often it was shown, and when it happened. */
  shown: Record<string, [count: number, at: number]>;
  pending?: { file: string; sha256: string; readAt: number; shown: Stored["shown"] };
}

/**
 * Opens the cursor, alone.
 * @param matter everything that makes it another cursor: account, profile, types, contact
 * @throws LockedError when another process holds it; EcmError when its file is damaged
 */
export async function openCursor(stateFolder: string, matter: readonly unknown[]): Promise<Cursor> {
  const folder = join(stateFolder, "events");
  const name = createHash("sha256").update(JSON.stringify(matter)).digest("hex").slice(0, 24);
  const file = join(folder, `${name}.json`);
  await makeFolder(folder);
  const lease: Lease = await takeLease(join(stateFolder, "locks"), `events ${name}`, "these events");
  try {
    let stored = await settled(await readStored(file));
    const write = async (next: Stored) => {
      await writeAtomically(file, JSON.stringify(next));
      stored = next;
    };
    return {
      readAt: stored.readAt,
      newAmong(events) {
        const left = new Map(Object.entries(stored.shown).map(([identity, [count]]) => [identity, count]));
        return events.filter((event) => {
          const identity = identityOf(event);
          const count = left.get(identity) ?? 0;
          left.set(identity, count - 1);
          return count <= 0;
        });
      },
      async announce(events, target, sha256, readAt) {
        // A file like it that is there already would tell nothing.
        if ((await digestOf(target)) === sha256) return;
        const shown = withEvents(stored.shown, events);
        await write({ ...stored, pending: { file: target, sha256, readAt, shown } });
      },
      async shown(events, readAt) {
        await write({ format: 1, readAt, shown: pruned(withEvents(stored.shown, events), readAt) });
      },
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
  if (text === undefined) return { format: 1, shown: {} };
  try {
    const stored = JSON.parse(text) as Stored;
    if (stored.format === 1 && typeof stored.shown === "object" && stored.shown !== null) return stored;
  } catch {
    // Said below.
  }
  // Taken for none, it would show everything again.
  throw new EcmError(exitCodes.failed, `Cannot read ${file}: ecm did not write this file`, {
    type: "CursorError",
    hint: "Remove the file to see all events again, or use --since TIME",
  });
}

/** A file that was announced and is there was shown, although the process died before it could say so. */
async function settled({ pending, ...stored }: Stored): Promise<Stored> {
  if (!pending || (await digestOf(pending.file)) !== pending.sha256) return stored;
  return { format: 1, readAt: pending.readAt, shown: pending.shown };
}

async function digestOf(file: string): Promise<string | undefined> {
  const hash = createHash("sha256");
  try {
    for await (const piece of createReadStream(file)) hash.update(piece as Buffer);
  } catch {
    return undefined;
  }
  return hash.digest("hex");
}

function withEvents(before: Stored["shown"], events: readonly ContactEvent[]): Stored["shown"] {
  const shown = { ...before };
  const times = new Map(events.map((event) => [identityOf(event), timeOf(event)]));
  for (const [identity, count] of countsOf(events)) {
    shown[identity] = [(shown[identity]?.[0] ?? 0) + count, times.get(identity)!];
  }
  return shown;
}

/** What the feed cannot tell of any more need not be remembered; a day more, for clocks that differ. */
function pruned(shown: Stored["shown"], now: number): Stored["shown"] {
  const oldest = now - (oldestDays + 1) * dayMilliseconds;
  return Object.fromEntries(Object.entries(shown).filter(([, [, at]]) => !(at < oldest)));
}
