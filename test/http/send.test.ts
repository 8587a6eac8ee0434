import { createServer } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EcmError, interruptedError, isKind, isServiceError } from "../../src/errors.ts";
import type { ApiRequest, SendOptions } from "../../src/wire.ts";
import { type Answerer, errorBody, json, listen, startHttpServer } from "../support/http-server.ts";
import { anyText, runs } from "../support/runs.ts";
import { createSendTo, testKey } from "../support/test-send.ts";

const read: ApiRequest = { method: "GET", path: "/api/contact/1", effect: "read" };
const search: ApiRequest = { method: "POST", path: "/api/contact/search", body: { page: 1 }, effect: "read" };
const write: ApiRequest = { method: "POST", path: "/api/contact", body: { key: "a@b.c" }, effect: "write" };

const catchFailure = async (promise: Promise<unknown>): Promise<EcmError> => {
  const [{ status, ...outcome }] = await Promise.allSettled([promise]);
  expect(status).toBe("rejected");
  return (outcome as PromiseRejectedResult).reason;
};

/** A port that nobody listens on. */
async function deadPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const fine: Answerer = (_request, response) => json(response, 200, {});
const lost: Answerer = (_request, response) => void response.destroy();
const text =
  (status: number, type: string, body = ""): Answerer =>
  (_request, response) =>
    response.writeHead(status, { "content-type": type }).end(body);
const refused =
  (status: number, errorType = "E", message = "No.", headers = {}): Answerer =>
  (_request, response) =>
    json(response, status, errorBody(errorType, message, { field: "key", fieldId: "f1" }), headers);
/** An answer whose body ends too early. */
const broken =
  (status: number, start = "{"): Answerer =>
  (_request, response) => {
    response.writeHead(status, { "content-length": "1000" });
    response.write(start);
    setImmediate(() => response.destroy());
  };
const limited = (message: string, retryAfter: string): Answerer =>
  refused(429, "TooManyRequestsError", message, { "retry-after": retryAfter });
const hour = (seconds: number) =>
  limited(`Rate limit exceeded. Retry after ${seconds} seconds.`, String(seconds));

/** How a request ends, what its error is, and how often it was sent. */
type Sent = [error: object, sent: number, options?: SendOptions];
type End = [name: string, request: ApiRequest, by: Answerer, ...Sent];

const says = (part: string) => expect.stringContaining(part);
const unreadable = [
  ["text/html", "<html>Sign in", '"text/html" that begins "<html>'],
  ["application/json", '{"_id": "1", "ke', 'begins "{\\"_id\\"'],
  ["application/json", "", "it has no body"],
  ["text/plain", "\u001b[31mred", "\\u001b[31mred"],
].flatMap(([type = "", body = "", words = ""]): End[] => {
  const error = { kind: "unreadable answer", exitCode: 1, message: says(words) };
  const ofRead = { ...error, details: { status: 200, applied: undefined } };
  const ofWrite = { exitCode: 1, message: says("the request was applied"), details: { applied: "yes" } };
  const ends: End[] = [[`${type} ${body}`, read, text(200, type, body), ofRead, 1]];
  // An empty answer to a write says that it was carried out.
  return body === "" ? ends : [...ends, [`${type} to a write`, write, text(200, type, body), ofWrite, 1]];
});

const refusals: End[] = [
  ...(
    [
      [403, "text/html", "<h1>Forbidden</h1>", 4, 'HTTP 403: "text/html" that begins "<h1>'],
      [404, "text/plain", "", 5, "HTTP 404: it has no body"],
      [502, "application/json", '{"message":"upstream is gone"}', 1, "upstream is gone"],
      [400, "application/json", '{"errors":[]}', 1, "HTTP 400"],
      [400, "application/json", '{"errors":[null,"x",7]}', 1, "HTTP 400"],
      [400, "application/json", "null", 1, "HTTP 400"],
    ] as const
  ).map(([status, type, body, exitCode, words]): End => {
    const error = { kind: "service", exitCode, message: says(words), details: { status } };
    const sent = status === 502 ? 3 : 1;
    return [`${status} of an unknown form: ${type} ${body}`, read, text(status, type, body), error, sent];
  }),
  ...[400, 409, 500, 503].map((status): End => {
    const message = status < 500 ? expect.not.stringContaining("applied") : says("may have been applied");
    const error = { message, details: { applied: status < 500 ? "no" : "unknown" } };
    return [`${status} to a write`, write, refused(status), error, 1];
  }),
  ["404 that breaks off", write, broken(404), { exitCode: 5, details: { status: 404, applied: "no" } }, 3],
];

const unreached = { kind: "unreachable", exitCode: 8, details: { retryable: true, applied: undefined } };
const cutOff = { exitCode: 1, message: says("ended early, after 5 characters") };
const unknown = {
  exitCode: 8,
  message: says("may have been applied"),
  details: { applied: "unknown", hint: "See whether it was applied before you send it again" },
};
const failures: End[] = [
  ...[500, 501, 502, 503, 504].map((status): End => {
    const error = { exitCode: 1, details: { status } };
    return [`a read after ${status}`, search, text(status, "text/plain"), error, status > 501 ? 3 : 1];
  }),
  ["a read whose connection is lost", read, lost, unreached, 3],
  ["a read whose answer breaks off", read, broken(200, '{"a":'), cutOff, 3],
  ["a write whose answer is lost", write, lost, unknown, 1],
  ["a write whose 2xx breaks off", write, broken(200), { exitCode: 1, details: { applied: "yes" } }, 1],
];

const late = { limit: "hour", retryAfterSeconds: 1800, applied: "no", retryable: true };
const month = limited("Monthly API quota exceeded.", "1");
const address = limited("Too many failed authentication attempts. Please try again later.", "1");
const patient = { maxWaitSeconds: 1e6 };
const limits: End[] = [
  ["of an hour that ends too late", write, hour(1800), { exitCode: 7, details: late }, 1],
  ["whose caller waits itself", read, hour(1), { exitCode: 7 }, 1, { maxWaitSeconds: 0 }],
  ["of the month", read, month, { exitCode: 7, details: { limit: "month" } }, 1, patient],
  ["of the address", read, address, { exitCode: 7, details: { limit: "address" } }, 1, patient],
];

// Commands that send a few requests have another client than those that send thousands: both keep all of this.
describe.each(["single", "bulk"] as const)("over a %s connection", (purpose) => {
  const lineToServer = async (answer: Answerer, more = {}, path = "") => {
    const server = await startHttpServer(answer);
    return { server, ...(await createSendTo(server.baseUrl + path, more, purpose)) };
  };
  const endsAs = async (...[, request, answer, error, sent, options]: End) => {
    const { send, server, waits } = await lineToServer(answer);
    expect(await catchFailure(send(request, options))).toMatchObject(error);
    expect(server.requests).toHaveLength(sent);
    expect(waits).toEqual([0.2, 0.8].slice(0, sent - 1));
  };

  it("a request carries the key, JSON and the program's name, and is read back", async () => {
    const limitHeaders = { "X-RateLimit-Limit": 9, "X-RateLimit-Remaining": 8, "X-RateLimit-Reset": 7 };
    const { send, server, events } = await lineToServer((_request, response) =>
      json(response, 200, { ok: true }, limitHeaders),
    );
    const answer = await send({ ...search, query: [["a b", "ä&="]] });
    expect(answer).toMatchObject({ status: 200, body: { ok: true }, text: '{"ok":true}' });
    expect(answer.limits).toEqual({ hour: { limit: 9, remaining: 8, reset: 7 } });
    const [{ method, url, body, headers }] = server.requests as [(typeof server.requests)[number]];
    expect([method, url, body]).toEqual(["POST", "/api/contact/search?a%20b=%C3%A4%26%3D", '{"page":1}']);
    expect(headers).toMatchObject({
      "x-api-key": testKey,
      "content-type": "application/json",
      "user-agent": expect.stringMatching(/^ecm\/\d/),
    });
    expect(events[0]).toMatchObject({ kind: "sent", sent: { target: url, body } });
    expect(events.map((event) => event.kind)).toEqual(["sent", "answered"]);
  });

  it("a request goes below the path that the base address has", async () => {
    const { send, server } = await lineToServer(fine, {}, "/gateway/v1");
    await send(read);
    expect(server.requests[0]!.url).toBe("/gateway/v1/api/contact/1");
  });

  it("a request is refused before it is sent where its path may mean another", async () => {
    const { send, server } = await lineToServer(fine);
    const dots = ["/api/contact/..", "/api/contact/./x", "/api/%2e%2E/x", "/a\\..\\b"];
    for (const path of [...dots, "/api/a b", "/api/x#y", "api", "/api/\u00e4"]) {
      expect(await catchFailure(send({ ...read, path })), path).toMatchObject({ kind: "usage" });
    }
    expect(server.requests).toEqual([]);
  });

  it("a request arrives as it was meant, whatever id stands in its path", async () => {
    const { send, server } = await lineToServer(fine);
    const id = anyText({ minLength: 1 }).filter((each) => !/^\.{1,2}$/.test(each));
    await fc.assert(
      fc.asyncProperty(id, async (each) => {
        await send({ ...read, path: `/api/contact/${encodeURIComponent(each)}` });
        expect(decodeURIComponent(server.requests.at(-1)!.url)).toBe(`/api/contact/${each}`);
      }),
      { numRuns: runs(20) },
    );
  });

  it("a request that writes is refused when only reading is allowed", async () => {
    const { send, server } = await lineToServer(fine, { readOnly: true });
    expect(await catchFailure(send(write))).toMatchObject({ exitCode: 2, type: "ReadOnlyError" });
    await send(search);
    expect(server.requests.map((request) => request.url)).toEqual(["/api/contact/search"]);
  });

  it.each(unreadable)("an answer that is no JSON is said to be unreadable, in clear words: %s", endsAs);

  it("an answer that is no JSON is fine for 204, and for those who take anything, bytes included", async () => {
    const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
    const { send } = await lineToServer((_request, response, count) => {
      if (count === 1) response.writeHead(204).end();
      else response.writeHead(418).end(count === 2 ? "<html>" : bytes);
    });
    expect(await send(write)).toMatchObject({ status: 204, body: undefined });
    const raw = await send(read, { expect: "any" });
    expect(raw).toMatchObject({ status: 418, text: "<html>", body: undefined });
    expect(Buffer.from((await send(read, { expect: "any" })).bytes!)).toEqual(bytes);
  });

  it("an answer that is no JSON never breaks the line, whatever bytes and headers come", async () => {
    const header = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,30}$/);
    const names = ["content-type", "retry-after", "x-ratelimit-reset", "location"];
    const cases = fc.record({
      status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 304),
      body: fc.oneof(
        fc.uint8Array({ maxLength: 200 }),
        fc.json().map((each) => Buffer.from(each)),
      ),
      headers: fc.record(Object.fromEntries(names.map((name) => [name, header]))),
    });
    let next: { status: number; body: Uint8Array; headers: Record<string, string> };
    const { send } = await lineToServer((_request, response) => {
      response.writeHead(next.status, next.headers).end(next.body);
    });
    await fc.assert(
      fc.asyncProperty(cases, async (given) => {
        next = given;
        const result = await send(read).catch((error: unknown) => error);
        const isTypedError = isServiceError(result) || isKind(result, "unreadable answer");
        const isAnswer = given.status < 300 && (result as { status?: number }).status === given.status;
        expect(isTypedError || isAnswer).toBe(true);
      }),
      { numRuns: runs(40) },
    );
  });

  it.each(refusals)("an error of the service has status, exit code, and whether it was applied: %s", endsAs);

  it("an error of the service is sent again when its words break off: they say what it means", async () => {
    const { send, server } = await lineToServer((request, response, count) =>
      (count > 1 ? refused(400, "DuplicateFieldError") : broken(400))(request, response, count),
    );
    expect(await catchFailure(send(write))).toMatchObject({ type: "DuplicateFieldError" });
    expect(server.requests).toHaveLength(2);
  });

  it("an error of the service that points elsewhere is not followed, and the key stays here", async () => {
    const other = await startHttpServer(fine);
    const { send, server } = await lineToServer((_request, response) =>
      response.writeHead(302, { location: `${other.baseUrl}/api` }).end(),
    );
    expect(await catchFailure(send(read))).toMatchObject({ exitCode: 1, details: { status: 302 } });
    expect([other.requests, server.requests].map(({ length }) => length)).toEqual([0, 1]);
  });

  it.each(failures)("what fails is sent again only where that is safe: %s", endsAs);

  it("what fails is answered when the third attempt is", async () => {
    const { send, events } = await lineToServer((request, response, count) => {
      if (count === 1) response.destroy();
      else if (count === 2) response.writeHead(503).end();
      else json(response, 200, { url: request.url });
    });
    expect((await send(read)).body).toEqual({ url: "/api/contact/1" });
    const kinds = "sent lost waiting sent answered waiting sent answered";
    expect(events.map((event) => event.kind).join(" ")).toBe(kinds);
  });

  it("what fails without a connection is repeated, also a write, and was then not applied", async () => {
    const { send, events, waits } = await createSendTo(`http://127.0.0.1:${await deadPort()}`, {}, purpose);
    const notApplied = { message: says("the request was not applied"), details: { applied: "no" } };
    expect(await catchFailure(send(write))).toMatchObject({ exitCode: 8, ...notApplied });
    expect(events.filter((event) => event.kind === "sent")).toHaveLength(3);
    expect(waits).toEqual([0.2, 0.8]);
  });

  it("what fails for the server's encryption was not applied, and is not repeated", async () => {
    const server = await startHttpServer(fine);
    const { send, events } = await createSendTo(server.baseUrl.replace("http:", "https:"), {}, purpose);
    expect(await catchFailure(send(write))).toMatchObject({ exitCode: 8, details: { applied: "no" } });
    expect(server.requests).toEqual([]);
    expect(events.filter((event) => event.kind === "sent")).toHaveLength(1);
  });

  it("a write finds a fresh connection after its socket stood idle longer than servers keep one", async () => {
    const ports = new Set<number | undefined>();
    const { send } = await lineToServer((_request, response) => {
      ports.add(response.socket?.remotePort);
      // The hint asks for a socket to be let go at once.
      json(response, 200, {}, { connection: "keep-alive", "keep-alive": "timeout=1" });
    });
    await send(write);
    await send(write);
    expect(ports.size).toBe(2);
  });

  it("a slow answer ends in time, is not repeated, and says of a write that it may have been applied", async () => {
    const { send, server } = await lineToServer(() => undefined, { timeoutSeconds: 0.1 });
    expect(await catchFailure(send(read))).toMatchObject({ exitCode: 8, message: says("0.1 s") });
    expect(await catchFailure(send(write))).toMatchObject({ exitCode: 8, details: { applied: "unknown" } });
    expect(server.requests).toHaveLength(2);
  });

  it("a slow answer ends in time although its body keeps dripping", async () => {
    const drip: Answerer = (_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write(" "), 20);
      response.on("close", () => clearInterval(timer));
    };
    const { send } = await lineToServer(drip, { timeoutSeconds: 0.2 });
    expect(await catchFailure(send(read))).toMatchObject({ exitCode: 8 });
    expect(await catchFailure(send(write))).toMatchObject({ details: { applied: "yes" } });
  });

  it.each(limits)("a 429 is not waited for: %s", endsAs);

  it("a 429 of the hour is waited for, longer each time, and the request then goes through", async () => {
    const { send, waits } = await lineToServer((request, response, count) =>
      (count <= 3 ? hour(7) : fine)(request, response, count),
    );
    expect((await send(write)).status).toBe(200);
    expect(waits).toEqual([7, 14, 28]);
  });

  it("a 429 counts apart from lost connections, of which three are the most that are borne", async () => {
    const { send } = await lineToServer((request, response, count) =>
      ([lost, lost, hour(1), lost][count - 1] ?? fine)(request, response, count),
    );
    expect(await catchFailure(send(read))).toMatchObject({ exitCode: 8 });
  });

  it("an interruption ends a wait, with the signal's own reason", async () => {
    const abort = new AbortController();
    const reason = interruptedError("SIGTERM");
    const onEvent = (event: { kind: string }) => event.kind === "waiting" && abort.abort(reason);
    const { send } = await lineToServer(text(503, "text/plain"), { signal: abort.signal, onEvent });
    expect(await catchFailure(send(read))).toBe(reason);
  });

  it("an interruption ends a request under way, and says of a write that it may have been applied", async () => {
    const abort = new AbortController();
    const { signal } = abort;
    const { send, server } = await lineToServer(() => abort.abort(interruptedError("SIGINT")), { signal });
    const details = { hint: says("may have been applied") };
    expect(await catchFailure(send(write))).toMatchObject({ exitCode: 130, details });
    expect(await catchFailure(send(read))).toMatchObject({ exitCode: 130 });
    expect(server.requests).toHaveLength(1);
  });

  it("an interruption by the caller's own signal ends that request alone", async () => {
    const abort = new AbortController();
    const { send } = await lineToServer((_request, response, count) => {
      if (count === 1) abort.abort();
      else json(response, 200, {});
    });
    expect(await catchFailure(send(read, { signal: abort.signal }))).toMatchObject({ kind: "interrupted" });
    expect((await send(read)).status).toBe(200);
  });
});
