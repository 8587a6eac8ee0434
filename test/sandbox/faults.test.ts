/** Simulated faults, through both transports. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { planFaults } from "../../src/sandbox/faults.ts";
import { startSandbox } from "../support/sandbox.ts";
import { onlyError, openAccount } from "./account.ts";

const struck = (spec: string, requests: [method: string, path: string][]) => {
  const pickFault = planFaults([spec]);
  return requests.map(([method, path]) => pickFault(method, path)?.kind);
};
const many = (count: number): [string, string][] => Array.from({ length: count }, () => ["GET", "/x"]);

test("A fault strikes the n-th, or the first n, of the requests of its method and path", () => {
  expect(
    struck("500:GET:/x:n=2", [
      ["GET", "/x"],
      ["POST", "/x"],
      ["GET", "/y"],
      ["GET", "/x"],
      ["GET", "/x"],
    ]),
  ).toEqual([undefined, undefined, undefined, "500", undefined]);
  expect(struck("503:first=2", many(3))).toEqual(["503", "503", undefined]);
  expect(struck("429", many(2))).toEqual(["429", "429"]);
});

test("A fault's path may hold *, and nothing else in it is special", () => {
  const paths: [string, string][] = [
    ["PUT", "/api/contact/1/mutate"],
    ["PUT", "/api/contact/1"],
    ["PUT", "/apiXcontact/1/mutate"],
  ];
  expect(struck("500:*:/api/contact/*/mutate", paths)).toEqual(["500", undefined, undefined]);
  expect(struck("500:*:/api.contact/*", paths)).toEqual([undefined, undefined, undefined]);
});

test("A fault of a probability strikes the same requests whenever it has the same seed", () => {
  const first = struck("500:p=0.3:seed=7", many(1000));
  expect(struck("500:p=0.3:seed=7", many(1000))).toEqual(first);
  expect(struck("500:p=0.3:seed=8", many(1000))).not.toEqual(first);
  const hits = first.filter(Boolean).length;
  expect(hits).toBeGreaterThan(230);
  expect(hits).toBeLessThan(370);
  expect(struck("500:p=0", many(100)).filter(Boolean)).toEqual([]);
  expect(struck("500:p=1", many(100)).filter(Boolean)).toHaveLength(100);
});

test.each([
  "",
  "bogus",
  "500:get",
  "500:GET:api",
  "500:GET:/x:y",
  "500:n=0",
  "500:n=1.5",
  "500:n=1:first=2",
  "500:p=2",
  "500:p=x",
  "500:seed=1",
  "500:n=1:n=1",
  "500:speed=1",
  "500:constructor=1",
  "delay:seconds=-1",
  "delay:seconds=99999999",
])("The fault %j is refused by a message that names --fault", (spec) => {
  expect(() => planFaults([spec])).toThrow(expect.objectContaining({ kind: "usage" }));
  expect(() => planFaults([spec])).toThrow(/^--fault /);
});

test("In this process: reset-before does nothing, reset-after does it, and both drop the connection", async () => {
  const { call, create, search } = await openAccount({
    faults: ["reset-before:POST:/api/contact:n=1", "reset-after:POST:/api/contact:n=2"],
  });
  await expect(create("first@b.co")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await search([])).body.totalRecords).toBe(0);
  await expect(create("second@b.co")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await search([], { source: ["key"] })).body.contacts).toMatchObject([{ key: "second@b.co" }]);
  expect((await call("POST", "/api/contact", {})).status).toBe(400);
});

test("In this process: 500, 503 and 429 are answered without being applied, delay waits, truncate breaks off", async () => {
  const account = await openAccount({
    faults: [
      "500:POST:/api/contact:n=1",
      "503:POST:/api/contact:n=2",
      "429:POST:/api/contact:n=3:seconds=9",
      "delay:POST:/api/contact:n=4:seconds=3",
      "truncate:GET:*:first=1",
    ],
  });
  const create = () =>
    account.call("POST", "/api/contact", { key: "a@b.co", contactStructureId: account.structureId });
  expect((await create()).status).toBe(500);
  expect((await create()).status).toBe(503);
  const busy = await create();
  expect(onlyError(busy)).toMatchObject({
    status: 429,
    message: "Rate limit exceeded. Retry after 9 seconds.",
  });
  expect(busy.headers["retry-after"]).toBe("9");
  const before = account.clock.now();
  expect((await create()).status).toBe(200);
  expect(account.clock.now() - before).toBe(3000);
  await expect(account.call("GET", "/api/contact-structure")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect((await account.call("GET", "/api/contact-structure")).status).toBe(200);
});

test("In this process: a delay that is longer than the caller waits is a time-out, and the write is done all the same", async () => {
  let wake = () => {};
  const clock = {
    now: () => Date.UTC(2026, 5, 15),
    sleep: () => new Promise<void>((resolve) => (wake = resolve)),
  };
  const { sandbox, structureId, search } = await openAccount({ faults: ["delay:POST:/api/contact"], clock });
  const answer = sandbox.transport({
    method: "POST",
    url: "http://sandbox.invalid/api/contact",
    headers: { "x-api-key": sandbox.ownKey(), "content-type": "application/json" },
    body: JSON.stringify({ key: "a@b.co", contactStructureId: structureId }),
    timeoutMilliseconds: 5,
  });
  await expect(answer).rejects.toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
  wake();
  await expect.poll(async () => (await search([])).body.totalRecords).toBe(1);
});

test("Behind a port: a 429 on purpose has the headers of a used-up hour, in whole seconds", async () => {
  const { baseUrl, apiKey } = await startSandbox({ faults: ["429:seconds=0.5"] });
  const before = Math.floor(Date.now() / 1000);
  const { status, headers } = await fetch(`${baseUrl}/api/contact-structure`, {
    headers: { "x-api-key": apiKey },
  });
  expect([status, headers.get("retry-after")]).toEqual([429, "1"]);
  // As the service's own: of the hour, and nothing of the month.
  expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["3600", "0"]);
  expect(Number(headers.get("x-ratelimit-reset"))).toBeGreaterThan(before);
  expect(headers.get("x-monthly-limit")).toBeNull();
});

test("Behind a port: the socket is really reset, before or after the write", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox({
    faults: ["reset-before:POST:/api/contact:n=1", "reset-after:POST:/api/contact:n=2"],
  });
  const create = (key: string) =>
    exchange(
      `${baseUrl}/api/contact`,
      apiKey,
      JSON.stringify({ key, contactStructureId: sandbox.structureId }),
    );
  await expect(create("first@b.co")).rejects.toMatchObject({ code: "ECONNRESET" });
  await expect(create("second@b.co")).rejects.toMatchObject({ code: "ECONNRESET" });
  const search = JSON.stringify({
    contactStructureId: sandbox.structureId,
    page: 1,
    pageSize: 10,
    source: ["key"],
    contactSpecification: { filters: [] },
  });
  const found = await exchange(`${baseUrl}/api/contact/search`, apiKey, search);
  expect(JSON.parse(found.text).contacts).toMatchObject([{ key: "second@b.co" }]);
});

test("Behind a port: a truncated answer promises more than it brings", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox({ faults: ["truncate:POST:/api/contact"] });
  const body = JSON.stringify({ key: "a@b.co", contactStructureId: sandbox.structureId });
  const answer = await exchange(`${baseUrl}/api/contact`, apiKey, body);
  expect(answer).toMatchObject({ status: 200, isComplete: false });
  expect(answer.text.length).toBe(answer.promisedBytes >> 1);
});

interface Exchanged {
  status: number;
  text: string;
  promisedBytes: number;
  isComplete: boolean;
}

function exchange(url: string, apiKey: string, body: string): Promise<Exchanged> {
  return new Promise((resolve, reject) => {
    const headers = {
      "x-api-key": apiKey,
      "content-type": "application/json",
      "content-length": body.length,
    };
    const sent = request(url, { method: "POST", headers, agent: false }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk;
      });
      answer.on("error", () => {});
      answer.on("close", () =>
        resolve({
          status: answer.statusCode ?? 0,
          text,
          promisedBytes: Number(answer.headers["content-length"]),
          isComplete: answer.complete,
        }),
      );
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
