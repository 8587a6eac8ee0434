import { describe, expect, it } from "vitest";
import { type Answerer, done, errorBody, json, readJson, refused, startSandbox } from "../kit.ts";
import { plainStructure, startService } from "../support/service.ts";

const contents = { lists: ["News", "Leads"] };

describe("lists create", () => {
  it("gives the service's own object, and people a name and an id", async () => {
    const { ecm } = await startSandbox();
    const list = await readJson(ecm, "lists create 'ニュース, all'");
    expect(list).toMatchObject({ name: "ニュース, all" });
    const rows = await done(ecm("lists list -o csv"));
    expect(rows).toBe(`name,totalContacts,_id\n"ニュース, all",0,${list._id}\n`);
    await refused(ecm("lists create ' '"), 2);
  });

  it("of a name that exists is a conflict in any letter case, or that list, and a second one only when asked for", async () => {
    const { ecm } = await startSandbox({ contents });
    const said = await refused(ecm("lists create ' news' --json"), 6);
    expect(JSON.parse(said.split("\n").at(-2)!).error).toMatchObject({
      message: 'A list named "News" already exists',
      hint: expect.stringContaining("--if-missing"),
      applied: "no",
    });
    await refused(ecm("lists create News --dry-run"), 6);
    const id = await done(ecm("lists create Offers --if-missing -o id"));
    expect(await done(ecm("lists create offers --if-missing -o id"))).toBe(id);
    expect(await readJson(ecm, "lists list")).toHaveLength(3);
    await done(ecm("lists create News --allow-duplicate"));
    expect(await readJson(ecm, "lists list")).toHaveLength(4);
    await refused(ecm("lists create x --allow-duplicate --if-missing"), 2);
  });
});

it("lists show gives the service's own object, and people its number of contacts", async () => {
  const { ecm } = await startSandbox();
  const id = (await done(ecm("lists create News -o id"))).trim();
  await done(ecm("contact create --key a@x.org --list News"));
  expect(await readJson(ecm, "lists show news")).toMatchObject({ _id: id, name: "News" });
  const shown = await done(ecm(`lists show ${id} -o tsv --columns name,totalContacts`));
  expect(shown).toBe("name\ttotalContacts\nNews\t1\n");
  await refused(ecm("lists show Nothing"), 5);
});

describe("lists rename", () => {
  it("gives another name, its own in another letter case too, and never one that exists", async () => {
    const { ecm } = await startSandbox({ contents });
    const dry = await readJson(ecm, "lists rename Leads Old --dry-run");
    expect(dry).toMatchObject({ method: "PATCH", body: { name: "Old" } });
    await refused(ecm("lists rename Leads NEWS"), 6, /choose another\n/);
    expect(await readJson(ecm, "lists rename leads LEADS")).toMatchObject({ name: "LEADS" });
    expect((await ecm("lists rename LEADS LEADS")).stderr).toContain("unchanged");
    await refused(ecm("lists rename LEADS ' '"), 2);
    await refused(ecm("lists rename Nothing x"), 5);
    expect(await done(ecm("lists list -o csv --columns name"))).toBe("name\nNews\nLEADS\n");
  });

  it("takes any body of the answer", async () => {
    const list = { _id: "l1", name: "News" };
    for (const body of ["", "{}", "null", '{"_id":"l1","name":"New","__v":2}']) {
      const { ecm } = await fakeAccount([list], (_request, response) => response.writeHead(200).end(body));
      expect(await done(ecm("lists rename News New -o csv --columns name,_id"))).toBe("name,_id\nNew,l1\n");
    }
  });
});

describe("lists delete", () => {
  it("asks with the number of contacts, deletes the list, and leaves the contacts", async () => {
    const contacts = ["a@x.org", "b@x.org"].map((key) => ({ key, lists: ["News"] }));
    const { ecm } = await startSandbox({ contents: { lists: ["News", "Leads", "Rest"], contacts } });
    const dialog = ecm("lists delete News", { terminalColumns: 200, typed: "n\r" });
    await refused(dialog, 1, 'Delete the list "News" (2 contacts)?');
    await refused(ecm("lists delete Leads Nothing --yes"), 5);
    await refused(ecm("lists delete '' --yes"), 5);
    const dry = await readJson(ecm, "lists delete News Leads --dry-run");
    expect(dry).toMatchObject([{ method: "DELETE" }, { method: "DELETE" }]);
    expect(await readJson(ecm, "lists list")).toHaveLength(3);
    await done(ecm("lists rm News news Leads --yes"));
    expect(await done(ecm("lists list -o csv --columns name"))).toBe("name\nRest\n");
    expect(await done(ecm("contact search --count"))).toBe("2\n");
  });

  it("settles a lost answer by reading the list", async () => {
    const list = { _id: "l1", name: "News", totalContacts: 0 };
    for (const isDone of [true, false]) {
      const account = await fakeAccount([list], (request, response) => {
        if (request.method === "DELETE") return response.destroy();
        if (isDone) return json(response, 404, errorBody("RecordNotFound", "List not found"));
        return json(response, 200, list);
      });
      expect((await account.ecm("lists delete News --yes")).code).toBe(isDone ? 0 : 8);
    }
  });
});

/** An account whose listing is this, and whose single lists answer as told. */
function fakeAccount(listing: unknown, answer: Answerer = () => {}) {
  return startService((request, response, count) => {
    if (/\/lists\/./.test(request.url)) return answer(request, response, count);
    json(response, 200, request.url.includes("/lists") ? listing : [plainStructure]);
  });
}
