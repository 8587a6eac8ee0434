/** POST /__sandbox/seed. */
import { expect, test } from "vitest";
import { eq, invalidAt, onlyError, openAccount } from "./account.ts";

async function opened() {
  const account = await openAccount();
  const seed = (body: unknown) => account.call("POST", "/__sandbox/seed", body, { key: null });
  const whole = { source: ["_id", "key", "fields", "tags", "lists", "contactStatus", "contactSubStatus"] };
  return { account, seed, whole };
}

test("a seed makes what is missing, by names, and updates a contact that exists", async () => {
  const { account, seed, whole } = await opened();
  const answer = await seed({
    fields: ["City"],
    tags: ["VIP"],
    lists: ["Newsletter"],
    contacts: [
      {
        key: "ada@example.com",
        fields: { City: "Oslo", "first name": "Ada" },
        lists: ["newsletter"],
        tags: ["New"],
      },
      { key: "gone@example.com", status: "Unsubscribe" },
      { key: "plain@example.com" },
    ],
  });
  expect(answer.body).toEqual({ contacts: { created: 3, updated: 0 } });
  const [structure] = (await account.call("GET", "/api/contact-structure")).body;
  expect(structure.fields.map((field: { label: string }) => field.label)).toEqual([
    "First Name",
    "Last Name",
    "City",
  ]);
  expect(structure.tags.map((tag: { label: string }) => tag.label)).toEqual(["VIP", "New"]);
  const [list] = (await account.call("GET", `/api/contact-structure/${account.structureId}/lists`)).body
    .records;
  expect(list).toMatchObject({ name: "Newsletter", totalContacts: 1 });
  const [ada] = (await account.search([eq("KEY", "ada@example.com")], whole)).body.contacts;
  expect(ada).toMatchObject({
    fields: [
      { _id: structure.fields[2]._id, value: "Oslo" },
      { _id: structure.fields[0]._id, value: "Ada" },
    ],
    lists: [{ _id: list._id }],
    tags: [{ _id: structure.tags[1]._id }],
  });
  const again = await seed({
    contacts: [{ key: "ADA@example.com", fields: { City: "Bergen" }, tags: ["VIP"], status: "Bounce" }],
  });
  expect(again.body).toEqual({ contacts: { created: 0, updated: 1 } });
  const changed = (await account.call("GET", `/api/contact/${ada._id}`)).body;
  expect(changed).toMatchObject({
    key: "ADA@example.com",
    __v: 1,
    status: { primary: "Inactive", secondary: "Bounce" },
  });
  expect(changed.fields.map((field: { value: string }) => field.value)).toEqual(["Bergen", "Ada"]);
  expect(changed.tags).toHaveLength(2);
  expect((await account.search([eq("CONTACT_STATUS", "Inactive")])).body.totalRecords).toBe(2);
});

test.each([
  ["Active", "active"],
  ["active", "active"],
  ["Unsubscribe", "Unsubscribe"],
  ["Bounce", "Bounce"],
  ["complaint-fbl", "Complaint-FBL"],
  [{ primary: "Inactive", secondary: "Complaint-FBL" }, "Complaint-FBL"],
  [{ primary: "Active" }, "active"],
])("a contact is seeded with the status %j", async (status, expected) => {
  const { account, seed } = await opened();
  await seed({ contacts: [{ key: "a@b.co", status }] });
  const [{ _id }] = (await account.search([])).body.contacts;
  const { primary, secondary } = (await account.call("GET", `/api/contact/${_id}`)).body.status;
  expect(primary === "Inactive" ? secondary : primary).toBe(expected);
});

test.each([
  [{ contacts: [{ key: "a@b.co" }, {}] }, "contacts[1].key"],
  [{ contacts: [{ key: "a@b.co" }, { key: "no address" }] }, "contacts[1].key"],
  [{ contacts: [{ key: "a@b.co", fields: { City: 5 } }] }, "contacts[0].fields.City"],
  [{ contacts: [{ key: "a@b.co", fields: { City: "a\0b" } }] }, "contacts[0].fields.City"],
  [{ contacts: [{ key: "a@b.co", fields: { " ": "x" } }] }, "contacts[0].fields"],
  [{ contacts: [{ key: "a@b.co", fields: { "a\0b": "x" } }] }, "contacts[0].fields"],
  [{ contacts: [{ key: "a@b.co", fields: ["Oslo"] }] }, "contacts[0].fields"],
  [{ contacts: [{ key: "a@b.co", lists: ["x", " "] }] }, "contacts[0].lists[1]"],
  [{ contacts: [{ key: "a@b.co", tags: "x" }] }, "contacts[0].tags"],
  [{ contacts: [{ key: "a@b.co", status: "Asleep" }] }, "contacts[0].status"],
  [{ contacts: [{ key: "a@b.co", colour: "red" }] }, "contacts[0].colour"],
  [{ contacts: { key: "a@b.co" } }, "contacts"],
  [{ lists: ["fine"], tags: [""] }, "tags[0]"],
  [{ people: [] }, "people"],
])("a seed with something invalid is 400 with its place, and nothing is applied: %j", async (body, place) => {
  const { account, seed } = await opened();
  const before = (await account.call("GET", "/api/contact-structure")).body;
  expect(onlyError(await seed(body))).toMatchObject({
    status: 400,
    errorType: "ValidationError",
    field: place,
    message: expect.stringContaining(place),
  });
  expect((await account.call("GET", "/api/contact-structure")).body).toEqual(before);
  expect((await account.search([])).body.totalRecords).toBe(0);
  expect((await account.call("GET", `/api/contact-structure/${account.structureId}/lists`)).body.total).toBe(
    0,
  );
});

test("a field may have any name, one that objects of JavaScript have too", async () => {
  const { account, seed, whole } = await opened();
  const labels = ["constructor", "prototype", "__proto__", "toString"];
  const fields = Object.fromEntries(labels.map((label) => [label, `its ${label}`]));
  expect((await seed({ contacts: [{ key: "a@b.co", fields }] })).body.contacts.created).toBe(1);
  const [structure] = (await account.call("GET", "/api/contact-structure")).body;
  const fieldLabel = (id: string) =>
    structure.fields.find((field: { _id: string }) => field._id === id).label as string;
  const [contact] = (await account.search([], whole)).body.contacts;
  expect(
    contact.fields.map(({ _id, value }: { _id: string; value: string }) => [fieldLabel(_id), value]),
  ).toEqual(labels.map((label) => [label, `its ${label}`]));
});

test("a name that several lists have is 400", async () => {
  const { account, seed } = await opened();
  for (const name of ["News", "News"]) {
    await account.call("POST", `/api/contact-structure/${account.structureId}/lists`, { name });
  }
  expect(onlyError(await seed({ contacts: [{ key: "a@b.co", lists: ["News"] }] }))).toMatchObject(
    invalidAt("contacts[0].lists[0]"),
  );
});

test("a seed that is no JSON object is 400", async () => {
  const { account } = await opened();
  for (const raw of ["", "[]", "null", "5", "{", "\ufffe"]) {
    const answer = await account.call("POST", "/__sandbox/seed", undefined, { key: null, raw });
    expect(answer.status, raw).toBe(raw === "" ? 200 : 400);
  }
});

test("10,000 contacts are seeded at once, although a request to the service may hold 1 MiB only", async () => {
  const { account, seed } = await opened();
  const contacts = Array.from({ length: 10_000 }, (_, number) => ({
    key: `person${number}@example.com`,
    fields: { "First Name": `Person ${number}`, Notes: "x".repeat(60) },
    lists: ["Everyone"],
    tags: [number % 2 ? "odd" : "even"],
  }));
  expect((await seed({ contacts })).body).toEqual({ contacts: { created: 10_000, updated: 0 } });
  expect((await account.search([])).body.totalRecords).toBe(10_000);
});
