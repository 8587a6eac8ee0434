/** What an account's service does not offer is said to be so, and nothing is advised that can never work. */
import { describe, expect, it } from "vitest";
import type { ContactList } from "../../src/wire.ts";
import { ecmWith, temporaryHome } from "../support/ecm.ts";
import { errorBody, startHttpServer } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";

interface Answer {
  status: number;
  type?: string;
  text: string;
}

const page: Answer = { status: 404, type: "text/html", text: "<!DOCTYPE html><pre>Cannot do that</pre>" };
const json = (status: number, body: unknown): Answer => ({ status, text: JSON.stringify(body) });
const unreachable = json(403, errorBody("ForbiddenError", "This endpoint is not accessible via API key"));
const noRoute = json(404, { statusCode: 404, error: "Not Found", message: "Cannot do that" });
const noContact = json(404, errorBody("RecordNotFound", "Contact not found"));
const forms = { "403 of the documents": unreachable, "404 as a page": page, "404 as JSON": noRoute };

/** The sandbox, without the endpoints that `answers` answers itself. */
async function startPartial(answers: (method: string, path: string) => Answer | undefined) {
  const service = await startSandbox({
    contents: {
      lists: ["Leads"],
      contacts: [{ key: "ada@example.com", lists: ["Leads"] }, { key: "bob@example.com" }],
    },
  });
  const relay = await startHttpServer(async ({ method, url, headers, body }, response) => {
    const own = answers(method, url.replace(/\?.*/, ""));
    if (own) {
      response.writeHead(own.status, { "content-type": own.type ?? "application/json" });
      response.end(own.text);
      return;
    }
    const answer = await fetch(service.baseUrl + url, {
      method,
      headers: { "x-api-key": String(headers["x-api-key"]), "content-type": "application/json" },
      ...(body !== "" && { body }),
    });
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(await answer.text());
  });
  const env = { ...(await temporaryHome()), ECM_BASE_URL: relay.baseUrl, ECM_API_KEY: service.apiKey };
  return { service, ecm: ecmWith(env), requests: relay.requests };
}

const contact = /^\/api\/contact\/[0-9a-f]{24}$/;
const list = /^\/api\/contact-structure\/[^/]+\/lists\/[0-9a-f]{24}$/;

describe.each(Object.entries(forms))("a service that answers with a %s", (_form, answer) => {
  it.each([[["ada@example.com"]], [["ada@example.com", "bob@example.com"]], [["--list", "Leads"]]])(
    "has no deletion of contacts: %j says so, leaves no run, and deletes nobody",
    async (who) => {
      const { ecm } = await startPartial((method, path) =>
        method === "DELETE" && contact.test(path) ? answer : undefined,
      );
      const { code, stderr } = await ecm(["contact", "delete", ...who, "--yes"]);
      expect(code, stderr).toBe(answer.status === 403 ? 4 : 5);
      expect(stderr).toContain("error: This account's service does not offer the deletion of contacts (");
      expect(stderr).not.toMatch(/[Rr]esume/);
      expect((await ecm("runs list --json")).stdout).toBe("[]\n");
      expect((await ecm("contact search --count")).stdout).toBe("2\n");
    },
  );

  it("nor an erasure in the account, which is not said to be done", async () => {
    const { ecm } = await startPartial((method, path) =>
      method === "DELETE" && contact.test(path) ? answer : undefined,
    );
    const { code, stderr, stdout } = await ecm("contact erase ada@example.com --yes");
    expect(code).not.toBe(0);
    expect(stderr).toContain("This account's service does not offer the deletion of contacts");
    expect(stdout + stderr).not.toContain("deleted in the account");
    expect((await ecm("contact search --count")).stdout).toBe("2\n");
  });

  it.each([
    ["rename", "the renaming of lists", ["Leads", "Old leads"]],
    ["delete", "the deletion of lists", ["Leads", "--yes"]],
  ])("has no lists %s: it says so, with a hint", async (verb, what, args) => {
    const { ecm } = await startPartial((method, path) =>
      method !== "GET" && list.test(path) ? answer : undefined,
    );
    const { code, stderr } = await ecm(["lists", verb, ...args]);
    expect(code).toBe(answer.status === 403 ? 4 : 5);
    expect(stderr).toMatch(new RegExp(`^error: This account's service does not offer ${what} \\(`, "m"));
    expect(stderr).toMatch(/^hint: .*service's own pages/m);
  });

  it("has no events", async () => {
    const { ecm } = await startPartial((_method, path) => (path.endsWith("/events") ? answer : undefined));
    for (const args of [[], ["ada@example.com"]]) {
      const { code, stderr } = await ecm(["events", ...args]);
      expect(code).toBe(answer.status === 403 ? 4 : 5);
      expect(stderr).toContain("error: This account's service does not offer events of contacts (");
    }
    expect((await ecm("contact dossier ada@example.com -o json")).code).toBe(0);
  });

  it("has no lists one by one: the listing tells enough", async () => {
    const { ecm } = await startPartial((method, path) =>
      method === "GET" && list.test(path) ? answer : undefined,
    );
    expect(await ecm("lists show Leads")).toMatchObject({ code: 0 });
    const merged = await ecm("lists merge Leads --into All --delete-sources --yes");
    expect(merged.code, merged.stderr).toBe(0);
    const lists = JSON.parse((await ecm("lists list --json")).stdout) as ContactList[];
    expect(lists.map(({ name, totalContacts }) => [name, totalContacts])).toEqual([["All", 1]]);
  });
});

it("events of a contact that is there are not said to be of nobody", async () => {
  const { ecm } = await startPartial((_method, path) => (path.endsWith("/events") ? noContact : undefined));
  const { code, stderr } = await ecm("events ada@example.com");
  expect(code).toBe(5);
  expect(stderr).toContain("error: This account's service does not offer events of contacts (");
});

it("a deletion that is answered with 404 is believed only where the contact is gone", async () => {
  const { ecm } = await startPartial((method, path) =>
    method === "DELETE" && contact.test(path) ? noContact : undefined,
  );
  const one = await ecm("contact delete ada@example.com --yes");
  expect(one.code, one.stderr).toBe(3);
  const erased = await ecm("contact erase ada@example.com --yes");
  expect(erased.code, erased.stderr).not.toBe(0);
  expect((await ecm("contact search --count")).stdout).toBe("2\n");
});

describe("lists in a form that nobody knows", () => {
  const start = () =>
    startPartial((method, path) =>
      method === "GET" && path.endsWith("/lists") ? json(200, { lists: { data: [] } }) : undefined,
    );

  it.each([
    ["contact", "get", "ada@example.com"],
    ["contact", "search"],
    ["contact", "search", "-o", "csv"],
    ["contact", "mutate", "ada@example.com", "--set", "First Name=Ada"],
    ["contact", "create", "--key", "cy@example.com"],
    ["contact", "unsubscribe", "ada@example.com", "--yes"],
    ["contact", "unsubscribe", "ada@example.com", "bob@example.com", "--yes"],
    ["contact", "delete", "ada@example.com", "bob@example.com", "--yes"],
    ["contact", "delete", "ada@example.com", "--yes"],
    ["contact", "dossier", "ada@example.com"],
    ["contact", "erase", "ada@example.com", "--yes"],
    ["structure", "get"],
    ["structure", "list"],
    ["structure", "field", "add", "City"],
    ["structure", "tag", "add", "VIP"],
    ["export"],
  ])("do not block ecm %s %s %s", async (...args) => {
    const { ecm } = await start();
    const { code, stderr } = await ecm(args);
    expect(code, stderr).toBe(0);
  });

  it("do not block an import without a list, and its undo", async () => {
    const { ecm } = await start();
    const imported = await ecm("import - --yes", { stdin: "Email,First Name\nada@example.com,A\n" });
    expect(imported.code, imported.stderr).toBe(0);
    const undone = await ecm("runs undo last --yes");
    expect(undone.code, undone.stderr).toBe(0);
  });

  it("stop what needs them, and a csv says that lists have their ids", async () => {
    const { ecm } = await start();
    expect(await ecm("lists list")).toMatchObject({ code: 1 });
    expect(await ecm("contact mutate ada@example.com --add-list Leads")).toMatchObject({ code: 1 });
    const exported = await ecm("export");
    expect(exported.stderr).toContain("warning: The service's lists cannot be read");
    expect(exported.stdout).toMatch(/^ada@example\.com,.*[0-9a-f]{24}/m);
  });
});
