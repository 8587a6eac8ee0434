/** Requests over HTTP as bytes: what arrives of them, what is refused, and that the service goes on. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { callPort, exchange } from "./account.ts";

test("an answer's Date is of the service's clock, as the end of the hour is that it tells", async () => {
  const service = await startSandbox();
  service.sandbox.admin.clock({ time: "2030-06-01T12:00:00Z" });
  const { headers } = await callPort(service, "GET", "/api/contact-structure");
  const hour = Number(headers.get("x-ratelimit-reset")) - Date.parse(headers.get("date")!) / 1000;
  expect(Math.round(hour / 10) * 10).toBe(3600);
});

/** A service, and what is sent to it as bytes. */
async function startConnections() {
  const service = await startSandbox();
  const headers = `Host: localhost\r\nX-API-Key: ${service.apiKey}\r\nContent-Type: application/json\r\n`;
  const next = `GET /api/contact-structure HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
  /** The statuses of a request, and of another on the same connection. */
  const statuses = async (first: string) =>
    [...(await exchange(service.baseUrl, first + next)).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) =>
      Number(status),
    );
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
  return { ...service, statuses, headers, post };
}

test("whatever the request line, it is answered, and the connection serves the next", async () => {
  const { baseUrl, statuses, headers } = await startConnections();
  const rows: [line: string, status: number][] = [
    ["GET /api/contact-structure", 200],
    ["HEAD /api/contact-structure", 200],
    ["GET http://localhost/api/contact-structure", 200],
    ["GET /api/x/../contact-structure", 200],
    ["GET /api/contact-structure#top", 200],
    ["GET /%61pi/contact-structure", 200],
    ["GET //api/contact-structure", 403],
    ["GET /api/contact/a%2Fb", 404],
    ["GET /api/contact/%00", 404],
    ["GET /api/contact/%zz", 404],
    ["GET /api/contact/search?%zz=%zz", 403],
    ["GET /%5F%5Fsandbox/health", 403],
    ["GET /api\\contact-structure", 400],
    ["OPTIONS *", 400],
  ];
  for (const [line, status] of rows) {
    expect(await statuses(`${line} HTTP/1.1\r\n${headers}\r\n`), line).toEqual([status, 200]);
  }
  const head = `HEAD /api/contact-structure HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
  expect(await exchange(baseUrl, head)).toMatch(/content-length: \d+\r\n/i);
});

test("what is no request is refused, and the service goes on", async () => {
  const service = await startSandbox();
  for (const sent of [
    "what is this\r\n\r\n",
    "GET /api/contact HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
    "GET /api/contact-structure HTTP/1.1\r\n\r\n",
    "POST /api/contact HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    "GET //[ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET ftp://x/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    `GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(100_000)}\r\n\r\n`,
  ]) {
    // A sender that is still sending when the connection closes may learn nothing but that.
    expect(await exchange(service.baseUrl, sent)).toMatch(/^(HTTP\/1\.1 4\d\d |reset$)/);
    expect((await callPort(service, "GET", "/api/contact-structure")).status).toBe(200);
  }
});

test("a body that nobody reads, is too large or not JSON is 400, and does not disturb the connection", async () => {
  const { baseUrl, apiKey, statuses, post, headers } = await startConnections();
  expect(await statuses(post("/api/nothing", "x".repeat(100_000)))).toEqual([403, 200]);
  expect(await statuses(post("/api/contact", `{"key":"${"x".repeat(2 ** 20)}"}`))).toEqual([400, 200]);
  const chunked = `POST /api/contact HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
  expect(await statuses(chunked)).toEqual([400, 200]);
  const bodies = {
    "no UTF-8": Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
    "an overlong form": Buffer.from([0x22, 0xc0, 0x80, 0x22]),
    "2 MB": Buffer.alloc(2_000_000, 0x20),
    "a million brackets": Buffer.alloc(1_000_000, 0x5b),
  };
  for (const [name, bytes] of Object.entries(bodies)) {
    for (const body of [bytes, new Blob([bytes]).stream()]) {
      const sent = { "x-api-key": apiKey, "content-type": "application/json" };
      const options: RequestInit = { method: "POST", headers: sent, body, duplex: "half" };
      const answer = await fetch(`${baseUrl}/api/contact`, options);
      expect(answer.status, name).toBe(400);
      expect(await answer.json()).toMatchObject({ errors: [{ errorType: "ValidationError" }] });
    }
  }
});

test("a caller who leaves in the middle of a body leaves nothing but a line in the log", async () => {
  const { sandbox, headers, ...service } = await startConnections();
  const body = JSON.stringify({ key: "a@b.co", contactStructureId: sandbox.structureId });
  const head = `POST /api/contact HTTP/1.1\r\n${headers}Content-Length: ${body.length + 100}\r\n\r\n`;
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname, () => socket.write(head + body, () => socket.destroy()));
  await expect
    .poll(() => sandbox.admin.requests({ limit: 1 }))
    .toMatchObject([{ path: "/api/contact", body: null, status: 400 }]);
  expect((await callPort(service, "GET", "/api/contact")).body).toEqual([]);
});
