/** The account's row: standing, limits, what is spent of them; and the addresses that failed to log in. */
import type { Database } from "../database.ts";
import type { Participant } from "../transaction-queue.ts";
import { idsAfter } from "./ids.ts";
import type { ClockSettings } from "./settings.ts";

export interface AccountRow {
  region: string;
  status: string;
  monthly_limit: number | null;
  monthly_limit_revision: number;
  hour_ends_at: number;
  hour_used: number;
  month_ends_at: number;
  month_used: number;
  last_id: string;
}

/** All that access depends on, read at once. */
export interface Facts extends AccountRow, ClockSettings {
  /** When the block of the address ends, in milliseconds since the epoch; null: it was never blocked. */
  blocked_until: number | null;
  /** The key's parts are null when there is no such key. */
  scopes: string | null;
  is_active: number | null;
  expires_at: number | null;
  id_seed: number | null;
  /** When the next event that follows from a mail happens; null: none is to come. */
  next_event_at: number | null;
}

/** In a transaction of the queue, the row is read once for requests that follow each other with one key, and written once. */
export interface AccountStore extends Participant {
  read(): AccountRow;
  /** What is spent of it later counts in it, until the transaction ends. */
  facts(address: string, keyHash: string): Facts;
  /** New ids, each greater than all before. @param now milliseconds since the epoch */
  newIds(now: number, count: number): string[];
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
  let isUnderWay = false;
  let known: { address: string; keyHash: string; facts: Facts } | undefined;
  let isChanged = false;

  const write = (row: Omit<AccountRow, "region" | "status" | "monthly_limit" | "monthly_limit_revision">) => {
    database.run(
      "UPDATE account SET hour_ends_at = ?, hour_used = ?, month_ends_at = ?, month_used = ?, last_id = ?",
      row.hour_ends_at,
      row.hour_used,
      row.month_ends_at,
      row.month_used,
      row.last_id,
    );
  };
  const settle = () => {
    if (known && isChanged) write(known.facts);
    isChanged = false;
    known = undefined;
  };
  const read = () => database.get<AccountRow>("SELECT * FROM account")!;
  /** Changes the row, at once or with what else is known. */
  const change = (values: Partial<AccountRow>) => {
    isChanged = known !== undefined;
    if (known) Object.assign(known.facts, values);
    else write({ ...read(), ...values });
  };

  return {
    begin() {
      isUnderWay = true;
    },
    beforeCommit: settle,
    afterwards() {
      isUnderWay = false;
      known = undefined;
      isChanged = false;
    },
    read,
    facts(address, keyHash) {
      if (known?.address === address && known.keyHash === keyHash) return known.facts;
      settle();
      const facts = database.get<Facts>(
        `SELECT account.*, (SELECT blocked_until FROM blocks WHERE address = ?) AS blocked_until,
          scopes, is_active, expires_at, clock_offset, clock_frozen_at, id_seed,
          (SELECT min(happens_at) FROM upcoming_events) AS next_event_at
          FROM account JOIN settings LEFT JOIN api_keys ON hash = ?`,
        address,
        keyHash,
      )!;
      if (isUnderWay) known = { address, keyHash, facts };
      return facts;
    },
    newIds(now, count) {
      const { last_id, id_seed } =
        known?.facts ??
        database.get<Pick<Facts, "last_id" | "id_seed">>("SELECT last_id, id_seed FROM account, settings")!;
      const ids = idsAfter(last_id, { isSeeded: id_seed !== null, now, count });
      if (count > 0) change({ last_id: ids.at(-1)! });
      return ids;
    },
    spend(hourEndsAt, hourUsed, monthEndsAt, monthUsed) {
      change({
        hour_ends_at: hourEndsAt,
        hour_used: hourUsed,
        month_ends_at: monthEndsAt,
        month_used: monthUsed,
      });
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
      settle();
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
      settle();
      database.run("DELETE FROM failures WHERE address = ?", address);
      database.run("INSERT OR REPLACE INTO blocks VALUES (?, ?)", address, until);
    },
  };
}
