/** Paging against a service that is written here, so that it can misbehave in ways the embedded one never does. */
import { expect, it } from "vitest";
import { EcmError } from "../../src/errors.ts";
import { createBehavior } from "../../src/service/behavior.ts";
import { readAllContacts } from "../../src/service/contact-pages.ts";
import { joinPages } from "../../src/service/pages.ts";
import type { Contact, SearchBody, Send } from "../../src/wire.ts";
import { sendTo } from "./kit.ts";

const search = { structureId: "s1", filters: [], source: ["_id", "key"] };
const contact = (n: number) => ({ _id: `c${n}`, key: `k${n}` });
const contacts = (count: number) => Array.from({ length: count }, (_, index) => contact(index));

type Found = { totalRecords: number; contacts: Partial<Contact>[] };
type Answering = (body: SearchBody, request: number) => Found;

function serviceThat(answers: Answering): { send: Send; searches: SearchBody[] } {
  const searches: SearchBody[] = [];
  const send = sendTo((request) => {
    const body = request.body as SearchBody;
    searches.push(body);
    return answers(body, searches.length);
  });
  return { send, searches };
}

const paged =
  (all: Partial<Contact>[]): Answering =>
  ({ page, pageSize }) => ({
    totalRecords: all.length,
    contacts: all.slice((page - 1) * pageSize, page * pageSize),
  });

const refusal = (field: string) =>
  new EcmError("service", `no such ${field}`, undefined, { status: 400, type: "ValidationError", field });

async function readKeys(send: Send, options?: Parameters<typeof readAllContacts>[2]) {
  const keys: unknown[] = [];
  for await (const each of readAllContacts(send, search, options)) keys.push(each.key);
  return keys;
}

it("counts all that there was where others remove records while their pages are joined", async () => {
  const { send } = serviceThat((body, request) =>
    paged(contacts(6).slice(request === 1 ? 0 : 1))(body, request),
  );
  const toSearch: Send = (request) => send({ ...request, body: JSON.parse(request.rawBody!) });
  const rawBody = JSON.stringify({ pageSize: 3 });
  const joined = await joinPages(toSearch, { method: "POST", path: "/search", rawBody, effect: "read" });
  expect(joined).toMatchObject({ records: { length: 5 }, total: 6 });
});

it.each([
  [7, [1, 2, 3]],
  [3, [1]],
])("each of %d contacts comes once, and no page is asked for after the last", async (count, pages) => {
  const { send, searches } = serviceThat(paged(contacts(count)));
  expect(await readKeys(send, { pageSize: 3 })).toEqual(contacts(count).map((each) => each.key));
  expect(searches.map((body) => body.page)).toEqual(pages);
});

it("reading every page fails where its pages never add up to what was promised", async () => {
  const { send, searches } = serviceThat(({ page }) => ({
    totalRecords: 1000,
    contacts: page === 1 ? [{ key: "a" }] : [],
  }));
  await expect(readKeys(send)).rejects.toThrow("1 of 1000 contacts are certain");
  expect(searches).toHaveLength(6);
});

it.each([
  ["the next usual sizes", 30, 1000, [1000, 500, 250, 100, 50, 10, 10, 10, 10]],
  ["nothing less than what is usual, of a size that nobody gives", 1000, 5000, [5000, 1000]],
])("reading every page takes, where the service refuses a size, %s", async (_name, most, pageSize, sizes) => {
  const { send, searches } = serviceThat((body, request) => {
    if (body.pageSize > most) throw refusal("pageSize");
    return paged(contacts(40))(body, request);
  });
  const behavior = createBehavior();
  expect(await readKeys(send, { pageSize, behavior })).toHaveLength(40);
  expect(searches.map((body) => body.pageSize)).toEqual(sizes);
  expect(behavior.get("maxPage")).toBe(sizes.at(-1));
});

it("reading every page passes on any other refusal", async () => {
  const { send } = serviceThat(() => {
    throw refusal("column");
  });
  await expect(readKeys(send)).rejects.toThrow("no such column");
});
