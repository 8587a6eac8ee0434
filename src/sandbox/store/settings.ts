/** The sandbox's own settings in the database: they outlive a reset of the account. */
import type { Database } from "../database.ts";

export class SettingsStore {
  private readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** The service's time less the real one, in milliseconds. */
  clockOffset(): number {
    return this.database.get<{ clock_offset: number }>("SELECT clock_offset FROM settings")!.clock_offset;
  }

  setClockOffset(milliseconds: number): void {
    this.database.run("UPDATE settings SET clock_offset = ?", milliseconds);
  }

  /** Where ids begin after a reset; null: they follow the time. */
  idSeed(): number | null {
    return this.database.get<{ id_seed: number | null }>("SELECT id_seed FROM settings")!.id_seed;
  }

  setIdSeed(seed: number): void {
    this.database.run("UPDATE settings SET id_seed = ?", seed);
  }
}
