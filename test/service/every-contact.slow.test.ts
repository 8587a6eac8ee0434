/** `ecm export` while others add and remove contacts between two pages: each contact that stays, once. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { json, plainStructure, startService } from "../kit.ts";
import { runs } from "../support/runs.ts";

interface Change {
  /** Which contacts go: their places as parts of all. */
  remove: number[];
  /** Where others come in, likewise. */
  add: number[];
}

/** An account that changes after each of its pages, by one of these after the other. */
async function changing(
  count: number,
  { maxPageSize, changes }: { maxPageSize: number; changes: readonly Change[] },
) {
  let last = 0;
  // The situation stays as it is: whoever reports it, or tries it again, needs it whole.
  const left = [...changes];
  // Whole, so that none has to be read by its id.
  const person = () => {
    const _id = (++last).toString(16).padStart(24, "0");
    return { _id, key: `p${last}@x.org`, fields: [], lists: [], tags: [], status: { primary: "Active" } };
  };
  const everybody = Array.from({ length: count }, person);
  const staying = new Set(everybody.map(({ key }) => key));
  const sizes: number[] = [];
  const { ecm } = await startService((request, response) => {
    if (request.method === "GET") {
      return json(response, 200, request.url.includes("/lists") ? [] : [plainStructure]);
    }
    const { page, pageSize } = JSON.parse(request.body) as { page: number; pageSize: number };
    const size = Math.min(pageSize, maxPageSize);
    const contacts = everybody.slice((page - 1) * size, page * size);
    sizes.push(size);
    json(response, 200, { totalRecords: everybody.length, contacts });
    const { remove, add } = left.shift() ?? { remove: [], add: [] };
    for (const part of remove) {
      for (const { key } of everybody.splice(Math.floor(part * everybody.length), 1)) staying.delete(key);
    }
    for (const part of add) everybody.splice(Math.floor(part * (everybody.length + 1)), 0, person());
  });
  const exported = async () => {
    const { code, stdout, stderr } = await ecm("export -o id");
    return { code, stderr, ids: stdout.split("\n").filter(Boolean) };
  };
  const stayingIds = () => everybody.filter(({ key }) => staying.has(key)).map(({ _id }) => _id);
  return { exported, stayingIds, sizes };
}

/** Everybody who stays is exported, and nobody twice; or the export fails with these words. */
async function expectWhole(
  { exported, stayingIds }: Awaited<ReturnType<typeof changing>>,
  failure?: string,
): Promise<void> {
  const { code, stderr, ids } = await exported();
  if (code === 1 && failure !== undefined) {
    expect(stderr).toContain(failure);
    return;
  }
  expect(code, stderr).toBe(0);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(stayingIds()));
}

it.each<[what: string, count: number, maxPageSize: number, removed: number[], isTotalKept: boolean]>([
  ["as many come in as go, so that the total stays", 250, 100, [1, 30], true],
  ["so many go that the next page is empty", 21, 20, [6, 7], false],
])("an export misses nobody where %s", async (_what, count, maxPageSize, removed, isTotalKept) => {
  for (const number of removed) {
    const add = Array<number>(isTotalKept ? number : 0).fill(1);
    const changes = [{ remove: Array<number>(number).fill(0), add }];
    await expectWhole(await changing(count, { maxPageSize, changes }));
  }
});

it("an export reads a few contacts of each page again where the service gives large pages", async () => {
  const { exported, sizes } = await changing(3000, { maxPageSize: 1000, changes: [] });
  expect((await exported()).ids).toHaveLength(3000);
  expect(sizes.length).toBeLessThanOrEqual(4);
});

it("an export fails where contacts go faster than they can be read", async () => {
  const going = { remove: Array.from({ length: 60 }, () => 0), add: Array.from({ length: 60 }, () => 1) };
  const { exported } = await changing(300, { maxPageSize: 100, changes: Array(20).fill(going) });
  const { code, stderr } = await exported();
  expect(code).toBe(1);
  expect(stderr).toContain("The account changed each of the 3 times that it was read");
});

it("an export gives each contact that stays once, or fails, whatever comes and goes where", async () => {
  const parts = fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { maxLength: 8 });
  const situation = fc.record({
    count: fc.integer({ min: 0, max: 200 }),
    largest: fc.constantFrom(20, 27, 50, 1000),
    changes: fc.array(fc.record({ remove: parts, add: parts }), { maxLength: 20 }),
  });
  await fc.assert(
    fc.asyncProperty(situation, async ({ count, largest, changes }) => {
      const account = await changing(count, { maxPageSize: largest, changes });
      await expectWhole(account, "The account changed each of");
    }),
    { numRuns: runs(10) },
  );
});
