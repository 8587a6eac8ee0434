/** `ecm contact …` against the embedded service over HTTP. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { done, temporaryFolder } from "../support/ecm.ts";
import { type Answerer, json } from "../support/http-server.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";

/** An account with a field, two tags and two lists, and Ada in it. */
async function seeded(): Promise<RunningSandbox & { ada: Contact }> {
  const running = await startSandbox({
    contents: {
      tags: ["vip", "north, west", "名前"],
      lists: ["News", "ニュース"],
      contacts: [{ key: "ada@example.com", fields: { City: "Paris" }, lists: ["News"], tags: ["vip"] }],
    },
  });
  const ada = await done(running.ecm("contact get ada@example.com --json"));
  return { ...running, ada: JSON.parse(ada) as Contact };
}

/** `ecm` against a service that answers as a test says. */
async function against(answer: Answerer) {
  const { server, ecm } = await startService(answer);
  return { ecm, seen: server.requests };
}

const withoutLimits = (stderr: string) => stderr.replace(/^rate-limit: .*\n/m, "");

describe("contact", () => {
  it.each([
    ["create", 2, "The contact's key is missing"],
    ["create --key ' '", 2, "The contact's key must be text"],
    ["create --data - --key a@x.org", 2, "--data is the whole body"],
    ["create --data -", 2, "standard input is not JSON"],
    ["create --key a@x.org --set City", 2, "is not FIELD=VALUE"],
    ["create --key a@x.org --set City=1 --set city=2", 2, "is set twice"],
    ["create --kee a@x.org", 2, "--kee"],
    [
      "create --key a@x.org --list Sales",
      5,
      'No list is named "Sales"\nhint: Known lists: "News", "ニュース"',
    ],
    ["create --key a@x.org --tag gold", 5, 'No tag is named "gold"\nhint: Known tags: "vip", "north, west"'],
    ["create --key a@x.org --set Town=x", 5, 'No field is named "Town"\nhint: Known fields: "First Name"'],
    ["get nobody@example.com", 5, 'No contact has the key or id "nobody@example.com"'],
    ["get 0123456789abcdef01234567", 5, 'No contact has the key or id "0123456789abcdef01234567"'],
    ["get nobody", 5, 'No contact has the key or id "nobody"'],
    ["get ..", 5, 'No contact has the key or id ".."'],
    ["search --filter 'KEY EQ'", 2, "COLUMN OPERATOR VALUE"],
    ["search --filter-json {", 2, "--filter-json is not JSON: Expected property name"],
    ["search --filter-json 3", 2, "neither a JSON array of filters nor a JSON object"],
    ["search --filter-json {} --key a", 2, "cannot be used with --key"],
    ["search --filter-json [] --list a", 2, "cannot be used with --key"],
    ["search --page 0", 2, "--page"],
    ["search --page 2 --all", 2, "--all"],
    ["search --source key,,tags", 2, "Parts: _id, key, fields"],
    ["search --source _id,__v", 2, "Parts: _id, key, fields"],
    ["search --source _id,contactStructureId", 2, "Parts: _id, key, fields"],
    ["search --source _id,Key", 2, "Parts: _id, key, fields"],
    ["search --columns key,nope", 2, '--columns: there is no column "nope"'],
    ["search --columns __v -o tsv", 2, "--columns"],
    ["search --output xml", 2, "Allowed choices are table, json"],
    ["mutate ada@example.com", 2, "No change given"],
    ["mutate ada@example.com --if-version 1", 2, "No change given"],
    ["mutate --add-tag vip", 2, "id or key is missing"],
    ["mutate '' --add-tag vip", 2, "empty"],
    ["mutate ada@example.com --add-tag vip --remove-tag VIP", 2, "both added and removed"],
    ["mutate ada@example.com --data - --add-tag vip", 2, "--data is the whole body"],
    ["mutate ada@example.com --add-tag vip --if-version x", 2, "--if-version"],
  ])("%s is refused with exit %i, and nothing is written", async (line, exitCode, message) => {
    const { ecm, sandbox } = await seeded();
    const { code, stdout, stderr } = await ecm(`contact ${line}`, { stdin: "{not json" });
    expect({ code, stdout }).toEqual({ code: exitCode, stdout: "" });
    expect(stderr).toContain(message);
    const writes = sandbox.admin
      .requests()
      .filter(({ method, path }) => method !== "GET" && !/search$/.test(path));
    expect(writes).toEqual([]);
  });
});

describe("contact create", () => {
  it("resolves fields, lists and tags by name, and shows names again", async () => {
    const { ecm } = await seeded();
    const result = await ecm(
      "contact create --key bob@example.com --set city=Ürümqi --list ニュース -o tsv --tag 'north, west' --tag 名前 --columns key,City,lists,tags,status",
    );
    expect(result).toMatchObject({
      code: 0,
      stdout:
        'key\tCity\tlists\ttags\tstatus\nbob@example.com\tÜrümqi\tニュース\t"north, west",名前\tactive\n',
    });
    expect(result.stderr).toMatch(/^rate-limit: hour=\d+\/3600 reset=\S+Z month=\d+\/\d+\n$/);
  });

  it("says that a key already exists, with exit 6 and a JSON error", async () => {
    const { ecm } = await seeded();
    const { code, stdout, stderr } = await ecm("contact create --key ADA@example.com --json");
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(JSON.parse(withoutLimits(stderr))).toMatchObject({
      error: {
        type: "DuplicateFieldError",
        status: 400,
        exitCode: 6,
        applied: "no",
        hint: "To change the existing contact: ecm contact mutate",
      },
    });
  });

  it("sends nothing with --dry-run, and prints what it would send", async () => {
    const { ecm, ada } = await seeded();
    const line = "contact create --key new@example.com --set City=Rome --tag vip --dry-run --json";
    const { method, path, body } = JSON.parse(await done(ecm(line)));
    expect({ method, path }).toEqual({ method: "POST", path: "/api/contact" });
    expect(body).toEqual({
      key: "new@example.com",
      contactStructureId: ada.contactStructureId,
      fields: [{ _id: ada.fields![0]!._id, value: "Rome" }],
      tags: ada.tags,
    });
    expect(await done(ecm("contact search --count"))).toBe("1\n");
    const readable = await done(ecm("contact create --key new@example.com --dry-run"));
    expect(readable).toMatch(/^POST \/api\/contact\n\{\n {2}"key": "new@example.com",\n/);
  });

  it("sends the body of --data as it is, from a file or from standard input", async () => {
    const { ecm, ada } = await seeded();
    const file = join(await temporaryFolder(), "contact.json");
    await writeFile(
      file,
      `\ufeff{"key":"file@example.com","contactStructureId":"${ada.contactStructureId}"}`,
    );
    const fromFile = await done(ecm(`contact create --data ${file} --json`));
    expect(JSON.parse(fromFile)).toMatchObject({ key: "file@example.com" });
    const refused = await ecm("contact create --data - --json", {
      stdin: '{"key":"x@example.com"}',
    });
    expect(refused.code).toBe(1);
    expect(JSON.parse(withoutLimits(refused.stderr)).error.field).toBe("contactStructureId");
  });
});

describe("contact get", () => {
  it("finds a contact by id and by key in any case, and gives the same object", async () => {
    const { ecm, ada } = await seeded();
    const byId = await done(ecm(`contact get ${ada._id} --json`));
    expect(JSON.parse(byId)).toEqual(ada);
    expect(await done(ecm("contact get Ada@Example.com --json"))).toBe(byId);
    expect(await done(ecm("contact get ada@example.com -o id"))).toBe(`${ada._id}\n`);
  });
});

describe("contact search", () => {
  it("takes several keys as any of them, and other conditions as all", async () => {
    const { ecm, ada } = await seeded();
    await done(ecm("contact create --key bob@example.com --list ニュース"));
    const both = "contact search --key ada@example.com --key bob@example.com -o id";
    expect((await done(ecm(both))).trim().split("\n")).toHaveLength(2);
    expect(await done(ecm(`${both} --list news`))).toBe(`${ada._id}\n`);
    const refused = await ecm(`${both} --filter 'TAG_ID EQ vip'`);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("columnToFilter must be") });
    expect(await done(ecm(`${both} --status active --tag 名前`))).toBe("");
  });

  it("passes filters of --filter-json through, as filters or as the whole specification", async () => {
    const { ecm } = await seeded();
    const filters = [{ criterias: [{ columnToFilter: "KEY", operator: "EQ", values: ["ada@example.com"] }] }];
    const count = (json: unknown) =>
      done(ecm(["contact", "search", "--filter-json", JSON.stringify(json), "--count", "--json"]));
    expect(await count(filters)).toBe("1\n");
    expect(await count({ filters })).toBe("1\n");
    const unknown = await ecm("contact search --filter 'AGE GT 3'");
    expect(unknown.code).toBe(1);
    expect(unknown.stdout).toBe("");
    expect(unknown.stderr).toContain("columnToFilter");
  });

  it("reads every page with --all, stops at --limit, and says when a page is not everything", async () => {
    const { ecm } = await seeded();
    for (let n = 0; n < 6; n++) await done(ecm(["contact", "create", "--key", `n${n}@example.com`]));
    const all = await done(ecm("contact search --all --page-size 2 -o ndjson"));
    const keys = all
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as Contact).key);
    expect(keys).toEqual(["ada@example.com", ...[0, 1, 2, 3, 4, 5].map((n) => `n${n}@example.com`)]);
    expect(JSON.parse(await done(ecm("contact search --limit 3 --json")))).toHaveLength(3);
    const page = await ecm("contact search --page 2 --page-size 3 -o tsv --columns key");
    expect(page.stdout).toBe("key\nn2@example.com\nn3@example.com\nn4@example.com\n");
    expect(page.stderr).toContain("3 of 7 contacts · all: --all · next page: --page 3");
  });

  it("asks for what --source names and no more", async () => {
    const { ecm, ada } = await seeded();
    const some = await done(ecm("contact search --source key,tags --json"));
    // Ids come along unasked.
    const { _id, contactStructureId } = ada;
    expect(JSON.parse(some)).toEqual([{ _id, contactStructureId, key: ada.key, tags: ada.tags }]);
    expect(await done(ecm("contact search --source tags,_id -o csv"))).toBe(`tags,_id\nvip,${ada._id}\n`);
    for (const flag of ["--columns", "--source"])
      expect(await done(ecm(`contact search ${flag} key,status -o tsv`))).toBe(
        "key\tstatus\nada@example.com\tactive\n",
      );
    const whole = JSON.parse(await done(ecm("contact search --json")));
    const { status = { primary: "" }, __v, ...told } = ada;
    expect(whole).toEqual([{ ...told, contactStatus: status.primary, contactSubStatus: status.secondary }]);
  });

  it("sends one filter with every condition, nothing that is not published, and decides on tags here", async () => {
    const contacts = ["a", "b", "c", "d"].map((name, at) => ({
      _id: name,
      key: `${name}@x.org`,
      tags: at % 2 === 0 ? [{ _id: "t1" }] : [],
    }));
    const { ecm, seen } = await against((request, response) => {
      if (request.url.endsWith("/lists?page=1&size=100")) {
        return json(response, 200, { total: 1, records: [{ _id: "l1", name: "News" }] });
      }
      if (!request.url.endsWith("/search")) {
        const tags = [{ _id: "t1", label: "vip" }];
        return json(response, 200, [
          { _id: "s1", label: "D", keyName: "E", keyType: "email", fields: [], tags, __v: 0 },
        ]);
      }
      const { page } = JSON.parse(request.body);
      json(response, 200, { totalRecords: 4, contacts: contacts.slice(page * 2 - 2, page * 2) });
    });
    const search = "contact search --list News --status active --tag VIP";
    expect(await done(ecm(`${search} --all --page-size 2 -o id`))).toBe("a\nc\n");
    expect(await done(ecm(`${search} --count`))).toBe("2\n");
    expect(JSON.parse(await done(ecm(`${search} --source key --limit 1 --json`)))).toEqual([
      { _id: "a", key: "a@x.org" },
    ]);
    const bodies = seen.filter((each) => each.url.endsWith("/search")).map((each) => JSON.parse(each.body));
    for (const { source, ...body } of bodies) {
      expect(source).toContain("tags");
      expect(Object.keys(body).sort()).toEqual(
        ["contactStructureId", "page", "pageSize", "contactSpecification"].sort(),
      );
      expect(body.contactSpecification).toEqual({
        filters: [
          {
            criterias: [
              { columnToFilter: "CONTACT_STATUS", operator: "EQ", values: ["active"] },
              { columnToFilter: "LIST_ID", operator: "EQ", values: ["l1"] },
            ],
          },
        ],
      });
    }
  });
});

describe("contact mutate", () => {
  it("sends all changes at once and shows the contact as it is then", async () => {
    const { ecm, ada } = await seeded();
    const stdout = await done(
      ecm(
        "contact mutate ada@example.com --set City= --add-tag 名前 --remove-tag vip --add-list ニュース --remove-list news --if-version 0 --json",
      ),
    );
    const after = JSON.parse(stdout) as Contact;
    expect(after).toMatchObject({ _id: ada._id, fields: [{ value: "" }], __v: 1 });
    expect([after.tags, after.lists].map((refs) => refs!.length)).toEqual([1, 1]);
    expect([after.tags, after.lists]).not.toEqual([ada.tags, ada.lists]);
  });

  it("says `unchanged` when nothing would change, and fails only when told to", async () => {
    const { ecm, ada } = await seeded();
    const args = "contact mutate ada@example.com --add-tag vip --set City=Paris --json";
    const result = await ecm(args);
    expect(result.code).toBe(0);
    expect(withoutLimits(result.stderr)).toBe("unchanged\n");
    expect(JSON.parse(result.stdout)).toEqual(ada);
    const failing = await ecm(`${args} --fail-unchanged`);
    expect({ code: failing.code, stdout: failing.stdout }).toEqual({ code: 1, stdout: "" });
    expect(failing.stderr).toContain("unchanged");
  });

  it("prints one form of the contact, with and without a change, by key and by id", async () => {
    const { ecm, ada } = await seeded();
    for (const target of ["ada@example.com", ada._id]) {
      for (const city of [`${target} 1`, `${target} 1`, `${target} 2`]) {
        const result = await ecm(["contact", "mutate", target, "--set", `City=${city}`, "--json"]);
        const read = await ecm(`contact get ${ada._id} --json`);
        expect(JSON.parse(result.stdout)).toEqual(JSON.parse(read.stdout));
      }
    }
  });

  it("changes nothing with --dry-run, which prints the request, nor with a stale version, exit 6", async () => {
    const { ecm, ada } = await seeded();
    expect((await ecm("contact mutate ada@example.com --set City=Rome --if-version 7")).code).toBe(6);
    const line = "contact mutate ada@example.com --remove-tag vip --if-version 0 --dry-run --json";
    expect(JSON.parse(await done(ecm(line)))).toEqual({
      method: "PUT",
      path: `/api/contact/${ada._id}/mutate`,
      body: { removeTags: ada.tags, __v: 0 },
    });
    expect(JSON.parse(await done(ecm(`contact get ${ada._id} --json`)))).toEqual(ada);
  });

  it("takes a list that is named like an id by its name, and an id before any name", async () => {
    const { ecm, ada } = await seeded();
    const name = "abcdefabcdefabcdefabcdef";
    const own = JSON.parse(await done(ecm(["lists", "create", name, "--json"])));
    await done(ecm(`lists create ${own._id}`));
    const refs = async (list: string) =>
      JSON.parse(await done(ecm(["contact", "mutate", ada._id, "--add-list", list, "--dry-run", "--json"])));
    expect((await refs(name)).body.addLists).toEqual([{ _id: own._id }]);
    expect((await refs(own._id)).body.addLists).toEqual([{ _id: own._id }]);
  });

  it("does not fail for a mistyped --columns when the write is done: it sends nothing", async () => {
    const { ecm, ada } = await seeded();
    for (const args of [
      ["contact", "mutate", ada._id, "--set", "City=Rome"],
      ["contact", "create", "--key", "new@example.com"],
      ["structure", "field", "add", "Zip"],
      ["lists", "create", "Other"],
    ]) {
      expect((await ecm([...args, "--columns", "nope"])).code).toBe(2);
      expect((await ecm([...args, "-o", "nope"])).code).toBe(2);
    }
    expect(await done(ecm("contact search --all -o csv --columns City"))).toBe("City\nParis\n");
    expect(await done(ecm("lists list -o csv --columns name"))).toBe("name\nNews\nニュース\n");
    expect(await done(ecm("structure get -o csv --columns fields"))).not.toContain("Zip");
  });

  it("counts an answer without a body as done, and reads the contact", async () => {
    const contact = { _id: "c1", key: "a@x.org", contactStructureId: "s1", extra: { kept: true } };
    const structure = { _id: "s1", label: "D", keyName: "E", keyType: "email", fields: [] };
    const { ecm, seen } = await against((request, response) => {
      if (request.method === "PUT") return void response.writeHead(200).end();
      if (request.method === "POST") return json(response, 200, { totalRecords: 1, contacts: [contact] });
      json(response, 200, request.url.includes("structure") ? [structure] : contact);
    });
    const body = '{"addTags":[{"_id":"t1"}]}';
    const result = await ecm("contact mutate a@x.org --data - --json --columns key", { stdin: body });
    expect(JSON.parse(result.stdout)).toEqual({ key: contact.key });
    expect(result.stderr).toBe("");
    const puts = seen.filter(({ method }) => method === "PUT");
    expect(puts.map((put) => put.body)).toEqual([body]);
  });
});
