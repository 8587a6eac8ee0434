import { expect, test } from "vitest";
import { shareSyncs } from "../../../src/bulk/runs/journal.ts";

function counted(sync: () => Promise<void> = () => Promise.resolve()) {
  const counts = { syncs: 0, underWay: 0 };
  const share = shareSyncs(
    () => {
      counts.syncs++;
      return sync();
    },
    () => counts.underWay,
  );
  return { counts, share };
}

test("writes that are under way together share one sync", async () => {
  const { counts, share } = counted();
  counts.underWay = 3;
  const waiting = [share(), share()];
  expect(counts.syncs).toBe(0);
  waiting.push(share());
  expect(counts.syncs).toBe(1);
  await Promise.all(waiting);
  expect(counts.syncs).toBe(1);
});

test("a write that is alone waits for no other", async () => {
  const { counts, share } = counted();
  counts.underWay = 1;
  const first = share();
  expect(counts.syncs).toBe(1);
  const second = share();
  expect(counts.syncs).toBe(2);
  await Promise.all([first, second]);
});

test("a request that stays away does not delay the others", async () => {
  const { counts, share } = counted();
  counts.underWay = 2;
  await share();
  expect(counts.syncs).toBe(1);
  await share();
  expect(counts.syncs).toBe(2);
});

test("a sync that fails fails for everyone who shares it, and for no one else", async () => {
  let isBroken = true;
  const { counts, share } = counted(() => (isBroken ? Promise.reject(new Error("disk")) : Promise.resolve()));
  counts.underWay = 2;
  const both = await Promise.allSettled([share(), share()]);
  expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  isBroken = false;
  await expect(share()).resolves.toBeUndefined();
});
