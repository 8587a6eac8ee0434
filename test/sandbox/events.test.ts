/** GET /api/contact/events and GET /api/contact/{contactId}/events. */
import { expect, test } from "vitest";
import { recordEvent } from "../../src/sandbox/rules/events.ts";
import { openStore } from "../../src/sandbox/store/index.ts";
import { invalidAt, onlyError, openAccount, type TestAccount } from "./account.ts";

test("Events: what requests do to contacts is recorded, in the account's feed and in the contact's", async () => {
  const account = await openAccount();
  const { tags } = await account.furnished();
  const ada = await account.create("ada@b.co");
  const path = `/api/contact/${ada._id}`;
  const at = () => account.clock.pass(60);
  at();
  await account.call("PUT", `${path}/mutate`, { addTags: [{ _id: tags[0] }] });
  at();
  await account.call("PUT", `${path}/mutate`, { addTags: [{ _id: tags[0] }] });
  await account.call("PUT", `${path}/mutate`, { addTags: [{ _id: tags[1] }], __v: 7 });
  at();
  await account.call("PUT", path, { key: "ada@b.co", __v: 1 });
  at();
  await account.call("PATCH", path, { status: { primary: "Inactive", secondary: "Unsubscribe" } });
  await account.create("bob@b.co");
  expect(await account.get(`${path}/events`)).toEqual({
    total: 5,
    records: [
      ["contact-unsubscribed", "12:04"],
      ["contact-updated", "12:03"],
      ["contact-update-failed", "12:02"],
      ["contact-updated", "12:01"],
      ["contact-created", "12:00"],
    ].map(([type, time]) => ({
      timestamp: `2026-06-15T${time}:00.000Z`,
      type,
      contactId: ada._id,
      source: "api",
      triggeredBy: { type: "api" },
    })),
  });
  expect((await account.get("/api/contact/events")).total).toBe(6);
  await account.call("DELETE", path);
  expect(onlyError(await account.call("GET", `${path}/events`))).toMatchObject({ status: 404 });
  expect((await account.get("/api/contact/events")).total).toBe(6);
});

test("Events: types, pastDays, page and size choose among them", async () => {
  const account = await openAccount();
  const old = await account.create("old@b.co");
  account.clock.pass(40 * 86_400);
  for (let number = 0; number < 3; number++) await account.create(`p${number}@b.co`);
  await account.call("DELETE", `/api/contact/${old._id}`);
  const feed = (query: string) => account.get(`/api/contact/events?${query}`);
  expect((await feed("")).total).toBe(3);
  expect((await feed("pastDays=90")).total).toBe(4);
  expect((await feed("types=contact-updated,contact-created&pastDays=90")).total).toBe(4);
  expect(await feed("types=contact-updated")).toEqual({ total: 0, records: [] });
  expect(await feed("page=2&size=2")).toMatchObject({ total: 3, records: [{ type: "contact-created" }] });
});

test.each([
  ["types", "types=contact-deleted"],
  ["pastDays", "pastDays=0"],
  ["pastDays", "pastDays=91"],
  ["pastDays", "pastDays=x"],
  ["page", "page=0"],
  ["size", "size=1001"],
])("Events: 400 ValidationError with field %s for %s", async (field, query) => {
  const { call } = await openAccount();
  const answer = await call("GET", `/api/contact/events?${query}`);
  expect(onlyError(answer)).toMatchObject(invalidAt(field));
});

test("Events: a bounce and a complaint make a contact inactive, and who is inactive already keeps the reason", async () => {
  const account = await openAccount();
  const [ada, bob] = [await account.create("ada@b.co"), await account.create("bob@b.co")];
  const details = { emailBounceType: "Permanent" };
  await happen(account, ada._id, "email-bounced", details);
  await happen(account, ada._id, "email-complaint");
  await happen(account, bob._id, "email-complaint");
  await happen(account, bob._id, "email-opened");
  const fetchStatus = async (id: string) => (await account.get(`/api/contact/${id}`)).status;
  expect(await fetchStatus(ada._id)).toEqual({ primary: "Inactive", secondary: "Bounce" });
  expect(await fetchStatus(bob._id)).toEqual({ primary: "Inactive", secondary: "Complaint-FBL" });
  expect((await account.get(`/api/contact/${ada._id}/events`)).records[1]).toEqual({
    timestamp: "2026-06-15T12:00:00.000Z",
    type: "email-bounced",
    contactId: ada._id,
    emailTo: "ada@b.co",
    ...details,
  });
});

async function happen(account: TestAccount, contactId: string, type: string, details = {}) {
  const store = await openStore(account.folder, account.clock.now());
  store.database.transaction(() =>
    recordEvent(store, store.contacts.get(contactId)!, { type, at: account.clock.now(), details }),
  );
  store.database.close();
}
