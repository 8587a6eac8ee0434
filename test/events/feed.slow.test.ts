/**
 * `ecm events` against feeds that behave in every way: each event once over all invocations, and none lost.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import { done } from "../support/ecm.ts";
import { runs } from "../support/runs.ts";
import { dayMilliseconds, type FeedEvent, type Play, serviceNow, startFeed } from "./feed-double.ts";

/** Few times, and one member that tells events apart: not always one that names the contact. */
const marks: ((mark: string) => object)[] = [
  (mark) => ({ contactId: mark }),
  (mark) => ({ emailTo: `${mark}@example.com` }),
  (mark) => ({ triggeredBy: { type: "user", userId: mark } }),
  (mark) => ({ contactId: "c", emailSubject: mark }),
  (mark) => ({ _id: mark, contactId: "c" }),
];

function eventAt(number: number, hoursAgo: number, mark = 0): FeedEvent {
  const timestamp = new Date(serviceNow - hoursAgo * 3_600_000).toISOString();
  return { timestamp, type: "email-clicked", ...marks[mark % marks.length]!(`m${number}`) };
}

const events = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => eventAt(from + n, 1 + (n % 7), n));

const shape = fc.record({ hoursAgo: fc.nat(5), mark: fc.nat(marks.length - 1) });

/** How many different plays a property is held against. */
const numRuns = runs(3);

const play: fc.Arbitrary<Omit<Play, "arrivals">> = fc.record({
  order: fc.constantFrom("newest" as const, "oldest" as const, "shuffled" as const),
  maxPageSize: fc.constantFrom(1000, 1, 2, 3, 5, 8),
  isRefusing: fc.boolean(),
  total: fc.constantFrom<Play["total"][]>("right", "missing", "array"),
});

const situation = fc.record({
  play,
  first: fc.array(shape, { maxLength: 30 }),
  batches: fc.array(fc.array(shape, { maxLength: 9 }), { maxLength: 12 }),
  limits: fc.array(fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }), {
    minLength: 3,
    maxLength: 3,
  }),
  clockDays: fc.array(fc.constantFrom(0, 0, 95, -3), { minLength: 3, maxLength: 3 }),
});

const parsed = (text: string) => (JSON.parse(text) as FeedEvent[]).map((event) => JSON.stringify(event));

it("events --since last shows each event once over several invocations, whatever the feed plays", async () => {
  await fc.assert(
    fc.asyncProperty(situation, async ({ play: chosen, first, batches, limits, clockDays }) => {
      let number = 0;
      const made = (shapes: { hoursAgo: number; mark: number }[]) =>
        shapes.map(({ hoursAgo, mark }) => eventAt(number++, hoursAgo, mark));
      const { feed, ecm } = await startFeed(made(first), { ...chosen, arrivals: batches.map(made) });
      const shownIds: string[] = [];
      const show = async (limit: number | undefined, days: number) => {
        const flag = limit === undefined ? "" : `--limit ${limit}`;
        shownIds.push(...parsed(await done(ecm(`--since last ${flag}`, days))));
      };
      for (const [at, limit] of limits.entries()) await show(limit, clockDays[at]!);
      for (let rest = 0; rest < 40 && shownIds.length < feed.events.length; rest++) await show(undefined, 0);
      expect(shownIds.toSorted()).toEqual(feed.events.map((event) => JSON.stringify(event)).sort());
      await show(undefined, 0);
      expect(shownIds).toHaveLength(feed.events.length);
    }),
    { numRuns },
  );
});

it("events --since last shows what --limit left over although it is older than the usual days by then", async () => {
  const { feed, ecm } = await startFeed(events(30), { order: "newest", total: "right" });
  const shownIds: string[] = [];
  for (const days of [0, 25, 20, 20, 20]) {
    feed.now += days * dayMilliseconds;
    const { stdout, stderr } = await ecm("--since last --limit 6");
    shownIds.push(...parsed(stdout));
    expect(stderr.includes("some may be missing")).toBe(false);
  }
  expect(new Set(shownIds).size).toBe(30);
  expect(shownIds).toHaveLength(30);
});

it("events --since last says when what --limit left over is older than the service keeps events", async () => {
  const { feed, ecm } = await startFeed(events(30), { order: "newest", total: "right" });
  await ecm("--since last --limit 6");
  feed.now += 95 * dayMilliseconds;
  const { stdout, stderr } = await ecm("--since last");
  expect(stdout).toBe("[]\n");
  expect(stderr).toContain("warning: These events were last read whole 95 days ago");
});

it("events --since last shows nothing again after this machine's clock was ahead once, and loses nothing", async () => {
  const { feed, ecm } = await startFeed(events(5), { order: "newest", total: "right" });
  expect(parsed((await ecm("--since last", 95)).stdout)).toHaveLength(5);
  feed.events.push(eventAt(99, 24 * 40));
  expect(parsed((await ecm("--since last")).stdout)).toEqual([JSON.stringify(feed.events.at(-1))]);
  expect((await ecm("--since last --days 90")).stdout).toBe("[]\n");
});

it("events --since last shows an event without a time that can be read once, the last", async () => {
  const odd = { timestamp: "yesterday", type: "email-clicked", contactId: "c" };
  const { ecm } = await startFeed([odd, ...events(3)], { order: "newest", total: "right" });
  expect(parsed((await ecm("--since last")).stdout).at(-1)).toBe(JSON.stringify(odd));
  for (const days of [0, 200]) expect((await ecm("--since last", days)).stdout).toBe("[]\n");
});

it("ecm events shows all with --all and --since TIME, and the newest otherwise, whatever the order of the feed and its cuts", async () => {
  await fc.assert(
    fc.asyncProperty(play, fc.integer({ min: 1, max: 30 }), async (chosen, limit) => {
      const all = Array.from({ length: 40 }, (_, n) => eventAt(n, n, n));
      const { ecm } = await startFeed(all, chosen);
      for (const flags of ["--all", "--since 7d", `--limit ${limit}`]) {
        expect(JSON.parse(await done(ecm(flags)))).toEqual(
          all.slice(0, flags.startsWith("--limit") ? limit : 40).reverse(),
        );
      }
    }),
    { numRuns },
  );
});

it("ecm events says when the pages hold fewer than the service counts", async () => {
  const { ecm } = await startFeed(events(20), { order: "newest", total: 100_000 });
  for (const flags of ["--all", "--since last"]) {
    const { code, stderr } = await ecm(`${flags} -q`);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: The service counts 100,000 events, but its pages hold 20");
  }
});

it("ecm events costs one request where the first page tells all, or the newest of many", async () => {
  const hourly = Array.from({ length: 300 }, (_, n) => eventAt(n, n));
  const { feed, ecm } = await startFeed(hourly, { order: "newest", total: "right" });
  await ecm("");
  expect(feed.requests).toBe(1);
  await ecm("--since last");
  expect(feed.requests).toBe(2);
});
