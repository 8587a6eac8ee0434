/**
 * A fresh account behind the in-process transport, a clock that stands still, and short words for requests.
 */
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { SandboxAdmin } from "../../src/sandbox/admin.ts";
import { openSandbox, type Sandbox, type SandboxOptions } from "../../src/sandbox/index.ts";
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

type Call = (method: string, path: string, body?: unknown, options?: CallOptions) => Promise<Reply>;

export interface TestAccount {
  sandbox: Sandbox;
  folder: string;
  structureId: string;
  clock: TestClock;
  call: Call;
  /** The structure as an update takes it. */
  definition(): Promise<Omit<ContactStructure, "_id" | "keyType">>;
  /** The structure, updated by this body on top of what it is. */
  update(change: object): Promise<ContactStructure>;
  /** Ids of two fields, two tags and two lists. */
  furnished(): Promise<{ fields: string[]; tags: string[]; lists: string[] }>;
  create(key: string, more?: object): Promise<Reply["body"]>;
  /** All of them must hold. */
  search(criterias: object[], more?: object): Promise<Reply>;
  /** Another admin of the folder, as a command opens it. */
  openAdmin(): Promise<SandboxAdmin>;
  /** A key with these scopes. */
  keyWith(...scopes: string[]): Promise<string>;
}

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

export async function openAccount(options: Partial<SandboxOptions> = {}): Promise<TestAccount> {
  const folder = options.folder ?? join(await temporaryFolder(), "sandbox");
  const clock = testClock();
  const sandbox = await openSandbox({
    hourlyLimit: 1_000_000,
    monthlyLimit: 1_000_000,
    clock,
    ...options,
    folder,
  });
  onTestFinished(() => sandbox.close());
  const { structureId } = sandbox;
  const call = createCall(sandbox);
  const account: TestAccount = {
    sandbox,
    folder,
    structureId,
    clock,
    call,
    ...structureActions(call, structureId),
    async create(key, more = {}) {
      const answer = await call("POST", "/api/contact", { key, contactStructureId: structureId, ...more });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    },
    search: (criterias, more = {}) =>
      call("POST", "/api/contact/search", {
        contactStructureId: structureId,
        page: 1,
        pageSize: 10,
        source: ["_id", "key"],
        contactSpecification: { filters: criterias.length > 0 ? [{ criterias }] : [] },
        ...more,
      }),
    async openAdmin() {
      const { admin, close } = await openSandbox({ folder, clock });
      onTestFinished(close);
      return admin;
    },
    async keyWith(...scopes) {
      const admin = await account.openAdmin();
      return admin.keys.create({ name: scopes.join(" and "), scopes }).key;
    },
  };
  return account;
}

function createCall(sandbox: Sandbox): Call {
  return async (method, path, body, { key = sandbox.ownKey(), raw, headers = {} } = {}) => {
    const answer = await sandbox.transport({
      method,
      url: `http://sandbox.invalid${path}`,
      headers: {
        "content-type": "application/json",
        ...(key === null ? {} : { "x-api-key": key }),
        ...headers,
      },
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      timeoutMilliseconds: 60_000,
    });
    return { ...answer, body: answer.text === "" ? undefined : JSON.parse(answer.text) };
  };
}

type StructureActions = Pick<TestAccount, "definition" | "update" | "furnished">;

function structureActions(call: Call, structureId: string): StructureActions {
  const actions: StructureActions = {
    async definition() {
      const [{ _id, keyType, ...definition }] = (await call("GET", "/api/contact-structure")).body;
      return definition;
    },
    async update(change) {
      const before = await actions.definition();
      const answer = await call("PUT", `/api/contact-structure/${structureId}`, { ...before, ...change });
      if (answer.status !== 200) throw new Error(answer.text);
      return answer.body;
    },
    async furnished() {
      const [before] = (await call("GET", "/api/contact-structure")).body;
      const after = await actions.update({
        fields: [...before.fields, { label: "City", dataType: "text" }, { label: "Plan", dataType: "text" }],
        tags: [{ label: "vip" }, { label: "trial" }],
      });
      const lists: string[] = [];
      for (const name of ["News", "Offers"]) {
        lists.push((await call("POST", `/api/contact-structure/${structureId}/lists`, { name })).body._id);
      }
      return {
        fields: after.fields.slice(-2).map((field) => field._id),
        tags: after.tags!.map((tag) => tag._id),
        lists,
      };
    },
  };
  return actions;
}

/** One column's criteria. */
export function eq(columnToFilter: string, ...values: string[]): object {
  return { columnToFilter, operator: "EQ", values };
}

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

/** The only error of an answer. */
export function onlyError(answer: Reply) {
  if (answer.body?.errors?.length !== 1) throw new Error(`not one error: ${answer.text}`);
  return { status: answer.status, ...answer.body.errors[0] };
}

/** The refusal of an input, which names the member at fault. */
export function invalidAt(field: unknown): object {
  return { status: 400, errorType: "ValidationError", field };
}
