/** An account's state folder, brought in from a machine that worked without the fleet, and taken out to look at. */
import { mkdir, readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Database } from "./database.ts";
import { storeUnderLease, takeLease } from "./lease.ts";
import { fetchState, storeState } from "./state.ts";

const seconds = 600;

/**
 * Above all its suppression list: without it, people who were erased could be created again.
 * @returns how many files there are now
 * @throws Error where the account has a state already, or a worker has it
 */
export async function bringState(database: Database, account: string, folder: string): Promise<number> {
  const lease = await takeLease(database, account, { holder: "fleet account --state", seconds });
  if (!lease) throw new Error(`A worker is at work on ${account}: try again when it is done`);
  try {
    return await storeUnderLease(database, lease, async (transaction) => {
      const { rowCount } = await transaction.query(
        "SELECT 1 FROM fleet.state_part WHERE account = $1 LIMIT 1",
        [account],
      );
      if (rowCount !== 0) throw new Error(`${account} has a state already; nothing was replaced`);
      return (await storeState(transaction, account, resolve(folder), new Map())).files.size;
    });
  } finally {
    await database.query("UPDATE fleet.account SET holder = NULL WHERE name = $1 AND fence = $2", [
      account,
      lease.fence,
    ]);
  }
}

/** A copy, to be read: what is changed in it reaches nobody. @returns how many files it has */
export async function takeOutState(database: Database, account: string, folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if ((await readdir(folder)).length > 0) throw new Error(`${folder} is not empty`);
  return (await fetchState(database, account, folder)).size;
}
