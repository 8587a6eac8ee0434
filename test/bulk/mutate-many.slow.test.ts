import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, inputFile, manyContacts, parseSummary, readContacts, summaryOf } from "./kit.ts";

async function withContacts(count: number): Promise<RunningSandbox> {
  return startSandbox({ contents: { lists: ["L"], contacts: manyContacts(count) } });
}

describe("ecm contact mutate, several contacts", () => {
  it("one contact is a bulk run where a flag asks for what only a run does", async () => {
    const service = await withContacts(1);
    const change = ["contact", "mutate", "p0@example.com", "--set", "First Name=New"];
    const guarded = await service.ecm([...change, "--max-changes", "0"]);
    expect(guarded.stderr).toContain(
      "This would write to 1 contact (of 1 looked at); --max-changes allows 0",
    );
    const leave = ["contact", "unsubscribe", "p0@example.com", "--max-changes", "0", "--yes"];
    expect((await service.ecm(leave)).stderr).toContain("--max-changes allows 0");
    expect((await readContacts(service)).get("p0@example.com")).toMatchObject({ version: 0 });
    const remove = ["contact", "delete", "p0@example.com", "--max-delete", "0", "--dry-run"];
    expect((await service.ecm(remove)).stderr).toContain("--max-delete allows 0");
    const report = `${await inputFile("")}.html`;
    expect((await service.ecm([...change, "--fresh", "--report", report])).code).toBe(0);
    expect(await readFile(report, "utf8")).toContain("<html");
  });

  it("rejects keys in a file that is read again as it is", async () => {
    const service = await withContacts(1);
    const rejects = `${await inputFile("")}.csv`;
    const change = ["contact", "mutate", "--set", "First Name=New", "--rejects", rejects];
    await service.ecm([...change, "nobody@example.com", "p0@example.com"]);
    const again = await summaryOf(service.ecm, `contact mutate --set 'First Name=New' --keys ${rejects}`);
    expect(again.rows, again.stderr).toMatchObject({ read: 1, rejected: 1 });
    const lines = await readFile(rejects, "utf8");
    expect(lines).toBe(
      "key,ecm_line,ecm_error,ecm_message\nnobody@example.com,1,not_found,no contact has this key or id\n",
    );
  });

  it("makes the same change on each contact that is named, by key or by id, and only where it changes something", async () => {
    const service = await withContacts(4);
    const one = await service.ecm("contact get p1@example.com --json");
    const { _id } = JSON.parse(one.stdout) as { _id: string };
    const args = [
      "contact",
      "mutate",
      "p0@example.com",
      _id,
      "P0@example.com",
      "--add-list",
      "L",
      "--set",
      "First Name=New",
      "--json",
    ];
    const first = await service.ecm(args);
    expect(parseSummary(first)).toMatchObject({
      kind: "mutate",
      status: "completed",
      rows: { read: 3, updated: 2, skipped: 1, rejected: 0 },
      requests: { mutate: 2 },
    });
    expect(first.code).toBe(0);
    const contacts = await readContacts(service);
    expect(contacts.get("p1@example.com")).toMatchObject({ fields: { "First Name": "New" }, version: 1 });
    expect(contacts.get("p1@example.com")!.lists).toHaveLength(1);
    expect(contacts.get("p2@example.com")!.lists).toHaveLength(0);
    expect(parseSummary(await service.ecm(args)).rows).toMatchObject({ updated: 0, unchanged: 2 });
  });

  it("takes keys from a file or standard input, and counts those that do not exist", async () => {
    const service = await withContacts(3);
    const keys = "p0@example.com\nnobody@example.com\np2@example.com\n";
    const fromInput = await summaryOf(service.ecm, "contact mutate --keys - --add-list L", {
      stdin: keys,
    });
    expect(fromInput).toMatchObject({
      code: 3,
      rows: { read: 3, updated: 2, rejected: 1 },
      codes: { rejected: { not_found: 1 } },
    });
    expect(await readFile(fromInput.rejects!, "utf8")).toContain("nobody@example.com,2,not_found,");
    const fromFile = await summaryOf(
      service.ecm,
      `contact mutate --keys ${await inputFile(keys)} --remove-list L`,
    );
    expect(fromFile.rows).toMatchObject({ updated: 2, rejected: 1 });
    expect((await readContacts(service)).get("p0@example.com")!.lists).toEqual([]);
  });

  it.each([
    [["a@example.com", "--keys", "f", "--add-tag", "T"], "--keys names every contact"],
    [
      ["a@example.com", "b@example.com", "--if-version", "1", "--add-tag", "T"],
      "--if-version applies to a single contact",
    ],
    [["a@example.com", "b@example.com"], "No change given"],
  ])("refuses %j", async (args, message) => {
    const service = await startSandbox();
    const result = await service.ecm(["contact", "mutate", ...args]);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain(message);
  });
});

describe("a contact whose key no import would create", () => {
  const odd = ["Jose\u0301@example.com", "a..b@example.com"];

  async function withOddKeys(): Promise<RunningSandbox> {
    return startSandbox({ contents: { contacts: odd.map((key) => ({ key })) } });
  }

  it("is found by its key in a bulk edit, and what no contact has is rejected", async () => {
    const { ecm } = await withOddKeys();
    const keys = await inputFile(`${odd.join("\n")}\nnobody at all\n`, "keys.txt");
    expect(await summaryOf(ecm, `contact mutate --keys ${keys} --set 'First Name=New'`)).toMatchObject({
      code: 3,
      rows: { read: 3, updated: 2, rejected: 1 },
      codes: { rejected: { key_syntax: 1 } },
    });
    const left = await ecm(["contact", "unsubscribe", ...odd, "--yes", "--json"]);
    expect(parseSummary(left)).toMatchObject({ rows: { updated: 2, rejected: 0 } });
    const gone = await ecm(["contact", "delete", ...odd, "--yes", "--json"]);
    expect(parseSummary(gone)).toMatchObject({ rows: { deleted: 2, rejected: 0 } });
  });

  it("is found by a search and an export for the keys in a file, and its export imports again", async () => {
    const { ecm } = await withOddKeys();
    const keys = await inputFile(odd.join("\n"), "keys.txt");
    const count = await ecm(`contact search --keys ${keys} --count`);
    expect(count.stdout.trim()).toBe("2");
    const exported = await inputFile((await ecm(`export --keys ${keys}`)).stdout);
    expect(await summaryOf(ecm, `import ${exported}`)).toMatchObject({ rows: { read: 2, unchanged: 2 } });
  });
});

describe("ecm lists sync", () => {
  const member = (index: number) => `p${index}@example.com\n`;
  const members = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => member(from + index)).join("");

  it("makes the members exactly the file's keys: adds first, removals after", async () => {
    const service = await withContacts(30);
    const first = await summaryOf(service.ecm, `lists sync L ${await inputFile(members(0, 20))}`);
    expect(first).toMatchObject({
      kind: "sync",
      status: "completed",
      rows: { read: 20, updated: 20 },
      members: { added: 20, removed: 0 },
    });
    const path = await inputFile(members(2, 25));
    const dry = await summaryOf(service.ecm, `lists sync L ${path} --dry-run`);
    const second = await summaryOf(service.ecm, `lists sync L ${path}`);
    expect(second).toMatchObject({
      rows: { read: 25, updated: 7, unchanged: 18, pending: 0 },
      members: { added: 5, removed: 2 },
      requests: { mutate: 7 },
    });
    expect(dry.estimate.requests).toBe(second.requests.total);
    expect(dry.members).toEqual(second.members);
    const contacts = await readContacts(service);
    const now = [...contacts].filter(([, { lists }]) => lists.length > 0).map(([key]) => key);
    expect(now.sort()).toEqual(members(2, 25).trim().split("\n").sort());
    expect(contacts.size).toBe(30);
    const third = await summaryOf(service.ecm, `lists sync L ${path}`);
    expect(third.requests).toMatchObject({ mutate: 0, create: 0 });
  });

  it("refuses to take more than a tenth out, unless told, and keeps the plan for a look", async () => {
    const service = await withContacts(20);
    await service.ecm(`lists sync L ${await inputFile(members(0, 20))}`);
    const path = await inputFile(members(0, 15));
    const refused = await service.ecm(`lists sync L ${path}`);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'This would remove 5 of the 20 members of "L"; --max-remove allows 10 %',
    );
    expect((await service.ecm("runs list --json")).stdout.match(/"run"/g)).toHaveLength(2);
    const summary = await summaryOf(service.ecm, `lists sync L ${path} --max-remove 25%`);
    expect(summary.members).toEqual({ added: 0, removed: 5 });
  });

  it("takes nobody out whom a rejected row names", async () => {
    const service = await withContacts(1);
    const spellings = [
      "José@example.com",
      "a..b@example.com",
      "ada@example.com",
      "bob@example.com",
      "cy@example.com",
    ];
    const held = [...spellings, "left@example.com"].map((key) => ({ key, lists: ["L"] }));
    service.sandbox.admin.seed({ contacts: held });
    const rows = [
      "Email,City",
      "José@example.com,",
      "a..b@example.com,",
      "ada@example.com,Oslo,Norway",
      "Bob (bob@example.com) and eve@example.com,",
      '"cy@example.com"?,Rome',
      "n/a,",
      "p0@example.com,",
    ];
    const path = await inputFile(rows.join("\n"));
    expect(await summaryOf(service.ecm, `lists sync L ${path} --max-remove 100%`)).toMatchObject({
      code: 3,
      rows: { rejected: 6 },
      members: { added: 1, removed: 1 },
    });
    const contacts = await readContacts(service);
    const members = [...contacts].filter(([, { lists }]) => lists.length > 0).map(([key]) => key);
    expect(members.sort()).toEqual([...spellings, "p0@example.com"].sort());
  });

  it("takes nobody out whom a rejected row names in another form", async () => {
    const service = await withContacts(1);
    const { ecm } = service;
    const letters = "abcdefghijklmnop".split("");
    const ids: string[] = [];
    for (const key of ["left", ...letters].map((name) => `${name}@example.com`)) {
      const created = await ecm(`contact create --key ${key} --list L --json`);
      ids.push((JSON.parse(created.stdout) as { _id: string })._id);
    }
    const rows = [
      "Email,City",
      "a@example.com/b@example.com,",
      "c@example.com:d@example.com,",
      "e@example.com&f@example.com,",
      "g@example.com；h@example.com,",
      "i@example.com、j＠example.com,",
      "k\u200b@example.com,",
      "l @example.com,",
      "m@example.com; mailto:n@example.com?subject=Hi,",
      "o@example.com+p@example.com,",
      "p0@example.com,",
    ];
    const path = await inputFile(rows.join("\n"));
    const sync = ["lists", "sync", "L", path, "--max-remove", "100%", "--json"];
    expect(parseSummary(await ecm(sync)).members).toEqual({ added: 1, removed: 1 });
    const left = ids[0]!;
    await ecm(`contact mutate ${left} --add-list L`);
    const withId = await inputFile(`${rows.join("\n")}\n${left.toUpperCase()},\n`);
    expect(parseSummary(await ecm(sync.with(3, withId))).members).toEqual({ added: 0, removed: 0 });
  });

  describe("a file that is cut off in its last row", () => {
    /** Six members. */
    const members = async () => {
      const service = await withContacts(0);
      for (const name of ["a1", "a2", "a3", "a4", "a5", "a6"]) {
        await service.ecm(`contact create --key ${name}@example.com --list L`);
      }
      await service.ecm("contact create --key other@example.com");
      const sync = async (text: string, ...flags: string[]) =>
        service.ecm([
          "lists",
          "sync",
          "L",
          await inputFile(text),
          "--max-remove",
          "100%",
          "--json",
          "-q",
          ...flags,
        ]);
      return { ...service, sync };
    };

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
      const { sync, ecm } = await members();
      const result = await sync(text);
      expect(result.stderr).toContain("nobody is taken out of the list");
      expect(result.code).toBe(3);
      expect(parseSummary(result)).toMatchObject({
        members: { removed: 0 },
        codes: { rejected, skipped: { truncated: 5 } },
      });
      const dry = await sync(text, "--dry-run");
      expect(parseSummary(dry)).toMatchObject({ members: { removed: 0 } });
      expect((await ecm("contact search --list L --count")).stdout).toBe("6\n");
    });

    it("takes out who is left out where the file is whole, with a last line end and without", async () => {
      const { sync } = await members();
      const whole = await sync("Email\na1@example.com\na2@example.com\nother@example.com");
      expect(parseSummary(whole).members).toEqual({ added: 1, removed: 4 });
      expect(whole).toMatchObject({ code: 0, stderr: "" });
      // A single line has nobody to be compared with.
      expect(parseSummary(await sync("a1@example.com")).members).toEqual({ added: 0, removed: 2 });
      const wrong = await sync("Email\na1@exam\na1@example.com\n");
      expect(parseSummary(wrong)).toMatchObject({
        members: { removed: 0 },
        codes: { rejected: { key_syntax: 1 } },
      });
    });

    it("takes nobody out with --create either, but who is left out where the last one is new", async () => {
      const { sync } = await members();
      const cut = await sync("Email\na1@example.com\na4@example.co", "--create");
      expect(cut.stderr).toContain("nobody is taken out of the list");
      expect(parseSummary(cut).members).toMatchObject({ removed: 0 });
      const whole = await sync("Email\na1@example.com\nnew@example.com", "--create");
      expect(parseSummary(whole)).toMatchObject({ rows: { created: 1 }, members: { removed: 6 } });
    });
  });

  it("says of keys that they are cut off, for every command that takes them", async () => {
    const service = await withContacts(3);
    const path = await inputFile("p0@example.com\np1@exam");
    for (const command of [
      ["mutate", "--set", "First Name=X"],
      ["unsubscribe", "--yes"],
      ["delete", "--yes"],
    ]) {
      const result = await service.ecm(["contact", ...command, "--keys", path, "--json"]);
      expect(result.code, command.join(" ")).toBe(3);
      expect(parseSummary(result).codes).toMatchObject({ rejected: { truncated: 1 } });
    }
    const search = await service.ecm(`contact search --keys ${path} -q -o id`);
    expect(search.stderr).toMatch(/^warning: .*:2: the file ends in the middle of this row/);
  });

  it("refuses a file that names nobody", async () => {
    const service = await withContacts(2);
    const result = await service.ecm(`lists sync L ${await inputFile("Email\n")} --max-remove 100%`);
    expect(result.code).toBe(2);
    expect(result.stderr).toContain("error:");
  });

  it("counts keys that do not exist, and creates them only when told", async () => {
    const service = await withContacts(2);
    const path = await inputFile(`${members(0, 2)}new@example.com\n`);
    const without = await summaryOf(service.ecm, `lists sync L ${path}`);
    expect(without.code).toBe(3);
    expect(without.rows).toMatchObject({ updated: 2, rejected: 1, created: 0 });
    const created = await summaryOf(service.ecm, `lists sync L ${path} --create`);
    expect(created).toMatchObject({ rows: { created: 1, unchanged: 2 }, members: { added: 1 } });
  });

  it("goes on with a stopped one, removals included", async () => {
    const service = await withContacts(40);
    await service.ecm(`lists sync L ${await inputFile(members(0, 20))}`);
    const path = await inputFile(members(10, 40));
    const args = ["lists", "sync", "L", path, "--max-remove", "50%", "--json"];
    let last = parseSummary(await service.ecm([...args, "--max-requests", "12"]));
    const { run } = last;
    for (let tries = 0; last.status !== "completed" && tries < 10; tries++) {
      last = await summaryOf(service.ecm, `runs resume ${run} --max-requests 12`);
    }
    expect(last).toMatchObject({
      run,
      status: "completed",
      members: { added: 20, removed: 10 },
      rows: { read: 40, updated: 30 },
    });
    const lists = await call<{ records: { totalContacts: number }[] }>(
      service,
      "GET",
      `/api/contact-structure/${service.sandbox.structureId}/lists`,
    );
    expect(lists.records[0]!.totalContacts).toBe(30);
  });
});
