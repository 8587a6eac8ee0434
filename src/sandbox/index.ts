/** The embedded service: the whole account behind two doors, in this process or behind a port. */
import type { Clock, Transport } from "../wire.ts";

export interface SandboxOptions {
  /** Holds the database; made when it does not exist. Several processes may use one at once. */
  folder: string;
  clock?: Clock;
  /** Requests per window; default 3,600. */
  hourlyLimit?: number;
  /** Length of the window; default 3,600. */
  windowSeconds?: number;
  monthlyLimit?: number;
  blockAfter?: number;
  blockSeconds?: number;
  /** As typed after `--fault`. */
  faults?: string[];
  region?: string;
}

export interface Sandbox {
  /** The door for this process: no network. Any base address will do. */
  transport: Transport;
  /** A working key for this process's own use, with every scope. Stays the same for one folder. */
  ownKey(): string;
  /** Id of the account's default structure. */
  structureId: string;
  /** Puts the same application behind a port. */
  serve(options: { host: string; port: number }): Promise<{ baseUrl: string; close(): Promise<void> }>;
  close(): void;
}

/** @throws UsageError for a bad fault, or when the database binding is not installed. */
export async function openSandbox(_options: SandboxOptions): Promise<Sandbox> {
  throw new Error("not built yet");
}
