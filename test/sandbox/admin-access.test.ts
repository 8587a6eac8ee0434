/** Who may use /__sandbox/ over HTTP, and its stream. */
import { request } from "node:http";
import { expect, test } from "vitest";
import { refuseAccess } from "../../src/sandbox/admin-api/access.ts";
import { startSandbox } from "../support/sandbox.ts";

function fetchStatus(url: string, headers: Record<string, string>, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });
}

test("without a token, only programs of this machine and pages of this very address are answered", async () => {
  const { baseUrl } = await startSandbox();
  const { host, port } = new URL(baseUrl);
  const health = (headers: Record<string, string>) => fetchStatus(`${baseUrl}/__sandbox/health`, headers);
  expect(await health({})).toBe(200);
  expect(await health({ host: `localhost:${port}` })).toBe(200);
  expect(await health({ host: `[::1]:${port}` })).toBe(200);
  expect(await health({ origin: `http://${host}` })).toBe(200);
  expect(await health({ host: `localhost:${port}`, origin: `http://localhost:${port}` })).toBe(200);

  // A page of another site, of another port, or of a file.
  expect(await health({ origin: "https://evil.example" })).toBe(403);
  expect(await health({ origin: "http://localhost:1" })).toBe(403);
  expect(await health({ origin: `https://${host}` })).toBe(403);
  expect(await health({ origin: "null" })).toBe(403);
  expect(await health({ "sec-fetch-site": "cross-site" })).toBe(403);
  // A name that its DNS points at this machine: the page and the address are of one origin then.
  expect(await health({ host: "evil.example" })).toBe(403);
  expect(await health({ host: `evil.example:${port}`, origin: `http://evil.example:${port}` })).toBe(403);
  expect(await health({ host: `127.0.0.1.evil.example:${port}` })).toBe(403);
  expect(await health({ authorization: "Bearer anything", origin: "https://evil.example" })).toBe(403);
});

test("every path is guarded, those that are not there too, and nothing is done for whoever may not", async () => {
  const { baseUrl, apiKey } = await startSandbox();
  const headers = { origin: "https://evil.example", "x-api-key": apiKey };
  for (const [method, path] of [
    ["GET", ""],
    ["GET", "requests"],
    ["GET", "requests/stream"],
    ["DELETE", "requests"],
    ["POST", "reset"],
    ["POST", "seed"],
    ["GET", "snapshots"],
    ["PUT", "snapshots/x"],
    ["POST", "snapshots/x/load"],
    ["DELETE", "snapshots/x"],
    ["GET", "clock"],
    ["PUT", "clock"],
    ["GET", "faults"],
    ["PUT", "faults"],
    ["DELETE", "faults"],
    ["GET", "limits"],
    ["PUT", "limits"],
    ["POST", "events"],
    ["GET", "nothing"],
    ["OPTIONS", "reset"],
  ] as const) {
    expect(await fetchStatus(`${baseUrl}/__sandbox/${path}`, headers, method), `${method} ${path}`).toBe(403);
  }
  expect(await (await fetch(`${baseUrl}/__sandbox/snapshots`)).json()).toEqual([]);
});

test("with a token, it is needed and enough, wherever the request comes from", async () => {
  const { baseUrl } = await startSandbox({ adminToken: "s3cret" });
  const health = (headers: Record<string, string>) => fetchStatus(`${baseUrl}/__sandbox/health`, headers);
  expect(await health({})).toBe(401);
  expect(await health({ authorization: "Bearer wrong" })).toBe(401);
  expect(await health({ authorization: "Bearer s3cre" })).toBe(401);
  expect(await health({ authorization: "Bearer" })).toBe(401);
  expect(await health({ authorization: "s3cret" })).toBe(401);
  expect(await health({ "x-api-key": "s3cret" })).toBe(401);
  expect(await health({ authorization: "Bearer s3cret" })).toBe(200);
  expect(await health({ authorization: "bearer s3cret", host: "sandbox:8080" })).toBe(200);
  expect(await health({ authorization: "Bearer s3cret", origin: "https://ci.example" })).toBe(200);
  const refused = await fetch(`${baseUrl}/__sandbox/health`);
  expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer/);
  expect(await refused.json()).toMatchObject({ errors: [{ errorType: "UnauthorizedError" }] });
});

test("another machine is refused without a token, whatever it says of itself", () => {
  for (const address of ["10.0.0.2", "::ffff:10.0.0.2", "fe80::1", ""]) {
    expect(refuseAccess(address, { host: "localhost:8080" }, undefined)?.status).toBe(403);
    expect(refuseAccess(address, { authorization: "Bearer t" }, "t")).toBeUndefined();
  }
  expect(refuseAccess("::1", { host: "localhost:8080" }, undefined)).toBeUndefined();
});

test("the stream brings each request as it is answered, and ends when the sandbox stops", async () => {
  const { baseUrl, apiKey, sandbox } = await startSandbox();
  const read = (path: string) => fetch(`${baseUrl}${path}`, { headers: { "x-api-key": apiKey } });
  await read("/api/contact-structure");
  const open = async (query = "") => {
    const stream = await fetch(`${baseUrl}/__sandbox/requests/stream${query}`);
    expect(stream.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    return readEvents(stream);
  };
  const fromNow = await open();
  const all = await open("?since=0");
  const misses = await open("?since=0&status=4xx");
  await read("/api/nothing");
  expect(await fromNow.next()).toMatchObject({ n: 2, path: "/api/nothing", status: 403 });
  expect([await all.next(), await all.next()]).toMatchObject([{ n: 1 }, { n: 2 }]);
  expect(await misses.next()).toMatchObject({ n: 2 });
  sandbox.admin.reset();
  await read("/api/contact-structure");
  expect(await fromNow.next()).toMatchObject({ n: 3, status: 200 });
  expect((await fetch(`${baseUrl}/__sandbox/requests/stream?status=x`)).status).toBe(400);
});

/** The data of server-sent events, one after the other. */
function readEvents(stream: Response): { next(): Promise<unknown> } {
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  return {
    async next() {
      for (;;) {
        const [, before, data] = /^([\s\S]*?)^data: (.*)\n\n/m.exec(text) ?? [];
        if (data !== undefined) {
          text = text.slice(before!.length + data.length + "data: \n\n".length);
          return JSON.parse(data);
        }
        const { value, done } = await reader.read();
        if (done) throw new Error("the stream has ended");
        text += value;
      }
    },
  };
}

test("the page is one file of its own, under a policy that lets nothing else run", async () => {
  const { baseUrl } = await startSandbox();
  const answer = await fetch(`${baseUrl}/__sandbox`);
  expect(answer.url).toBe(`${baseUrl}/__sandbox/`);
  const head = await fetch(`${baseUrl}/__sandbox`, { method: "HEAD" });
  expect([head.status, head.url, await head.text()]).toEqual([200, `${baseUrl}/__sandbox/`, ""]);
  expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = answer.headers.get("content-security-policy");
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; connect-src 'self'/,
  );
  const page = await answer.text();
  expect(page).not.toMatch(/https?:|\b(src|srcset|onclick|onload)=|@import|url\(/);
  expect(page).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
  const withToken = await startSandbox({ adminToken: "s3cret" });
  expect((await fetch(`${withToken.baseUrl}/__sandbox/`)).status).toBe(200);
  expect((await fetch(`${withToken.baseUrl}/__sandbox/overview`)).status).toBe(401);
});

test("what the page shows of the account names fields, lists and tags", async () => {
  const { baseUrl, sandbox } = await startSandbox();
  sandbox.admin.seed({
    contacts: [
      { key: "a@b.co", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] },
      ...Array.from({ length: 149 }, (_, number) => ({ key: `p${number}@b.co` })),
    ],
  });
  const overview = async () =>
    (await (await fetch(`${baseUrl}/__sandbox/overview`)).json()) as {
      account: { total: number; contacts: object[]; lists: object[] };
    };
  const { account } = await overview();
  expect([account.total, account.contacts.length]).toEqual([150, 100]);
  expect(account.contacts[0]).toMatchObject({ key: "p148@b.co", fields: {}, lists: [], tags: [] });
  expect(account.lists).toEqual([{ name: "News", contacts: 1 }]);
  sandbox.admin.reset();
  sandbox.admin.seed({
    contacts: [{ key: "a@b.co", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] }],
  });
  expect((await overview()).account.contacts).toMatchObject([
    { key: "a@b.co", fields: { City: "Oslo" }, lists: ["News"], tags: ["VIP"] },
  ]);
});
