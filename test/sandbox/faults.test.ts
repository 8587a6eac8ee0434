/** Simulated faults, through both transports. */
import { expect, test } from "vitest";
import { planFaults } from "../../src/sandbox/faults.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { callPort, exchange, onlyError, openAccount } from "./account.ts";

const struck = (spec: string, requests: string[]) => {
  const pickFault = planFaults([spec]);
  return requests.map((each) => pickFault(...(each.split(" ") as [string, string]))?.kind);
};
const many = (count: number) => Array.from({ length: count }, () => "GET /x");

test("A fault strikes the n-th, or the first n, of the requests of its method and path", () => {
  const some = ["GET /x", "POST /x", "GET /y", "GET /x", "GET /x"];
  expect(struck("500:GET:/x:n=2", some)).toEqual([undefined, undefined, undefined, "500", undefined]);
  expect(struck("503:first=2", many(3))).toEqual(["503", "503", undefined]);
  expect(struck("429", many(2))).toEqual(["429", "429"]);
});

test("A fault's path may hold *, and nothing else in it is special", () => {
  const paths = ["PUT /api/contact/1/mutate", "PUT /api/contact/1", "PUT /apiXcontact/1/mutate"];
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
  ...["", "bogus", "500:get", "500:GET:api", "500:GET:/x:y", "500:n=0", "500:n=1.5", "500:n=1:first=2"],
  ...["500:p=2", "500:p=x", "500:seed=1", "500:n=1:n=1", "500:speed=1", "500:constructor=1"],
  ...["delay:seconds=-1", "delay:seconds=99999999"],
])("The fault %j is refused by a message that names --fault", (spec) => {
  expect(() => planFaults([spec])).toThrow(expect.objectContaining({ kind: "usage" }));
  expect(() => planFaults([spec])).toThrow(/^--fault /);
});

const resets = ["reset-before:POST:/api/contact:n=1", "reset-after:POST:/api/contact:n=2"];
const reset = { code: "ECONNRESET" };

test("In this process: reset-before does nothing, reset-after does it, and both drop the connection", async () => {
  const { call, create, keys } = await openAccount({ faults: resets });
  await expect(create("first@b.co")).rejects.toMatchObject(reset);
  expect(await keys()).toEqual([]);
  await expect(create("second@b.co")).rejects.toMatchObject(reset);
  expect(await keys()).toEqual(["second@b.co"]);
  expect((await call("POST", "/api/contact", {})).status).toBe(400);
});

test("In this process: 500, 503 and 429 are answered without being applied, delay waits, truncate breaks off", async () => {
  const { call, read, clock, structureId } = await openAccount({
    faults: [
      "500:POST:/api/contact:n=1",
      "503:POST:/api/contact:n=2",
      "429:POST:/api/contact:n=3:seconds=9",
      "delay:POST:/api/contact:n=4:seconds=3",
      "truncate:GET:*:first=1",
    ],
  });
  const create = () => call("POST", "/api/contact", { key: "a@b.co", contactStructureId: structureId });
  expect((await create()).status).toBe(500);
  expect((await create()).status).toBe(503);
  const busy = await create();
  const message = "Rate limit exceeded. Retry after 9 seconds.";
  expect(onlyError(busy)).toMatchObject({ status: 429, message });
  expect(busy.headers["retry-after"]).toBe("9");
  const before = clock.now();
  expect((await create()).status).toBe(200);
  expect(clock.now() - before).toBe(3000);
  await expect(read()).rejects.toMatchObject(reset);
  expect((await read()).status).toBe(200);
});

test("In this process: a delay that is longer than the caller waits is a time-out, and the write is done all the same", async () => {
  let wake = () => {};
  const now = () => Date.UTC(2026, 5, 15);
  const clock = { now, sleep: () => new Promise<void>((resolve) => (wake = resolve)) };
  const { sandbox, structureId, keys } = await openAccount({ faults: ["delay:POST:/api/contact"], clock });
  const answer = sandbox.transport({
    method: "POST",
    url: "http://sandbox.invalid/api/contact",
    headers: { "x-api-key": sandbox.ownKey(), "content-type": "application/json" },
    body: JSON.stringify({ key: "a@b.co", contactStructureId: structureId }),
    timeoutMilliseconds: 5,
  });
  await expect(answer).rejects.toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
  wake();
  await expect.poll(() => keys()).toEqual(["a@b.co"]);
});

test("Behind a port: a 429 on purpose has the headers of a used-up hour, in whole seconds", async () => {
  const before = Math.floor(Date.now() / 1000);
  const service = await startSandbox({ faults: ["429:seconds=0.5"] });
  const { status, headers } = await callPort(service, "GET", "/api/contact-structure");
  expect([status, headers.get("retry-after")]).toEqual([429, "1"]);
  // As the service's own: of the hour, and nothing of the month.
  expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["3600", "0"]);
  expect(Number(headers.get("x-ratelimit-reset"))).toBeGreaterThan(before);
  expect(headers.get("x-monthly-limit")).toBeNull();
});

test("Behind a port: the socket is really reset, before or after the write", async () => {
  const service = await startSandbox({ faults: resets });
  for (const key of ["first@b.co", "second@b.co"]) expect(await create(service, key)).toBe("reset");
  expect((await callPort(service, "GET", "/api/contact")).body).toMatchObject([{ key: "second@b.co" }]);
});

test("Behind a port: a truncated answer promises more than it brings", async () => {
  const answered = await create(await startSandbox({ faults: ["truncate:POST:/api/contact"] }), "a@b.co");
  const [head, text] = answered.split("\r\n\r\n");
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(text!.length).toBe(Number(/^content-length: (\d+)/im.exec(head!)![1]) >> 1);
});

/** Creates a contact; `fetch` would not tell what arrived of an answer. */
function create({ baseUrl, apiKey, sandbox }: RunningSandbox, key: string): Promise<string> {
  const body = JSON.stringify({ key, contactStructureId: sandbox.structureId });
  const type = `X-API-Key: ${apiKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return exchange(baseUrl, `POST /api/contact HTTP/1.1\r\nHost: localhost\r\n${type}\r\n\r\n${body}`);
}
