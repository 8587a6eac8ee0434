/** A fresh account behind the in-process transport, a clock that stands still, and short words for requests. */
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openSandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
import type { StartSandboxOptions } from "../../src/sandbox/public-types.ts";
import { startSandbox } from "../../src/sandbox/start-sandbox.ts";
import type { Clock, ContactStructure } from "../../src/wire.ts";
import { temporaryFolder } from "../support/ecm.ts";

export interface Reply {
  status: number;
  headers: Record<string, string>;
  // Answers are looked into by tests alone, and each looks for what it expects.
  // biome-ignore lint/suspicious/noExplicitAny: the shape is what the tests are about
  body: any;
  text: string;
}

interface CallOptions {
  /** null: no key is sent. */
  key?: string | null;
  /** Sent as it is, in place of JSON. */
  raw?: string;
  headers?: Record<string, string>;
}

export type TestAccount = Awaited<ReturnType<typeof openAccount>>;

export interface TestClock extends Clock {
  pass(seconds: number): void;
}

/** Begins in the middle of a month, at a full second. */
export function testClock(start = Date.UTC(2026, 5, 15, 12)): TestClock {
  let now = start;
  return {
    now: () => now,
    async sleep(milliseconds, signal) {
      signal?.throwIfAborted();
      now += milliseconds;
    },
    pass(seconds) {
      now += seconds * 1000;
    },
  };
}

export async function openAccount(options: Partial<SandboxOptions> = {}) {
  const folder = options.folder ?? join(await temporaryFolder(), "sandbox");
  const clock = testClock();
  const limits = { hourlyLimit: 1_000_000, monthlyLimit: 1_000_000 };
  const sandbox = await openSandbox({ ...limits, clock, ...options, folder });
  onTestFinished(() => sandbox.close());
  const { structureId } = sandbox;
  const structurePath = `/api/contact-structure/${structureId}`;
  const listsPath = `${structurePath}/lists`;

  async function call(
    method: string,
    path: string,
    body?: unknown,
    { key = sandbox.ownKey(), raw, headers = {} }: CallOptions = {},
  ): Promise<Reply> {
    const authentication: Record<string, string> = key === null ? {} : { "x-api-key": key };
    const answer = await sandbox.transport({
      method,
      url: `http://sandbox.invalid${path}`,
      headers: { "content-type": "application/json", ...authentication, ...headers },
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      timeoutMilliseconds: 60_000,
    });
    return { ...answer, body: answer.text === "" ? undefined : JSON.parse(answer.text) };
  }
  /** The body of an answer that must be a good one. */
  async function done(answer: Promise<Reply>): Promise<Reply["body"]> {
    const { status, body, text } = await answer;
    if (status >= 300) throw new Error(text);
    return body;
  }
  const get = (path: string) => done(call("GET", path));
  const structure = async (): Promise<Required<ContactStructure>> => (await get("/api/contact-structure"))[0];
  /** The structure as an update takes it. */
  async function definition() {
    const { _id, keyType, ...rest } = await structure();
    return rest;
  }
  /** The structure, updated by this body on top of what it is. */
  const update = async (change: object): Promise<Required<ContactStructure>> =>
    done(call("PUT", structurePath, { ...(await definition()), ...change }));
  const createList = async (name: string): Promise<string> =>
    (await done(call("POST", listsPath, { name })))._id;
  /** A search for those of whom all criterias hold. */
  const search = (criterias: object[] = [], more: object = {}) =>
    call("POST", "/api/contact/search", {
      ...{ contactStructureId: structureId, page: 1, pageSize: 10, source: ["_id", "key"] },
      contactSpecification: { filters: criterias.length > 0 ? [{ criterias }] : [] },
      ...more,
    });
  /** Another admin of the folder, as a command opens it. */
  async function openAdmin() {
    const { admin, close } = await openSandbox({ folder, clock });
    onTestFinished(close);
    return admin;
  }

  return {
    ...{ sandbox, folder, structureId, structurePath, listsPath, clock },
    ...{ call, get, structure, definition, update, createList, search, openAdmin },
    /** A request that any key may make: it reads the structures. */
    read: (key?: string | null) => call("GET", "/api/contact-structure", undefined, { key }),
    /** A request below /__sandbox/. */
    admin: (method: string, path: string, body?: unknown) =>
      call(method, `/__sandbox/${path}`, body, { key: null }),
    create: (key: string, more: object = {}) =>
      done(call("POST", "/api/contact", { key, contactStructureId: structureId, ...more })),
    /** The keys that a search finds. */
    async keys(criterias: object[] = [], more: object = {}): Promise<string[]> {
      const { contacts } = await done(search(criterias, { source: ["key"], ...more }));
      return contacts.map(({ key }: { key: string }) => key);
    },
    /** Ids of two fields, two tags and two lists. */
    async furnished() {
      const { fields } = await definition();
      const after = await update({
        fields: [...fields, { label: "City", dataType: "text" }, { label: "Plan", dataType: "text" }],
        tags: [{ label: "vip" }, { label: "trial" }],
      });
      return {
        fields: after.fields.slice(-2).map(({ _id }) => _id),
        tags: after.tags.map(({ _id }) => _id),
        lists: [await createList("News"), await createList("Offers")],
      };
    },
    /** A key with these scopes. */
    async keyWith(...scopes: string[]) {
      return (await openAdmin()).keys.create({ name: scopes.join(" and "), scopes }).key;
    },
  };
}

/** One column's criteria. */
export const eq = (columnToFilter: string, ...values: string[]) => ({
  columnToFilter,
  operator: "EQ",
  values,
});

/** Filters, of which one must hold: each of criterias that must all hold. */
export const anyOf = (...filters: object[][]) => ({
  contactSpecification: { filters: filters.map((criterias) => ({ criterias })) },
});

/** As bodies name fields, tags and lists. */
export const refs = (...ids: string[]) => ids.map((_id) => ({ _id }));

/** An id that nothing has. */
export const unknownId = "f".repeat(24);

/** A request to a service behind a port; its headers are the Response's own. */
export async function callPort(
  { baseUrl, apiKey }: { baseUrl: string; apiKey: string },
  method: string,
  path: string,
  body?: unknown,
) {
  const answer = await fetch(baseUrl + path, {
    method,
    headers: { "x-api-key": apiKey, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  const parsed: Reply["body"] = text === "" ? undefined : JSON.parse(text);
  return { status: answer.status, headers: answer.headers, body: parsed };
}

/** Creates a contact in an account behind a port. */
export const createAt = (
  account: { baseUrl: string; apiKey: string; structureId: string },
  key: string,
): ReturnType<typeof callPort> =>
  callPort(account, "POST", "/api/contact", { key, contactStructureId: account.structureId });

/** A sandbox as a test suite starts it, and requests to it; it is stopped when the test ends. */
export async function started(options?: StartSandboxOptions) {
  const sandbox = await startSandbox(options);
  onTestFinished(() => sandbox.stop());
  const call = (method: string, path: string, body?: object) => callPort(sandbox, method, path, body);
  return { ...sandbox, call, create: (key: string) => createAt(sandbox, key) };
}

/** `fetch` sets Host and Origin itself; a browser's headers have to be written by hand. */
export function fetchStatus(url: string, headers: Record<string, string>, method = "GET"): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });
}

/** Sends bytes as they are. @returns all that is answered until the connection ends: "reset" where nothing is */
export function exchange(baseUrl: string, sent: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(sent));
    let answered = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      answered += text;
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => {
      answered ||= code === "ECONNRESET" ? "reset" : `${code}`;
    });
    socket.on("close", () => resolve(answered));
  });
}

/** The only error of an answer. */
export function onlyError(answer: Reply) {
  if (answer.body?.errors?.length !== 1) throw new Error(`not one error: ${answer.text}`);
  return { status: answer.status, ...answer.body.errors[0] };
}

/** The refusal of what a key may not do. */
export const forbidden = (message: string) => ({ status: 403, errorType: "ForbiddenError", message });

/** The refusal of what no key reaches. */
export const notAccessible = forbidden("This endpoint is not accessible via API key");

/** The answer where there is no such thing. */
export const missing = (what: string) => ({
  status: 404,
  errorType: "RecordNotFound",
  message: `${what} not found`,
});

/** The answer to one request too many. */
export const tooMany = (message: string) => ({ status: 429, errorType: "TooManyRequestsError", message });

/** Each of `METHOD PATH, …`: as it stands there, its method, its path. */
export const requestsOf = (text: string) =>
  text
    .split(/,\s+/)
    .map((each) => [each, ...each.split(" ")] as [request: string, method: string, path: string]);

/** The refusal of an input, which names the member at fault. */
export function invalidAt(field: unknown): object {
  return { status: 400, errorType: "ValidationError", field };
}
