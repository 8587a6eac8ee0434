/** The description that /__sandbox/ gives of itself, held against the table that answers and what is answered. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { listActions } from "../../src/sandbox/admin-api/actions.ts";
import type { AdminPlace } from "../../src/sandbox/admin-api/place.ts";
import { openAccount } from "./account.ts";

interface Operation {
  operationId: string;
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface Description {
  openapi: string;
  servers: { url: string }[];
  security: object[];
  paths: Record<string, Record<string, Operation>>;
}

async function described(options?: Parameters<typeof openAccount>[0]) {
  const account = await openAccount(options);
  const admin = (method: string, path: string, body?: unknown) =>
    account.call(method, `/__sandbox${path}`, body, { key: null });
  const answer = await admin("GET", "/openapi.json");
  expect(answer.status).toBe(200);
  return { account, admin, description: answer.body as Description };
}

test("each route of the table is in it, and nothing else but the page", async () => {
  const { account, description } = await described();
  expect(description.openapi).toBe("3.1.0");
  const place = { root: "", worlds: account.sandbox.worlds } as unknown as AdminPlace;
  const routes = listActions(account.sandbox.admin, place).map(
    ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`,
  );
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(operations.toSorted()).toEqual(["GET /", ...routes].toSorted());
  const ids = Object.values(description.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
  for (const [path, methods] of Object.entries(description.paths)) {
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    for (const { parameters = [] } of Object.values(methods)) {
      expect(parameters.filter((each) => each.in === "path").map(({ name }) => name)).toEqual(inPath);
    }
  }
});

test("it says where it is, and that a token is needed where one is", async () => {
  const { account, description } = await described();
  expect(description).toMatchObject({ servers: [{ url: "/__sandbox" }], security: [] });
  const world = await account.sandbox.worlds.create();
  const headers = { host: "127.0.0.1:8080" };
  const ofWorld = await account.call("GET", `${world.root}/__sandbox/openapi.json`, undefined, {
    key: null,
    headers,
  });
  expect(ofWorld.body.servers[0].url).toBe(`http://127.0.0.1:8080${world.root}/__sandbox`);
  expect(Object.keys(ofWorld.body.paths)).not.toContain("/worlds");
  const locked = await described({ adminToken: "s3cret" });
  expect(locked.description.security).toEqual([{ adminToken: [] }]);
});

test("each answer fits it, and so does each body that is taken", async () => {
  const { account, admin, description } = await described();
  await account.furnished();
  const ajv = new Ajv2020({ strict: false, formats: { "date-time": true } });
  ajv.addSchema(description, "admin.json");
  const problems = (schema: object, value: unknown) => {
    const check = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"admin.json#/')));
    return check(value) ? [] : (check.errors ?? []);
  };
  const seed = {
    fields: ["City"],
    contacts: [{ key: "ada@b.co", fields: { City: "Oslo" }, lists: ["News"], status: "Active" }],
    campaigns: [{ name: "Sale", status: "sent", sentAt: "2026-06-10" }],
    templates: [{ name: "Plain" }],
    domains: [{ domain: "example.com", missing: ["spf"] }],
  };
  const exchanges: [method: string, template: string, body?: unknown, path?: string][] = [
    ["GET", "/health"],
    ["POST", "/seed", seed],
    ["GET", "/overview"],
    ["GET", "/requests"],
    ["DELETE", "/requests"],
    ["POST", "/events", { key: "ada@b.co", type: "bounced" }],
    ["GET", "/snapshots"],
    ["PUT", "/snapshots/{name}", undefined, "/snapshots/one"],
    ["POST", "/snapshots/{name}/load", undefined, "/snapshots/one/load"],
    ["POST", "/worlds", { from: "one", seed: 1, variants: { keys: "first" } }],
    ["POST", "/worlds", { variants: { keys: "none" } }],
    ["GET", "/worlds"],
    ["DELETE", "/worlds/{id}", undefined, "/worlds/none"],
    ["DELETE", "/worlds"],
    ["DELETE", "/snapshots/{name}", undefined, "/snapshots/one"],
    ["DELETE", "/snapshots/{name}", undefined, "/snapshots/one"],
    ["POST", "/reset", { everything: true, seed: 1 }],
    ["POST", "/reset", { everything: "yes" }],
    ["GET", "/clock"],
    ["PUT", "/clock", { advance: "90m" }],
    ["GET", "/faults"],
    ["PUT", "/faults", { faults: ["503:POST"] }],
    ["PUT", "/faults", { faults: [1] }],
    ["DELETE", "/faults"],
    ["GET", "/limits"],
    ["PUT", "/limits", { hourly: 5, used: { hour: 1 } }],
    ["GET", "/openapi.json"],
  ];
  const met = new Set<string>();
  for (const [method, template, body, path = template] of exchanges) {
    const answer = await admin(method, path, body);
    const name = `${method} ${path} ${JSON.stringify(body)}`;
    const operation = description.paths[template]![method.toLowerCase()]!;
    const { content } = operation.responses[answer.status < 400 ? answer.status : "4XX"]!;
    const schema = content?.["application/json"]?.schema;
    if (schema) expect(problems(schema, answer.body), name).toEqual([]);
    else expect(answer.text, name).toBe("");
    if (answer.status < 400) met.add(`${method} ${template}`);
    const taken = operation.requestBody?.content["application/json"]?.schema;
    if (answer.status < 400 && body !== undefined) expect(problems(taken!, body), name).toEqual([]);
  }
  const all = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  // A page, a stream, and a world that is there: other tests have these.
  const others = ["GET /", "GET /requests/stream", "DELETE /worlds/{id}"];
  expect(all.filter((each) => !met.has(each) && !others.includes(each))).toEqual([]);
});
