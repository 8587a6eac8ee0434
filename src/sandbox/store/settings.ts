/** The sandbox's own settings in the database: they outlive a reset of the account. */
import type { Database } from "../database.ts";

export interface SettingsStore {
  /** The service's time less the real one, in milliseconds. */
  clockOffset(): number;
  setClockOffset(milliseconds: number): void;
  /** Where ids begin after a reset; null: they follow the time. */
  idSeed(): number | null;
  setIdSeed(seed: number): void;
}

export function settingsIn(database: Database): SettingsStore {
  const read = () =>
    database.get<{ clock_offset: number; id_seed: number | null }>(
      "SELECT clock_offset, id_seed FROM settings",
    )!;
  return {
    clockOffset: () => read().clock_offset,
    setClockOffset(milliseconds) {
      database.run("UPDATE settings SET clock_offset = ?", milliseconds);
    },
    idSeed: () => read().id_seed,
    setIdSeed(seed) {
      database.run("UPDATE settings SET id_seed = ?", seed);
    },
  };
}
