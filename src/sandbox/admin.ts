/**
 * What the owner of the account and a test may do, apart from sending requests. The commands on a folder,
 * /__sandbox/ over HTTP and the `admin` of `ecm-cli/sandbox` all lead here.
 */
import { isKind, usageError } from "../errors.ts";
import { version } from "../version.ts";
import type { Clock } from "../wire.ts";
import {
  checkTimeRange,
  clockBody,
  faultsBody,
  invalidAt,
  limitsBody,
  parseBody,
  parseDuration,
  parseRequestQuery,
  parseTime,
  resetBody,
  seedBody,
} from "./admin-api/bodies.ts";
import { applyEvent } from "./admin-api/events.ts";
import { LogFollower } from "./admin-api/follow.ts";
import { type AccountOverview, accountOverview } from "./admin-api/overview.ts";
import { applySeed } from "./admin-api/seed.ts";
import { listSnapshots, loadSnapshot, removeSnapshot, saveSnapshot } from "./admin-api/snapshots.ts";
import { type Faults, planFaults } from "./faults.ts";
import { KeyAdmin } from "./key-admin.ts";
import type {
  ClockChange,
  ClockView,
  EventBody,
  EventView,
  LimitsChange,
  LimitsView,
  LoggedRequest,
  RequestQuery,
  ResetOptions,
  SeedData,
  SeedReport,
  Snapshot,
} from "./public-types.ts";
import { type AccountLimits, defaultMonthlyLimit, endOfMonth } from "./rules/limits.ts";
import { invalid } from "./rules/refusal.ts";
import { type Store, serviceTime } from "./store/index.ts";
import { maxLoggedRequests } from "./store/request-log.ts";
import { resetToDefaultStructure, vacuum } from "./store/reset-account.ts";

export interface AccountView {
  status: string;
  monthlyLimit: number;
  /** Requests of this calendar month, UTC. */
  monthlyUsed: number;
}

const accountStatuses = ["open", "pending_cancel", "suspended", "past_due", "terminated"] as const;

/**
 * Acts at once on every process of the folder; limits and faults are those of this process alone. Whatever is
 * invalid throws a Refusal or an EcmError that names it, and then nothing has changed.
 */
export class SandboxAdmin {
  readonly keys: KeyAdmin;
  private readonly store: Store;
  private readonly processClock: Clock;
  private readonly processLimits: AccountLimits;
  private readonly processFaults: Faults;

  constructor(store: Store, clock: Clock, { limits, faults }: { limits: AccountLimits; faults: Faults }) {
    this.store = store;
    this.processClock = clock;
    this.processLimits = limits;
    this.processFaults = faults;
    this.keys = new KeyAdmin(store, () => this.now());
  }

  health(): { status: "ok"; version: string; clock: string } {
    return { status: "ok", version, clock: this.clock().time };
  }

  account(): AccountView {
    const account = this.store.account.read();
    return {
      status: account.status,
      monthlyLimit: account.monthly_limit ?? defaultMonthlyLimit,
      monthlyUsed: account.month_ends_at === endOfMonth(this.now()) ? account.month_used : 0,
    };
  }

  /** @throws UsageError for an unknown status */
  setAccount({ status, monthlyLimit }: { status?: string; monthlyLimit?: number }): AccountView {
    const { account, database } = this.store;
    return database.transaction(() => {
      if (status !== undefined) account.setStatus(checkedStatus(status));
      if (monthlyLimit !== undefined) account.setMonthlyLimit(monthlyLimit);
      return this.account();
    });
  }

  /**
   * Empties the account and the log. What `sandbox start` printed stays true: the
   * address, the id of the default structure, and the folder's own key. Clock, limits and
   * faults stay too, unless `everything` is asked for.
   */
  reset(options: ResetOptions = {}): { structureId: string } {
    const { seed, everything } = parseBody(resetBody, options);
    const { database, settings, requests } = this.store;
    const structureId = database.transaction(() => {
      if (everything) settings.setClockOffset(0);
      if (seed !== undefined) settings.setIdSeed(seed);
      requests.clear();
      return resetToDefaultStructure(this.store, this.now());
    });
    if (everything) {
      this.processFaults.restore();
      this.processLimits.restore();
    }
    return { structureId };
  }

  /** Gives the space that a reset has freed back to the disk. */
  compact(): void {
    vacuum(this.store);
  }

  seed(data: SeedData): SeedReport {
    const wanted = parseBody(seedBody, data);
    return this.store.database.transaction(() => applySeed(this.store, wanted, this.now()));
  }

  /** Records that something happened to a contact. */
  event(event: EventBody): EventView {
    return this.store.database.transaction(() => applyEvent(this.store, event, this.now()));
  }

  /** Oldest first. */
  requests(query: RequestQuery = {}): LoggedRequest[] {
    const { filter, limit = maxLoggedRequests } = parseRequestQuery(query, this.logId());
    return this.store.requests.find(filter, limit, "newest");
  }

  /** Identifies the log: every folder has another one, and gets a new one when it is cleared. */
  logId(): string {
    return this.store.requests.id();
  }

  clearRequests(): void {
    this.store.database.transaction(() => this.store.requests.clear());
  }

  /** @param lastEventId the id of the last event that was received, to go on after it */
  followRequests(query: RequestQuery, lastEventId?: string): LogFollower {
    return new LogFollower(this.store.requests, query, lastEventId);
  }

  /** The service's time; with an argument, sets it. */
  clock(change?: ClockChange): ClockView {
    const { settings, database } = this.store;
    if (change !== undefined) {
      database.transaction(() =>
        settings.setClockOffset(changedClock(change, settings.clockOffset(), this.processClock.now())),
      );
    }
    return { time: new Date(this.now()).toISOString(), real: settings.clockOffset() === 0 };
  }

  /** The faults that are simulated; with an argument, sets them. */
  faults(specs?: string[]): { faults: string[] } {
    if (specs !== undefined) {
      const wanted = parseBody(faultsBody, { faults: specs });
      checkFaults(wanted.faults);
      this.processFaults.set(wanted.faults);
    }
    return { faults: this.processFaults.specs() };
  }

  /** The limits and what is used of them; with an argument, changes them. */
  limits(change?: LimitsChange): LimitsView {
    const now = this.now();
    if (change !== undefined) {
      const { used, ...rest } = parseBody(limitsBody, change);
      const both = typeof used === "number" ? { hour: used, month: used } : used;
      this.store.database.transaction(() => this.processLimits.set({ ...rest, used: both }, now));
    }
    return this.processLimits.view(now);
  }

  snapshots(): Snapshot[] {
    return listSnapshots(this.store);
  }

  saveSnapshot(name: string): Snapshot {
    return saveSnapshot(this.store, name);
  }

  loadSnapshot(name: string): Snapshot {
    return loadSnapshot(this.store, name);
  }

  removeSnapshot(name: string): void {
    removeSnapshot(this.store, name);
  }

  /** What the page at /__sandbox/ shows of the account. */
  overview(): AccountOverview {
    return accountOverview(this.store, this.now());
  }

  private now(): number {
    return serviceTime(this.store, this.processClock);
  }
}

function checkedStatus(status: string): string {
  const known = accountStatuses.find((each) => each === status.toLowerCase());
  if (known) return known;
  throw usageError(
    `--status: there is no account status ${JSON.stringify(status)}`,
    `Use one of: ${accountStatuses.join(", ")}`,
  );
}

/** @throws Refusal that names the first invalid fault */
function checkFaults(specs: string[]): void {
  for (const [index, spec] of specs.entries()) {
    try {
      planFaults([spec]);
    } catch (error) {
      if (!isKind(error, "usage")) throw error;
      throw invalidAt(`faults[${index}]`, error.message.replace(/^--fault /, ""));
    }
  }
}

/**
 * @param before the service's time less the real one; like the result, in milliseconds
 * @throws Refusal for members that contradict each other, and for an invalid time or one out of range
 */
function changedClock(change: ClockChange, before: number, realNow: number): number {
  const { time, advance, real } = parseBody(clockBody, change);
  const moves = [time, advance, real].filter((each) => each !== undefined).length;
  if (moves !== 1) throw invalid("Give one of time, advance and real");
  if (real) return 0;
  const wanted =
    time !== undefined
      ? parseTime(time, "time")
      : checkTimeRange(realNow + before + parseDuration(advance!, "advance"), "advance");
  return Math.round(wanted - realNow);
}
