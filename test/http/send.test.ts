import { createServer } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EcmError, interruptedError, isKind, isServiceError } from "../../src/errors.ts";
import type { ApiRequest } from "../../src/wire.ts";
import { type Answerer, errorBody, json, startHttpServer } from "../support/http-server.ts";
import { createSendTo, testKey } from "../support/test-send.ts";

const read: ApiRequest = { method: "GET", path: "/api/contact/1", effect: "read" };
const search: ApiRequest = { method: "POST", path: "/api/contact/search", body: { page: 1 }, effect: "read" };
const write: ApiRequest = { method: "POST", path: "/api/contact", body: { key: "a@b.c" }, effect: "write" };

const catchFailure = (promise: Promise<unknown>) =>
  promise.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: EcmError) => error,
  );

/** A port that nobody listens on. */
async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// Commands that send a few requests have another client than
// those that send thousands: both keep all of this.
describe.each(["single", "bulk"] as const)("over a %s connection", (purpose) => {
  const lineToServer = async (answer: Answerer, more = {}) => {
    const server = await startHttpServer(answer);
    return { server, ...(await createSendTo(server.baseUrl, more, purpose)) };
  };

  describe("a request", () => {
    it("carries the key, JSON and the program's name, and is read back", async () => {
      const { send, server, events } = await lineToServer((_request, response) =>
        json(
          response,
          200,
          { ok: true },
          { "X-RateLimit-Limit": "9", "X-RateLimit-Remaining": "8", "X-RateLimit-Reset": "7" },
        ),
      );
      const answer = await send({ ...search, query: [["a b", "ä&="]] });
      expect(answer).toMatchObject({ status: 200, body: { ok: true }, text: '{"ok":true}' });
      expect(answer.limits).toEqual({ hour: { limit: 9, remaining: 8, reset: 7 } });
      expect(server.requests[0]).toMatchObject({
        method: "POST",
        url: "/api/contact/search?a%20b=%C3%A4%26%3D",
        body: '{"page":1}',
      });
      const [sent] = events;
      const { url, body } = server.requests[0]!;
      expect(sent).toMatchObject({ kind: "sent", sent: { target: url, body } });
      expect(server.requests[0]!.headers).toMatchObject({
        "x-api-key": testKey,
        "content-type": "application/json",
        "user-agent": expect.stringMatching(/^ecm\/\d/),
      });
      expect(events.map((event) => event.kind)).toEqual(["sent", "answered"]);
    });

    it("goes below the path that the base address has", async () => {
      const server = await startHttpServer((_request, response) => json(response, 200, {}));
      const { send } = await createSendTo(`${server.baseUrl}/gateway/v1`, {}, purpose);
      await send(read);
      expect(server.requests[0]!.url).toBe("/gateway/v1/api/contact/1");
    });

    it.each([
      "/api/contact/..",
      "/api/contact/./x",
      "/api/%2e%2E/x",
      "/api/a b",
      "/api/x#y",
      "api",
      "/api/\u00e4",
      "/a\\..\\b",
    ])("to %j is refused before it is sent", async (path) => {
      const { send, server } = await lineToServer((_request, response) => json(response, 200, {}));
      expect(await catchFailure(send({ ...read, path }))).toMatchObject({ kind: "usage" });
      expect(server.requests).toEqual([]);
    });

    it("arrives as it was meant, whatever id stands in its path", async () => {
      const { send, server } = await lineToServer((_request, response) => json(response, 200, {}));
      const id = fc.string({ unit: "binary", minLength: 1 }).filter((text) => !/^\.{1,2}$/.test(text));
      await fc.assert(
        fc.asyncProperty(id, async (text) => {
          await send({ ...read, path: `/api/contact/${encodeURIComponent(text)}` });
          expect(decodeURIComponent(server.requests.at(-1)!.url)).toBe(`/api/contact/${text}`);
        }),
        { numRuns: 60 },
      );
    });

    it("that writes is refused when only reading is allowed", async () => {
      const { send, server } = await lineToServer((_request, response) => json(response, 200, {}), {
        readOnly: true,
      });
      const error = await catchFailure(send(write));
      expect(error).toMatchObject({ exitCode: 2, type: "ReadOnlyError" });
      await send(search);
      expect(server.requests.map((request) => request.url)).toEqual(["/api/contact/search"]);
    });
  });

  describe("an answer that is no JSON", () => {
    const answers: [string, string, string, RegExp][] = [
      [
        "HTML of a proxy",
        "text/html",
        "<html><body>Sign in</body></html>",
        /"text\/html" that begins "<html>/,
      ],
      ["cut JSON", "application/json", '{"_id": "1", "ke', /begins "\{\\"_id\\"/],
      ["an empty body", "application/json", "", /it has no body/],
      ["control characters", "text/plain", "\u001b[31mred", /\\u001b\[31mred/],
    ];
    it.each(answers)("(%s) is said to be unreadable, in clear words", async (_name, type, body, words) => {
      const { send, server } = await lineToServer((_request, response) =>
        response.writeHead(200, { "content-type": type }).end(body),
      );
      const error = await catchFailure(send(read));
      expect(error).toMatchObject({ kind: "unreadable answer" });
      expect(error).toMatchObject({
        exitCode: 1,
        message: expect.stringMatching(words),
        details: { status: 200 },
      });
      expect(error.details.applied).toBeUndefined();
      expect(server.requests).toHaveLength(1);
    });

    it("says that a write was applied", async () => {
      const { send } = await lineToServer((_request, response) => response.end("<html>"));
      expect(await catchFailure(send(write))).toMatchObject({
        exitCode: 1,
        message: expect.stringContaining("the request was applied"),
        details: { applied: "yes" },
      });
    });

    it("is fine for 204, and for those who take anything", async () => {
      const { send } = await lineToServer((_request, response, count) => {
        if (count === 1) response.writeHead(204).end();
        else response.writeHead(418, { "content-type": "text/html" }).end("<html>");
      });
      expect(await send(write)).toMatchObject({ status: 204, body: undefined });
      expect(await send(read, { expect: "any" })).toMatchObject({
        status: 418,
        text: "<html>",
        body: undefined,
      });
    });

    it("keeps its bytes for those who take anything", async () => {
      const bytes = Buffer.from([0xff, 0xfe, 0x00, 0x80]);
      const { send } = await lineToServer((_request, response) => response.end(bytes));
      const answer = await send(read, { expect: "any" });
      expect(Buffer.from(answer.bytes!)).toEqual(bytes);
    });

    it("never breaks the line, whatever bytes and headers come", async () => {
      const header = fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,30}$/);
      const cases = fc.record({
        status: fc.integer({ min: 200, max: 599 }).filter((status) => status !== 304),
        body: fc.oneof(
          fc.uint8Array({ maxLength: 200 }),
          fc.json().map((text) => Buffer.from(text)),
        ),
        headers: fc.record({
          "content-type": header,
          "retry-after": header,
          "x-ratelimit-reset": header,
          location: header,
        }),
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
        { numRuns: 150 },
      );
    });
  });

  describe("an error of the service", () => {
    it.each([
      [400, "ValidationError", 1],
      [400, "DuplicateFieldError", 6],
      [400, "ConcurrencyError", 6],
      [401, "UnauthorizedError", 4],
      [403, "ForbiddenError", 4],
      [404, "RecordNotFound", 5],
      [500, "InternalError", 1],
    ])("%i %s has exit code %i and is not repeated", async (status, errorType, exitCode) => {
      const { send, server } = await lineToServer((_request, response) =>
        json(response, status, errorBody(errorType, "No.", { field: "key", fieldId: "f1" })),
      );
      const error = await catchFailure(send(read));
      expect(error).toMatchObject({
        exitCode,
        type: errorType,
        details: { status, field: "key", fieldId: "f1" },
      });
      expect(error.message).toContain("No.");
      expect(server.requests).toHaveLength(1);
    });

    it.each([
      [403, "text/html", "<h1>Forbidden</h1>", 4, /HTTP 403: "text\/html" that begins "<h1>/],
      [404, "text/plain", "", 5, /HTTP 404: it has no body/],
      [502, "application/json", '{"message":"upstream is gone"}', 1, /upstream is gone/],
      [400, "application/json", '{"errors":[]}', 1, /HTTP 400/],
      [400, "application/json", '{"errors":[null,"x",7]}', 1, /HTTP 400/],
      [400, "application/json", "null", 1, /HTTP 400/],
    ])(
      "%i of an unknown form (%s %s) still has a status and exit code %i",
      async (status, type, body, exitCode, words) => {
        const { send } = await lineToServer((_request, response) =>
          response.writeHead(status, { "content-type": type }).end(body),
        );
        const error = await catchFailure(send(read));
        expect(error).toMatchObject({ kind: "service" });
        expect(error).toMatchObject({ exitCode, message: expect.stringMatching(words), details: { status } });
      },
    );

    it.each([
      [400, "no"],
      [409, "no"],
      [500, "unknown"],
      [503, "unknown"],
    ])("%i says of a write that it was applied: %s, and is not repeated", async (status, applied) => {
      const { send, server } = await lineToServer((_request, response) =>
        json(response, status, errorBody("E", "No.")),
      );
      const error = await catchFailure(send(write));
      expect(error.details.applied).toBe(applied);
      expect(error.message.includes("may have been applied")).toBe(applied === "unknown");
      expect(server.requests).toHaveLength(1);
    });

    it("keeps its status when its body breaks off", async () => {
      const { send } = await lineToServer((_request, response) => {
        response.writeHead(404, { "content-length": "1000" });
        response.write("{");
        setImmediate(() => response.destroy());
      });
      expect(await catchFailure(send(write))).toMatchObject({
        exitCode: 5,
        details: { status: 404, applied: "no" },
      });
    });

    it("is sent again when its words break off: they say what it means", async () => {
      const { send, server } = await lineToServer((_request, response, count) => {
        if (count > 1) return void json(response, 400, errorBody("DuplicateFieldError", "It exists."));
        response.writeHead(400, { "content-length": "1000" });
        response.write("{");
        setImmediate(() => response.destroy());
      });
      expect(await catchFailure(send(write))).toMatchObject({ type: "DuplicateFieldError" });
      expect(server.requests).toHaveLength(2);
    });

    it("that points elsewhere is not followed, and the key stays here", async () => {
      const other = await startHttpServer((_request, response) => json(response, 200, {}));
      const { send, server } = await lineToServer((_request, response) =>
        response.writeHead(302, { location: `${other.baseUrl}/api` }).end(),
      );
      const error = await catchFailure(send(read));
      expect(error).toMatchObject({ exitCode: 1, details: { status: 302 } });
      expect(other.requests).toEqual([]);
      expect(server.requests).toHaveLength(1);
    });
  });

  describe("a failing read", () => {
    it.each([502, 503, 504])("is sent three times after %i", async (status) => {
      const { send, server, waits } = await lineToServer((_request, response) =>
        response.writeHead(status).end(),
      );
      expect(await catchFailure(send(search))).toMatchObject({ exitCode: 1, details: { status } });
      expect(server.requests).toHaveLength(3);
      expect(waits).toEqual([0.2, 0.8]);
    });

    it("is answered when the third attempt is", async () => {
      const { send, events } = await lineToServer((request, response, count) => {
        if (count === 1) response.destroy();
        else if (count === 2) response.writeHead(503).end();
        else json(response, 200, { url: request.url });
      });
      expect((await send(read)).body).toEqual({ url: "/api/contact/1" });
      expect(events.map((event) => event.kind)).toEqual([
        "sent",
        "lost",
        "waiting",
        "sent",
        "answered",
        "waiting",
        "sent",
        "answered",
      ]);
    });

    it("ends as unreachable when the connection is lost three times", async () => {
      const { send, server } = await lineToServer((_request, response) => response.destroy());
      const error = await catchFailure(send(read));
      expect(error).toMatchObject({ kind: "unreachable" });
      expect(error).toMatchObject({ exitCode: 8, details: { retryable: true } });
      expect(error.details.applied).toBeUndefined();
      expect(server.requests).toHaveLength(3);
    });

    it("ends as unreadable when its answer breaks off three times", async () => {
      const { send, server } = await lineToServer((_request, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"a":');
        setImmediate(() => response.destroy());
      });
      expect(await catchFailure(send(read))).toMatchObject({
        exitCode: 1,
        message: expect.stringContaining("ended early, after 5 characters"),
      });
      expect(server.requests).toHaveLength(3);
    });
  });

  describe("a failing write", () => {
    it("is not repeated when its answer is lost, and may have been applied", async () => {
      const { send, server } = await lineToServer((_request, response) => response.destroy());
      expect(await catchFailure(send(write))).toMatchObject({
        exitCode: 8,
        message: expect.stringContaining("may have been applied"),
        details: { applied: "unknown", hint: "See whether it was applied before you send it again" },
      });
      expect(server.requests).toHaveLength(1);
    });

    it("was applied when a 2xx came and broke off", async () => {
      const { send, server } = await lineToServer((_request, response) => {
        response.writeHead(200, { "content-length": "1000" });
        response.write('{"_id":');
        setImmediate(() => response.destroy());
      });
      expect(await catchFailure(send(write))).toMatchObject({ exitCode: 1, details: { applied: "yes" } });
      expect(server.requests).toHaveLength(1);
    });

    it("is repeated while no connection is made, and was then not applied", async () => {
      const { send, events, waits } = await createSendTo(`http://127.0.0.1:${await deadPort()}`, {}, purpose);
      expect(await catchFailure(send(write))).toMatchObject({
        exitCode: 8,
        message: expect.stringContaining("the request was not applied"),
        details: { applied: "no" },
      });
      expect(events.filter((event) => event.kind === "sent")).toHaveLength(3);
      expect(waits).toEqual([0.2, 0.8]);
    });

    it("was not applied, and is not repeated, when the server's encryption is not accepted", async () => {
      const server = await startHttpServer((_request, response) => json(response, 200, {}));
      const { send, events } = await createSendTo(server.baseUrl.replace("http:", "https:"), {}, purpose);
      expect(await catchFailure(send(write))).toMatchObject({ exitCode: 8, details: { applied: "no" } });
      expect(server.requests).toEqual([]);
      expect(events.filter((event) => event.kind === "sent")).toHaveLength(1);
    });

    it("finds a fresh connection after its socket stood idle longer than servers keep one", async () => {
      const ports = new Set<number | undefined>();
      const server = await startHttpServer((_request, response) => {
        ports.add(response.socket?.remotePort);
        // The hint asks for a socket to be let go at once.
        json(response, 200, {}, { connection: "keep-alive", "keep-alive": "timeout=1" });
      });
      const { send } = await createSendTo(server.baseUrl, {}, purpose);
      await send(write);
      await send(write);
      expect(ports.size).toBe(2);
    });
  });

  describe("a slow answer", () => {
    it("ends in time, is not repeated, and says of a write that it may have been applied", async () => {
      const { send, server } = await lineToServer(() => undefined, { timeoutSeconds: 0.1 });
      expect(await catchFailure(send(read))).toMatchObject({
        exitCode: 8,
        message: expect.stringContaining("0.1 s"),
      });
      expect(await catchFailure(send(write))).toMatchObject({ exitCode: 8, details: { applied: "unknown" } });
      expect(server.requests).toHaveLength(2);
    });

    it("ends in time although its body keeps dripping", async () => {
      const { send } = await lineToServer(
        (_request, response) => {
          response.writeHead(200);
          const drip = setInterval(() => response.write(" "), 20);
          response.on("close", () => clearInterval(drip));
        },
        { timeoutSeconds: 0.2 },
      );
      expect(await catchFailure(send(read))).toMatchObject({ exitCode: 8 });
      expect(await catchFailure(send(write))).toMatchObject({ details: { applied: "yes" } });
    });
  });

  describe("a 429", () => {
    const limited =
      (message: string, retryAfter: string, headers = {}): Answerer =>
      (_request, response) =>
        json(response, 429, errorBody("TooManyRequestsError", message), {
          "retry-after": retryAfter,
          ...headers,
        });

    it("of the hour is waited for, longer each time, and the request then goes through", async () => {
      const again = limited("Rate limit exceeded. Retry after 7 seconds.", "7");
      const { send, waits } = await lineToServer((request, response, count) =>
        count <= 3 ? again(request, response, count) : json(response, 200, { done: true }),
      );
      expect((await send(write)).body).toEqual({ done: true });
      expect(waits).toEqual([7, 14, 28]);
    });

    it("of an hour that ends too late stops at once with exit code 7", async () => {
      const { send, server, waits } = await lineToServer(
        limited("Rate limit exceeded. Retry after 1800 seconds.", "1800"),
      );
      expect(await catchFailure(send(write))).toMatchObject({
        exitCode: 7,
        details: { limit: "hour", retryAfterSeconds: 1800, applied: "no", retryable: true },
      });
      expect(server.requests).toHaveLength(1);
      expect(waits).toEqual([]);
    });

    it("is thrown at once when the caller waits itself", async () => {
      const { send, waits } = await lineToServer(limited("Rate limit exceeded. Retry after 1 seconds.", "1"));
      expect(await catchFailure(send(read, { maxWaitSeconds: 0 }))).toMatchObject({ exitCode: 7 });
      expect(waits).toEqual([]);
    });

    it.each([
      ["month", "Monthly API quota exceeded."],
      ["address", "Too many failed authentication attempts. Please try again later."],
    ])("of the %s is never waited for", async (limitKind, message) => {
      const { send, server, waits } = await lineToServer(limited(message, "1"));
      expect(await catchFailure(send(read, { maxWaitSeconds: 1e6 }))).toMatchObject({
        exitCode: 7,
        details: { limit: limitKind },
      });
      expect(server.requests).toHaveLength(1);
      expect(waits).toEqual([]);
    });

    it("counts apart from lost connections", async () => {
      const again = limited("Rate limit exceeded. Retry after 1 seconds.", "1");
      const { send } = await lineToServer((request, response, count) => {
        if (count <= 2 || count === 4) return void response.destroy();
        return count === 3 ? again(request, response, count) : json(response, 200, {});
      });
      // Lost, lost, limited, lost: three lost connections are the most that are borne.
      expect(await catchFailure(send(read))).toMatchObject({ exitCode: 8 });
    });
  });

  describe("an interruption", () => {
    it("ends a wait, with the signal's own reason", async () => {
      const abort = new AbortController();
      const reason = interruptedError("SIGTERM");
      const { send } = await lineToServer((_request, response) => response.writeHead(503).end(), {
        signal: abort.signal,
        onEvent: (event: { kind: string }) => event.kind === "waiting" && abort.abort(reason),
      });
      expect(await catchFailure(send(read))).toBe(reason);
    });

    it("ends a request under way, and says of a write that it may have been applied", async () => {
      const abort = new AbortController();
      const { send, server } = await lineToServer(() => abort.abort(interruptedError("SIGINT")), {
        signal: abort.signal,
      });
      const error = await catchFailure(send(write));
      expect(error).toMatchObject({
        exitCode: 130,
        details: { hint: expect.stringContaining("may have been applied") },
      });
      expect(await catchFailure(send(read))).toMatchObject({ exitCode: 130 });
      expect(server.requests).toHaveLength(1);
    });

    it("by the caller's own signal ends that request alone", async () => {
      const abort = new AbortController();
      const { send } = await lineToServer((_request, response, count) => {
        if (count === 1) abort.abort();
        else json(response, 200, {});
      });
      expect(await catchFailure(send(read, { signal: abort.signal }))).toMatchObject({ kind: "interrupted" });
      expect((await send(read)).status).toBe(200);
    });
  });
});
