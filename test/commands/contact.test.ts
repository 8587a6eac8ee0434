/** `ecm contact …` against the embedded service over HTTP. */

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Contact } from "../../src/wire.ts";
import { done, temporaryFolder } from "../support/ecm.ts";
import { type Answerer, errorBody, json } from "../support/http-server.ts";
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

const splitWords = (line: string) => line.split(" ");
const withoutLimits = (stderr: string) => stderr.replace(/^rate-limit: .*\n/m, "");

describe("contact create", () => {
  it("resolves fields, lists and tags by name, and shows names again", async () => {
    const { ecm } = await seeded();
    const result = await ecm([
      ...splitWords("contact create --key bob@example.com --set city=Ürümqi --list ニュース -o tsv"),
      ...["--tag", "north, west", "--tag", "名前", "--columns", "key,City,lists,tags,status"],
    ]);
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
    const { method, path, body } = JSON.parse(await done(ecm(splitWords(line))));
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

  it.each([
    ["no key", [], "The contact's key is missing"],
    ["a blank key", ["--key", " "], "The contact's key must be text"],
    ["data beside flags", ["--data", "-", "--key", "a@x.org"], "--data is the whole body"],
    ["data that is not JSON", ["--data", "-"], "standard input is not JSON"],
    ["a field without a value", ["--key", "a@x.org", "--set", "City"], "is not FIELD=VALUE"],
    ["a field set twice", ["--key", "a@x.org", "--set", "City=1", "--set", "city=2"], "is set twice"],
    ["a mistyped flag", ["--kee", "a@x.org"], "--kee"],
  ])("refuses %s with exit 2", async (_name, args, message) => {
    const { ecm } = await seeded();
    const { code, stdout, stderr } = await ecm(["contact", "create", ...args], { stdin: "{not json" });
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it.each([
    ["list", ["--list", "Sales"], 'No list is named "Sales"\nhint: Known lists: "News", "ニュース"'],
    ["tag", ["--tag", "gold"], 'No tag is named "gold"\nhint: Known tags: "vip", "north, west", "名前"'],
    ["field", ["--set", "Town=x"], 'No field is named "Town"\nhint: Known fields: "First Name"'],
  ])("names the %ss that exist when one does not, with exit 5", async (_kind, args, message) => {
    const { ecm } = await seeded();
    const { code, stderr } = await ecm(["contact", "create", "--key", "a@x.org", ...args]);
    expect(code).toBe(5);
    expect(stderr).toContain(message);
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

  it.each(["nobody@example.com", "0123456789abcdef01234567", "nobody", ".."])(
    "says that %s is neither a key nor an id, with exit 5",
    async (word) => {
      const { ecm } = await seeded();
      const { code, stdout, stderr } = await ecm(["contact", "get", word]);
      expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
      expect(stderr).toContain(`error: No contact has the key or id "${word}"`);
    },
  );

  it("tells a wrong API key from a missing contact", async () => {
    const { ecm } = await seeded();
    const { code, stderr } = await ecm("contact get ada@example.com", {
      env: { ECM_API_KEY: `ecm_us_${"x".repeat(43)}` },
    });
    expect(code).toBe(4);
    expect(stderr).toContain("Invalid API key");
  });

  it("escapes what would move a terminal's cursor, and leaves JSON exact", async () => {
    const { ecm } = await seeded();
    const evil = "Pa\u001b[2Jris\u202e";
    await done(ecm(["contact", "mutate", "ada@example.com", "--set", `City=${evil}`]));
    const output = await done(ecm("contact get ada@example.com", { terminalColumns: 40 }));
    expect(output).toContain("Pa\\x1b[2Jris\\u202e");
    expect(output).not.toContain("\u001b[2J");
    const exact = JSON.parse(await done(ecm("contact get ada@example.com --json")));
    expect(exact.fields[0].value).toBe(evil);
  });
});

describe("contact search", () => {
  it.each([
    ["json", "[]\n"],
    ["ndjson", ""],
    ["id", ""],
    ["csv", "key,First Name,Last Name,City,lists,tags,status,createdAt\n"],
    ["tsv", "key\tFirst Name\tLast Name\tCity\tlists\ttags\tstatus\tcreatedAt\n"],
  ])("finds nobody in %s, with exit 0", async (format, stdout) => {
    const { ecm } = await seeded();
    const result = await ecm(["contact", "search", "--key", "nobody@example.com", "-o", format]);
    expect(result).toMatchObject({ code: 0, stdout });
  });

  it("tells a person that nobody was found", async () => {
    const { ecm } = await seeded();
    const args = splitWords("contact search --key nobody@example.com --columns key");
    const result = await ecm(args, { terminalColumns: 40, env: { NO_COLOR: "1" } });
    expect(result).toMatchObject({ code: 0, stdout: "" });
    expect(result.stderr).toMatch(/^No contact matches\./);
  });

  it("takes several keys as any of them, and other conditions as all", async () => {
    const { ecm, ada } = await seeded();
    await done(ecm("contact create --key bob@example.com --list ニュース"));
    const both = splitWords("contact search --key ada@example.com --key bob@example.com -o id");
    expect((await done(ecm(both))).trim().split("\n")).toHaveLength(2);
    expect(await done(ecm([...both, "--list", "news"]))).toBe(`${ada._id}\n`);
    const refused = await ecm([...both, "--filter", "TAG_ID EQ vip"]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("columnToFilter must be") });
    expect(await done(ecm([...both, "--status", "active", "--tag", "名前"]))).toBe("");
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

  it.each([
    [["--filter", "KEY EQ"], "COLUMN OPERATOR VALUE"],
    [["--filter-json", "{"], "neither a JSON array"],
    [["--filter-json", "3"], "neither a JSON array of filters nor a JSON object"],
    [["--filter-json", "{}", "--key", "a"], "cannot be used with --key"],
    [["--filter-json", "[]", "--list", "a"], "cannot be used with --key"],
    [["--page", "0"], "--page"],
    [["--page", "2", "--all"], "--all"],
    [["--source", "key,,tags"], "--source"],
    [["--columns", "key,nope"], '--columns: there is no column "nope"'],
    [["--output", "xml"], "Allowed choices are table, json"],
  ])("refuses %j with exit 2", async (args, message) => {
    const { ecm } = await seeded();
    const { code, stdout, stderr } = await ecm(["contact", "search", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
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
    const whole = JSON.parse(await done(ecm("contact search --json")));
    const { status = { primary: "" }, __v, ...told } = ada;
    expect(whole).toEqual([{ ...told, contactStatus: status.primary, contactSubStatus: status.secondary }]);
  });

  it("reads the status in two parts, and shows it as status", async () => {
    const { ecm } = await seeded();
    expect(await done(ecm("contact search --columns key,status -o tsv"))).toMatch(
      /^key\tstatus\n\S+\tactive\n$/,
    );
    expect(await done(ecm("contact search --source key,status -o tsv"))).toMatch(
      /^key\tstatus\n\S+\tactive\n$/,
    );
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
    expect(await done(ecm(splitWords(`${search} --all --page-size 2 -o id`)))).toBe("a\nc\n");
    expect(await done(ecm(splitWords(`${search} --count`)))).toBe("2\n");
    expect(JSON.parse(await done(ecm(splitWords(`${search} --source key --limit 1 --json`))))).toEqual([
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

  it("refuses parts that no search has, before anything is sent", async () => {
    const { ecm } = await seeded();
    for (const part of ["__v", "contactStructureId", "Key", ""]) {
      const { code, stderr } = await ecm(["contact", "search", "--source", `_id,${part}`]);
      expect([code, stderr]).toEqual([2, expect.stringContaining("Parts: _id, key, fields")]);
    }
    expect((await ecm("contact search --columns __v -o tsv")).code).toBe(2);
  });
});

describe("contact mutate", () => {
  it("sends all changes at once and shows the contact as it is then", async () => {
    const { ecm, ada } = await seeded();
    const stdout = await done(
      ecm([
        ...splitWords("contact mutate ada@example.com --set City= --add-tag 名前 --remove-tag vip --json"),
        ...splitWords("--add-list ニュース --remove-list news --if-version 0"),
      ]),
    );
    const after = JSON.parse(stdout) as Contact;
    expect(after).toMatchObject({ _id: ada._id, fields: [{ value: "" }], __v: 1 });
    expect([after.tags, after.lists].map((refs) => refs!.length)).toEqual([1, 1]);
    expect([after.tags, after.lists]).not.toEqual([ada.tags, ada.lists]);
  });

  it("says `unchanged` when nothing would change, and fails only when told to", async () => {
    const { ecm, ada } = await seeded();
    const args = [...splitWords("contact mutate ada@example.com --add-tag vip --set City=Paris --json")];
    const result = await ecm(args);
    expect(result.code).toBe(0);
    expect(withoutLimits(result.stderr)).toBe("unchanged\n");
    expect(JSON.parse(result.stdout)).toEqual(ada);
    const failing = await ecm([...args, "--fail-unchanged"]);
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

  it("refuses a stale version with exit 6 and changes nothing", async () => {
    const { ecm, ada } = await seeded();
    const { code } = await ecm("contact mutate ada@example.com --set City=Rome --if-version 7");
    expect(code).toBe(6);
    expect(JSON.parse(await done(ecm(`contact get ${ada._id} --json`)))).toEqual(ada);
  });

  it("prints the request of the contact that the key means with --dry-run", async () => {
    const { ecm, ada } = await seeded();
    const line = "contact mutate ada@example.com --remove-tag vip --if-version 0 --dry-run --json";
    expect(JSON.parse(await done(ecm(splitWords(line))))).toEqual({
      method: "PUT",
      path: `/api/contact/${ada._id}/mutate`,
      body: { removeTags: ada.tags, __v: 0 },
    });
    expect(JSON.parse(await done(ecm(`contact get ${ada._id} --json`)))).toEqual(ada);
  });

  it("reaches a field whose label holds = by its id", async () => {
    const { ecm } = await seeded();
    const structure = JSON.parse(await done(ecm("structure field add a=b --json")));
    const { _id } = structure.fields.at(-1);
    const byLabel = await ecm("contact mutate ada@example.com --set a=b=1");
    expect(byLabel.code).toBe(5);
    const after = await done(ecm(`contact mutate ada@example.com --set ${_id}=x=1 --json`));
    expect(JSON.parse(after).fields).toContainEqual({ _id, value: "x=1" });
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

  it("lists the ids when two lists share a name", async () => {
    const { ecm } = await seeded();
    const first = JSON.parse(await done(ecm("lists create Twin --json")));
    const second = JSON.parse(await done(ecm("lists create twin --allow-duplicate --json")));
    const { code, stderr } = await ecm("contact mutate ada@example.com --add-list TWIN");
    expect(code).toBe(2);
    for (const list of [first, second]) expect(stderr).toContain(list._id);
  });

  it.each([
    [["ada@example.com"], "No change given"],
    [["ada@example.com", "--if-version", "1"], "No change given"],
    [["--add-tag", "vip"], "id or key is missing"],
    [["", "--add-tag", "vip"], "empty"],
    [["ada@example.com", "--add-tag", "vip", "--remove-tag", "VIP"], "both added and removed"],
    [["ada@example.com", "--data", "-", "--add-tag", "vip"], "--data is the whole body"],
    [["ada@example.com", "--add-tag", "vip", "--if-version", "x"], "--if-version"],
  ])("refuses %j with exit 2", async (args, message) => {
    const { ecm } = await seeded();
    const { code, stderr } = await ecm(["contact", "mutate", ...args], { stdin: "{}" });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
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
    const result = await ecm("contact mutate a@x.org --data - --json --columns key", {
      stdin: body,
    });
    expect(JSON.parse(result.stdout)).toEqual({ key: contact.key });
    expect(result.stderr).toBe("");
    const puts = seen.filter(({ method }) => method === "PUT");
    expect(puts.map((put) => put.body)).toEqual([body]);
  });

  it("says when it is not known whether a change was applied", async () => {
    const { ecm } = await against((request, response) => {
      if (request.method === "PUT") return json(response, 503, errorBody("Unavailable", "try later"));
      json(response, 404, errorBody("RecordNotFound", "Contact not found"));
    });
    const id = "0123456789abcdef01234567";
    const { code, stderr } = await ecm(`contact mutate ${id} --data - --json`, { stdin: "{}" });
    expect(code).toBe(1);
    expect(JSON.parse(withoutLimits(stderr))).toMatchObject({ error: { status: 503, applied: "unknown" } });
  });
});
