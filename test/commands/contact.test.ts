/** `ecm contact …` against the embedded service over HTTP. */
import { describe, expect, it } from "vitest";
import type { LoggedRequest } from "../../src/sandbox/public-types.ts";
import type { Contact } from "../../src/wire.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { done, ends, inputFile, json, type RunningSandbox, readJson, refused, startSandbox } from "../kit.ts";
import { plainStructure, startService } from "../support/service.ts";

/** An account with a field, two tags and two lists, and Ada in it. */
async function seeded(variants: Record<string, string> = {}): Promise<RunningSandbox & { ada: Contact }> {
  const contents = {
    tags: ["vip", "north, west", "名前"],
    lists: ["News", "ニュース"],
    contacts: [{ key: "ada@example.com", fields: { City: "Paris" }, lists: ["News"], tags: ["vip"] }],
  };
  const running = await startSandbox({ variants, contents });
  const ada: Contact = await readJson(running.ecm, "contact get ada@example.com");
  return { ...running, ada };
}

const withoutLimits = (stderr: string) => stderr.replace(/^rate-limit: .*\n/m, "");

/** By what is wrong: the exit code, and what is said. */
const wrong: [line: string, exitCode: number, message: string][] = [
  ["create", 2, "The contact's key is missing"],
  ["create --key ' '", 2, "The contact's key must be text"],
  ["create --data - --key a@x.org", 2, "--data is the whole body"],
  ["create --data -", 2, "standard input is not JSON"],
  ["create --key a@x.org --set City", 2, "is not FIELD=VALUE"],
  ["create --key a@x.org --set City=1 --set city=2", 2, "is set twice"],
  ["create --kee a@x.org", 2, "--kee"],
  ["create --key a@x.org --list Sales", 5, 'No list is named "Sales"\nhint: Known lists: "News", "ニュース"'],
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
  ["search --limit 3 --all", 2, "--all"],
  ["search --filter 'TAG_ID EQ vip'", 1, "columnToFilter must be"],
  ["search --source key,,tags", 2, "Parts: _id, key, fields"],
  ["search --source _id,__v", 2, "Parts: _id, key, fields"],
  ["search --source _id,contactStructureId", 2, "Parts: _id, key, fields"],
  ["search --source _id,Key", 2, "Parts: _id, key, fields"],
  ["search --columns key,nope", 2, '--columns: there is no column "nope"\nhint: Columns: key'],
  ["search --columns __v -o tsv", 2, "--columns"],
  ["search --output xml", 2, "Allowed choices are table, json"],
  ["mutate ada@example.com --if-version 1", 2, "No change given"],
  ["mutate --add-tag vip", 2, "id or key is missing"],
  ["mutate '' --add-tag vip", 2, "empty"],
  ["mutate ada@example.com --add-tag vip --remove-tag VIP", 2, 'The tag "vip" cannot be both'],
  ["mutate ada@example.com --data - --add-tag vip", 2, "--data is the whole body"],
  ["mutate ada@example.com --add-tag vip --if-version x", 2, "--if-version"],
  ["create --key ADA@example.com", 6, "hint: To change the existing contact: ecm contact mutate"],
  ["mutate ada@example.com --set City=Rome --if-version 7", 6, "version"],
  // A mistyped column or format fails before the write, not after it.
  ["mutate ada@example.com --add-tag 名前 --columns nope", 2, "--columns"],
  ["create --key new@example.com -o nope", 2, "--output"],
];

it("contact refuses what is wrong with its exit code, and writes nothing", async () => {
  const { ecm, sandbox } = await seeded();
  for (const [line, exitCode, message] of wrong)
    await refused(ecm(`contact ${line}`, { stdin: "{not json" }), exitCode, message);
  const isDone = ({ path, status }: LoggedRequest) => !path.endsWith("/search") && status! < 400;
  expect(sandbox.admin.requests().filter((each) => each.method !== "GET" && isDone(each))).toEqual([]);
});

describe("contact create", () => {
  it("resolves fields, lists and tags by name, and shows names again", async () => {
    const { ecm } = await seeded();
    const person = "--key bob@example.com --set city=Ürümqi --list ニュース --tag 'north, west' --tag 名前";
    const shown = "-o tsv --columns key,City,lists,tags,status";
    const row = 'bob@example.com\tÜrümqi\tニュース\t"north, west",名前\tactive';
    const table = `key\tCity\tlists\ttags\tstatus\n${row}\n`;
    expect(await done(ecm(`contact create ${person} ${shown}`))).toBe(table);
  });

  it("sends nothing with --dry-run, and prints what it would send", async () => {
    const { ecm, ada } = await seeded();
    const line = "contact create --key new@example.com --set City=Rome --tag vip --dry-run";
    const { contactStructureId, tags, fields } = ada;
    const set = [{ _id: fields![0]!._id, value: "Rome" }];
    expect(await readJson(ecm, line)).toEqual({
      method: "POST",
      path: "/api/contact",
      body: { key: "new@example.com", contactStructureId, fields: set, tags },
    });
    expect(await done(ecm("contact search --count"))).toBe("1\n");
    const readable = await done(ecm("contact create --key new@example.com --dry-run"));
    expect(readable).toMatch(/^POST \/api\/contact\n\{\n {2}"key": "new@example.com",\n/);
  });

  it("sends the body of --data as it is, from a file or from standard input", async () => {
    const { ecm, ada } = await seeded();
    const body = `\ufeff{"key":"file@example.com","contactStructureId":"${ada.contactStructureId}"}`;
    const file = await inputFile(body, "contact.json");
    const fromFile = await readJson(ecm, `contact create --data ${file}`);
    expect(fromFile).toMatchObject({ key: "file@example.com" });
    const { stderr } = await ends(ecm("contact create --data - --json", { stdin: '{"key":"x@x.org"}' }), 1);
    expect(JSON.parse(withoutLimits(stderr)).error.field).toBe("contactStructureId");
  });
});

it("contact get finds a contact by id and by key in any case, and gives the same object", async () => {
  const { ecm, ada } = await seeded();
  const byId = await done(ecm(`contact get ${ada._id} --json`));
  expect(JSON.parse(byId)).toEqual(ada);
  expect(await done(ecm("contact get Ada@Example.com --json"))).toBe(byId);
  expect(await done(ecm("contact get ada@example.com -o id"))).toBe(`${ada._id}\n`);
});

const key = "ada@example.com";

it.each([
  ["get", { key }],
  ["dossier", { contacts: [{ key }] }],
  ["erase --yes", { contact: "deleted" }],
])(
  "contact %s also asks for an address in lower case, which a service may not fold",
  async (command, told) => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key }] });
    proxy.refuses = ({ path, body }) =>
      path === "/api/contact/search" && !body.includes(key)
        ? { status: 200, body: { totalRecords: 0, contacts: [] } }
        : undefined;
    expect(await readJson(proxy.ecm, `contact ${command} Ada@Example.com`)).toMatchObject(told);
  },
);

describe("contact search", () => {
  it("passes filters of --filter-json through, as filters or as the whole specification", async () => {
    const { ecm } = await seeded();
    const filters = [{ criterias: [{ columnToFilter: "KEY", operator: "EQ", values: ["ada@example.com"] }] }];
    const count = (json: unknown) =>
      done(ecm(["contact", "search", "--filter-json", JSON.stringify(json), "--count", "--json"]));
    expect(await count(filters)).toBe("1\n");
    expect(await count({ filters })).toBe("1\n");
  });

  it("asks for what --source names and no more", async () => {
    const { ecm, ada } = await seeded();
    // Ids come along unasked.
    const { _id, contactStructureId } = ada;
    const asked = { _id, contactStructureId, key: ada.key, tags: ada.tags };
    expect(await readJson(ecm, "contact search --source key,tags")).toEqual([asked]);
    expect(await done(ecm("contact search --source tags,_id -o csv"))).toBe(`tags,_id\nvip,${ada._id}\n`);
    const rows = "key\tstatus\nada@example.com\tactive\n";
    for (const flag of ["--columns", "--source"])
      expect(await done(ecm(`contact search ${flag} key,status -o tsv`))).toBe(rows);
    const whole = await readJson(ecm, "contact search");
    const { status = { primary: "" }, __v, ...told } = ada;
    expect(whole).toEqual([{ ...told, contactStatus: status.primary, contactSubStatus: status.secondary }]);
  });

  it("sends one filter with every condition, nothing that is not published, and decides on tags here", async () => {
    const tagsOf = (name: string) => ("ac".includes(name) ? [{ _id: "t1" }] : []);
    const contacts = ["a", "b", "c", "d"].map((name) => ({
      _id: name,
      key: `${name}@x.org`,
      tags: tagsOf(name),
    }));
    const structure = { ...plainStructure, tags: [{ _id: "t1", label: "vip" }] };
    const { ecm, server } = await startService(({ url, body }, response) => {
      const lists = { total: 1, records: [{ _id: "l1", name: "News" }] };
      if (url.endsWith("/lists?page=1&size=100")) return json(response, 200, lists);
      if (!url.endsWith("/search")) return json(response, 200, [structure]);
      const { page } = JSON.parse(body);
      json(response, 200, { totalRecords: 4, contacts: contacts.slice(page * 2 - 2, page * 2) });
    });
    const search = "contact search --list News --status active --tag VIP";
    expect(await done(ecm(`${search} --all --page-size 2 -o id`))).toBe("a\nc\n");
    expect(await done(ecm(`${search} --count`))).toBe("2\n");
    expect(await readJson(ecm, `${search} --source key --limit 1`)).toEqual([{ _id: "a", key: "a@x.org" }]);
    const searches = server.requests.filter((each) => each.url.endsWith("/search"));
    const bodies = searches.map((each) => JSON.parse(each.body));
    const criterias = [
      { columnToFilter: "CONTACT_STATUS", operator: "EQ", values: ["active"] },
      { columnToFilter: "LIST_ID", operator: "EQ", values: ["l1"] },
    ];
    for (const { source, page: _page, pageSize: _size, ...body } of bodies) {
      expect(source).toContain("tags");
      const contactSpecification = { filters: [{ criterias }] };
      expect(body).toEqual({ contactStructureId: structure._id, contactSpecification });
    }
  });
});

describe("contact mutate", () => {
  it.each(["contact", "empty", "other"])(
    "sends all changes at once and shows the contact as it is then, whatever answers: %s",
    async (body) => {
      const { ecm, ada } = await seeded({ "mutate-answer": body });
      const changes = "--set City= --add-tag 名前 --remove-tag vip --add-list ニュース --remove-list news";
      const line = `contact mutate ada@example.com ${changes} --if-version 0`;
      const after = (await readJson(ecm, line)) as Contact;
      expect(after).toMatchObject({ _id: ada._id, fields: [{ value: "" }], __v: 1 });
      expect([after.tags, after.lists].map((refs) => refs!.length)).toEqual([1, 1]);
      expect([after.tags, after.lists]).not.toEqual([ada.tags, ada.lists]);
    },
  );

  it.each([
    ["mutate ada@example.com --set City=Rome", { fields: [{ value: "Rome" }], __v: 1 }],
    ["unsubscribe ada@example.com --yes", { status: { primary: "Inactive" }, __v: 1 }],
  ])("reads the contact after %s, where the service answers with it as it was", async (line, after) => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key: "ada@example.com", fields: { City: "Paris" } }] });
    const before = await readJson(proxy.ecm, "contact get ada@example.com");
    let answered = 0;
    proxy.rewrites = (_path, text) =>
      proxy.writes.length > 0 && answered++ === 0 ? JSON.stringify(before) : text;
    expect(await readJson(proxy.ecm, `contact ${line}`)).toMatchObject(after);
    expect(proxy.writes).toMatchObject([{ status: 200 }]);
  });

  it("says `unchanged` when nothing would change, and fails only when told to", async () => {
    const { ecm, ada } = await seeded();
    const line = "contact mutate ada@example.com --add-tag vip --set City=Paris --json";
    const { code, stdout, stderr } = await ecm(line);
    expect([code, JSON.parse(stdout), withoutLimits(stderr)]).toEqual([0, ada, "unchanged\n"]);
    await refused(ecm(`${line} --fail-unchanged`), 1, "unchanged");
  });

  it("prints one form of the contact, with and without a change, by key and by id", async () => {
    const { ecm, ada } = await seeded();
    for (const target of ["ada@example.com", ada._id]) {
      for (const turn of [1, 1, 2]) {
        const shown = await done(ecm(`contact mutate ${target} --set City=${target}${turn} --json`));
        expect(shown).toBe(await done(ecm(`contact get ${ada._id} --json`)));
      }
    }
  });

  it("changes nothing with --dry-run, which prints the request", async () => {
    const { ecm, ada } = await seeded();
    const line = "contact mutate ada@example.com --remove-tag vip --if-version 0 --dry-run";
    expect(await readJson(ecm, line)).toEqual({
      method: "PUT",
      path: `/api/contact/${ada._id}/mutate`,
      body: { removeTags: ada.tags, __v: 0 },
    });
    expect(await readJson(ecm, `contact get ${ada._id}`)).toEqual(ada);
  });

  it("takes a list that is named like an id by its name, and an id before any name", async () => {
    const { ecm, ada } = await seeded();
    const name = "abcdefabcdefabcdefabcdef";
    const { _id } = await readJson(ecm, `lists create ${name}`);
    await done(ecm(`lists create ${_id}`));
    for (const list of [name, _id]) {
      const planned = await readJson(ecm, `contact mutate ${ada._id} --add-list ${list} --dry-run`);
      expect(planned.body.addLists).toEqual([{ _id }]);
    }
  });
});
