/** One sync for the intents of all writes that are about to be sent. */

/**
 * How long a write waits for others to share its sync, in
 * milliseconds: little beside an answer of the service.
 */
const maxWaitMilliseconds = 2;

/**
 * @param sync brings everything that was appended to the disk
 * @param underWay how many requests have begun and not ended; those that wait for a sync are among them
 * @returns what to call in place of `sync`: it waits until everything under way waits too, or for a moment
 */
export function shareSyncs(sync: () => Promise<void>, underWay: () => number): () => Promise<void> {
  let waiting = 0;
  let shared: Promise<void> | undefined;
  let start = (): void => undefined;

  function share(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => start(), maxWaitMilliseconds);
      start = () => {
        clearTimeout(timer);
        waiting = 0;
        shared = undefined;
        resolve(sync());
      };
    });
  }

  return () => {
    waiting++;
    shared ??= share();
    const own = shared;
    if (waiting >= underWay()) start();
    return own;
  };
}
