/**
 * What the owner of the account and a test may do, apart from sending requests. The commands on a folder,
 * /__sandbox/ over HTTP and the `admin` of `ecm-cli/sandbox` all lead here.
 */
import { usageError } from "../errors.ts";
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
} from "./admin-api/bodies.ts";
import { applyEvent } from "./admin-api/events.ts";
import { applySeed } from "./admin-api/seed.ts";
import { listSnapshots, loadSnapshot, removeSnapshot, saveSnapshot } from "./admin-api/snapshots.ts";
import { type Faults, findFaultProblem } from "./faults.ts";
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

  readonly health = (): { status: "ok"; version: string; clock: string } => {
    return { status: "ok", version, clock: this.clock().time };
  };

  /** What the page at /__sandbox/ shows, but for the requests. */
  readonly overview = () => {
    const account = accountOverview(this.store);
    return { version, clock: this.clock(), limits: this.limits(), account };
  };

  /** The account's standing; with an argument, changes it. @throws UsageError for an unknown status */
  readonly account = ({ status, monthlyLimit }: { status?: string; monthlyLimit?: number } = {}) => {
    const { account, database } = this.store;
    return database.transaction((): AccountView => {
      if (status !== undefined) account.setStatus(checkedStatus(status));
      if (monthlyLimit !== undefined) account.setMonthlyLimit(monthlyLimit);
      const row = account.read();
      return {
        status: row.status,
        monthlyLimit: row.monthly_limit ?? defaultMonthlyLimit,
        monthlyUsed: row.month_ends_at === endOfMonth(this.now()) ? row.month_used : 0,
      };
    });
  };

  /**
   * Empties the account and the log. What `sandbox start` printed stays true: the
   * address, the id of the default structure, and the folder's own key. Clock, limits and
   * faults stay too, unless `everything` is asked for.
   */
  readonly reset = (options: ResetOptions = {}): { structureId: string } => {
    const { seed, everything } = parseBody(resetBody, options);
    const { database, settings, requests } = this.store;
    const structureId = database.transaction(() => {
      if (everything) settings.setClockOffset(0);
      if (seed !== undefined) settings.setIdSeed(seed);
      requests.clear();
      return resetToDefaultStructure(this.store);
    });
    if (everything) {
      this.processFaults.restore();
      this.processLimits.restore();
    }
    return { structureId };
  };

  /** Gives the space that a reset has freed back to the disk. */
  readonly compact = (): void => vacuum(this.store);

  /** Fills the account by names. */
  readonly seed = (data: SeedData): SeedReport =>
    this.store.database.transaction(() => applySeed(this.store, data, this.now()));

  /** Records that something happened to a contact. */
  readonly events = (event: EventBody): EventView =>
    this.store.database.transaction(() => applyEvent(this.store, event, this.now()));

  /** The log. */
  readonly requests = Object.assign(
    /** Oldest first. */
    (query: RequestQuery = {}): LoggedRequest[] => {
      const { filter, limit = maxLoggedRequests } = parseRequestQuery(query);
      return this.store.requests.find(filter, limit, "newest");
    },
    {
      clear: (): void => this.store.database.transaction(() => this.store.requests.clear()),
      /**
       * Begins where the query says, or after the last request that there is now.
       * @returns gives at most so many of the requests that came since it was called last, the oldest first
       */
      follow: (query: RequestQuery = {}): ((limit: number) => LoggedRequest[]) => {
        const log = this.store.requests;
        const { filter } = parseRequestQuery(query);
        if (query.since === undefined) filter.after = log.last();
        return (limit) => {
          const requests = log.find(filter, limit, "oldest");
          filter.after = requests.at(-1)?.n ?? filter.after;
          return requests;
        };
      },
    },
  );

  /** The service's time; with an argument, sets it. */
  readonly clock = (change?: ClockChange): ClockView => {
    const { settings, database } = this.store;
    if (change !== undefined) {
      database.transaction(() =>
        settings.setClockOffset(changedClock(change, settings.clockOffset(), this.processClock.now())),
      );
    }
    return { time: new Date(this.now()).toISOString(), real: settings.clockOffset() === 0 };
  };

  /** The faults that are simulated; with an argument, sets them. */
  readonly faults = (specs?: string[]): { faults: string[] } => {
    if (specs !== undefined) {
      const wanted = parseBody(faultsBody, { faults: specs });
      checkFaults(wanted.faults);
      this.processFaults.set(wanted.faults);
    }
    return { faults: this.processFaults.specs() };
  };

  /** The limits and what is used of them; with an argument, changes them. */
  readonly limits = (change?: LimitsChange): LimitsView => {
    const now = this.now();
    if (change !== undefined) {
      const { used, ...rest } = parseBody(limitsBody, change);
      const both = typeof used === "number" ? { hour: used, month: used } : used;
      this.store.database.transaction(() => this.processLimits.set({ ...rest, used: both }, now));
    }
    return this.processLimits.view(now);
  };

  /** The saved states of the account. */
  readonly snapshots = Object.assign((): Snapshot[] => listSnapshots(this.store), {
    save: (name: string): Snapshot => saveSnapshot(this.store, name, this.now()),
    load: (name: string): Snapshot => loadSnapshot(this.store, name),
    remove: (name: string): void => removeSnapshot(this.store, name),
  });

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
    const problem = findFaultProblem(spec);
    if (problem !== undefined) throw invalidAt(`faults[${index}]`, problem);
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

const maxShownContacts = 100;

/** The newest contacts first. */
function accountOverview(store: Store) {
  const structure = store.structures.all()[0]!;
  const lists = store.lists.all(structure._id);
  const names = new Map([
    ...[...structure.fields, ...structure.tags].map(({ _id, label }) => [_id, label] as const),
    ...lists.map(({ _id, name }) => [_id, name] as const),
  ]);
  const nameById = (id: string) => names.get(id) ?? id;
  const everyone = [{ structureId: structure._id, statuses: [], lists: [] }];
  const { total } = store.search.find(everyone, 0, 1);
  const newest = store.search
    .find(everyone, Math.max(0, total - maxShownContacts), maxShownContacts)
    .contacts.reverse();
  return {
    total,
    contacts: newest.map(({ key, status, fields, lists, tags }) => ({
      key,
      status,
      fields: Object.fromEntries(fields.map(({ _id, value }) => [nameById(_id), value])),
      lists: lists.map(nameById),
      tags: tags.map(nameById),
    })),
    lists: lists.map(({ name, totalContacts }) => ({ name, contacts: totalContacts })),
  };
}
