/** The types of `ecm-cli/sandbox`. The build publishes this file as it stands, so it imports nothing. */

declare global {
  // Older libraries of TypeScript do not have it.
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
    readonly dispose: unique symbol;
  }
}

/** Options of a sandbox that a test suite starts in its own process, on a free port of 127.0.0.1. */
export interface StartSandboxOptions {
  /** Keeps the data. Default: all is in memory, and goes with `stop`. */
  folder?: string;
  /** Default: a free one. */
  port?: number;
  /** Requests per window. Default: 1,000,000, so that a test suite does not run into it by accident. */
  hourlyLimit?: number;
  /** Length of the window in seconds. Default: 3,600. */
  windowSeconds?: number;
  /** Requests per calendar month, UTC. Default: 10,000,000. */
  monthlyLimit?: number;
  /** As typed after `ecm sandbox start --fault`, such as `503:POST:/api/contact:n=3`. */
  faults?: string[];
  /** Names and values as typed after `--variant`: how it decides what the service's documents leave open. */
  variants?: Record<string, unknown>;
  /** Two lower-case letters in the API key. Default: `us`. */
  region?: string;
  /** Ids of a new folder, and of every folder after a reset, are the same for the same seed. */
  seed?: number;
  /** `ecm_us_` and 43 letters or digits. Default: one made at random. */
  apiKey?: string;
  /** Needed for /__sandbox/ over HTTP. Default: none, and only this machine is answered. */
  adminToken?: string;
}

export interface StartedSandbox {
  /** Such as `http://127.0.0.1:40213`. */
  baseUrl: string;
  /** For the header `X-API-Key`; it has every scope. */
  apiKey: string;
  /** Id of the account's default structure; a reset keeps it. */
  structureId: string;
  admin: Admin;
  /**
   * Opens a further account, with a key, contents, clock, limits, faults and log of its own: tests in
   * different worlds cannot see each other. It begins as this sandbox was started.
   */
  world(options?: WorldOptions): Promise<SandboxWorld>;
  /** Frees the port. */
  stop(): Promise<void>;
  /** As `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface WorldOptions {
  /** The name of a snapshot of the sandbox: what the account holds. Default: an empty account. */
  from?: string;
  /** Its ids are the same for the same seed. Default: the sandbox's. */
  seed?: number;
  /** As for `startSandbox`, over those of the sandbox. */
  variants?: Record<string, unknown>;
}

/** An account of its own. It is in memory, and goes when it is closed or the sandbox stops. */
export interface SandboxWorld {
  id: string;
  /** Such as `http://127.0.0.1:40213/__world/5f0c7a91d2e4`; its `/__sandbox/` is below it. */
  baseUrl: string;
  /** For the header `X-API-Key`. */
  apiKey: string;
  /** Id of the account's default structure; a reset keeps it. */
  structureId: string;
  admin: Admin;
  /** Closing twice does nothing. */
  close(): Promise<void>;
  /** As `close`, for `using`. */
  [Symbol.dispose](): void;
  /** As `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * What a test does to the sandbox beside using it, as over HTTP under /__sandbox/. Whatever is refused
 * rejects with an Error whose message names the place, and then nothing has changed.
 */
export interface Admin {
  /** An empty account and an empty log: key, structure, default fields and snapshots stay. */
  reset(options?: ResetOptions): Promise<{ structureId: string }>;
  /** By names: what is missing is created, a contact that exists is updated. All of it or nothing. */
  seed(data: SeedData): Promise<SeedReport>;
  requests: {
    /** The requests that the service answered, oldest first; the newest 10,000 are kept. */
    (query?: RequestQuery): Promise<LoggedRequest[]>;
    clear(): Promise<void>;
  };
  /** The service's time; with an argument, sets it. */
  clock(change?: ClockChange): Promise<ClockView>;
  /** The simulated faults; with an argument, sets them: `[]` for none. */
  faults(specs?: string[]): Promise<{ faults: string[] }>;
  /** The limits and what is spent of them; with an argument, changes them. */
  limits(change?: LimitsChange): Promise<LimitsView>;
  /**
   * Something happens to a contact: `opened`, `bounced`, `complained`,
   * `unsubscribed`, or a type that the service publishes.
   */
  events(event: EventBody): Promise<EventView>;
  snapshots: {
    /** The saved states, by name. */
    (): Promise<Snapshot[]>;
    save(name: string): Promise<Snapshot>;
    load(name: string): Promise<Snapshot>;
    remove(name: string): Promise<void>;
  };
}

export interface ResetOptions {
  /** From now on the same ids after every reset. */
  seed?: number;
  /**
   * The clock is real again, and limits and faults are as they were at the start. Default: false, all three
   * stay.
   */
  everything?: boolean;
}

export interface SeedData {
  /** Labels. */
  fields?: string[];
  /** Labels. */
  tags?: string[];
  /** Names. */
  lists?: string[];
  contacts?: {
    key: string;
    /** Values by label. */
    fields?: Record<string, string>;
    lists?: string[];
    tags?: string[];
    /** `Active`, `Unsubscribe`, `Bounce` or `Complaint-FBL`. */
    status?: string | { primary: string; secondary?: string };
  }[];
  /** These three replace those of before; they are answered as given, and what they leave out is zero. */
  campaigns?: { name: string; report?: Record<string, unknown>; [member: string]: unknown }[];
  templates?: { name: string; [member: string]: unknown }[];
  domains?: { domain: string; [member: string]: unknown }[];
  /** Answered as given; what they leave out is zero. */
  reports?: {
    dashboard?: Record<string, unknown>;
    overall?: Record<string, unknown>;
    histogram?: Record<string, unknown>;
  };
}

export interface SeedReport {
  contacts: { created: number; updated: number };
}

export interface RequestQuery {
  /** A number, after which; or a time, from which. */
  since?: number | string;
  method?: string;
  /** `*` stands for any part of it. */
  path?: string;
  /** `404`, or `4xx` for a class of them. */
  status?: number | string;
  /** At most so many: the newest. */
  limit?: number | string;
}

export interface LoggedRequest {
  /** Grows with every request, and is never given twice. */
  n: number;
  /** The service's time. */
  time: string;
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  /** Names in lower case; keys are masked. */
  headers: Record<string, string>;
  /** Parsed where it is JSON of at most 100 levels, else its text; null where there was none. */
  body: unknown;
  /** Null: the connection was dropped before an answer. */
  status: number | null;
  answer: unknown;
  /** From the arrival of the request to the answer. */
  milliseconds: number;
  /** The fault that was simulated. */
  fault: string | null;
}

/** Exactly one member is given. */
export interface ClockChange {
  /** Such as `2027-01-31T12:00:00Z`. */
  time?: string;
  /** Such as `90m`, `12h` or `30d`. */
  advance?: string;
  real?: true;
}

export interface ClockView {
  /** The service's time. It ticks on from where it was set. */
  time: string;
  /** False when it was set or advanced. */
  real: boolean;
}

export interface LimitsChange {
  /** Requests per window. */
  hourly?: number;
  windowSeconds?: number;
  /** Requests per calendar month, UTC. */
  monthly?: number;
  /** What counts as spent from now on: of both, or of each. */
  used?: number | { hour?: number; month?: number };
}

export interface LimitsView {
  hourly: number;
  windowSeconds: number;
  monthly: number;
  /** Requests of this window and of this month. */
  used: { hour: number; month: number };
}

/** With any member of a record of the service's event feeds, such as `emailSubject`. */
export interface EventBody {
  key: string;
  type: string;
  /** Default: now. */
  timestamp?: string;
  [member: string]: unknown;
}

export interface EventView {
  type: string;
  timestamp: string;
  /** As the event left it. */
  contact: { _id: string; key: string; status: { primary: string; secondary?: string } };
}

export interface Snapshot {
  name: string;
  savedAt: string;
}
