/** The sandbox's own settings in the database: they outlive a reset of the account. */
import type { Database } from "../database.ts";

/** How the service's time follows from the real one. Milliseconds. */
export interface ClockSettings {
  /** The service's time less the real one. */
  clock_offset: number;
  /** The service's time while it stands still; null: it runs. */
  clock_frozen_at: number | null;
}

export const realTime: ClockSettings = { clock_offset: 0, clock_frozen_at: null };

export class SettingsStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  clock(): ClockSettings {
    return this.database.get<ClockSettings>("SELECT clock_offset, clock_frozen_at FROM settings")!;
  }

  setClock({ clock_offset, clock_frozen_at }: ClockSettings): void {
    this.database.run(
      "UPDATE settings SET clock_offset = ?, clock_frozen_at = ?",
      clock_offset,
      clock_frozen_at,
    );
  }

  /** Where ids begin after a reset; null: they follow the time. */
  idSeed(): number | null {
    return this.database.get<{ id_seed: number | null }>("SELECT id_seed FROM settings")!.id_seed;
  }

  setIdSeed(seed: number): void {
    this.database.run("UPDATE settings SET id_seed = ?", seed);
  }
}

/** The service's time, in milliseconds since the epoch. */
export function serviceTimeAt({ clock_offset, clock_frozen_at }: ClockSettings, realNow: number): number {
  return clock_frozen_at ?? realNow + clock_offset;
}
