/** Errors: the form of every error body, what is not JSON, and what is not there. */
import { expect, test } from "vitest";
import { notAccessible, onlyError, openAccount, requestsOf } from "./account.ts";

const unreachable = `GET /api/billing, GET /api/user, POST /api/admin/accounts, GET /, DELETE /api/contact,
  POST /api/contact-structure, PATCH /api/contact-structure, GET /api/contact/search/, GET /api/contact/search,
  PATCH /api/contact/search, PUT /api/contact/events, POST /api/contact/export, GET //api/contact-structure,
  GET /api/contact-structure/, GET /API/contact-structure, POST /api/contact/x/mutate, POST /api/email/campaign,
  GET /api/email/campaign/, DELETE /api/email/campaign/x, POST /api/email/domain/grey-label,
  OPTIONS /api/contact, TRACE /api/contact, BREW /api/contact`;

test("Errors: what no key reaches is 403 'This endpoint is not accessible via API key', and 401 without one", async () => {
  const { call } = await openAccount({ blockAfter: 1000 });
  for (const [request, method, path] of requestsOf(unreachable)) {
    const answer = await call(method, path);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(Object.keys(answer.body)).toEqual(["errors"]);
    expect(onlyError(answer), request).toEqual(notAccessible);
    expect(onlyError(await call(method, path, undefined, { key: "x" })).status, request).toBe(401);
  }
});

test("Errors: block, key, standing, month, hour, scope, form and contact are looked at in this order", async () => {
  const { call, clock, openAdmin, keyWith } = await openAccount({ hourlyLimit: 2, blockAfter: 2 });
  const admin = await openAdmin();
  const weak = await keyWith("reports:read");
  // Wrong in every way at once; each step fixes what was refused first.
  const path = "/api/contact/x/mutate";
  const wrong = async (key?: string) => onlyError(await call("PUT", path, undefined, { key, raw: "{" }));
  const statuses = async (key: string) =>
    [await wrong(key), await wrong(key), await wrong(key)].map(({ status }) => status);
  admin.account({ status: "suspended", monthlyLimit: 2 });
  expect(await statuses("x")).toEqual([401, 401, 429]);
  clock.pass(60);
  expect(await statuses(weak)).toEqual([403, 403, 403]);
  admin.account({ status: "open" });
  expect((await wrong(weak)).message).toBe("Monthly API quota exceeded.");
  admin.account({ monthlyLimit: 100 });
  expect((await wrong(weak)).message).toBe("Rate limit exceeded. Retry after 3600 seconds.");
  clock.pass(3600);
  expect((await wrong(weak)).message).toBe("API key missing required scope: contacts:write");
  expect((await wrong()).message).toBe("The body is not JSON");
  clock.pass(3600);
  expect(onlyError(await call("PUT", path, { addTags: ["x"] })).status).toBe(404);
});

test.each<[message: string, bodies: string[]]>([
  ["The body is not JSON", ["", '{"key":', "{}{}", "\ufeff{}", "NaN", "/**/{}"]],
  ["The body must be an object", ["null", "[]", "1", '"text"', "true"]],
])("Errors: 400 ValidationError '%s': %j", async (message, bodies) => {
  const { call } = await openAccount();
  for (const raw of bodies) {
    const refusal = onlyError(await call("POST", "/api/contact", undefined, { raw }));
    expect(refusal).toEqual({ status: 400, errorType: "ValidationError", message });
  }
});

test("Errors: a content type that is not JSON in UTF-8 is 400 ValidationError", async () => {
  const { call } = await openAccount();
  const types = ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1"];
  for (const type of [...types, "application/jsonp"]) {
    const answer = await call("POST", "/api/contact", {}, { headers: { "content-type": type } });
    expect(onlyError(answer), type).toMatchObject({ status: 400, errorType: "ValidationError" });
  }
});

test("Errors: a body of more than 1 MiB is 400 ValidationError, and one of 1 MiB is read", async () => {
  const { call, structureId, definition } = await openAccount();
  const { _id } = (await definition()).fields[0]!;
  const send = (bytes: number) => {
    const fields = [{ _id, value: "" }];
    const text = JSON.stringify({ key: "a@b.co", contactStructureId: structureId, fields });
    const raw = text.replace('""', `"${"x".repeat(bytes - text.length)}"`);
    return call("POST", "/api/contact", undefined, { raw });
  };
  const message = "The body must not be larger than 1 MiB";
  const tooLarge = { status: 400, errorType: "ValidationError", message };
  expect(onlyError(await send(2 ** 20 + 1))).toEqual(tooLarge);
  expect((await send(2 ** 20)).status).toBe(200);
});
