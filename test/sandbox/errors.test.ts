/** Errors: the form of every error body, what is not JSON, and what is not there. */
import { expect, test } from "vitest";
import { onlyError, openAccount } from "./account.ts";

const notAccessible = {
  status: 403,
  errorType: "ForbiddenError",
  message: "This endpoint is not accessible via API key",
};

test.each([
  ["GET", "/api/billing"],
  ["GET", "/api/user"],
  ["POST", "/api/admin/accounts"],
  ["GET", "/"],
  ["DELETE", "/api/contact"],
  ["DELETE", "/api/contact"],
  ["POST", "/api/contact-structure"],
  ["PATCH", "/api/contact-structure"],
  ["GET", "/api/contact/search/"],
  ["GET", "/api/contact/search"],
  ["PATCH", "/api/contact/search"],
  ["PUT", "/api/contact/events"],
  ["POST", "/api/contact/export"],
  ["GET", "//api/contact-structure"],
  ["GET", "/api/contact-structure/"],
  ["GET", "/API/contact-structure"],
  ["POST", "/api/contact/x/mutate"],
  ["POST", "/api/email/campaign"],
  ["GET", "/api/email/campaign/"],
  ["DELETE", "/api/email/campaign/x"],
  ["POST", "/api/email/domain/grey-label"],
  ["OPTIONS", "/api/contact"],
  ["TRACE", "/api/contact"],
  ["BREW", "/api/contact"],
])("Errors: %s %s is 403 'This endpoint is not accessible via API key'", async (method, path) => {
  const { call } = await openAccount();
  expect(onlyError(await call(method, path))).toEqual(notAccessible);
});

test("Errors: an unknown path without a valid key is 401", async () => {
  const { call } = await openAccount();
  expect(onlyError(await call("GET", "/api/billing", undefined, { key: "x" })).status).toBe(401);
});

test("Errors: block, key, standing, month, hour, scope, form and contact are looked at in this order", async () => {
  const { call, clock, openAdmin, keyWith } = await openAccount({ hourlyLimit: 2, blockAfter: 2 });
  const admin = await openAdmin();
  const weak = await keyWith("reports:read");
  // Wrong in every way at once; each step fixes what was refused first.
  const wrong = (key?: string, path = "/api/contact/x/mutate") =>
    call("PUT", path, undefined, { key, raw: "{" }).then(onlyError);
  admin.account({ status: "suspended", monthlyLimit: 2 });
  expect([await wrong("x"), await wrong("x"), await wrong("x")].map(({ status }) => status)).toEqual([
    401, 401, 429,
  ]);
  clock.pass(60);
  expect([await wrong(weak), await wrong(weak), await wrong(weak)].map(({ status }) => status)).toEqual([
    403, 403, 403,
  ]);
  admin.account({ status: "open" });
  expect((await wrong(weak)).message).toBe("Monthly API quota exceeded.");
  admin.account({ monthlyLimit: 100 });
  expect((await wrong(weak)).message).toBe("Rate limit exceeded. Retry after 3600 seconds.");
  clock.pass(3600);
  expect((await wrong(weak)).message).toBe("API key missing required scope: contacts:write");
  expect((await wrong()).message).toBe("The body is not JSON");
  clock.pass(3600);
  expect(onlyError(await call("PUT", "/api/contact/x/mutate", { addTags: ["x"] })).status).toBe(404);
});

test("Errors: every error body is JSON of the documented form", async () => {
  const { call } = await openAccount();
  for (const answer of [
    await call("GET", "/api/contact/x"),
    await call("GET", "/api/contact/x", undefined, { key: null }),
    await call("GET", "/nowhere"),
    await call("POST", "/api/contact", {}),
  ]) {
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(Object.keys(answer.body)).toEqual(["errors"]);
    expect(onlyError(answer)).toMatchObject({ errorType: expect.any(String), message: expect.any(String) });
  }
});

test.each([
  ["nothing", ""],
  ["half an object", '{"key":'],
  ["two values", "{}{}"],
  ["a byte order mark", "\ufeff{}"],
  ["NaN", "NaN"],
  ["a comment", "/**/{}"],
])("Errors: a body that is not JSON (%s) is 400 ValidationError", async (_what, raw) => {
  const { call } = await openAccount();
  expect(onlyError(await call("POST", "/api/contact", undefined, { raw }))).toEqual({
    status: 400,
    errorType: "ValidationError",
    message: "The body is not JSON",
  });
});

test.each(["null", "[]", "1", '"text"', "true"])(
  "Errors: the body %s is 400 ValidationError",
  async (raw) => {
    const { call } = await openAccount();
    expect(onlyError(await call("POST", "/api/contact", undefined, { raw }))).toEqual({
      status: 400,
      errorType: "ValidationError",
      message: "The body must be an object",
    });
  },
);

test.each([
  "text/plain",
  "application/x-www-form-urlencoded",
  "application/json; charset=latin1",
  "application/jsonp",
])("Errors: the content type %s is 400 ValidationError", async (type) => {
  const { call } = await openAccount();
  const answer = await call("POST", "/api/contact", {}, { headers: { "content-type": type } });
  expect(onlyError(answer)).toMatchObject({ status: 400, errorType: "ValidationError" });
});

test("Errors: a body of more than 1 MiB is 400 ValidationError, and one of 1 MiB is read", async () => {
  const { call, structureId, definition } = await openAccount();
  const { fields } = await definition();
  const body = (bytes: number) => {
    const padding = [{ _id: fields[0]!._id, value: "" }];
    const text = JSON.stringify({ key: "a@b.co", contactStructureId: structureId, fields: padding });
    return text.replace('""', `"${"x".repeat(bytes - text.length)}"`);
  };
  const over = await call("POST", "/api/contact", undefined, { raw: body(2 ** 20 + 1) });
  expect(onlyError(over)).toEqual({
    status: 400,
    errorType: "ValidationError",
    message: "The body must not be larger than 1 MiB",
  });
  expect((await call("POST", "/api/contact", undefined, { raw: body(2 ** 20) })).status).toBe(200);
});
