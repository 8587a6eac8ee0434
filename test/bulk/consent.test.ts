import { describe, expect, it } from "vitest";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, inputFile, manyContacts, parseSummary, readContacts } from "./kit.ts";

describe("what used to create people who had left, without a word", () => {
  it("a Status column of words like unsubscribed, with --ignore-unmapped", async () => {
    const service = await startSandbox();
    const path = await inputFile(
      "Email,Status,Shoe Size\nada@example.com,subscribed,38\nbob@example.com,unsubscribed,41\ncy@example.com,Unsubscribed,40\n",
    );
    const result = await service.ecm(["import", path, "--ignore-unmapped", "--json"]);
    expect(result.code).toBe(0);
    expect([...(await readContacts(service)).keys()]).toEqual(["ada@example.com"]);
    expect(parseSummary(result).codes.skipped).toEqual({ not_subscribed: 2 });
    expect(result.stderr).toContain('Status: 2 of 3 rows say "unsubscribed": not created');
  });

  it("an Opt-In column of ja and nein, through the mapping questions", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,Opt-In,Schuhgröße\nada@example.com,ja,38\nbob@example.com,nein,41\n");
    const result = await service.ecm(["import", path], {
      terminalColumns: 100,
      typed: [
        ["Is this right?", "\r"],
        ["Add these contacts to a list?", "\r"],
        ["?", "y\r"],
      ],
    });
    expect(result.stderr).toMatch(/Opt-In +consent +100 % +ja, nein/);
    expect(result.stderr).toContain('Opt-In: 1 of 2 rows says "nein": not created');
    expect([...(await readContacts(service)).keys()]).toEqual(["ada@example.com"]);
    // Without a question to ask, it is read by itself.
    const plain = await inputFile("Email,Opt-In\ncy@example.com,ja\ndora@example.com,nein\n");
    const silent = await service.ecm(["import", plain, "--json"]);
    expect(silent.stderr).toContain('Opt-In: 1 of 2 rows says "nein": not created');
    expect([...(await readContacts(service)).keys()]).toEqual(["ada@example.com", "cy@example.com"]);
  });

  it("--consent-column Unsubscribed, also on a recognised Brevo export", async () => {
    const service = await startSandbox();
    const plain = await inputFile(
      "Email,Unsubscribed\nada@example.com,no\nbob@example.com,yes\ncy@example.com,\n",
    );
    await service.ecm(["import", plain, "--consent-column", "Unsubscribed"]);
    expect([...(await readContacts(service)).keys()]).toEqual(["ada@example.com", "cy@example.com"]);
    const brevo = await inputFile(
      "CONTACT ID;EMAIL;EMAIL_BLACKLISTED;ADDED_TIME\n1;dora@example.com;No;x\n2;eve@example.com;Yes;x\n",
    );
    await service.ecm(["import", brevo, "--consent-column", "EMAIL_BLACKLISTED"]);
    expect([...(await readContacts(service)).keys()]).toEqual([
      "ada@example.com",
      "cy@example.com",
      "dora@example.com",
    ]);
  });
});

describe("an import that nobody watches", () => {
  it("says all that is unclear about its columns in one night, and writes nothing", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,Newsletter,Permission,Shoe Size\nada@example.com,yes,no,38\n");
    const { code, stderr } = await service.ecm(["import", path]);
    expect(code).toBe(2);
    for (const text of [
      '"Newsletter" may say who is subscribed',
      '"Permission" may say who is subscribed',
      '1 column does not match any field: "Shoe Size"',
      "--consent-column Newsletter=opt-in",
      "--consent-column Permission=opt-in",
      "--map 'Shoe Size=ignore'",
    ])
      expect(stderr).toContain(text);
    expect(service.sandbox.admin.requests().filter(({ method }) => method !== "GET")).toEqual([]);
  });

  it("asks nothing of the account where only consent is unclear", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,Newsletter\nada@example.com,yes\n");
    expect((await service.ecm(["import", path])).code).toBe(2);
    const others = await inputFile("Email,Newsletter,Shoe Size\nada@example.com,yes,38\n");
    expect((await service.ecm(["import", others, "--ignore-unmapped"])).code).toBe(2);
    expect(service.sandbox.admin.requests()).toEqual([]);
  });
});

describe("a file that says of nobody that they have left", () => {
  const isRead = (column: string) => ({ code: 0, text: `${column}: read as consent; no row` });
  const isAsked = (column: string) => ({ code: 2, text: `says who is subscribed: --map ${column}=consent` });

  it.each([
    ["Status", "subscribed", isRead],
    ["Email Status", "Subscribed", isRead],
    ["Unsubscribed", "", isRead],
    ["Opt-Out", "", isRead],
    ["Unsubscribed At", "", isRead],
    ["Bounced", "", isRead],
    ["Status", "active", isAsked],
    ["Opt-In", "", isAsked],
  ])("%s, in every row %j, is read or asked about", async (column, value, expected) => {
    const service = await startSandbox();
    const path = await inputFile(`Email,${column}\nada@example.com,${value}\nbob@example.com,${value}\n`);
    const { code, stderr } = await service.ecm(["import", path, "--dry-run"]);
    const { code: expectedCode, text } = expected(column);
    expect([code, stderr]).toEqual([expectedCode, expect.stringContaining(text)]);
  });
});

describe("a file that no longer says who has left", () => {
  it("is refused where --consent-column names the column, by an import and by lists sync", async () => {
    const service = await startSandbox({ contents: { lists: ["News"] } });
    const path = await inputFile("Email\nada@example.com\n");
    const flags = ["--consent-column", "Unsubscribed"];
    for (const args of [
      ["import", path, ...flags],
      ["lists", "sync", "News", path, "--create", ...flags],
    ]) {
      const { code, stderr } = await service.ecm(args);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('--consent-column names a column that does not exist: "Unsubscribed"'),
      ]);
    }
    expect(await readStatuses(service)).toEqual({});
  });
});

/** Contacts of an account, as `key: status`. */
async function readStatuses(service: RunningSandbox): Promise<Record<string, string>> {
  const [structure] = await call<{ _id: string }[]>(service, "GET", "/api/contact-structure");
  const { contacts } = await call<{ contacts: { key: string; contactStatus: string }[] }>(
    service,
    "POST",
    "/api/contact/search",
    {
      contactStructureId: structure!._id,
      page: 1,
      pageSize: 100,
      source: ["_id", "key", "contactStatus"],
      contactSpecification: { filters: [] },
    },
  );
  return Object.fromEntries(contacts.map(({ key, contactStatus }) => [key, contactStatus.toLowerCase()]));
}

describe("existing contacts that the file marks", () => {
  const marks =
    "Email,First Name,Opt-Out\nada@example.com,Ada,yes\nbob@example.com,Robert,yes\ncy@example.com,Cyrus,no\nnew@example.com,New,yes\n";

  async function account() {
    const service = await startSandbox();
    await service.ecm(["lists", "create", "News"]);
    const path = await inputFile(
      "Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\ncy@example.com,Cy\n",
    );
    await service.ecm(["import", path]);
    return service;
  }

  it("get their fields, join no list, and are counted and named", async () => {
    const service = await account();
    const path = await inputFile(marks);
    for (const flags of [["--dry-run"], []]) {
      const result = await service.ecm(["import", path, "--list", "News", "--json", ...flags]);
      expect(result.code).toBe(0);
      expect(parseSummary(result)).toMatchObject({
        rows: { updated: 2, unchanged: 1, skipped: 1, created: 0 },
        consent: { not_subscribed: 1, suppressed: 0, inactive: 0, marked: 2 },
      });
      expect(result.stderr).toContain('Opt-Out: 3 of 4 rows say "yes": not created');
      expect(result.stderr).toMatch(
        /2 contacts are active in the account .*\n {2}ada@example.com \(line 2\)\n {2}bob/,
      );
    }
    const contacts = await readContacts(service);
    expect(contacts.get("bob@example.com")).toMatchObject({ fields: { "First Name": "Robert" }, lists: [] });
    expect(contacts.get("cy@example.com")?.lists).toHaveLength(1);
    expect(Object.values(await readStatuses(service))).toEqual(["active", "active", "active"]);
  });
});

describe("every row and every command", () => {
  it.each(["merge", "first", "last", "reject"])(
    "--duplicates %s keeps the mark of every row",
    async (how) => {
      for (const rows of [
        "ada@example.com,yes\nADA@example.com,no\n",
        "ada@example.com,no\nADA@example.com,yes\n",
      ]) {
        const service = await startSandbox();
        const path = await inputFile(`Email,Unsubscribed\n${rows}`);
        await service.ecm(["import", path, "--duplicates", how, "--json"]);
        expect((await readContacts(service)).size, `${how} ${rows}`).toBe(0);
      }
    },
  );

  it("a row that is rejected for its length still marks its contact", async () => {
    const service = await startSandbox();
    const path = await inputFile(
      "Email,Unsubscribed,First Name\nada@example.com,yes,Ada,Lovelace\nada@example.com,no,Ada\nbob@example.com,no,Bob\n",
    );
    const result = await service.ecm(["import", path, "--json"]);
    expect(result.code).toBe(3);
    expect(parseSummary(result).consent.not_subscribed).toBe(1);
    expect([...(await readContacts(service)).keys()]).toEqual(["bob@example.com"]);
  });

  it("lists sync adds nobody whom the file marks, with and without --create", async () => {
    const service = await startSandbox();
    await service.ecm(["lists", "create", "News"]);
    await service.ecm(["import", await inputFile("Email\nada@example.com\nbob@example.com\n")]);
    const path = await inputFile(
      "Email,Status\nada@example.com,unsubscribed\nbob@example.com,subscribed\nnew@example.com,unsubscribed\n",
    );
    const plain = await service.ecm(["lists", "sync", "News", path, "--json"]);
    expect(plain.code).toBe(0);
    expect(plain.stderr).toContain('Status: 2 of 3 rows say "unsubscribed": not added to the list');
    expect(parseSummary(plain)).toMatchObject({
      consent: { not_subscribed: 1, marked: 1 },
      members: { added: 1 },
    });
    const create = await service.ecm(["lists", "sync", "News", path, "--create", "--json"]);
    expect(parseSummary(create)).toMatchObject({
      rows: { created: 0 },
      consent: { not_subscribed: 1, marked: 1 },
    });
    const contacts = await readContacts(service);
    expect([...contacts].map(([key, { lists }]) => [key, lists.length])).toEqual([
      ["ada@example.com", 0],
      ["bob@example.com", 1],
    ]);
    const report = await service.ecm(["lists", "sync", "News", path, "--map", "Status=ignore"]);
    expect(report.stderr).toContain('"Status" looks like consent but is ignored');
  });

  it("mutate --keys adds nobody to a list whom its file marks, and changes the rest", async () => {
    const service = await startSandbox();
    await service.ecm(["lists", "create", "News"]);
    await service.ecm(["structure", "tag", "add", "VIP"]);
    await service.ecm(["import", await inputFile("Email\nada@example.com\nbob@example.com\n")]);
    const path = await inputFile("Email,Abgemeldet\nada@example.com,ja\nbob@example.com,nein\n");
    const flags = ["--add-list", "News", "--add-tag", "VIP", "--json"];
    const result = await service.ecm(["contact", "mutate", "--keys", path, ...flags, "--yes"]);
    expect(result.code).toBe(0);
    expect(parseSummary(result).consent.marked).toBe(1);
    const contacts = await readContacts(service);
    expect([...contacts.values()].map(({ lists, tags }) => [lists.length, tags.length])).toEqual([
      [0, 1],
      [1, 1],
    ]);
  });
});

describe("suppressed keys", () => {
  it("are left out before a look-up is spent, whatever the form of the key", async () => {
    const service = await startSandbox();
    await service.ecm(["suppressions", "add", "ada@example.com"]);
    const only = await inputFile("Email\nMAILTO:Ada@Example.com\n");
    const none = parseSummary(await service.ecm(["import", only, "--json"]));
    expect(none).toMatchObject({
      rows: { skipped: 1, created: 0 },
      codes: { skipped: { suppressed: 1 } },
      consent: { suppressed: 1, not_subscribed: 0 },
    });
    const path = await inputFile("Email\nada@example.com\nbob@example.com\n");
    const dry = parseSummary(await service.ecm(["import", path, "--json", "--dry-run"]));
    const real = parseSummary(await service.ecm(["import", path, "--json"]));
    expect(real.rows).toMatchObject({ created: 1, skipped: 1 });
    expect(dry.rows).toEqual(real.rows);
    expect(dry.estimate.requests).toBe(real.requests.total);
    expect([...(await readContacts(service)).keys()]).toEqual(["bob@example.com"]);
    const report = parseSummary(await service.ecm(["import", path, "--json", "--include-suppressed"]));
    expect(report.rows.created).toBe(1);
  });

  it.each([2, 20])(
    "change nobody whom an account of %d holds, and do not keep them from being unsubscribed",
    async (count) => {
      const service = await startSandbox({ contents: { contacts: manyContacts(count) } });
      await service.ecm(["suppressions", "add", "p0@example.com"]);
      const changes = await inputFile("Email,First Name\np0@example.com,New\np1@example.com,New\n");
      const changed = parseSummary(await service.ecm(["import", changes, "--json"]));
      expect(changed).toMatchObject({
        rows: { updated: 1, skipped: 1 },
        codes: { skipped: { suppressed: 1 } },
      });
      const marks = await inputFile("Email,Unsubscribed\np0@example.com,yes\np1@example.com,no\n");
      const args = ["contact", "unsubscribe", "--keys", marks, "--marked-rows", "--yes", "--json"];
      expect(parseSummary(await service.ecm(args)).rows).toMatchObject({ updated: 1 });
      const gone = await inputFile("Email,Unsubscribed\ngone@example.com,yes\n");
      const result = await service.ecm(args.map((word) => (word === marks ? gone : word)));
      expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('"skipped":{"missing":1}') });
      const left = await service.ecm([
        "contact",
        "search",
        "--status",
        "unsubscribed",
        "--all",
        "-o",
        "json",
      ]);
      expect(JSON.parse(left.stdout)).toMatchObject([{ key: "p0@example.com" }]);
    },
  );

  it("are not created by lists sync --create", async () => {
    const service = await startSandbox();
    await service.ecm(["lists", "create", "News"]);
    await service.ecm(["suppressions", "add", "ada@example.com"]);
    const path = await inputFile("ada@example.com\nbob@example.com\n");
    const result = parseSummary(await service.ecm(["lists", "sync", "News", path, "--create", "--json"]));
    expect(result).toMatchObject({ rows: { created: 1, skipped: 1 }, consent: { suppressed: 1 } });
  });

  it("stop every creation while their list cannot be read", async () => {
    const service = await startSandbox();
    await service.ecm(["lists", "create", "News"]);
    const env = { ECM_SUPPRESSIONS: "/nowhere/at/all" };
    const path = await inputFile("Email\nada@example.com\n");
    expect((await service.ecm(["import", path], { env })).code).toBe(1);
    expect((await service.ecm(["lists", "sync", "News", path, "--create"], { env })).code).toBe(1);
    expect((await readContacts(service)).size).toBe(0);
    expect((await service.ecm(["import", path, "--include-suppressed"], { env })).code).toBe(0);
  });
});

it("a retry creates nobody by an override of the first run: it is typed anew", async () => {
  const service = await startSandbox();
  const first = await inputFile("Email,Opt-out\nada@example.com,\nbad,\n");
  const flags = ["--include-suppressed", "--include-unsubscribed", "--json"];
  expect((await service.ecm(["import", first, ...flags])).code).toBe(3);
  await service.ecm(["suppressions", "add", "eve@example.com"]);
  const fixed = await inputFile("Email,Opt-out\neve@example.com,\nleft@example.com,yes\n", "fixed.csv");
  const retried = parseSummary(await service.ecm(["runs", "retry", "last", fixed, "--json"]));
  expect(retried).toMatchObject({ rows: { created: 0, skipped: 2 } });
  expect(retried.codes.skipped).toEqual({ suppressed: 1, not_subscribed: 1 });
  const again = await inputFile("Email,Opt-out\neve@example.com,\nleft@example.com,yes\nbad,\n", "again.csv");
  await service.ecm(["import", again, "--json"]);
  const typed = parseSummary(await service.ecm(["runs", "retry", "last", fixed, ...flags]));
  expect(typed).toMatchObject({ rows: { created: 2, skipped: 0 } });
});
