/** The same work several times at once. */

/**
 * Returns when every one has come to an end, also after a failure: what still runs could write to a file that
 * its owner has closed. @throws the first failure
 */
export async function runConcurrently(count: number, work: () => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: count }, work));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}
