/** Promises that run at the same time, up to a limit. */
import { RunStop } from "../pace/run-stop.ts";

/** Promises under way: their first failure ends everything, but only after all have come to an end. */
export function createPool(onFailure: (error: unknown) => void) {
  let running = 0;
  let failure: { error: unknown } | undefined;
  const wake: (() => void)[] = [];

  function fail(error: unknown): void {
    // A failure that is not a stop says more than the stops that follow from it.
    if (!failure || (failure.error instanceof RunStop && !(error instanceof RunStop))) failure = { error };
    onFailure(error);
  }

  function nextEnd(): Promise<void> {
    return new Promise((resolve) => wake.push(resolve));
  }

  return {
    fail,
    add(work: Promise<void>): void {
      running++;
      void work.catch(fail).then(() => {
        running--;
        for (const each of wake.splice(0)) each();
      });
    },
    /** Resolves when fewer than so many are under way. */
    async untilFewerThan(limit: number): Promise<void> {
      while (!failure && running >= limit) await nextEnd();
      if (failure) throw failure.error;
    },
    async empty(): Promise<void> {
      while (running > 0) await nextEnd();
      if (failure) throw failure.error;
    },
  };
}

/** Does work of one key one after another, and all other work at once. */
export function createKeyedQueue() {
  const last = new Map<string, Promise<void>>();
  return async (key: string | undefined, work: () => Promise<void>): Promise<void> => {
    if (key === undefined) return work();
    const before = last.get(key)?.catch(() => undefined);
    const own = before ? before.then(work) : work();
    last.set(key, own);
    await own.finally(() => {
      if (last.get(key) === own) last.delete(key);
    });
  };
}
