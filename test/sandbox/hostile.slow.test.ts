/**
 * Hostile input: refused in the documented form, never a failure of the service, and nothing of it is kept.
 */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { expectAdminRefusals, expectRefusals } from "./hostile.ts";

test.each([
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ["an overlong form", Buffer.from([0x22, 0xc0, 0x80, 0x22])],
  ["10 MB", Buffer.alloc(10_000_000, 0x20)],
  ["a million brackets", Buffer.alloc(1_000_000, 0x5b)],
])("Behind a port, a body of %s is 400 ValidationError", async (_what, bytes) => {
  const { baseUrl, apiKey } = await startSandbox();
  for (const body of [bytes, new Blob([bytes]).stream()]) {
    const answer = await fetch(`${baseUrl}/api/contact`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body,
      duplex: "half",
    } as RequestInit);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ errors: [{ errorType: "ValidationError" }] });
  }
});

test.each([
  ["no HTTP at all", "what is this\r\n\r\n"],
  ["a broken host", "GET /api/contact HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n"],
  ["a broken path", "GET //[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["another scheme", "GET ftp://x/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
  ["a header that is too long", `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(100_000)}\r\n\r\n`],
])("Behind a port, %s is refused, and the service goes on", async (_what, text) => {
  const { baseUrl, apiKey } = await startSandbox();
  // A sender that is still sending when the connection closes may learn nothing but that.
  expect(await sendRaw(new URL(baseUrl), text)).toMatch(/^(HTTP\/1\.1 4\d\d |reset$)/);
  const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": apiKey } });
  expect(answer.status).toBe(200);
});

test.each([
  ["without Host", "GET /api/contact-structure HTTP/1.1\r\n\r\n"],
  [
    "with a broken chunk",
    "POST /api/contact HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
  ],
  ["with a head that is too large", `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(17_000)}\r\n\r\n`],
  ["with two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
  ["that is no HTTP", "what is this\r\n\r\n"],
  ["with an unknown expectation", "POST / HTTP/1.1\r\nHost: x\r\nExpect: more\r\nContent-Length: 0\r\n\r\n"],
  ["to connect elsewhere", "CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n"],
])("Behind a port, a request %s is 400 ValidationError in JSON", async (_what, text) => {
  const { baseUrl } = await startSandbox();
  const answer = await sendRaw(new URL(baseUrl), text);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/content-type: application\/json/i);
  const body = /\{.*\}/s.exec(answer)?.[0] ?? "";
  expect(JSON.parse(body)).toEqual({
    errors: [{ errorType: "ValidationError", message: expect.any(String) }],
  });
});

test("Behind a port, a caller who leaves in the middle of a body leaves nothing", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox();
  const body = JSON.stringify({ key: "a@b.co", contactStructureId: sandbox.structureId });
  const head = `POST /api/contact HTTP/1.1\r\nHost: x\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n`;
  await new Promise<void>((resolve) => {
    const { hostname, port } = new URL(baseUrl);
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head}Content-Length: ${body.length + 100}\r\n\r\n${body}`, () => socket.destroy());
    });
    socket.on("close", () => resolve());
  });
  const search = await fetch(`${baseUrl}/api/contact/search`, {
    method: "POST",
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: JSON.stringify({
      contactStructureId: sandbox.structureId,
      page: 1,
      pageSize: 10,
      source: ["key"],
      contactSpecification: { filters: [] },
    }),
  });
  expect(await search.json()).toEqual({ totalRecords: 0, contacts: [] });
});

function sendRaw({ hostname, port }: URL, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      answer += chunk;
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) =>
      code === "ECONNRESET" ? resolve("reset") : reject(),
    );
    socket.on("close", () => resolve(answer));
  });
}

test("5,000 hostile requests: each is answered or refused in the documented form, and refusals keep nothing", async () => {
  await expectRefusals(5000);
});

test("2,500 hostile requests to /__sandbox/: each is answered or refused in the documented form, and none is a failure", async () => {
  await expectAdminRefusals(2500);
});
