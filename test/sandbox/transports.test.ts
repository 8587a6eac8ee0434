/** Requests through both transports, end to end. */
import { connect } from "node:net";
import { expect, test } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { callPort, openAccount } from "./account.ts";

test("an answer's Date is of the service's clock, as the end of the hour is that it tells", async () => {
  const service = await startSandbox();
  service.sandbox.admin.clock({ time: "2030-06-01T12:00:00Z" });
  const { headers } = await callPort(service, "GET", "/api/contact-structure");
  const hour = Number(headers.get("x-ratelimit-reset")) - Date.parse(headers.get("date")!) / 1000;
  expect(Math.round(hour / 10) * 10).toBe(3600);
});

test("what was written is there when the folder is opened again, with the same key", async () => {
  const first = await openAccount();
  const created = await first.create("a@b.co");
  first.sandbox.close();
  const second = await openAccount({ folder: first.folder });
  expect(second.sandbox.ownKey()).toBe(first.sandbox.ownKey());
  expect(await second.get(`/api/contact/${created._id}`)).toEqual(created);
});

/** Sends bytes as they are, and gives back all that is answered until the connection is closed. */
function exchange(baseUrl: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(sent));
    let answered = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      answered += text;
    });
    socket.on("error", reject).on("close", () => resolve(answered));
  });
}

const answeredStatuses = (answered: string) =>
  [...answered.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

test.each([
  ["GET /api/contact-structure HTTP/1.1", 200],
  ["HEAD /api/contact-structure HTTP/1.1", 200],
  ["GET http://localhost/api/contact-structure HTTP/1.1", 200],
  ["GET /api/x/../contact-structure HTTP/1.1", 200],
  ["GET /api/contact-structure#top HTTP/1.1", 200],
  ["GET /%61pi/contact-structure HTTP/1.1", 200],
  ["GET //api/contact-structure HTTP/1.1", 403],
  ["GET /api/contact/a%2Fb HTTP/1.1", 404],
  ["GET /api/contact/%00 HTTP/1.1", 404],
  ["GET /api/contact/%zz HTTP/1.1", 404],
  ["GET /api/contact/search?%zz=%zz HTTP/1.1", 403],
  ["GET /%5F%5Fsandbox/health HTTP/1.1", 403],
  ["GET /api\\contact-structure HTTP/1.1", 400],
  ["OPTIONS * HTTP/1.1", 400],
])("the request line %j is answered with %i, and the connection serves the next", async (line, status) => {
  const { baseUrl, apiKey } = await startSandbox();
  const headers = `Host: localhost\r\nX-API-Key: ${apiKey}\r\n`;
  const answered = await exchange(
    baseUrl,
    `${line}\r\n${headers}\r\nGET /openapi.json HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`,
  );
  expect(answeredStatuses(answered)).toEqual([status, 200]);
  if (line.startsWith("HEAD")) expect(answered).toMatch(/content-length: \d+\r\n/i);
});

test("a body that nobody reads does not disturb the connection, one that ends too early is refused, and one too large", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox();
  const headers = `Host: localhost\r\nX-API-Key: ${apiKey}\r\nContent-Type: application/json\r\n`;
  const next = `GET /api/contact-structure HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;
  const post = (path: string, body: string) =>
    `POST ${path} HTTP/1.1\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
  const large = JSON.stringify({ key: "x".repeat(2 ** 20) });
  const statuses = async (first: string) => answeredStatuses(await exchange(baseUrl, first + next));
  expect(await statuses(post("/api/nothing", "x".repeat(100_000)))).toEqual([403, 200]);
  expect(await statuses(post("/api/contact", large))).toEqual([400, 200]);
  const chunked = `POST /api/contact HTTP/1.1\r\n${headers}Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`;
  expect(await statuses(chunked)).toEqual([400, 200]);
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname, () =>
    socket.write(`POST /api/contact HTTP/1.1\r\n${headers}Content-Length: 100\r\n\r\n{`, () =>
      socket.destroy(),
    ),
  );
  await expect
    .poll(() => sandbox.admin.requests({ limit: 1 }))
    .toMatchObject([{ path: "/api/contact", body: null, status: 400 }]);
});
