/**
 * Who may work on an account. A lease is a row that is touched while a slice runs. Taking it raises the
 * account's fencing number, and everything that a holder stores names the number it was given: a machine
 * that was thought dead and comes back stores nothing any more.
 */
import { type Account, type Database, inTransaction, type Transaction } from "./database.ts";

export interface Lease {
  account: Account;
  fence: string;
}

/** Somebody else has taken the lease meanwhile. */
export class LeaseLostError extends Error {
  constructor(account: string) {
    super(`The lease on ${account} was taken over; what this machine did since is not stored`);
  }
}

/** @returns undefined where another worker holds it */
export async function takeLease(
  database: Database,
  name: string,
  { holder, job, seconds }: { holder: string; job?: string; seconds: number },
): Promise<Lease | undefined> {
  const { rows } = await database.query<{ fence: string; base_url: string; api_key_command: string }>(
    `UPDATE fleet.account
     SET fence = fence + 1, holder = $2, job = $3, lease_until = now() + make_interval(secs => $4)
     WHERE name = $1 AND (holder IS NULL OR lease_until < now())
     RETURNING fence, base_url, api_key_command`,
    [name, holder, job, seconds],
  );
  const [row] = rows;
  if (!row) return undefined;
  return {
    account: { name, baseUrl: row.base_url, apiKeyCommand: row.api_key_command },
    fence: row.fence,
  };
}

/** @throws LeaseLostError */
export async function renewLease(database: Database, lease: Lease, seconds: number): Promise<void> {
  const { rowCount } = await database.query(
    `UPDATE fleet.account SET lease_until = now() + make_interval(secs => $3) WHERE name = $1 AND fence = $2`,
    [lease.account.name, lease.fence, seconds],
  );
  if (rowCount === 0) throw new LeaseLostError(lease.account.name);
}

/** Stores under the lease, or not at all. @throws LeaseLostError */
export function storeUnderLease<T>(
  database: Database,
  { account, fence }: Lease,
  store: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (transaction) => {
    const { rowCount } = await transaction.query(
      "SELECT 1 FROM fleet.account WHERE name = $1 AND fence = $2 FOR UPDATE",
      [account.name, fence],
    );
    if (rowCount === 0) throw new LeaseLostError(account.name);
    return store(transaction);
  });
}

/** The leases of workers that have not been heard of in time are over: nobody holds these accounts now. */
export async function endStaleLeases(database: Database): Promise<{ name: string; job: string | null }[]> {
  return inTransaction(database, async (transaction) => {
    const { rows } = await transaction.query<{ name: string; job: string | null }>(
      `WITH stale AS (
         SELECT name, job FROM fleet.account WHERE holder IS NOT NULL AND lease_until < now()
         FOR UPDATE SKIP LOCKED
       )
       UPDATE fleet.account AS account SET holder = NULL, job = NULL, fence = fence + 1
       FROM stale WHERE account.name = stale.name
       RETURNING stale.name, stale.job`,
    );
    return rows;
  });
}
