/** The account's row: standing, limits, what is spent of them; and the addresses that failed to log in. */
import type { Database } from "../database.ts";

export interface AccountRow {
  region: string;
  status: string;
  monthly_limit: number | null;
  monthly_limit_revision: number;
  hour_ends_at: number;
  hour_used: number;
  month_ends_at: number;
  month_used: number;
}

/** All that the gate looks at, read at once. */
export interface Facts extends AccountRow {
  /** When the block of the address ends, in milliseconds since the epoch; null: it was never blocked. */
  blocked_until: number | null;
  /** The key's parts are null when there is no such key. */
  scopes: string | null;
  is_active: number | null;
  expires_at: number | null;
  /** The service's time less the real one, in milliseconds. */
  clock_offset: number;
}

export interface AccountStore {
  read(): AccountRow;
  facts(address: string, keyHash: string): Facts;
  spend(hourEndsAt: number, hourUsed: number, monthEndsAt: number, monthUsed: number): void;
  setRegion(region: string): void;
  setStatus(status: string): void;
  setMonthlyLimit(limit: number): void;
  /** Notes a failed authentication. Returns how many there were since `since`, this one included. */
  noteFailure(address: string, now: number, since: number): number;
  /** Its failures so far count no more. */
  block(address: string, until: number): void;
}

export function accountIn(database: Database): AccountStore {
  return {
    read: () => database.get<AccountRow>("SELECT * FROM account")!,
    facts: (address, keyHash) =>
      database.get<Facts>(
        `SELECT region, status, monthly_limit, monthly_limit_revision, hour_ends_at, hour_used, month_ends_at,
          month_used, (SELECT blocked_until FROM blocks WHERE address = ?) AS blocked_until,
          scopes, is_active, expires_at, (SELECT clock_offset FROM settings) AS clock_offset
          FROM account LEFT JOIN api_keys ON hash = ?`,
        address,
        keyHash,
      )!,
    spend(hourEndsAt, hourUsed, monthEndsAt, monthUsed) {
      database.run(
        "UPDATE account SET hour_ends_at = ?, hour_used = ?, month_ends_at = ?, month_used = ?",
        hourEndsAt,
        hourUsed,
        monthEndsAt,
        monthUsed,
      );
    },
    setRegion(region) {
      database.run("UPDATE account SET region = ?", region);
    },
    setStatus(status) {
      database.run("UPDATE account SET status = ?", status);
    },
    setMonthlyLimit(limit) {
      database.run(
        "UPDATE account SET monthly_limit = ?, monthly_limit_revision = monthly_limit_revision + 1",
        limit,
      );
    },
    noteFailure(address, now, since) {
      database.run(
        "DELETE FROM failures WHERE address = ? AND (failed_at <= ? OR failed_at > ?)",
        address,
        since,
        now,
      );
      database.run("INSERT INTO failures VALUES (?, ?)", address, now);
      return database.get<{ count: number }>(
        "SELECT count(*) AS count FROM failures WHERE address = ?",
        address,
      )!.count;
    },
    block(address, until) {
      database.run("DELETE FROM failures WHERE address = ?", address);
      database.run("INSERT OR REPLACE INTO blocks VALUES (?, ?)", address, until);
    },
  };
}
