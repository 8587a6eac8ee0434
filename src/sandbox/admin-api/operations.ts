/** What a test does to the sandbox beside using it: the same over HTTP, as commands on a folder, and in process. */
import { UsageError } from "../../errors.ts";
import { version } from "../../version.ts";
import type { Clock } from "../../wire.ts";
import { type Faults, planFaults } from "../faults.ts";
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
} from "../public-types.ts";
import type { AccountLimits } from "../rules/limits.ts";
import { invalid } from "../rules/refusal.ts";
import { letDueHappen } from "../rules/sending.ts";
import { startAfresh } from "../store/afresh.ts";
import { firstId, noteId } from "../store/ids.ts";
import { addDefaultStructure, type Store, serviceTime } from "../store/index.ts";
import { longestLog } from "../store/request-log.ts";
import { type ClockSettings, realTime, timeBy } from "../store/settings.ts";
import {
  checked,
  clockBody,
  durationOf,
  faultsBody,
  filterOf,
  inRange,
  limitsBody,
  resetBody,
  seedBody,
  timeOf,
  wrong,
} from "./bodies.ts";
import { applyEvent } from "./events.ts";
import { applySeed } from "./seed.ts";
import { listSnapshots, loadSnapshot, removeSnapshot, saveSnapshot } from "./snapshots.ts";

/** Acts at once on every process of the folder. Everything throws a Refusal that names what is wrong, and then changes nothing. */
export interface FolderOperations {
  health(): { status: "ok"; version: string; clock: string };
  /** Empties the account and the log; key, structure and default fields stay. The clock stays too, unless `everything` is asked for. */
  reset(options?: ResetOptions): { structureId: string };
  seed(data: SeedData): SeedReport;
  /** Something happened to a contact. */
  event(event: EventBody): EventView;
  /** Oldest first. */
  requests(query?: RequestQuery): LoggedRequest[];
  /** Another one for every folder, and after the log was emptied. */
  logId(): string;
  clearRequests(): void;
  clock(change?: ClockChange): ClockView;
  snapshots(): Snapshot[];
  saveSnapshot(name: string): Snapshot;
  loadSnapshot(name: string): Snapshot;
  removeSnapshot(name: string): void;
}

/** … and on this process alone: faults and limits, which a reset of everything puts back too. */
export interface Operations extends FolderOperations {
  /** Without an argument: shows them. */
  faults(specs?: string[]): { faults: string[] };
  limits(change?: LimitsChange): LimitsView;
}

export function folderOperations(store: Store, clock: Clock): FolderOperations {
  const { database, settings, requests } = store;
  const now = () => serviceTime(store, clock);
  const clockView = (): ClockView => {
    const { clock_offset, clock_frozen_at } = settings.clock();
    const frozen = clock_frozen_at !== null;
    return { time: new Date(now()).toISOString(), real: clock_offset === 0 && !frozen, frozen };
  };
  return {
    health: () => ({ status: "ok", version, clock: clockView().time }),
    reset(options = {}) {
      return reset(store, clock, checked(resetBody, options));
    },
    seed(data) {
      const wanted = checked(seedBody, data);
      return database.transaction(() => applySeed(store, wanted, now()));
    },
    event: (event) => database.transaction(() => applyEvent(store, event, now())),
    requests(query = {}) {
      const { filter, limit = longestLog } = filterOf(query, requests.id());
      return requests.find(filter, limit, "newest");
    },
    logId: () => requests.id(),
    clearRequests: () => database.transaction(() => requests.clear()),
    clock(change) {
      if (change === undefined) return clockView();
      const wanted = checkedClock(change);
      return database.transaction(() => {
        settings.setClock(clockAfter(wanted, settings.clock(), clock.now()));
        letDueHappen(store, now());
        return clockView();
      });
    },
    snapshots: () => listSnapshots(store),
    saveSnapshot: (name) => saveSnapshot(store, name),
    loadSnapshot: (name) => loadSnapshot(store, name),
    removeSnapshot: (name) => removeSnapshot(store, name),
  };
}

/** @throws Refusal for members that contradict each other */
function checkedClock(change: ClockChange): ClockChange {
  const wanted = checked(clockBody, change);
  const { time, advance, real, frozen } = wanted;
  const moves = [time, advance, real].filter((each) => each !== undefined).length;
  if (moves > 1 || (moves === 0 && frozen === undefined)) {
    throw invalid("Give one of time, advance and real; or frozen, alone or with time or advance");
  }
  if (real && frozen !== undefined) throw wrong("frozen", "cannot be given with real");
  return wanted;
}

/** @throws Refusal for a time that is none, or out of range */
function clockAfter(
  { time, advance, real, frozen }: ClockChange,
  before: ClockSettings,
  realNow: number,
): ClockSettings {
  if (real) return realTime;
  let wanted = timeBy(before, realNow);
  if (time !== undefined) wanted = timeOf(time, "time");
  if (advance !== undefined) wanted = inRange(wanted + durationOf(advance, "advance"), "advance");
  const isFrozen = frozen ?? before.clock_frozen_at !== null;
  wanted = Math.round(wanted);
  return { clock_offset: Math.round(wanted - realNow), clock_frozen_at: isFrozen ? wanted : null };
}

export function operations(store: Store, clock: Clock, limits: AccountLimits, faults: Faults): Operations {
  const ofFolder = folderOperations(store, clock);
  return {
    ...ofFolder,
    reset(options) {
      const done = ofFolder.reset(options);
      if (options?.everything) {
        faults.restore();
        limits.restore();
      }
      return done;
    },
    faults(specs) {
      if (specs !== undefined) {
        const { faults: wanted } = checked(faultsBody, { faults: specs });
        setFaults(faults, wanted);
      }
      return { faults: faults.specs() };
    },
    limits(change) {
      const now = serviceTime(store, clock);
      if (change !== undefined) {
        const { used, ...rest } = checked(limitsBody, change);
        const both = typeof used === "number" ? { hour: used, month: used } : used;
        store.database.transaction(() => limits.set({ ...rest, used: both }, now));
      }
      return limits.view(now);
    },
  };
}

function reset(store: Store, clock: Clock, { seed, everything }: ResetOptions): { structureId: string } {
  const structure = store.structures.all()[0]!;
  store.database.transaction(() => {
    if (everything) store.settings.setClock(realTime);
    const now = serviceTime(store, clock);
    if (seed !== undefined) store.settings.setIdSeed(seed);
    startAfresh(store, () => addDefaultStructure(store, structure._id, now, structure));
    const idSeed = store.settings.idSeed();
    if (idSeed !== null) {
      // Fields that were made under this seed keep ids that would come again.
      const prefix = firstId(idSeed).slice(0, -6);
      for (const { _id } of store.structures.all()[0]!.fields) {
        if (_id.startsWith(prefix)) noteId(store.database, _id);
      }
    }
    store.requests.clear();
  });
  return { structureId: structure._id };
}

function setFaults(faults: Faults, specs: string[]): void {
  for (const [index, spec] of specs.entries()) {
    try {
      planFaults([spec]);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw wrong(`faults[${index}]`, error.message.replace(/^--fault /, ""));
    }
  }
  faults.set(specs);
}
