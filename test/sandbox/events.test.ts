/** GET /api/contact/events and GET /api/contact/{contactId}/events. */
import { expect, test } from "vitest";
import { invalidAt, onlyError, openAccount } from "./account.ts";

test("Events: what requests do to contacts is recorded, in the account's feed and in the contact's", async () => {
  const account = await openAccount();
  const { tags } = await account.furnished();
  const ada = await account.create("ada@b.co");
  const path = `/api/contact/${ada._id}`;
  const tag = (index: number) => ({ addTags: [{ _id: tags[index] }] });
  for (const [minutes, method, at, body] of [
    [1, "PUT", `${path}/mutate`, tag(0)],
    // A change of nothing is no event, a refused one is.
    [1, "PUT", `${path}/mutate`, tag(0)],
    [0, "PUT", `${path}/mutate`, { ...tag(1), __v: 7 }],
    [1, "PUT", path, { key: "ada@b.co", __v: 1 }],
    [1, "PATCH", path, { status: { primary: "Inactive", secondary: "Unsubscribe" } }],
  ] as const) {
    account.clock.pass(60 * minutes);
    await account.call(method, at, body);
  }
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

test("Events: a query that is wrong is 400 ValidationError with its field", async () => {
  const { call } = await openAccount();
  const queries = "types=contact-deleted pastDays=0 pastDays=91 pastDays=x page=0 size=1001";
  for (const query of queries.split(" ")) {
    const answer = await call("GET", `/api/contact/events?${query}`);
    expect(onlyError(answer)).toMatchObject(invalidAt(query.split("=")[0]));
  }
});

/** An event as a test posts it, and its type in the feed. */
type Posted = [event: object, type: string];

test("Events: a hard bounce, a complaint and an unsubscription make a contact inactive, and who is inactive keeps the reason", async () => {
  const { admin, create, get } = await openAccount();
  const hardBounce = { type: "bounced", emailBounceType: "Permanent" };
  const softBounce = { type: "email-bounced", emailBounceType: "Transient" };
  const click = { type: "email-clicked", emailSubject: "Hello" };
  const happenings: Record<string, [status: string, ...events: Posted[]]> = {
    ada: ["Bounce", [hardBounce, "email-bounced"], [{ type: "email-complaint" }, "email-complaint"]],
    bob: ["Complaint-FBL", [{ type: "complained" }, "email-complaint"], [{ type: "opened" }, "email-opened"]],
    dan: ["Unsubscribe", [{ type: "unsubscribed" }, "contact-unsubscribed"]],
    eve: ["confirmed", [softBounce, "email-bounced"], [click, "email-clicked"]],
  };
  for (const [name, [status, ...events]] of Object.entries(happenings)) {
    const key = `${name}@b.co`;
    const { _id } = await create(key);
    for (const [event, type] of events) {
      const { body } = await admin("POST", "events", { key: key.toUpperCase(), ...event });
      expect(body).toMatchObject({ type, contact: { _id, key } });
    }
    expect((await get(`/api/contact/${_id}`)).status.secondary, name).toBe(status);
    const { records } = await get(`/api/contact/${_id}/events`);
    const recorded = { timestamp: "2026-06-15T12:00:00.000Z", contactId: _id };
    const expected = events.map(([event, type]) => ({
      ...{ ...recorded, ...event, type },
      ...(type.startsWith("email-") && { emailTo: key }),
    }));
    expect(records.slice(0, -1).toReversed()).toEqual(expected);
  }
});
