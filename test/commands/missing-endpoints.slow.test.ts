/** What an account's service does not offer is said to be so, and nothing is advised that can never work. */
import { describe, expect, it } from "vitest";
import { done, ecmWith, ends, errorBody, readJson, refused, startHttpServer, temporaryHome } from "../kit.ts";
import { startSandbox } from "../support/sandbox.ts";

type Answer = { status: number; type?: string; text: string };

const page: Answer = { status: 404, type: "text/html", text: "<!DOCTYPE html><pre>Cannot do that</pre>" };
const json = (status: number, body: unknown): Answer => ({ status, text: JSON.stringify(body) });
const unreachable = json(403, errorBody("ForbiddenError", "This endpoint is not accessible via API key"));
const noRoute = json(404, { statusCode: 404, error: "Not Found", message: "Cannot do that" });
const noContact = json(404, errorBody("RecordNotFound", "Contact not found"));
const forms = { "403 of the documents": unreachable, "404 as a page": page, "404 as JSON": noRoute };

/** The sandbox, without the endpoints that `answers` answers itself. */
async function startPartial(answers: (method: string, path: string) => Answer | undefined) {
  const contacts = [{ key: "ada@example.com", lists: ["Leads"] }, { key: "bob@example.com" }];
  const service = await startSandbox({ contents: { lists: ["Leads"], contacts } });
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
  return ecmWith(env);
}

const contact = /^\/api\/contact\/[0-9a-f]{24}$/;
const list = /^\/api\/contact-structure\/[^/]+\/lists\/[0-9a-f]{24}$/;
const isDeletion = (method: string, path: string) => method === "DELETE" && contact.test(path);
const offersNo = (what: string) => `error: This account's service does not offer ${what} (`;
const noDeletion = offersNo("the deletion of contacts");
const noEvents = offersNo("events of contacts");

describe.each(Object.entries(forms))("a service that answers with a %s", (_form, answer) => {
  const exitCode = answer.status === 403 ? 4 : 5;

  it("has no deletion of contacts: it says so, leaves no run, and deletes and erases nobody", async () => {
    const ecm = await startPartial((method, path) => (isDeletion(method, path) ? answer : undefined));
    for (const who of ["ada@example.com", "ada@example.com bob@example.com"])
      expect(await refused(ecm(`contact delete ${who} --yes`), exitCode, noDeletion)).not.toMatch(/resume/i);
    expect(await readJson(ecm, "runs list")).toEqual([]);
    const { stderr, stdout } = await ends(ecm("contact erase ada@example.com --yes"), exitCode, noDeletion);
    expect(stdout + stderr).not.toContain("deleted in the account");
    expect(await done(ecm("contact search --count"))).toBe("2\n");
  });

  it("has no deletion of contacts: an erasure does the rest, and is completed once it is done by hand", async () => {
    let isByHand = false;
    const ecm = await startPartial((method, path) =>
      isDeletion(method, path) && !isByHand ? answer : undefined,
    );
    const countRuns = async () => (await readJson(ecm, "contact dossier ada@example.com")).runs.length;
    await done(ecm("import -", { stdin: "Email,First Name\nada@example.com,Ada\n" }));
    expect(await countRuns()).toBe(1);
    const hint = /^hint: The rest is done\. Delete .* in the service's own pages, then run the same command/m;
    await refused(ecm("contact erase ada@example.com --yes"), exitCode, noDeletion, hint);
    expect(await done(ecm("suppressions check ada@example.com"))).toContain("yes");
    expect(await countRuns()).toBe(0);
    isByHand = true;
    await done(ecm("contact delete ada@example.com --yes"));
    expect(await readJson(ecm, "contact erase ada@example.com --yes")).toMatchObject({ contact: "absent" });
  });

  it("has neither events nor lists one by one: it says so, and the listing tells enough", async () => {
    const isMissing = (path: string) => path.endsWith("/events") || list.test(path);
    const ecm = await startPartial((_method, path) => (isMissing(path) ? answer : undefined));
    for (const line of ["events", "events ada@example.com"]) await refused(ecm(line), exitCode, noEvents);
    const dossier = await done(ecm("contact dossier ada@example.com"));
    for (const words of ["### ada@example.com", "They could not be read"]) expect(dossier).toContain(words);
    const byHand = /^hint: .*service's own pages/m;
    const rename = ecm("lists rename Leads 'Old leads'");
    await refused(rename, exitCode, offersNo("the renaming of lists"), byHand);
    await refused(ecm("lists delete Leads --yes"), exitCode, offersNo("the deletion of lists"), byHand);
    await done(ecm("lists show Leads"));
  });

  it("has no deletion of lists: a merge says what is left to do by hand, and is not to be resumed", async () => {
    const ecm = await startPartial((method, path) =>
      method === "DELETE" && list.test(path) ? answer : undefined,
    );
    await done(ecm("lists create Fair"));
    await done(ecm("contact mutate bob@example.com --add-list Fair"));
    const merge = ecm("lists merge Leads Fair --into All --delete-sources --yes");
    const left =
      /^hint: All contacts of "Leads", "Fair" are in "All": delete what is left in the service's own pages$/m;
    expect(await refused(merge, exitCode, left)).not.toMatch(/[Rr]esume|Undo/);
    expect(await readJson(ecm, "runs list")).toMatchObject([{ status: "completed" }]);
  });

  it("has no list by itself to read: lists are merged all the same", async () => {
    const ecm = await startPartial((method, path) =>
      method === "GET" && list.test(path) ? answer : undefined,
    );
    await done(ecm("lists merge Leads --into All --delete-sources --yes"));
    expect(await readJson(ecm, "lists list")).toMatchObject([{ name: "All", totalContacts: 1 }]);
  });
});

it("events of a contact that is there are not said to be of nobody", async () => {
  const ecm = await startPartial((_method, path) => (path.endsWith("/events") ? noContact : undefined));
  await refused(ecm("events ada@example.com"), 5, noEvents);
});

it("a deletion that is answered with 404 is believed only where the contact is gone", async () => {
  const ecm = await startPartial((method, path) => (isDeletion(method, path) ? noContact : undefined));
  expect((await ecm("contact delete ada@example.com --yes")).code).toBe(3);
  expect((await ecm("contact erase ada@example.com --yes")).code).not.toBe(0);
  expect(await done(ecm("contact search --count"))).toBe("2\n");
});

it("lists in a form that nobody knows block no command that needs none, and a csv says that lists have their ids", async () => {
  const ecm = await startPartial((method, path) =>
    method === "GET" && path.endsWith("/lists") ? json(200, { lists: { data: [] } }) : undefined,
  );
  await refused(ecm("lists list"), 1);
  await refused(ecm("contact mutate ada@example.com --add-list Leads"), 1);
  const exported = await ends(ecm("export"), 0, "warning: The service's lists cannot be read");
  expect(exported.stdout).toMatch(/^ada@example\.com,.*[0-9a-f]{24}/m);
  for (const line of [
    "contact get ada@example.com",
    "contact search",
    "contact search -o csv",
    "contact mutate ada@example.com --set 'First Name=Ada'",
    "contact create --key cy@example.com",
    "contact create --key dan@example.com",
    "contact dossier ada@example.com",
    "structure get",
    "structure list",
    "structure field add City",
    "structure tag add VIP",
    "export",
    "import - --yes",
    "runs undo last --yes",
    "contact unsubscribe ada@example.com --yes",
    "contact unsubscribe bob@example.com cy@example.com --yes",
    "contact delete bob@example.com cy@example.com --yes",
    "contact delete dan@example.com --yes",
    "contact erase ada@example.com --yes",
  ]) {
    const { code, stderr } = await ecm(line, { stdin: "Email,First Name\nada@example.com,A\n" });
    expect(code, `ecm ${line}\n${stderr}`).toBe(0);
  }
});
