/** POST /__sandbox/seed. */
import { expect, test } from "vitest";
import { eq, invalidAt, onlyError, openAccount, refs } from "./account.ts";

const whole = { source: ["_id", "key", "fields", "tags", "lists", "contactStatus", "contactSubStatus"] };

async function opened() {
  const account = await openAccount();
  return { ...account, seed: (body: unknown) => account.admin("POST", "seed", body) };
}

test("a seed makes what is missing, by names, and updates a contact that exists", async () => {
  const { seed, structure, get, search, keys, listsPath } = await opened();
  const ada = { key: "ada@example.com", fields: { City: "Oslo", "first name": "Ada" } };
  const gone = { key: "gone@example.com", status: "Unsubscribe" };
  const contacts = [{ ...ada, lists: ["newsletter"], tags: ["New"] }, gone, { key: "plain@example.com" }];
  const answer = await seed({ fields: ["City"], tags: ["VIP"], lists: ["Newsletter"], contacts });
  expect(answer.body).toEqual({ contacts: { created: 3, updated: 0 } });
  const { fields, tags } = await structure();
  expect(fields).toMatchObject([{ label: "First Name" }, { label: "Last Name" }, { label: "City" }]);
  expect(tags).toMatchObject([{ label: "VIP" }, { label: "New" }]);
  const [list] = (await get(listsPath)).records;
  expect(list).toMatchObject({ name: "Newsletter", totalContacts: 1 });
  const [found] = (await search([eq("KEY", ada.key)], whole)).body.contacts;
  const values = [fields[2], fields[0]].map((field, at) => ({ _id: field!._id, value: ["Oslo", "Ada"][at] }));
  expect(found).toMatchObject({ fields: values, lists: refs(list._id), tags: refs(tags[1]!._id) });
  const bounced = { key: "ADA@example.com", fields: { City: "Bergen" }, tags: ["VIP"], status: "Bounce" };
  expect((await seed({ contacts: [bounced] })).body).toEqual({ contacts: { created: 0, updated: 1 } });
  const changed = await get(`/api/contact/${found._id}`);
  const changedValues = [{ value: "Bergen" }, { value: "Ada" }];
  const status = { primary: "Inactive", secondary: "Bounce" };
  expect(changed).toMatchObject({ key: bounced.key, __v: 1, fields: changedValues, status });
  expect(changed.tags).toHaveLength(2);
  expect(await keys([eq("CONTACT_STATUS", "Inactive")])).toHaveLength(2);
});

test.each([
  ["active", ["Active", "active", { primary: "Active" }]],
  ["Unsubscribe", ["Unsubscribe"]],
  ["Bounce", ["Bounce"]],
  ["Complaint-FBL", ["complaint-fbl", { primary: "Inactive", secondary: "Complaint-FBL" }]],
])("a contact is %s that is seeded with one of the statuses %j", async (expected, statuses) => {
  const { seed, get } = await opened();
  await seed({ contacts: statuses.map((status, index) => ({ key: `p${index}@b.co`, status })) });
  for (const { status } of await get("/api/contact")) {
    const { primary, secondary } = status;
    expect(primary === "Inactive" ? secondary : primary).toBe(expected);
  }
});

const seedOf = (member: object) => ({ contacts: [{ key: "a@b.co", ...member }] });

const wrongSeeds: [seed: object, place: string][] = [
  [{ contacts: [{ key: "a@b.co" }, {}] }, "contacts[1].key"],
  [{ contacts: [{ key: "a@b.co" }, { key: "no address" }] }, "contacts[1].key"],
  [seedOf({ fields: { City: 5 } }), "contacts[0].fields.City"],
  [seedOf({ fields: { City: "a\0b" } }), "contacts[0].fields.City"],
  [seedOf({ fields: { " ": "x" } }), "contacts[0].fields"],
  [seedOf({ fields: { "a\0b": "x" } }), "contacts[0].fields"],
  [seedOf({ fields: ["Oslo"] }), "contacts[0].fields"],
  [seedOf({ lists: ["x", " "] }), "contacts[0].lists[1]"],
  [seedOf({ tags: "x" }), "contacts[0].tags"],
  [seedOf({ status: "Asleep" }), "contacts[0].status"],
  [seedOf({ colour: "red" }), "contacts[0].colour"],
  [{ contacts: { key: "a@b.co" } }, "contacts"],
  [{ lists: ["fine"], tags: [""] }, "tags[0]"],
  [{ people: [] }, "people"],
  [{ campaigns: [{ name: "" }] }, "campaigns[0].name"],
  [{ campaigns: [{ name: "A", updatedAt: 5 }] }, "campaigns[0].updatedAt"],
  [{ campaigns: [{ name: "A", report: [] }] }, "campaigns[0].report"],
  [{ ...seedOf({}), domains: [{ domain: "no domain" }] }, "domains[0].domain"],
  [{ ...seedOf({}), templates: [{ subject: "x" }] }, "templates[0].name"],
  [{ ...seedOf({}), reports: { overall: 5 } }, "reports.overall"],
  [{ reports: { monthly: {} } }, "reports.monthly"],
];

test("a seed with something invalid is 400 with its place, and nothing is applied", async () => {
  const { seed, structure, keys, get, listsPath } = await opened();
  const before = await structure();
  for (const [body, place] of wrongSeeds) {
    const message = expect.stringContaining(place);
    expect(onlyError(await seed(body)), place).toMatchObject({ ...invalidAt(place), message });
  }
  expect(await structure()).toEqual(before);
  expect(await keys()).toEqual([]);
  expect((await get(listsPath)).total).toBe(0);
  expect((await get("/api/email/campaign")).total).toBe(0);
});

test("a field may have any name, one that objects of JavaScript have too", async () => {
  const { seed, structure, get } = await opened();
  const labels = ["constructor", "prototype", "__proto__", "toString"];
  const fields = Object.fromEntries(labels.map((label) => [label, `its ${label}`]));
  expect((await seed({ contacts: [{ key: "a@b.co", fields }] })).body.contacts.created).toBe(1);
  const made = (await structure()).fields.slice(2);
  expect(made.map(({ label }) => label)).toEqual(labels);
  const [contact] = await get("/api/contact");
  expect(contact.fields).toEqual(made.map(({ _id, label }) => ({ _id, value: `its ${label}` })));
});

test("a seed that is no JSON object is 400, without a text nothing is seeded, and a name of several lists is 400", async () => {
  const { call, seed, createList } = await opened();
  const send = (raw: string) => call("POST", "/__sandbox/seed", undefined, { key: null, raw });
  for (const raw of ["[]", "null", "5", "{", "\ufffe"]) expect((await send(raw)).status, raw).toBe(400);
  expect((await send("")).status).toBe(200);
  for (const name of ["News", "News"]) await createList(name);
  expect(onlyError(await seed(seedOf({ lists: ["News"] })))).toMatchObject(invalidAt("contacts[0].lists[0]"));
});

test("a seed may be larger than the 1 MiB that a request to the service may hold", async () => {
  const { search, seed } = await opened();
  const contacts = Array.from({ length: 200 }, (_, number) => ({
    key: `person${number}@example.com`,
    fields: { "First Name": `Person ${number}`, Notes: "x".repeat(6000) },
    lists: ["Everyone"],
    tags: [number % 2 ? "odd" : "even"],
  }));
  expect((await seed({ contacts })).body).toEqual({ contacts: { created: 200, updated: 0 } });
  expect((await search()).body.totalRecords).toBe(200);
});
