/**
 * The account's row (status, limits and usage), the addresses that failed to log in, and the sandbox's
 * settings.
 */
import { Tables } from "../database.ts";
import { nextIds } from "./ids.ts";

export interface AccountRow {
  region: string;
  status: string;
  monthly_limit: number | null;
  hour_ends_at: number;
  hour_used: number;
  month_ends_at: number;
  month_used: number;
  last_id: string;
}

/** What access to the account depends on, read at once. */
export interface AccessFacts extends AccountRow {
  /** The service's time less the real one, in milliseconds. */
  clock_offset: number;
  /** When the block of the address ends, in milliseconds since the epoch; null: it was never blocked. */
  blocked_until: number | null;
  /** The key's parts are null when there is no such key. */
  scopes: string | null;
  is_active: number | null;
  expires_at: number | null;
}

/** How much of the limits is used, and when they end. Milliseconds since the epoch. */
export interface Usage {
  hourEndsAt: number;
  hourUsed: number;
  monthEndsAt: number;
  monthUsed: number;
}

export class AccountStore extends Tables {
  read(): AccountRow {
    return this.database.get<AccountRow>("SELECT * FROM account")!;
  }

  accessFacts(address: string, keyHash: string): AccessFacts {
    return this.database.get<AccessFacts>(
      `SELECT account.*, (SELECT blocked_until FROM blocks WHERE address = ?) AS blocked_until,
        scopes, is_active, expires_at, clock_offset
        FROM account JOIN settings LEFT JOIN api_keys ON hash = ?`,
      address,
      keyHash,
    )!;
  }

  /** New ids, each greater than all before. @param now milliseconds since the epoch */
  newIds(now: number, count: number): string[] {
    const { last_id, id_seed } = this.database.get<{ last_id: string; id_seed: number | null }>(
      "SELECT last_id, id_seed FROM account, settings",
    )!;
    const ids = nextIds(last_id, { isSeeded: id_seed !== null, now, count });
    if (count > 0) this.database.run("UPDATE account SET last_id = ?", ids.at(-1)!);
    return ids;
  }

  setUsage({ hourEndsAt, hourUsed, monthEndsAt, monthUsed }: Usage): void {
    this.database.run(
      "UPDATE account SET hour_ends_at = ?, hour_used = ?, month_ends_at = ?, month_used = ?",
      hourEndsAt,
      hourUsed,
      monthEndsAt,
      monthUsed,
    );
  }

  setRegion(region: string): void {
    this.database.run("UPDATE account SET region = ?", region);
  }

  setStatus(status: string): void {
    this.database.run("UPDATE account SET status = ?", status);
  }

  /** @param limit null: the default */
  setMonthlyLimit(limit: number | null): void {
    this.database.run("UPDATE account SET monthly_limit = ?", limit);
  }

  /** Notes a failed authentication. Returns how many there were since `since`, this one included. */
  noteFailure(address: string, now: number, since: number): number {
    this.database.run(
      "DELETE FROM failures WHERE address = ? AND (failed_at <= ? OR failed_at > ?)",
      address,
      since,
      now,
    );
    this.database.run("INSERT INTO failures VALUES (?, ?)", address, now);
    return this.database.get<{ count: number }>(
      "SELECT count(*) AS count FROM failures WHERE address = ?",
      address,
    )!.count;
  }

  /** Blocks the address until then; its failures so far no longer count. */
  block(address: string, until: number): void {
    this.database.run("DELETE FROM failures WHERE address = ?", address);
    this.database.run("INSERT OR REPLACE INTO blocks VALUES (?, ?)", address, until);
  }
}

export class SettingsStore extends Tables {
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
