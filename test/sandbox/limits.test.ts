/** Limits: the hour, the month, the block of addresses, and the headers that tell of them. */
import { expect, test } from "vitest";
import { onlyError, openAccount, type Reply, tooMany } from "./account.ts";

const limitHeaders = ({ headers }: Reply) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(x-|retry)/.test(name)));
// The clock of these tests stands at noon of 15 June 2026.
const noon = Date.UTC(2026, 5, 15, 12) / 1000;
const endOfMonth = Date.UTC(2026, 6, 1) / 1000;

test("Limits: by default, 3,600 requests an hour and 100,000 a month", async () => {
  const { read } = await openAccount({ hourlyLimit: undefined, monthlyLimit: undefined });
  expect(limitHeaders(await read())).toEqual({
    "x-ratelimit-limit": "3600",
    "x-ratelimit-remaining": "3599",
    "x-ratelimit-reset": String(noon + 3600),
    "x-monthly-limit": "100000",
    "x-monthly-remaining": "99999",
  });
});

test("Limits: the hour is a fixed window that all keys share; a 429 carries its headers with remaining 0", async () => {
  const { read, clock, keyWith } = await openAccount({ hourlyLimit: 3 });
  const key = await keyWith("contacts:read");
  expect((await read()).headers["x-ratelimit-remaining"]).toBe("2");
  clock.pass(600);
  expect((await read(key)).headers["x-ratelimit-remaining"]).toBe("1");
  expect((await read()).headers["x-ratelimit-remaining"]).toBe("0");
  clock.pass(60);
  for (let again = 0; again < 2; again++) {
    const answer = await read();
    expect(onlyError(answer)).toEqual(tooMany("Rate limit exceeded. Retry after 2940 seconds."));
    expect(limitHeaders(answer)).toEqual({
      "retry-after": "2940",
      "x-ratelimit-limit": "3",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(noon + 3600),
    });
  }
  clock.pass(2939);
  expect((await read()).headers["retry-after"]).toBe("1");
  clock.pass(1);
  const anew = { "x-ratelimit-remaining": "2", "x-ratelimit-reset": String(noon + 7200) };
  expect(limitHeaders(await read())).toMatchObject(anew);
});

test("Limits: a window of another length, and one that was begun under a longer one", async () => {
  const account = await openAccount({ hourlyLimit: 1 });
  await account.read();
  const shorter = await openAccount({ folder: account.folder, hourlyLimit: 1, windowSeconds: 5 });
  expect((await shorter.read()).headers["x-ratelimit-reset"]).toBe(String(noon + 5));
  expect((await shorter.read()).headers["retry-after"]).toBe("5");
});

test("Limits: the month ends with the calendar month, UTC, and its 429 has its own message", async () => {
  const { read, clock } = await openAccount({ monthlyLimit: 2, hourlyLimit: 2 });
  await read();
  expect(limitHeaders(await read())).toMatchObject({ "x-monthly-limit": "2", "x-monthly-remaining": "0" });
  // Both are used up: the month speaks.
  const answer = await read();
  expect(onlyError(answer)).toEqual(tooMany("Monthly API quota exceeded."));
  expect(limitHeaders(answer)).toEqual({ "retry-after": String(endOfMonth - noon) });
  clock.pass(endOfMonth - noon);
  expect((await read()).headers["x-monthly-remaining"]).toBe("1");
});

test("Limits: the monthly limit is the one that was set last, for all processes, also after a reset", async () => {
  const { read, folder, openAdmin } = await openAccount({ monthlyLimit: 100 });
  const limit = async () => (await read()).headers["x-monthly-limit"];
  expect(await limit()).toBe("100");
  const owner = await openAdmin();
  owner.account({ monthlyLimit: 1 });
  expect(onlyError(await read()).message).toBe("Monthly API quota exceeded.");
  owner.limits({ monthly: 50 });
  expect((await read()).headers["x-monthly-remaining"]).toBe("48");
  owner.reset();
  expect(await limit()).toBe("50");
  await openAccount({ folder, monthlyLimit: 70 });
  expect(await limit()).toBe("70");
});

test("Limits: every authenticated request counts that is not a 429, whatever its answer", async () => {
  const { call, read, search, keyWith, openAdmin } = await openAccount();
  const weak = await keyWith("reports:read");
  let left = 1_000_000;
  const expectCounted = async (answer: Promise<Reply>) =>
    expect((await answer).headers["x-ratelimit-remaining"]).toBe(String(--left));
  await expectCounted(read());
  await expectCounted(call("GET", "/api/contact/unknown"));
  await expectCounted(call("POST", "/api/contact", { key: 1 }));
  await expectCounted(call("POST", "/api/contact", undefined, { raw: "{" }));
  await expectCounted(read(weak));
  await expectCounted(call("GET", "/api/billing"));
  await expectCounted(search([]));
  (await openAdmin()).account({ status: "suspended" });
  await expectCounted(read());
  expect(limitHeaders(await read("wrong"))).toEqual({});
  (await openAdmin()).account({ status: "open" });
  await expectCounted(read());
});

test("Limits: too many failed authentications block the address, valid keys too, until the block ends", async () => {
  const { read, clock } = await openAccount();
  const fail = () => read("wrong");
  for (let count = 0; count < 20; count++) expect((await fail()).status).toBe(401);
  clock.pass(12);
  const answer = await read();
  const blocked = "Too many failed authentication attempts. Please try again later.";
  expect(onlyError(answer)).toEqual(tooMany(blocked));
  expect(limitHeaders(answer)).toEqual({ "retry-after": "48" });
  expect((await fail()).status).toBe(429);
  clock.pass(48);
  expect((await read()).status).toBe(200);
  expect((await fail()).status).toBe(401);
});

test("Limits: failures are counted within 60 seconds, and numbers of one's own take the place of 20 and 60", async () => {
  const { read, clock } = await openAccount({ blockAfter: 3, blockSeconds: 10 });
  const fail = async () => (await read("wrong")).status;
  expect([await fail(), await fail()]).toEqual([401, 401]);
  clock.pass(10);
  expect([await fail(), await fail()]).toEqual([401, 401]);
  expect((await read()).status).toBe(200);
  expect([await fail(), await fail()]).toEqual([401, 429]);
  clock.pass(10);
  expect(await fail()).toBe(401);
});

test("Limits: whichever 60 seconds hold 20 failures, wherever they begin", async () => {
  const { read, clock } = await openAccount({ blockAfter: 4 });
  const fail = async () => (await read("wrong")).status;
  expect(await fail()).toBe(401);
  clock.pass(55);
  expect([await fail(), await fail()]).toEqual([401, 401]);
  clock.pass(10);
  expect([await fail(), await fail(), await fail()]).toEqual([401, 401, 429]);
});
