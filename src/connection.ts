/**
 * Opens the account that a command talks to: the connection, what is known about the service, and what is
 * stored for later commands.
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import {
  openNamesFile,
  readCachedBehaviors,
  writeCachedBehavior,
  writeCachedLimits,
} from "./config/caches.ts";
import type { Folders } from "./config/folders.ts";
import type { ResolvedProfile } from "./config/resolve.ts";
import type { Settings } from "./config/settings.ts";
import { awaitLease } from "./disk/lease.ts";
import { isKind } from "./errors.ts";
import { createSend } from "./http/send.ts";
import { formatDuration } from "./moments.ts";
import { formatRateLimitLine, mergeLimits } from "./rate-limits.ts";
import { Account } from "./service/account.ts";
import { type Behaviors, createBehavior, readFreshBehavior } from "./service/behavior.ts";
import { NamesCache } from "./service/names-cache.ts";
import type { Terminal } from "./terminal/terminal.ts";
import type { Clock, RateLimits, Send, SendEvent, Transport } from "./wire.ts";

/** The account that a command talks to. */
export interface Connection {
  profile: ResolvedProfile;
  send: Send;
  account: Account;
  /** What is known of how the service behaves, for each structure; what is learned is stored. */
  behaviors: Behaviors;
}

/** `bulk` for thousands of requests, over up to `connections` sockets. */
export interface Purpose {
  kind: "single" | "bulk";
  connections?: number;
}

/** What a connection takes of the command's context. */
interface Surroundings {
  terminal: Terminal;
  clock: Clock;
  signal: AbortSignal;
  folders: Folders;
  settings: Settings;
}

interface Listener {
  /** Called for every request that leaves. */
  onSent(): void;
  /** Called with the limits of every answer that has any. */
  onLimits(limits: RateLimits): void;
}

interface ServiceTransport {
  transport: Transport;
  apiKey: string;
  close(): void | Promise<void>;
}

/**
 * Opens the connection; no request is sent.
 * @returns `close` ends the connection, and stores the names and limits that were seen for later commands
 * @throws NoKeyError when there is no key
 */
export async function openConnection(
  profile: ResolvedProfile,
  purpose: Purpose,
  surroundings: Surroundings,
  listener: Listener,
): Promise<{ connection: Connection; close(): Promise<void> }> {
  const { terminal, clock, signal, folders, settings } = surroundings;
  const line = await (profile.isSandbox
    ? openSandboxTransport(surroundings)
    : openNetworkTransport(profile, purpose, surroundings));
  if (profile.warning !== undefined) terminal.note(`warning: ${profile.warning}`, "needed");
  let latest: { limits: RateLimits; seenAt: number } | undefined;
  const names = openNamesCache(profile, line.apiKey, surroundings);
  const send = createSend({
    baseUrl: profile.baseUrl.value,
    ...line,
    clock,
    signal,
    timeoutSeconds: settings.timeoutSeconds,
    maxWaitSeconds: settings.maxWaitSeconds,
    readOnly: profile.readOnly,
    onEvent(event) {
      showEvent(event, profile, purpose, surroundings);
      names.see(event);
      if (event.kind === "sent") listener.onSent();
      if (event.kind === "answered" && Object.keys(event.limits).length > 0) {
        latest = { limits: mergeLimits(latest?.limits, event.limits), seenAt: clock.now() };
        listener.onLimits(event.limits);
      }
    },
  });
  const behaviors = createBehaviors(folders, profile.baseUrl.value, () => clock.now());
  const account = new Account(send, {
    preferred: profile.structure?.value,
    behaviors,
    names,
  });
  return {
    connection: { profile, send, account, behaviors },
    async close() {
      await line.close();
      names.save();
      if (latest) writeCachedLimits(folders, profile.identity, latest);
    },
  };
}

function openNamesCache(
  { identity, accountAddress }: ResolvedProfile,
  apiKey: string,
  { folders, clock, signal }: Surroundings,
): NamesCache {
  const key = createHash("sha256").update(`names ${apiKey}`).digest("hex").slice(0, 16);
  const file = openNamesFile(folders, identity);
  const store = {
    read: () => file.read() ?? {},
    write: (names: object) => file.write(names),
    creating: createNamesLock(folders.state, accountAddress, signal),
  };
  return new NamesCache(store, key, () => clock.now());
}

/** The data folder of the embedded service. */
function toSandboxFolder(folders: Folders): string {
  return join(folders.state, "sandbox");
}

/**
 * Erases people from the files of the embedded service, whichever account is meant.
 * @param mask the text without the keys; undefined where none is in it
 * @returns how many of its files held one of the keys
 */
export async function eraseFromSandboxFiles(
  folders: Folders,
  keys: readonly string[],
  mask: (text: string) => string | undefined,
): Promise<number> {
  const { eraseFromSandbox } = await import("./sandbox/erase.ts");
  return eraseFromSandbox(toSandboxFolder(folders), keys, mask);
}

function createBehaviors(folders: Folders, baseUrl: string, now: () => number): Behaviors {
  const open = new Map<string, ReturnType<Behaviors>>();
  return (structureId) => {
    const openBehavior = open.get(structureId);
    if (openBehavior) return openBehavior;
    const recall = () => readFreshBehavior(readCachedBehaviors(folders, baseUrl)[structureId], now());
    const behavior = createBehavior(recall(), now, (point, value) => {
      // Another process may have learned something else in between.
      writeCachedBehavior(folders, baseUrl, structureId, { ...recall(), [point]: value });
    });
    open.set(structureId, behavior);
    return behavior;
  };
}

async function openSandboxTransport({ folders, clock }: Surroundings): Promise<ServiceTransport> {
  const { openSandbox } = await import("./sandbox/index.ts");
  const sandbox = await openSandbox({ folder: toSandboxFolder(folders), clock });
  return { transport: sandbox.transport, apiKey: sandbox.ownKey(), close: () => sandbox.close() };
}

async function openNetworkTransport(
  profile: ResolvedProfile,
  { kind, connections }: Purpose,
  { terminal, signal }: Surroundings,
): Promise<ServiceTransport> {
  const apiKey = (await profile.key(signal)).value;
  const { openNetwork } = await import("./http/network.ts");
  const network = await openNetwork({
    baseUrl: profile.baseUrl.value,
    purpose: kind,
    connections,
    env: terminal.env,
  });
  return { ...network, apiKey };
}

function showEvent(
  event: SendEvent,
  { baseUrl, isSandbox }: ResolvedProfile,
  { kind }: Purpose,
  { terminal, settings }: Surroundings,
): void {
  if (settings.verbose !== "no") {
    const lines = formatTrace(event, isSandbox ? "" : baseUrl.value, settings.verbose === "bodies");
    for (const line of lines) terminal.note(line, "verbatim");
    return;
  }
  // A wait is announced, so that the screen is not silent; bulk runs announce their own.
  if (event.kind === "waiting" && kind === "single" && event.seconds >= 1) {
    terminal.note(`Waiting ${formatDuration(event.seconds)}: ${event.why}`);
  }
}

/** `--verbose`: one line on stderr for each thing that happens. @param withBodies `--verbose=bodies` */
function formatTrace(event: SendEvent, baseUrl: string, withBodies: boolean): string[] {
  switch (event.kind) {
    case "sent": {
      const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : "";
      const { target, body } = event.sent;
      const lines = [`> ${event.request.method} ${baseUrl}${target}${again}`];
      return withBodies && body !== undefined ? [...lines, `> ${body}`] : lines;
    }
    case "answered": {
      const limits = formatRateLimitLine(event.limits)?.replace(/^rate-limit:/, "");
      const lines = [`< ${event.status} in ${Math.round(event.milliseconds)} ms${limits ?? ""}`];
      return withBodies && event.text !== "" ? [...lines, `< ${event.text}`] : lines;
    }
    case "lost":
      return [`* no complete answer after ${Math.round(event.milliseconds)} ms: ${event.message}`];
    case "waiting":
      return [`* waiting ${Number(event.seconds.toFixed(1))} s: ${event.why}`];
  }
}

/** Longer than the few requests of a creation take. */
const maxWaitMilliseconds = 60_000;

/** Lets one process at a time create names in an account: the service would take one name twice. */
function createNamesLock(stateFolder: string, accountAddress: string, signal: AbortSignal) {
  return async <T>(structureId: string, perform: () => Promise<T>): Promise<T> => {
    const resource = `names of ${accountAddress} ${structureId}`;
    // Where the leases of runs are as well.
    const folder = join(stateFolder, "locks");
    const lease = await awaitLease(folder, resource, "the creation of names", {
      maxMilliseconds: maxWaitMilliseconds,
      signal,
    }).catch((error: unknown) => {
      // Where nothing can be written, the second look alone tells of other creators.
      if (!isKind(error, "usage")) throw error;
    });
    try {
      return await perform();
    } finally {
      await lease?.release();
    }
  };
}
