/** The whole way through both doors. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSandbox } from "../../src/sandbox/index.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

test("a contact that is created over HTTP is found, read and changed", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox();
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(baseUrl + path, {
      method,
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    return {
      status: response.status,
      body: JSON.parse(await response.text()),
      headers: response.headers,
    };
  };
  const [structure] = (await call("GET", "/api/contact-structure")).body;
  expect(structure._id).toBe(sandbox.structureId);
  const updated = await call("PUT", `/api/contact-structure/${structure._id}`, {
    label: structure.label,
    keyName: structure.keyName,
    fields: [...structure.fields, { label: "City", dataType: "text" }],
    tags: [{ label: "vip" }],
  });
  expect(updated.status).toBe(200);
  const list = (await call("POST", `/api/contact-structure/${structure._id}/lists`, { name: "News" })).body;
  const created = await call("POST", "/api/contact", {
    key: "Ada@Example.com",
    contactStructureId: structure._id,
    fields: [{ _id: updated.body.fields[2]._id, value: "London" }],
    lists: [{ _id: list._id }],
  });
  expect(created.status).toBe(200);
  expect(created.headers.get("x-ratelimit-remaining")).toBe("3596");
  const mutate = await call("PUT", `/api/contact/${created.body._id}/mutate`, {
    addTags: [{ _id: updated.body.tags[0]._id }],
    removeLists: [list._id],
    __v: 0,
  });
  expect(mutate.body).toMatchObject({
    tags: [updated.body.tags[0]].map(({ _id }) => ({ _id })),
    lists: [],
    __v: 1,
  });
  const search = await call("POST", "/api/contact/search", {
    contactStructureId: structure._id,
    source: ["key", "tags"],
    contactSpecification: {
      filters: [{ criterias: [{ columnToFilter: "KEY", operator: "EQ", values: ["ada@example.COM"] }] }],
    },
  });
  expect(search.body).toMatchObject({
    totalRecords: 1,
    contacts: [{ key: "Ada@Example.com", tags: mutate.body.tags }],
  });
  expect((await call("GET", "/api/contact/nothing")).body).toEqual({
    errors: [{ errorType: "RecordNotFound", message: "Contact not found" }],
  });
  expect((await call("GET", `/api/contact-structure/${structure._id}/lists`)).body).toMatchObject({
    total: 1,
    records: [{ name: "News", totalContacts: 0 }],
  });
});

test("what was written is there when the folder is opened again, with the same key", async () => {
  const folder = join(await temporaryFolder(), "sandbox");
  const first = await openSandbox({ folder });
  const send = (sandbox: typeof first, method: string, path: string, body?: unknown) =>
    sandbox.transport({
      method,
      url: `http://sandbox.invalid${path}`,
      headers: { "x-api-key": sandbox.ownKey(), "content-type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMilliseconds: 1000,
    });
  const created = await send(first, "POST", "/api/contact", {
    key: "a@b.co",
    contactStructureId: first.structureId,
  });
  expect(created.status).toBe(200);
  first.close();
  const second = await openSandbox({ folder });
  expect(second.ownKey()).toBe(first.ownKey());
  const read = await send(second, "GET", `/api/contact/${JSON.parse(created.text)._id}`);
  expect(JSON.parse(read.text)).toEqual(JSON.parse(created.text));
  second.close();
});
