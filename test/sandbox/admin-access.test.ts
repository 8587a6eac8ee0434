/** Who may use the service and /__sandbox/ over HTTP; its stream and its page. */
import { expect, test } from "vitest";
import { findForeignHeader, refuseAccess } from "../../src/sandbox/admin-api/access.ts";
import { startSandbox } from "../support/sandbox.ts";
import { callPort, fetchStatus } from "./account.ts";

async function expectStatus(baseUrl: string, status: number, all: Record<string, string>[]) {
  for (const headers of all) {
    const answered = await fetchStatus(`${baseUrl}/__sandbox/health`, headers);
    expect(answered, JSON.stringify(headers)).toBe(status);
  }
}

test("without a token, programs of this machine and pages of this very address alone are answered", async () => {
  const { baseUrl } = await startSandbox();
  const { port } = new URL(baseUrl);
  await expectStatus(baseUrl, 200, [
    ...[{}, { host: `localhost:${port}` }, { host: `[::1]:${port}` }, { origin: `http://127.0.0.1:${port}` }],
    { host: `localhost:${port}`, origin: `http://localhost:${port}` },
  ]);
  // A page of another site, of another port, or of a file.
  const others = ["https://evil.example", "http://localhost:1", `https://127.0.0.1:${port}`, "null"];
  await expectStatus(baseUrl, 403, [
    ...others.map((origin) => ({ origin })),
    { "sec-fetch-site": "cross-site" },
    // A name that its DNS points at this machine: the page and the address are of one origin then.
    { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
    { authorization: "Bearer anything", origin: "https://evil.example" },
  ]);
});

test("every path is guarded, those that are not there too, and nothing is done for whoever may not", async () => {
  const { baseUrl, apiKey } = await startSandbox();
  const headers = { origin: "https://evil.example", "x-api-key": apiKey };
  const guarded = `GET /, GET /requests, GET /requests/stream, DELETE /requests, POST /reset, POST /seed,
    GET /snapshots, PUT /snapshots/x, POST /snapshots/x/load, DELETE /snapshots/x, GET /clock, PUT /clock,
    GET /faults, PUT /faults, DELETE /faults, GET /limits, PUT /limits, POST /events, GET /nothing,
    OPTIONS /reset`;
  for (const each of guarded.split(/,\s+/)) {
    const [method, path] = each.split(" ");
    expect(await fetchStatus(`${baseUrl}/__sandbox${path}`, headers, method), each).toBe(403);
  }
  expect(await (await fetch(`${baseUrl}/__sandbox/snapshots`)).json()).toEqual([]);
});

test("requests of a foreign page to the service are refused too, and block nobody", async () => {
  const service = await startSandbox({ blockAfter: 3 });
  const { baseUrl } = service;
  const foreign = { host: "rebound.example", origin: "https://page.example", "sec-fetch-site": "cross-site" };
  for (const [name, value] of [...Object.entries(foreign), ["origin", "null"] as const]) {
    expect(await fetchStatus(`${baseUrl}/api/contact-structure`, { [name]: value }), name).toBe(403);
  }
  const answer = await callPort(service, "GET", "/api/contact-structure");
  expect([answer.status, answer.headers.get("x-ratelimit-remaining")]).toEqual([200, "3599"]);
});

const ofThisMachine = [
  ...["127.0.0.1:8080", "localhost", "sandbox.localhost:80", "[::1]:8080"].map((host) => ({ host })),
  { host: "127.0.0.1", origin: "http://localhost:3000" },
  ...["same-origin", "none"].map((site) => ({ host: "127.0.0.1", "sec-fetch-site": site })),
];
const foreignHosts = `127.0.0.1.evil.example, localhost.evil.example, notlocalhost, [::1].evil.example,
  user@127.0.0.1, `.split(/,\s+/);
const foreignOrigins = ["http://localhost.evil.example", "http://localhost@evil.example", "file://", ""];

test.each<[by: string | undefined, all: Record<string, string>[]]>([
  [undefined, [{}, ...ofThisMachine]],
  ["Host", foreignHosts.map((host) => ({ host }))],
  ["Origin", foreignOrigins.map((origin) => ({ host: "localhost", origin }))],
])("by %s, these headers are of another site: %j", (by, all) => {
  for (const headers of all) expect(findForeignHeader(headers), JSON.stringify(headers)).toBe(by);
});

test("with a token, it is needed and enough, wherever the request comes from", async () => {
  const { baseUrl } = await startSandbox({ adminToken: "s3cret" });
  const wrong = ["Bearer wrong", "Bearer s3cre", "Bearer", "s3cret"];
  await expectStatus(baseUrl, 401, [{}, { "x-api-key": "s3cret" }]);
  for (const authorization of wrong) await expectStatus(baseUrl, 401, [{ authorization }]);
  await expectStatus(baseUrl, 200, [
    { authorization: "Bearer s3cret" },
    { authorization: "bearer s3cret", host: "sandbox:8080" },
    { authorization: "Bearer s3cret", origin: "https://ci.example" },
  ]);
  const refused = await fetch(`${baseUrl}/__sandbox/health`);
  expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer/);
  expect(await refused.json()).toMatchObject({ errors: [{ errorType: "UnauthorizedError" }] });
});

test("another machine is refused without a token, whatever it says of itself", () => {
  const refuse = (address: string) => refuseAccess(address, { host: "localhost:8080" }, undefined)?.status;
  for (const address of ["", "10.0.0.1", "fe80::1", "::2", "::ffff:10.0.0.1", "127.0.0.1.example"]) {
    expect(refuse(address), address).toBe(403);
    expect(refuseAccess(address, { authorization: "Bearer t" }, "t")).toBeUndefined();
  }
  for (const address of ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"])
    expect(refuse(address), address).toBeUndefined();
});

test("the stream brings each request as it is answered, and ends when the sandbox stops", async () => {
  const service = await startSandbox();
  const read = (path: string) => callPort(service, "GET", path);
  await read("/api/contact-structure");
  const open = async (query = "") => {
    const stream = await fetch(`${service.baseUrl}/__sandbox/requests/stream${query}`);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    return readEvents(stream);
  };
  const fromNow = await open();
  const all = await open("?since=0");
  const misses = await open("?since=0&status=4xx");
  await read("/api/nothing");
  expect(await fromNow.next()).toMatchObject({ value: { n: 2, path: "/api/nothing", status: 403 } });
  expect([await all.next(), await all.next()]).toMatchObject([{ value: { n: 1 } }, { value: { n: 2 } }]);
  expect(await misses.next()).toMatchObject({ value: { n: 2 } });
  service.sandbox.admin.reset();
  await read("/api/contact-structure");
  expect(await fromNow.next()).toMatchObject({ value: { n: 3, status: 200 } });
  expect((await fetch(`${service.baseUrl}/__sandbox/requests/stream?status=x`)).status).toBe(400);
});

/** The data of server-sent events, one after the other. */
async function* readEvents(stream: Response) {
  let text = "";
  for await (const piece of stream.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    const events = text.split("\n\n");
    text = events.pop()!;
    for (const event of events) {
      const [, data] = /^data: (.*)$/m.exec(event) ?? [];
      if (data !== undefined) yield JSON.parse(data);
    }
  }
}

test("the page is one file of its own, under a policy that lets nothing else run", async () => {
  const { baseUrl } = await startSandbox();
  const answer = await fetch(`${baseUrl}/__sandbox`);
  expect(answer.url).toBe(`${baseUrl}/__sandbox/`);
  const head = await fetch(`${baseUrl}/__sandbox`, { method: "HEAD" });
  expect([head.status, head.url, await head.text()]).toEqual([200, `${baseUrl}/__sandbox/`, ""]);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = answer.headers.get("content-security-policy");
  const own = /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'/;
  expect(policy).toMatch(own);
  const page = await answer.text();
  expect(page).not.toMatch(/https?:|\b(src|srcset|onclick|onload)=|@import|url\(/);
  expect(page).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
  const withToken = await startSandbox({ adminToken: "s3cret" });
  expect((await fetch(`${withToken.baseUrl}/__sandbox/`)).status).toBe(200);
  expect((await fetch(`${withToken.baseUrl}/__sandbox/overview`)).status).toBe(401);
});

test("what the page shows of the account names fields, lists and tags of the last hundred contacts", async () => {
  const service = await startSandbox();
  const { admin } = service.sandbox;
  const overview = async () => (await callPort(service, "GET", "/__sandbox/overview")).body.account;
  const ada = { key: "a@b.co", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] };
  admin.seed({ contacts: [ada] });
  expect((await overview()).contacts).toMatchObject([ada]);
  admin.seed({ contacts: Array.from({ length: 149 }, (_, number) => ({ key: `p${number}@b.co` })) });
  const { total, contacts, lists } = await overview();
  expect([total, contacts.length, lists]).toEqual([150, 100, [{ name: "News", contacts: 1 }]]);
  expect(contacts[0]).toMatchObject({ key: "p148@b.co", fields: {}, lists: [], tags: [] });
});
