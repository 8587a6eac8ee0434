/** The same change for several contacts, and a list that becomes what a file names. */
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { inputFile, manyContacts, readContacts, summaryOf } from "./kit.ts";

const withContacts = (count: number): Promise<RunningSandbox> =>
  startSandbox({ contents: { lists: ["L"], contacts: manyContacts(count) } });

const inLists = async (service: RunningSandbox): Promise<string[]> =>
  [...(await readContacts(service))].filter(([, { lists }]) => lists.length > 0).map(([key]) => key);

const addresses = (...names: string[]) => names.map((name) => `${name}@example.com`);

describe("ecm contact mutate, several contacts", () => {
  it("one contact is a bulk run where a flag asks for what only a run does", async () => {
    const service = await withContacts(1);
    const { ecm } = service;
    const change = "contact mutate p0@example.com --set 'First Name=New'";
    for (const [command, refusal] of [
      [`${change} --max-changes 0`, "write to 1 contact (of 1 looked at); --max-changes allows 0"],
      ["contact unsubscribe p0@example.com --max-changes 0 --yes", "--max-changes allows 0"],
      ["contact delete p0@example.com --max-delete 0 --dry-run", "--max-delete allows 0"],
    ] as const)
      expect((await ecm(command)).stderr).toContain(refusal);
    expect((await readContacts(service)).get("p0@example.com")).toMatchObject({ version: 0 });
    const report = `${await inputFile("")}.html`;
    expect((await ecm(`${change} --fresh --report ${report}`)).code).toBe(0);
    expect(await readFile(report, "utf8")).toContain("<html");
  });

  it("rejects keys in a file that is read again as it is", async () => {
    const { ecm } = await withContacts(1);
    const rejects = `${await inputFile("")}.csv`;
    const change = "contact mutate --set 'First Name=New'";
    await ecm(`${change} --rejects ${rejects} nobody@example.com p0@example.com`);
    expect((await summaryOf(ecm, `${change} --keys ${rejects}`)).rows).toMatchObject({
      read: 1,
      rejected: 1,
    });
    expect(await readFile(rejects, "utf8")).toBe(
      "key,ecm_line,ecm_error,ecm_message\nnobody@example.com,1,not_found,no contact has this key or id\n",
    );
  });

  it("makes the same change on each contact that is named, by key or by id, and only where it changes something", async () => {
    const service = await withContacts(4);
    const { _id } = JSON.parse((await service.ecm("contact get p1@example.com --json")).stdout);
    const change = `contact mutate p0@example.com ${_id} P0@example.com --add-list L --set 'First Name=New'`;
    expect(await summaryOf(service.ecm, change)).toMatchObject({
      code: 0,
      kind: "mutate",
      status: "completed",
      rows: { read: 3, updated: 2, skipped: 1, rejected: 0 },
      requests: { mutate: 2 },
    });
    const contacts = await readContacts(service);
    expect(contacts.get("p1@example.com")).toMatchObject({ fields: { "First Name": "New" }, version: 1 });
    expect((await inLists(service)).sort()).toEqual(addresses("p0", "p1"));
    expect((await summaryOf(service.ecm, change)).rows).toMatchObject({ updated: 0, unchanged: 2 });
  });

  it("takes keys from a file or standard input, and counts those that do not exist", async () => {
    const service = await withContacts(3);
    const stdin = "p0@example.com\nnobody@example.com\np2@example.com\n";
    const added = await summaryOf(service.ecm, "contact mutate --keys - --add-list L", { stdin });
    expect(added).toMatchObject({
      code: 3,
      rows: { read: 3, updated: 2, rejected: 1 },
      codes: { rejected: { not_found: 1 } },
    });
    expect(await readFile(added.rejects!, "utf8")).toContain("nobody@example.com,2,not_found,");
    const remove = `contact mutate --keys ${await inputFile(stdin)} --remove-list L`;
    expect((await summaryOf(service.ecm, remove)).rows).toMatchObject({ updated: 2, rejected: 1 });
    expect(await inLists(service)).toEqual([]);
  });

  it.each([
    ["a@example.com --keys f --add-tag T", "--keys names every contact"],
    ["a@example.com b@example.com --if-version 1 --add-tag T", "--if-version applies to a single contact"],
    ["a@example.com b@example.com", "No change given"],
  ])("refuses %s", async (args, message) => {
    const { ecm } = await startSandbox();
    const refused = { code: 2, stderr: expect.stringContaining(message) };
    expect(await ecm(`contact mutate ${args}`)).toMatchObject(refused);
  });
});

describe("a contact whose key no import would create", () => {
  const odd = ["Jose\u0301@example.com", "a..b@example.com"];
  const withOddKeys = () => startSandbox({ contents: { contacts: odd.map((key) => ({ key })) } });

  it("is found by its key in a bulk edit, and what no contact has is rejected", async () => {
    const { ecm } = await withOddKeys();
    const keys = await inputFile(`${odd.join("\n")}\nnobody at all\n`, "keys.txt");
    expect(await summaryOf(ecm, `contact mutate --keys ${keys} --set 'First Name=New'`)).toMatchObject({
      code: 3,
      rows: { read: 3, updated: 2, rejected: 1 },
      codes: { rejected: { key_syntax: 1 } },
    });
    const left = await summaryOf(ecm, `contact unsubscribe ${odd.join(" ")} --yes`);
    expect(left.rows).toMatchObject({ updated: 2, rejected: 0 });
    const gone = await summaryOf(ecm, `contact delete ${odd.join(" ")} --yes`);
    expect(gone.rows).toMatchObject({ deleted: 2, rejected: 0 });
  });

  it("is found by a search and an export for the keys in a file, and its export imports again", async () => {
    const { ecm } = await withOddKeys();
    const keys = await inputFile(odd.join("\n"), "keys.txt");
    expect((await ecm(`contact search --keys ${keys} --count`)).stdout.trim()).toBe("2");
    const exported = await inputFile((await ecm(`export --keys ${keys}`)).stdout);
    expect((await summaryOf(ecm, `import ${exported}`)).rows).toMatchObject({ read: 2, unchanged: 2 });
  });
});

describe("ecm lists sync", () => {
  const lines = (keys: readonly string[]) => keys.map((key) => `${key}\n`).join("");
  const members = (from: number, to: number) =>
    addresses(...Array.from({ length: to - from }, (_, index) => `p${from + index}`));
  const fileOf = (from: number, to: number) => inputFile(lines(members(from, to)));

  it("makes the members exactly the file's keys: adds first, removals after", async () => {
    const service = await withContacts(30);
    const { ecm } = service;
    expect(await summaryOf(ecm, `lists sync L ${await fileOf(0, 20)}`)).toMatchObject({
      kind: "sync",
      status: "completed",
      rows: { read: 20, updated: 20 },
      members: { added: 20, removed: 0 },
    });
    const sync = `lists sync L ${await fileOf(2, 25)}`;
    const dry = await summaryOf(ecm, `${sync} --dry-run`);
    const real = await summaryOf(ecm, sync);
    expect(real).toMatchObject({
      rows: { read: 25, updated: 7, unchanged: 18, pending: 0 },
      members: { added: 5, removed: 2 },
      requests: { mutate: 7 },
    });
    expect(dry.estimate.requests).toBe(real.requests.total);
    expect(dry.members).toEqual(real.members);
    expect((await inLists(service)).sort()).toEqual(members(2, 25).sort());
    expect((await readContacts(service)).size).toBe(30);
    expect((await summaryOf(ecm, sync)).requests).toMatchObject({ mutate: 0, create: 0 });
  });

  it("takes nobody out whom a rejected row names", async () => {
    const service = await withContacts(1);
    const spellings = ["José@example.com", ...addresses("a..b", "ada", "bob", "cy")];
    const held = [...spellings, "left@example.com"].map((key) => ({ key, lists: ["L"] }));
    service.sandbox.admin.seed({ contacts: held });
    const path = await inputFile(`Email,City
José@example.com,
a..b@example.com,
ada@example.com,Oslo,Norway
Bob (bob@example.com) and eve@example.com,
"cy@example.com"?,Rome
n/a,
p0@example.com,`);
    expect(await summaryOf(service.ecm, `lists sync L ${path} --max-remove 100%`)).toMatchObject({
      code: 3,
      rows: { rejected: 6 },
      members: { added: 1, removed: 1 },
    });
    expect((await inLists(service)).sort()).toEqual([...spellings, "p0@example.com"].sort());
  });

  it("takes nobody out whom a rejected row names in another form", async () => {
    const { ecm } = await withContacts(1);
    const ids: string[] = [];
    for (const key of addresses("left", ..."abcdefghijklmnop")) {
      const created = await ecm(`contact create --key ${key} --list L --json`);
      ids.push((JSON.parse(created.stdout) as { _id: string })._id);
    }
    const rows = `Email,City
a@example.com/b@example.com,
c@example.com:d@example.com,
e@example.com&f@example.com,
g@example.com；h@example.com,
i@example.com、j＠example.com,
k\u200b@example.com,
l @example.com,
m@example.com; mailto:n@example.com?subject=Hi,
o@example.com+p@example.com,
p0@example.com,`;
    const sync = async (text: string) =>
      (await summaryOf(ecm, `lists sync L ${await inputFile(text)} --max-remove 100%`)).members;
    expect(await sync(rows)).toEqual({ added: 1, removed: 1 });
    const left = ids[0]!;
    await ecm(`contact mutate ${left} --add-list L`);
    expect(await sync(`${rows}\n${left.toUpperCase()},\n`)).toEqual({ added: 0, removed: 0 });
  });

  describe("a file that is cut off in its last row", () => {
    /** Six members. */
    async function scene() {
      const service = await withContacts(0);
      const contacts = addresses("a1", "a2", "a3", "a4", "a5", "a6").map((key) => ({ key, lists: ["L"] }));
      service.sandbox.admin.seed({ contacts: [...contacts, { key: "other@example.com" }] });
      const sync = async (text: string, flags = "") =>
        summaryOf(service.ecm, `lists sync L ${await inputFile(text)} --max-remove 100% -q ${flags}`);
      return { ...service, sync };
    }

    it.each([
      ["inside an address", "Email\na1@example.com\na4@exam", { truncated: 1 }],
      ["in front of the @", "a1@example.com\na4", { truncated: 1 }],
      ["with CRLF", "Email\r\na1@example.com\r\na4@exam", { truncated: 1 }],
      ["in a column of several", "First Name,Email\nA,a1@example.com\nB,a4@exam", { truncated: 1 }],
      ["in an export of ours", "key,lists,tags,status\na1@example.com,,,active\na4@ex", { truncated: 1 }],
      ["in a last column of ours", "status,key\nactive,a1@example.com\nactive,a4@ex", { truncated: 1 }],
      ["where an address could end", "Email\na1@example.com\na4@example.co", { not_found: 1 }],
      ["where an unknown address could end", "Email\na1@example.com\nnew@example.co", { not_found: 1 }],
      ["behind a quote", 'Email\n"a1@example.com"\n"a4@exam"', { truncated: 1 }],
    ])("takes nobody out: %s", async (_name, text, rejected) => {
      const { sync, ecm } = await scene();
      expect(await sync(text)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("nobody is taken out of the list"),
        members: { removed: 0 },
        codes: { rejected, skipped: { truncated: 5 } },
      });
      expect(await sync(text, "--dry-run")).toMatchObject({ members: { removed: 0 } });
      expect((await ecm("contact search --list L --count")).stdout).toBe("6\n");
    });

    it("takes out who is left out where the file is whole, with a last line end and without", async () => {
      const { sync } = await scene();
      const whole = await sync("Email\na1@example.com\na2@example.com\nother@example.com");
      expect(whole).toMatchObject({ code: 0, stderr: "", members: { added: 1, removed: 4 } });
      // A single line has nobody to be compared with.
      expect((await sync("a1@example.com")).members).toEqual({ added: 0, removed: 2 });
      expect(await sync("Email\na1@exam\na1@example.com\n")).toMatchObject({
        members: { removed: 0 },
        codes: { rejected: { key_syntax: 1 } },
      });
    });

    it("takes nobody out with --create either, but who is left out where the last one is new", async () => {
      const { sync } = await scene();
      const cut = await sync("Email\na1@example.com\na4@example.co", "--create");
      expect(cut.stderr).toContain("nobody is taken out of the list");
      expect(cut.members).toMatchObject({ removed: 0 });
      const whole = await sync("Email\na1@example.com\nnew@example.com", "--create");
      expect(whole).toMatchObject({ rows: { created: 1 }, members: { removed: 6 } });
    });
  });

  it("says of keys that they are cut off, for every command that takes them", async () => {
    const { ecm } = await withContacts(3);
    const path = await inputFile("p0@example.com\np1@exam");
    for (const command of ["mutate --set 'First Name=X'", "unsubscribe --yes", "delete --yes"]) {
      const { code, codes } = await summaryOf(ecm, `contact ${command} --keys ${path}`);
      expect({ command, code, codes }).toMatchObject({
        command,
        code: 3,
        codes: { rejected: { truncated: 1 } },
      });
    }
    const search = await ecm(`contact search --keys ${path} -q -o id`);
    expect(search.stderr).toMatch(/^warning: .*:2: the file ends in the middle of this row/);
  });

  it("refuses a file that names nobody", async () => {
    const { ecm } = await withContacts(2);
    const refused = await ecm(`lists sync L ${await inputFile("Email\n")} --max-remove 100%`);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("error:") });
  });

  it("counts keys that do not exist, and creates them only when told", async () => {
    const { ecm } = await withContacts(2);
    const path = await inputFile(`${lines(members(0, 2))}new@example.com\n`);
    const without = await summaryOf(ecm, `lists sync L ${path}`);
    expect(without).toMatchObject({ code: 3, rows: { updated: 2, rejected: 1, created: 0 } });
    const created = await summaryOf(ecm, `lists sync L ${path} --create`);
    expect(created).toMatchObject({ rows: { created: 1, unchanged: 2 }, members: { added: 1 } });
  });

  it("goes on with a stopped one, removals included", async () => {
    const service = await withContacts(40);
    const { ecm } = service;
    await ecm(`lists sync L ${await fileOf(0, 20)}`);
    const limit = "--max-requests 12";
    let last = await summaryOf(ecm, `lists sync L ${await fileOf(10, 40)} --max-remove 50% ${limit}`);
    const { run } = last;
    for (let tries = 0; last.status !== "completed" && tries < 10; tries++)
      last = await summaryOf(ecm, `runs resume ${run} ${limit}`);
    expect(last).toMatchObject({
      run,
      status: "completed",
      members: { added: 20, removed: 10 },
      rows: { read: 40, updated: 30 },
    });
    expect(await inLists(service)).toHaveLength(30);
  });
});
