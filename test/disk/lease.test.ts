/**
 * One process at a time: processes that live, that are gone, that
 * cannot be seen, and that come at the same moment.
 */
import { spawnSync } from "node:child_process";
import { readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { isLeaseHeld, type LeaseTimes, takeLease } from "../../src/disk/lease.ts";
import { checkLife, identifyThisProcess, type ProcessIdentity } from "../../src/disk/this-process.ts";
import { temporaryFolder } from "../support/ecm.ts";

const elsewhere: ProcessIdentity = { host: "db1", pid: 12, space: "another machine", start: "7" };
const hour = 3_600_000;

let folder: string;

beforeEach(async () => {
  folder = join(await temporaryFolder(), "locks");
});

/** A watch that takes no time; `onWatch` is what happens meanwhile. */
function timesWith(now = Date.now(), onWatch: () => Promise<unknown> = async () => undefined): LeaseTimes {
  return {
    beat: hour,
    silence: 120_000,
    watch: 20_000,
    now: () => now,
    sleep: async (milliseconds) => (milliseconds === 20_000 ? onWatch() : undefined),
  };
}

/** The lease file of somebody else who holds `matter`, last touched at this time. */
async function leftBy(folder: string, holder: ProcessIdentity, beatAt: number): Promise<string> {
  const lease = await takeLease(folder, "matter", "the run", { self: holder, times: timesWith(beatAt) });
  const [name] = await readdir(folder);
  const file = join(folder, name!);
  const text = await readFile(file, "utf8");
  await lease.release();
  await writeFile(file, text);
  await utimes(file, beatAt / 1000, beatAt / 1000);
  return file;
}

/** A process that has ended, as it named itself. */
const ended: ProcessIdentity = { ...identifyThisProcess(), pid: spawnSync(process.execPath, ["-e", ""]).pid };

const take = (times?: LeaseTimes) => takeLease(folder, "matter", "the run", { times });

it("a lease is for one at a time, and for one matter", async () => {
  const lease = await take();
  const refused = take();
  await expect(refused).rejects.toThrow(expect.objectContaining({ kind: "locked" }));
  await expect(refused).rejects.toThrow(`The run is in use by process ${process.pid} on `);
  await (await takeLease(folder, "another", "it")).release();
  await lease.release();
  await (await take()).release();
  expect(await readdir(folder)).toEqual([]);
});

it("a lease is seen by who only looks, and is not taken by that", async () => {
  expect(await isLeaseHeld(folder, "matter")).toBe(false);
  const lease = await take();
  expect(await isLeaseHeld(folder, "matter")).toBe(true);
  expect(await isLeaseHeld(folder, "another")).toBe(false);
  await lease.release();
  expect(await isLeaseHeld(folder, "matter")).toBe(false);
  expect(await readdir(folder)).toEqual([]);
  await leftBy(folder, ended, Date.now());
  expect(await isLeaseHeld(folder, "matter")).toBe(false);
  const shared = await temporaryFolder();
  const file = await leftBy(shared, elsewhere, Date.now());
  expect(await isLeaseHeld(shared, "matter")).toBe(true);
  await utimes(file, 1, 1);
  expect(await isLeaseHeld(shared, "matter")).toBe(false);
});

it("a lease of a process that is gone is taken over at once, and swept for other matters too", async () => {
  await leftBy(folder, ended, Date.now());
  const other = await takeLease(folder, "another", "it");
  expect(await readdir(folder)).toHaveLength(1);
  await leftBy(await temporaryFolder(), ended, Date.now());
  const lease = await take();
  expect(lease.tookOver).toBeUndefined();
  await Promise.all([lease.release(), other.release()]);
});

it.runIf(process.platform === "linux")("a lease of a process whose id is reused is taken over", async () => {
  await leftBy(folder, { ...identifyThisProcess(), start: "1" }, Date.now());
  await (await take()).release();
});

it("a lease of a living process is never taken over, however long it is silent: it may be stopped", async () => {
  await leftBy(folder, identifyThisProcess(), Date.now() - 48 * hour);
  await expect(take()).rejects.toThrow(expect.objectContaining({ kind: "locked" }));
});

it.each([0, 60_000, -60_000])(
  "a lease of another machine or container is respected %d ms after its last sign",
  async (age) => {
    const now = Date.now();
    await leftBy(folder, elsewhere, now - age);
    const taking = take(timesWith(now));
    await expect(taking).rejects.toThrow(/The run is in use by process 12 on db1 since/);
    const details = { hint: expect.stringContaining("a lock that is inactive for 2 min is taken over") };
    await expect(taking).rejects.toMatchObject({ exitCode: 6, details });
  },
);

it.each([hour, -hour])(
  "a lease of another machine or container is respected while touched, its clock %d ms off",
  async (off) => {
    const now = Date.now();
    const file = await leftBy(folder, elsewhere, now - off);
    const beats = () => utimes(file, (now - off + 5000) / 1000, (now - off + 5000) / 1000);
    const taking = take(timesWith(now, beats));
    await expect(taking).rejects.toThrow(expect.objectContaining({ kind: "locked" }));
  },
);

it("a lease of another machine or container is taken over after a long silence, and that is said", async () => {
  const now = Date.parse("2026-11-21T13:00:00Z");
  await leftBy(folder, elsewhere, now - hour);
  const lease = await take(timesWith(now));
  expect(lease.tookOver).toBe("process 12 on db1, last active at 2026-11-21T12:00:00Z");
  await lease.release();
});

it("a lease of another machine or container is respected when its file cannot be read", async () => {
  await writeFile(await leftBy(folder, elsewhere, Date.now()), "");
  await expect(take()).rejects.toThrow("on an unknown host");
});

it("a lease that was taken away is noticed", async () => {
  const lease = await take();
  lease.requireHeld();
  await rm(join(folder, (await readdir(folder))[0]!));
  expect(() => lease.requireHeld()).toThrow("The lock on the run is gone");
  await lease.release();
});

it("a lease has exactly one winner among many who come at the same moment", async () => {
  for (let round = 0; round < 8; round++) {
    const taken = await Promise.allSettled(Array.from({ length: 8 }, () => take()));
    const won = taken.filter((each) => each.status === "fulfilled");
    expect(won).toHaveLength(1);
    await won[0]!.value.release();
  }
  expect(await readdir(folder)).toEqual([]);
});

it("the life of a process is seen only where process ids mean the same", async () => {
  const me = identifyThisProcess();
  expect(checkLife(me, me)).toBe("alive");
  expect(checkLife({ ...me, space: "another container" }, me)).toBe("unknown");
  expect(checkLife(ended, me)).toBe("gone");
});
