/** The description that the service gives of itself, held against what it does. */
import { Ajv2020 } from "ajv/dist/2020.js";
import { beforeEach, expect, test } from "vitest";
import { eq, openAccount, type Reply, refs, type TestAccount } from "./account.ts";

interface Operation {
  operationId: string;
  tags: string[];
  parameters: { name: string; schema: object }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { content?: Record<string, { schema: object }> }>;
}
interface Description {
  openapi: string;
  info: object;
  servers: object[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, { properties: Record<string, object> }> };
}

let account: TestAccount;
let description: Description;
const ajv = new Ajv2020({
  strict: false,
  formats: { "date-time": (text: string) => !Number.isNaN(Date.parse(text)) },
});

beforeEach(async () => {
  account = await openAccount();
  const { status, body } = await account.call("GET", "/openapi.json", undefined, { key: null });
  expect(status).toBe(200);
  description = body;
});

function findErrors(schema: object, value: unknown): object[] {
  const rooted = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi.json#/'));
  const check = ajv.compile(rooted);
  return check(value) ? [] : (check.errors ?? []);
}

test("/openapi.json is OpenAPI 3.1, needs no key, spends nothing, and says where the sandbox is, and its licence", async () => {
  expect(description.openapi).toBe("3.1.0");
  expect((await account.read()).headers["x-ratelimit-remaining"]).toBe("999999");
  expect(description.info).toMatchObject({ license: { name: "MIT", identifier: "MIT" } });
  expect(description.servers).toMatchObject([{ url: "/" }]);
  const of = async (host: string) =>
    (await account.call("GET", "/openapi.json", undefined, { headers: { host } })).body.servers[0].url;
  expect(await of("127.0.0.1:8080")).toBe("http://127.0.0.1:8080");
  expect(await of("[::1]:8080")).toBe("http://[::1]:8080");
  expect(await of("evil/<script>")).toBe("/");
});

test("/openapi.json describes numbers as numbers, with their bounds", async () => {
  const numbers = Object.values(description.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ parameters }) => parameters)
    .filter(({ name }) => ["page", "size", "pastDays"].includes(name));
  const bounds = { page: 2 ** 31 - 1, size: 1000, pastDays: 90 };
  expect(numbers.length).toBeGreaterThanOrEqual(7);
  for (const { name, schema } of numbers) {
    const maximum = bounds[name as keyof typeof bounds];
    expect(schema).toEqual({ type: "integer", minimum: 1, maximum });
    const at = (value: number) => account.call("GET", `/api/contact/events?${name}=${value}`);
    expect([(await at(1)).status, (await at(maximum)).status]).toEqual([200, 200]);
    expect([(await at(0)).status, (await at(maximum + 1)).status]).toEqual([400, 400]);
  }
  const search = description.components.schemas.SearchContacts!;
  expect(search.properties.pageSize).toMatchObject({ type: "integer", minimum: 1, maximum: 1000 });
});

test("/openapi.json names its parts, so that generated clients read well", async () => {
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  const ids = operations.map((operation) => operation.operationId);
  expect(new Set(ids).size).toBe(operations.length);
  expect(ids).toContain("searchContacts");
  const contacts = ["contact-structure", "lists", "contact"];
  const groups = [...contacts, "email-campaign", "email-template", "email-domain", "reports"];
  for (const { tags } of operations) expect(groups).toContain(tags[0]);
  const contact = { $ref: "#/components/schemas/Contact" };
  const read = description.paths["/api/contact/{contactId}"]!.get!;
  expect(read.responses[200]!.content!["application/json"]!.schema).toEqual(contact);
  const create = description.paths["/api/contact"]!.post!;
  expect(create.requestBody!.content["application/json"]!.schema).toEqual({
    $ref: "#/components/schemas/CreateContact",
  });
});

type Exchange = [method: string, path: string, body: unknown, status: number];

/** Requests to every endpoint, and the status of each answer. */
async function everyExchange(): Promise<Exchange[]> {
  const { structureId: contactStructureId, structurePath: structure, listsPath: all } = account;
  const { fields, tags, lists } = await account.furnished();
  const made = { fields: [{ _id: fields[0], value: "x" }], lists: refs(lists[0]!) };
  const contact = `/api/contact/${(await account.create("a@b.co", made))._id}`;
  const source = ["key", "contactStatus", "contactSubStatus"];
  const search = { contactStructureId, page: 1, pageSize: 10, source, contactSpecification: { filters: [] } };
  const byKey = { ...search, contactSpecification: { filters: [{ criterias: [eq("KEY", "a@b.co")] }] } };
  const whole = await account.definition();
  const contacts = [{ key: "p@example.com" }];
  const campaigns = [{ name: "News", sentAt: "2026-06-10" }];
  const domains = [{ domain: "example.com", provider: "grey-label" }];
  account.sandbox.admin.seed({ contacts, campaigns, templates: [{ name: "Plain" }], domains });
  const [campaign] = (await account.get("/api/email/campaign")).records;
  return [
    ["GET", "/api/contact-structure", undefined, 200],
    ["GET", structure, undefined, 200],
    ["PUT", structure, whole, 200],
    ["PUT", structure, { ...whole, label: 5 }, 400],
    ["POST", all, { name: "New" }, 200],
    ["POST", all, {}, 400],
    ["GET", `${all}?page=1&size=2`, undefined, 200],
    ["GET", `${all}/all`, undefined, 200],
    ["GET", `${all}/${lists[0]}`, undefined, 200],
    ["PATCH", `${all}/${lists[0]}`, { name: "Newer" }, 200],
    ["DELETE", `${all}/${lists[1]}`, undefined, 204],
    ["POST", `${all}/merge`, { name: "All", lists: refs(lists[0]!) }, 200],
    ["POST", `${all}/${lists[0]}/duplicate`, { name: "Copy" }, 201],
    ["DELETE", all, { lists: [] }, 400],
    ["GET", "/api/contact", undefined, 200],
    ["GET", "/api/contact/events?types=contact-created&pastDays=1", undefined, 200],
    ["GET", `${contact}/events`, undefined, 200],
    ["POST", "/api/contact", { key: "c@d.co", contactStructureId }, 200],
    ["POST", "/api/contact", { key: 5, contactStructureId }, 400],
    ["POST", "/api/contact", { contactStructureId }, 400],
    ["GET", contact, undefined, 200],
    ["GET", "/api/contact/unknown", undefined, 404],
    ["POST", "/api/contact/search", search, 200],
    ["POST", "/api/contact/search", byKey, 200],
    ["POST", "/api/contact/search", { ...search, source: ["status"] }, 400],
    ["POST", "/api/contact/search", { ...search, sort: "key" }, 400],
    ["PUT", `${contact}/mutate`, { addTags: [tags[0]], removeLists: refs(lists[0]!) }, 200],
    ["PUT", `${contact}/mutate`, { addTags: [5] }, 400],
    ["PATCH", contact, { status: { primary: "Inactive", secondary: "Unsubscribe" } }, 200],
    ["PATCH", contact, { status: {} }, 400],
    ["PUT", contact, { key: "e@f.co", __v: 2 }, 200],
    ["DELETE", contact, undefined, 200],
    ["GET", "/api/email/campaign?page=1&size=2&sort=name:desc&status=sent", undefined, 200],
    ["GET", `/api/email/campaign/${campaign._id}`, undefined, 200],
    ["GET", "/api/email/campaign/unknown", undefined, 404],
    ["GET", "/api/email/template", undefined, 200],
    ["GET", "/api/email/domain", undefined, 200],
    ["GET", "/api/email/domain/grey-label", undefined, 200],
    ["GET", "/api/reports/dashboard?pastDays=7", undefined, 200],
    ["GET", "/api/reports/dashboard", undefined, 400],
    ["GET", "/api/reports/email/overall?pastDays=7&timezone=Europe/Oslo", undefined, 200],
    ["GET", "/api/reports/email/overall/histogram?pastDays=7&eventType=email-bounced", undefined, 200],
    ["GET", `/api/reports/email/${campaign._id}`, undefined, 200],
    ["GET", `/api/reports/email/${campaign._id}/engagement?period=24hours`, undefined, 200],
  ];
}

test("Every endpoint that /openapi.json names is there, and exchanges, good and bad, are as it describes them", async () => {
  ajv.addSchema(description, "openapi.json");
  const met = new Set<string>();
  for (const [method, path, body, status] of await everyExchange()) {
    const answer = await account.call(method, path, body);
    const name = `${method} ${path} ${JSON.stringify(body)}`;
    expect(answer.status, name).toBe(status);
    const [template, operation] = describeOperation(method, path);
    met.add(`${method} ${template}`);
    const sent = operation.requestBody?.content["application/json"]?.schema;
    // What the schemas refuse is refused; rules that look at stored data are not theirs.
    if (sent)
      expect(findErrors(sent, JSON.parse(JSON.stringify(body))).length === 0, name).toBe(status < 400);
    expect(findProblems(operation, answer), name).toEqual([]);
  }
  const described = Object.values(description.paths).flatMap((methods) => Object.keys(methods));
  expect([met.size, described.length]).toEqual([32, 32]);
});

function findProblems(operation: Operation, answer: Reply): unknown[] {
  const described = operation.responses[answer.status];
  if (!described) return ["this status is not described"];
  const schema = described.content?.["application/json"]?.schema;
  if (!schema) return answer.body === undefined ? [] : ["no body is described"];
  return findErrors(schema, answer.body);
}

function describeOperation(method: string, path: string): [template: string, Operation] {
  const isMeant = (template: string) =>
    new RegExp(`^${template.replace(/\{\w+\}/g, "[^/]+")}$`).test(path.replace(/\?.*/, ""));
  const found = Object.entries(description.paths)
    .map(([template, methods]): [string, Operation?] => [template, methods[method.toLowerCase()]])
    .filter(([template, operation]) => operation && isMeant(template))
    // The template with the fewest parameters is the one that is meant.
    .toSorted(([a], [b]) => a.split("{").length - b.split("{").length);
  return found[0] as [string, Operation];
}
