/** Listings whose records move while their pages are read, as others remove and change them. */
import { expect, it } from "vitest";
import { createBehavior } from "../../src/service/behavior.ts";
import { readAllLists } from "../../src/service/lists.ts";
import { campaignPages, readAllRecords, resolveCampaign } from "../../src/service/resources.ts";
import { sendTo } from "./kit.ts";

const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => ({ _id: `r${from + index}`, name: `n${from + index}` }));

/** @param all what there is when a request comes, the first of which is 1 */
function serviceThat(all: (request: number) => { _id: string; name: string }[], isTotalTold = true) {
  let requests = 0;
  const send = sendTo(({ query: asked }) => {
    requests++;
    const query = new Map(asked);
    const [page, size] = [Number(query.get("page")), Number(query.get("size"))];
    const found = all(requests);
    const part = found.slice((page - 1) * size, page * size);
    return isTotalTold ? { total: found.length, records: part } : part;
  });
  return send;
}

it("all lists are read again where one was removed while their pages were read", async () => {
  const send = serviceThat((request) => records(request === 1 ? 0 : 1, 150));
  const { lists, requests } = await readAllLists(send, "s1", createBehavior());
  expect(lists.map(({ _id }) => _id)).toEqual(records(1, 150).map(({ _id }) => _id));
  expect(requests).toBe(4);
});

it.each([
  [150, true, 2],
  [100, true, 1],
  [150, false, 3],
])("all %d lists are read once where none moves, with a total: %s", async (count, isTotalTold, requests) => {
  const send = serviceThat(() => records(0, count), isTotalTold);
  expect(await readAllLists(send, "s1", createBehavior())).toMatchObject({
    lists: { length: count },
    requests,
  });
});

const moved = [...records(120, 121), ...records(0, 120), ...records(121, 150)];

it("all campaigns are read again where one moved to the front while their pages were read", async () => {
  const send = serviceThat((request) => (request === 1 ? records(0, 150) : moved));
  expect(await readAllRecords(campaignPages(send))).toMatchObject({ records: { length: 150 }, total: 150 });
  const again = serviceThat((request) => (request === 1 ? records(0, 150) : moved));
  expect(await resolveCampaign(again, "n120")).toBe("r120");
});

it("all campaigns are what can be had where more are announced than there are", async () => {
  const send = sendTo(() => ({ total: 5, records: records(0, 3) }));
  const found = { records: { length: 3 }, total: 5 };
  expect(await readAllRecords(campaignPages(send))).toMatchObject(found);
});
