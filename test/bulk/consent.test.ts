import { expect, it } from "vitest";
import { call, inputFile, manyContacts, type RunningSandbox, readContacts, startAccount } from "../kit.ts";
import { done, refused } from "../support/ecm.ts";

const [ada, bob, cy] = ["ada@example.com", "bob@example.com", "cy@example.com"];

it("nobody who had left is created by a Status column of words like unsubscribed, with --ignore-unmapped", async () => {
  const { importing, keys } = await startAccount();
  const rows = `${ada},subscribed,38\n${bob},unsubscribed,41\n${cy},Unsubscribed,40\n`;
  expect(await importing(`Email,Status,Shoe Size\n${rows}`, "--ignore-unmapped")).toMatchObject({
    code: 0,
    codes: { skipped: { not_subscribed: 2 } },
    stderr: expect.stringContaining('Status: 2 of 3 rows say "unsubscribed": not created'),
  });
  expect(await keys()).toEqual([ada]);
});

it("nobody who had left is created by an Opt-In column of ja and nein, through the mapping questions", async () => {
  const { ecm, importing, keys } = await startAccount();
  const path = await inputFile(`Email,Opt-In,Schuhgröße\n${ada},ja,38\n${bob},nein,41\n`);
  const result = await ecm(`import ${path}`, {
    terminalColumns: 100,
    typed: [
      ["Is this right?", "\r"],
      ["Add these contacts to a list?", "\r"],
      ["?", "y\r"],
    ],
  });
  const said = 'Opt-In: 1 of 2 rows says "nein": not created';
  expect(result.stderr).toMatch(/Opt-In +consent +100 % +ja, nein/);
  expect(result.stderr).toContain(said);
  expect(await keys()).toEqual([ada]);
  // Without a question to ask, it is read by itself.
  const silent = await importing(`Email,Opt-In\n${cy},ja\ndora@example.com,nein\n`);
  expect(silent.stderr).toContain(said);
  expect(await keys()).toEqual([ada, cy]);
});

it("nobody who had left is created by --consent-column Unsubscribed, also on a recognised Brevo export", async () => {
  const { importing, keys } = await startAccount();
  await importing(`Email,Unsubscribed\n${ada},no\n${bob},yes\n${cy},\n`, "--consent-column Unsubscribed");
  expect(await keys()).toEqual([ada, cy]);
  const brevo = "CONTACT ID;EMAIL;EMAIL_BLACKLISTED\n1;dora@example.com;No\n2;eve@example.com;Yes\n";
  await importing(brevo, "--consent-column EMAIL_BLACKLISTED");
  expect(await keys()).toEqual([ada, cy, "dora@example.com"]);
});

it("an import that nobody watches says all that is unclear about its columns in one night, and writes nothing", async () => {
  const { ecm, sandbox } = await startAccount();
  const path = await inputFile(`Email,Newsletter,Permission,Shoe Size\n${ada},yes,no,38\n`);
  const unclear = ['"Newsletter" may say', '"Permission" may say', 'any field: "Shoe Size"'];
  await refused(ecm(`import ${path}`), 2, ...unclear, "--map 'Shoe Size=ignore'");
  expect(sandbox.admin.requests().filter(({ method }) => method !== "GET")).toEqual([]);
});

it("an import that nobody watches asks nothing of the account where only consent is unclear", async () => {
  const { ecm, sandbox } = await startAccount();
  const path = await inputFile(`Email,Newsletter\n${ada},yes\n`);
  await refused(ecm(`import ${path}`), 2);
  const others = await inputFile(`Email,Newsletter,Shoe Size\n${ada},yes,38\n`);
  await refused(ecm(`import ${others} --ignore-unmapped`), 2);
  expect(sandbox.admin.requests()).toEqual([]);
});

it("a file that says of nobody that they have left: its column is read, or asked about", async () => {
  const { ecm } = await startAccount();
  const empty = ["Unsubscribed", "Opt-Out", "Unsubscribed At", "Bounced"].map((name) => [name, ""]);
  const dryRun = async ([column, value]: string[]) =>
    ecm(`import ${await inputFile(`Email,${column}\n${ada},${value}\n${bob},${value}\n`)} --dry-run`);
  for (const column of [["Status", "subscribed"], ["Email Status", "Subscribed"], ...empty]) {
    const stderr = expect.stringContaining(`${column[0]}: read as consent; no row`);
    expect(await dryRun(column)).toMatchObject({ code: 0, stderr });
  }
  for (const column of Object.entries({ Status: "active", "Opt-In": "" }))
    await refused(dryRun(column), 2, `says who is subscribed: --map ${column[0]}=consent`);
});

it("a file without the column of --consent-column is refused, by every command that takes the flag", async () => {
  const { ecm, keys } = await startAccount({ contents: { lists: ["News"] } });
  const path = await inputFile(`Email\n${ada}\n`);
  const text = '--consent-column names a column that does not exist: "Unsubscribed"';
  for (const command of [
    "import",
    "lists sync News --create",
    "export --keys",
    "contact mutate --set City=Oslo --keys",
    "contact search --keys",
    "contact unsubscribe --yes --keys",
  ])
    await refused(ecm(`${command} ${path} --consent-column Unsubscribed`), 2, text);
  expect(await keys()).toEqual([]);
});

it("existing contacts that the file marks get their fields, join no list, and are counted and named", async () => {
  const fields = { "First Name": "Cyrus" };
  const { run, service } = await startAccount({
    contents: { lists: ["News"], contacts: [{ key: ada }, { key: bob }, { key: cy, fields }] },
  });
  const marks = `Email,First Name,Opt-Out\n${ada},,yes\n${bob},Robert,yes\n${cy},Cyrus,no\nnew@example.com,New,yes\n`;
  const command = `import ${await inputFile(marks)} --list News`;
  for (const flags of ["--dry-run", ""]) {
    const result = await run(`${command} ${flags}`);
    expect(result).toMatchObject({
      code: 0,
      rows: { updated: 2, unchanged: 1, skipped: 1, created: 0 },
      codes: { skipped: { not_subscribed: 1 } },
      consent: { not_subscribed: 1, suppressed: 0, inactive: 0, marked: 2 },
    });
    expect(result.stderr).toContain('Opt-Out: 3 of 4 rows say "yes": not created');
    const named = /2 contacts are active in the account .*\n {2}ada@example.com \(line 2\)\n {2}bob/;
    expect(result.stderr).toMatch(named);
  }
  const contacts = await readContacts(service);
  expect(contacts.get(bob)).toMatchObject({ fields: { "First Name": "Robert" }, lists: [] });
  expect(contacts.get(cy)?.lists).toHaveLength(1);
  expect(await inactiveIn(service)).toEqual([]);
  expect((await run(`${command} --include-unsubscribed`)).rows).toMatchObject({ created: 1, updated: 2 });
});

async function inactiveIn(service: RunningSandbox): Promise<string[]> {
  const all = await call<{ key: string; status: { primary: string } }[]>(service, "GET", "/api/contact");
  return all.filter(({ status }) => !/^active$/i.test(status.primary)).map(({ key }) => key);
}

it.each(["merge", "first", "last", "reject"])("--duplicates %s keeps the mark of each row", async (how) => {
  const { importing, keys } = await startAccount();
  const rows = `${ada},yes\nADA@example.com,no\n${bob},no\nBOB@example.com,yes\n${cy},no\n`;
  await importing(`Email,Unsubscribed\n${rows}`, `--duplicates ${how}`);
  expect(await keys()).toEqual([cy]);
});

it("lists sync adds nobody whom the file marks, with and without --create", async () => {
  const contents = { lists: ["News"], contacts: [{ key: ada }, { key: bob }] };
  const { ecm, run, service } = await startAccount({ contents });
  const rows = `${ada},unsubscribed\n${bob},subscribed\nnew@example.com,unsubscribed\n`;
  const sync = `lists sync News ${await inputFile(`Email,Status\n${rows}`)}`;
  const consent = { not_subscribed: 1, marked: 1 };
  const said = /rows say "unsubscribed": not added to the list.*Unsubscribe them with: /s;
  const stderr = expect.stringMatching(said);
  expect(await run(sync)).toMatchObject({ code: 0, stderr, consent, members: { added: 1 } });
  expect(await run(`${sync} --create`)).toMatchObject({ rows: { created: 0 }, consent });
  expect([...(await readContacts(service))]).toMatchObject([
    [ada, { lists: { length: 0 } }],
    [bob, { lists: { length: 1 } }],
  ]);
  const report = await ecm(`${sync} --map Status=ignore`);
  expect(report.stderr).toContain('"Status" looks like consent but is ignored');
});

it("mutate --keys adds nobody to a list whom its file marks, and changes the rest", async () => {
  const contents = { lists: ["News"], tags: ["VIP"], contacts: [{ key: ada }, { key: bob }] };
  const { run, service } = await startAccount({ contents });
  const path = await inputFile(`Email,Abgemeldet\n${ada},ja\n${bob},nein\n`);
  const result = await run(`contact mutate --keys ${path} --add-list News --add-tag VIP --yes`);
  expect(result).toMatchObject({ code: 0, consent: { marked: 1 } });
  expect([...(await readContacts(service)).values()]).toMatchObject([
    { lists: { length: 0 }, tags: { length: 1 } },
    { lists: { length: 1 }, tags: { length: 1 } },
  ]);
});

it("suppressed keys are left out before a look-up is spent, whatever the form of the key", async () => {
  const { ecm, run, importing, keys } = await startAccount();
  await ecm(`suppressions add ${ada}`);
  expect(await importing("Email\nMAILTO:Ada@Example.com\n")).toMatchObject({
    rows: { skipped: 1, created: 0 },
    codes: { skipped: { suppressed: 1 } },
    consent: { suppressed: 1, not_subscribed: 0 },
    requests: { search: 0 },
  });
  const command = `import ${await inputFile(`Email\n${ada}\n${bob}\n`)}`;
  const dry = await run(`${command} --dry-run`);
  const real = await run(command);
  expect(real.rows).toMatchObject({ created: 1, skipped: 1 });
  expect([dry.rows, dry.estimate.requests]).toEqual([real.rows, real.requests.total]);
  expect(await keys()).toEqual([bob]);
  expect((await run(`${command} --include-suppressed`)).rows.created).toBe(1);
});

it.each([2, 20])("suppressed keys change nobody of %d contacts, and may be unsubscribed", async (count) => {
  const account = await startAccount({ contents: { contacts: manyContacts(count) } });
  const { ecm, run, importing } = account;
  await ecm("suppressions add p0@example.com");
  const changed = await importing("Email,First Name\np0@example.com,New\np1@example.com,New\n");
  const codes = { skipped: { suppressed: 1 } };
  expect(changed).toMatchObject({ rows: { updated: 1, skipped: 1 }, codes });
  const unsubscribeMarked = async (rows: string) => {
    const path = await inputFile(`Email,Unsubscribed\n${rows}`);
    return run(`contact unsubscribe --keys ${path} --marked-rows --yes`);
  };
  const left = await unsubscribeMarked("p0@example.com,yes\np1@example.com,no\n");
  expect(left.rows).toMatchObject({ updated: 1 });
  const gone = await unsubscribeMarked("gone@example.com,yes\n");
  expect(gone).toMatchObject({ code: 0, codes: { skipped: { missing: 1 } } });
  expect(await inactiveIn(account)).toEqual(["p0@example.com"]);
});

it("suppressed keys are neither added nor created by lists sync, and stay members where they are", async () => {
  const contents = { contacts: [{ key: ada, lists: ["Old"] }], lists: ["News"] };
  const { ecm, run } = await startAccount({ contents });
  await ecm(`suppressions add ${ada}`);
  const path = await inputFile(`${ada}\n${bob}\n`);
  const left = { rows: { skipped: 1 }, consent: { suppressed: 1 } };
  expect(await run(`lists sync Old ${path} --create`)).toMatchObject({ ...left, members: { removed: 0 } });
  expect(await run(`lists sync News ${path}`)).toMatchObject({ ...left, members: { added: 1 } });
  const all = await run(`lists sync News ${path} --include-suppressed`);
  expect(all).toMatchObject({ rows: { skipped: 0 }, members: { added: 1 } });
});

it("a retry creates nobody by an override of the first run: it is typed anew", async () => {
  const { ecm, run, importing } = await startAccount();
  const flags = "--include-suppressed --include-unsubscribed";
  expect((await importing(`Email,Opt-out\n${ada},\nbad,\n`, flags)).code).toBe(3);
  await ecm("suppressions add eve@example.com");
  const rows = "Email,Opt-out\neve@example.com,\nleft@example.com,yes\n";
  const retry = `runs retry last ${await inputFile(rows, "fixed.csv")}`;
  const codes = { skipped: { suppressed: 1, not_subscribed: 1 } };
  expect(await run(retry)).toMatchObject({ rows: { created: 0, skipped: 2 }, codes });
  await importing(`${rows}bad,\n`);
  expect((await run(`${retry} ${flags}`)).rows).toMatchObject({ created: 2, skipped: 0 });
});

it.each(["Unsubscribed\n", ",Opted out,\n"])("gone above the header is settled first: %j", async (above) => {
  const { ecm, keys } = await startAccount({ contents: { contacts: [{ key: bob }] } });
  const path = await inputFile(`${above}Email,Date\n${ada},2026-01-01\n${bob},\n`);
  const line = `import ${path} --ignore-unmapped`;
  await refused(ecm(line), 2, /:1: ".*" stands above the header \(line 2\)/, "--skip-lines 1");
  await done(ecm(`contact delete --keys ${path} --map Email=key --dry-run`));
  expect(await keys()).toEqual([bob]);
  await done(ecm(`${line} --skip-lines 1`));
});

it("a retry refuses a file without the column that its run read as consent, whoever had named it", async () => {
  const { ecm, importing, keys } = await startAccount({ contents: { fields: ["Email Status"] } });
  for (const [header, mark, flags] of [
    ["Unsubscribed", "yes", ""],
    ["Letter", "yes", "--consent-column Letter=opt-out"],
    // It fills a field too.
    ["Email Status", "unsubscribed", ""],
    ["State", "unsubscribed", ""],
  ] as const) {
    await importing(`Email,${header}\nbad(at)example.com,${mark}\n`, flags);
    const fixed = await inputFile("Email\nbad@example.com\n", "fixed.csv");
    await refused(ecm(`runs retry last ${fixed}`), 2, `names a column that does not exist: "${header}"`);
  }
  expect(await keys()).toEqual([]);
  const whole = await inputFile("Email,State\nbad@example.com,active\n", "whole.csv");
  expect((await ecm(`runs retry last ${whole}`)).code).toBe(0);
});

it("a retry needs no column that a rejects file has only where a row is marked", async () => {
  const { run, importing } = await startAccount();
  const rows = `Email,Unsubscribed\nbad(at)example.com,no\n${ada},yes\n${ada},no\n`;
  await importing(rows, "--duplicates reject");
  expect(await run("runs retry last")).toMatchObject({ code: 3, rows: { skipped: 1, rejected: 1 } });
  expect(await run("runs retry last")).toMatchObject({ code: 3, rows: { skipped: 0, rejected: 1 } });
});
