/** What an account's service does not offer is said to be so, and nothing is advised that can never work. */
import { describe, expect, it } from "vitest";
import { done, ecmWith, readJson, refused, temporaryHome } from "../support/ecm.ts";
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
  return { ecm: ecmWith(env) };
}

const contact = /^\/api\/contact\/[0-9a-f]{24}$/;
const list = /^\/api\/contact-structure\/[^/]+\/lists\/[0-9a-f]{24}$/;
const isDeletion = (method: string, path: string) => method === "DELETE" && contact.test(path);
const offersNo = (what: string) => `error: This account's service does not offer ${what} (`;
const noDeletion = offersNo("the deletion of contacts");
const noEvents = offersNo("events of contacts");

describe.each(Object.entries(forms))("a service that answers with a %s", (_form, answer) => {
  const exitCode = answer.status === 403 ? 4 : 5;

  it.each(["ada@example.com", "ada@example.com bob@example.com", "--list Leads"])(
    "has no deletion of contacts: %j says so, leaves no run, and deletes nobody",
    async (who) => {
      const { ecm } = await startPartial((method, path) => (isDeletion(method, path) ? answer : undefined));
      const stderr = await refused(ecm(`contact delete ${who} --yes`), exitCode, noDeletion);
      expect(stderr).not.toMatch(/[Rr]esume/);
      expect(await readJson(ecm, "runs list")).toEqual([]);
      expect(await done(ecm("contact search --count"))).toBe("2\n");
    },
  );

  it("nor an erasure in the account, which is not said to be done", async () => {
    const { ecm } = await startPartial((method, path) => (isDeletion(method, path) ? answer : undefined));
    const { code, stderr, stdout } = await ecm("contact erase ada@example.com --yes");
    expect(code).not.toBe(0);
    expect(stderr).toContain(noDeletion);
    expect(stdout + stderr).not.toContain("deleted in the account");
    expect(await done(ecm("contact search --count"))).toBe("2\n");
  });

  it.each([
    ["rename Leads 'Old leads'", "the renaming of lists"],
    ["delete Leads --yes", "the deletion of lists"],
  ])("has no lists %s: it says so, with a hint", async (line, what) => {
    const { ecm } = await startPartial((method, path) =>
      method !== "GET" && list.test(path) ? answer : undefined,
    );
    await refused(ecm(`lists ${line}`), exitCode, offersNo(what), /^hint: .*service's own pages/m);
  });

  it("has no events", async () => {
    const { ecm } = await startPartial((_method, path) => (path.endsWith("/events") ? answer : undefined));
    for (const line of ["events", "events ada@example.com"]) await refused(ecm(line), exitCode, noEvents);
    await done(ecm("contact dossier ada@example.com -o json"));
  });

  it("has no lists one by one: the listing tells enough", async () => {
    const { ecm } = await startPartial((method, path) =>
      method === "GET" && list.test(path) ? answer : undefined,
    );
    await done(ecm("lists show Leads"));
    await done(ecm("lists merge Leads --into All --delete-sources --yes"));
    expect(await readJson(ecm, "lists list")).toMatchObject([{ name: "All", totalContacts: 1 }]);
  });
});

it("events of a contact that is there are not said to be of nobody", async () => {
  const { ecm } = await startPartial((_method, path) => (path.endsWith("/events") ? noContact : undefined));
  await refused(ecm("events ada@example.com"), 5, noEvents);
});

it("a deletion that is answered with 404 is believed only where the contact is gone", async () => {
  const { ecm } = await startPartial((method, path) => (isDeletion(method, path) ? noContact : undefined));
  expect((await ecm("contact delete ada@example.com --yes")).code).toBe(3);
  expect((await ecm("contact erase ada@example.com --yes")).code).not.toBe(0);
  expect(await done(ecm("contact search --count"))).toBe("2\n");
});

describe("lists in a form that nobody knows", () => {
  const start = () =>
    startPartial((method, path) =>
      method === "GET" && path.endsWith("/lists") ? json(200, { lists: { data: [] } }) : undefined,
    );

  it.each([
    "contact get ada@example.com",
    "contact search",
    "contact search -o csv",
    "contact mutate ada@example.com --set 'First Name=Ada'",
    "contact create --key cy@example.com",
    "contact unsubscribe ada@example.com --yes",
    "contact unsubscribe ada@example.com bob@example.com --yes",
    "contact delete ada@example.com bob@example.com --yes",
    "contact delete ada@example.com --yes",
    "contact dossier ada@example.com",
    "contact erase ada@example.com --yes",
    "structure get",
    "structure list",
    "structure field add City",
    "structure tag add VIP",
    "export",
  ])("do not block ecm %s", async (line) => {
    const { ecm } = await start();
    await done(ecm(line));
  });

  it("do not block an import without a list, and its undo", async () => {
    const { ecm } = await start();
    await done(ecm("import - --yes", { stdin: "Email,First Name\nada@example.com,A\n" }));
    await done(ecm("runs undo last --yes"));
  });

  it("stop what needs them, and a csv says that lists have their ids", async () => {
    const { ecm } = await start();
    await refused(ecm("lists list"), 1);
    await refused(ecm("contact mutate ada@example.com --add-list Leads"), 1);
    const exported = await ecm("export");
    expect(exported.stderr).toContain("warning: The service's lists cannot be read");
    expect(exported.stdout).toMatch(/^ada@example\.com,.*[0-9a-f]{24}/m);
  });
});
