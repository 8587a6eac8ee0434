import { describe, expect, it } from "vitest";
import { done } from "../support/ecm.ts";
import { type Answerer, errorBody, json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

describe("lists create", () => {
  it("gives the service's own object, and people a name and an id", async () => {
    const { ecm } = await startSandbox();
    const list = JSON.parse(await done(ecm("lists create 'ニュース, all' --json")));
    expect(list).toMatchObject({ name: "ニュース, all" });
    expect(await done(ecm("lists list -o csv"))).toBe(
      `name,totalContacts,_id\n"ニュース, all",0,${list._id}\n`,
    );
  });

  it("returns the existing list with --if-missing, and makes no second", async () => {
    const { ecm } = await startSandbox();
    const id = await done(ecm("lists create News --if-missing -o id"));
    expect(await done(ecm("lists create news --if-missing -o id"))).toBe(id);
    expect(await done(ecm("lists list -o id"))).toBe(id);
  });

  it("refuses a blank name with exit 2", async () => {
    const { ecm } = await startSandbox();
    expect((await ecm("lists create ' '")).code).toBe(2);
  });
});

describe("lists create of a name that exists", () => {
  it("is a conflict in any letter case, and a second list only when asked for", async () => {
    const { ecm } = await startSandbox();
    await done(ecm("lists create News"));
    const refused = await ecm("lists create ' news' --json");
    expect(refused).toMatchObject({ code: 6, stdout: "" });
    expect(JSON.parse(refused.stderr.split("\n").at(-2)!).error).toMatchObject({
      message: 'A list named "News" already exists',
      hint: expect.stringContaining("--if-missing"),
      applied: "no",
    });
    expect((await ecm("lists create News --dry-run")).code).toBe(6);
    expect(JSON.parse(await done(ecm("lists list --json")))).toHaveLength(1);
    await done(ecm("lists create News --allow-duplicate"));
    expect(JSON.parse(await done(ecm("lists list --json")))).toHaveLength(2);
    expect((await ecm("lists create x --allow-duplicate --if-missing")).code).toBe(2);
  });
});

describe("lists show", () => {
  it("gives the service's own object, and people its number of contacts", async () => {
    const { ecm } = await startSandbox();
    const id = (await done(ecm("lists create News -o id"))).trim();
    await done(ecm("contact create --key a@x.org --list News"));
    expect(JSON.parse(await done(ecm("lists show news --json")))).toMatchObject({ _id: id, name: "News" });
    expect(await done(ecm(`lists show ${id} -o tsv --columns name,totalContacts`))).toBe(
      "name\ttotalContacts\nNews\t1\n",
    );
    expect((await ecm("lists show Nothing")).code).toBe(5);
  });
});

describe("lists rename", () => {
  it("gives another name, its own in another letter case too, and never one that exists", async () => {
    const { ecm } = await startSandbox();
    await done(ecm("lists create News"));
    await done(ecm("lists create Leads"));
    const dry = JSON.parse(await done(ecm("lists rename Leads Old --dry-run --json")));
    expect(dry).toMatchObject({ method: "PATCH", body: { name: "Old" } });
    const taken = await ecm("lists rename Leads NEWS");
    expect(taken.code).toBe(6);
    expect(JSON.parse(await done(ecm("lists rename leads LEADS --json")))).toMatchObject({ name: "LEADS" });
    expect((await ecm("lists rename LEADS LEADS")).stderr).toContain("unchanged");
    expect((await ecm("lists rename LEADS ' '")).code).toBe(2);
    expect((await ecm("lists rename Nothing x")).code).toBe(5);
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
    const { ecm } = await startSandbox();
    for (const name of ["News", "Leads", "Rest"]) await done(ecm(["lists", "create", name]));
    for (const key of ["a@x.org", "b@x.org"])
      await done(ecm(["contact", "create", "--key", key, "--list", "News"]));
    const refused = await ecm("lists delete News");
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--yes");
    const dialog = await ecm("lists delete News", { terminalColumns: 200, typed: "n\r" });
    expect(dialog.code).toBe(1);
    expect(dialog.stderr).toContain('Delete the list "News" (2 contacts)?');
    expect((await ecm("lists delete Leads Nothing --yes")).code).toBe(5);
    expect((await ecm("lists delete '' --yes")).code).toBe(5);
    const dry = JSON.parse(await done(ecm("lists delete News Leads --dry-run --json")));
    expect(dry).toMatchObject([{ method: "DELETE" }, { method: "DELETE" }]);
    expect(JSON.parse(await done(ecm("lists list --json")))).toHaveLength(3);
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
      const result = await account.ecm("lists delete News --yes");
      expect(result.code).toBe(isDone ? 0 : 8);
    }
  });
});

/** An account with these lists, whose single lists answer as told. */
async function fakeAccount(lists: unknown[], answer: Answerer) {
  const structures = [{ _id: "s1", label: "D", keyName: "E", keyType: "email", fields: [] }];
  return startService((request, response, count) => {
    if (/\/lists\/./.test(request.url)) return answer(request, response, count);
    json(
      response,
      200,
      request.url.includes("/lists") ? { total: lists.length, records: lists } : structures,
    );
  });
}

describe("lists list", () => {
  it("counts members, pages, and says when a page is not everything", async () => {
    const { ecm } = await startSandbox();
    for (const name of ["one", "two", "three"]) await done(ecm(["lists", "create", name]));
    await done(ecm("contact create --key a@x.org --list two"));
    const page = await ecm("lists list --size 2 -o tsv --columns name,totalContacts");
    expect(page.stdout).toBe("name\ttotalContacts\none\t0\ntwo\t1\n");
    expect(page.stderr).toContain("2 of 3 lists · all: --all · next page: --page 2");
    const next = await ecm("lists list --size 2 --page 2 -o csv --columns name");
    expect(next.stdout).toBe("name\nthree\n");
    expect(next.stderr).not.toContain("shown");
    expect(JSON.parse(await done(ecm("lists list --all --json")))).toHaveLength(3);
  });

  it("takes a bare array, keeps attributes that it does not know, and escapes what a terminal would obey", async () => {
    const lists = [{ _id: "l1", name: "A\u001b[31m", color: { deep: [1, null] } }];
    const structures = [{ _id: "s1", label: "D", keyName: "E", keyType: "email", fields: [] }];
    const { ecm } = await startService((request, response) =>
      json(response, 200, request.url.includes("/lists") ? lists : structures),
    );
    expect(JSON.parse(await done(ecm("lists list --json")))).toEqual(lists);
    expect(await done(ecm("lists list -o ndjson"))).toBe(`${JSON.stringify(lists[0])}\n`);
    const table = await done(ecm("lists list", { terminalColumns: 40 }));
    expect(table).toContain("A\\x1b[31m");
    expect(table).not.toContain("\u001b[31m");
  });
});
