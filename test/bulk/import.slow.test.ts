import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { errorBody, json, plainStructure, refused, startService } from "../kit.ts";
import { askingOf, call, inputFile, manyContacts, manyRows, readContacts, startAccount } from "./kit.ts";

const none = { created: 0, updated: 0, deleted: 0, unchanged: 0, skipped: 0, rejected: 0, pending: 0 };
const ofAda = "Email,First Name\na@example.com,Ada\n";

it("creates what is new, and sends no write the second time", async () => {
  const { run, fieldsOf } = await startAccount();
  const command = `import ${await inputFile("Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n")}`;
  const first = await run(command);
  expect(first).toMatchObject({
    code: 0,
    status: "completed",
    rows: { ...none, read: 2, created: 2 },
    requests: { search: 1, create: 2, mutate: 0, other: 1, retried: 0, total: 4 },
    rejects: null,
    stoppedBy: null,
  });
  const second = await run(command);
  expect(second.rows).toEqual({ ...none, read: 2, unchanged: 2 });
  expect(second.requests).toMatchObject({ search: 1, create: 0, mutate: 0, total: 2 });
  expect(second.run).not.toBe(first.run);
  expect(await fieldsOf("ada@example.com")).toEqual({ "First Name": "Ada" });
});

it("refuses a pipe without a byte; a header alone is a result without rows", async () => {
  const { ecm, run } = await startAccount();
  await refused(ecm("import -", { stdin: "" }), 2, "standard input is empty");
  const header = await run("import -", { stdin: "Email,First Name,tags\n" });
  expect(header).toMatchObject({ code: 0, status: "completed", rows: { ...none, read: 0 } });
});

it("sends only what changes, by its flags, in one mutate for each contact", async () => {
  const { importing, service } = await startAccount();
  const both = "Email,First Name,Last Name\na@example.com,Ada,L\nb@example.com,Bob,M\n";
  const blank = "Email,Last Name\na@example.com,\n";
  for (const [text, flags, rows, skipped = {}] of [
    [both, "--list One --tag T1 --create-missing", { created: 2 }],
    [both.replace("Ada,L", "Ada,").replace("Bob", "Bert"), "", { updated: 1, unchanged: 1 }],
    [blank, "--blank clear", { updated: 1 }],
    [blank, "--blank clear", { unchanged: 1 }],
    [both.replace("b@", "c@"), "--mode update", { updated: 1, skipped: 1 }, { missing: 1 }],
    [both.replace("b@", "c@"), "--mode create", { created: 1, skipped: 1 }, { exists: 1 }],
    ["Email\na@example.com\n", "--list Two --tag T2 --create-missing", { updated: 1 }],
  ] as const) {
    const summary = await importing(text, flags);
    const read = text.split("\n").length - 2;
    const expected = { rows: { ...none, read, ...rows }, codes: { skipped } };
    expect({ flags, ...summary }).toMatchObject({ flags, ...expected });
    expect(summary.requests).toMatchObject({ mutate: summary.rows.updated, create: summary.rows.created });
  }
  const contacts = await readContacts(service);
  const fields = { "First Name": "Ada", "Last Name": "L" };
  const held = { fields, version: 3, lists: { length: 2 }, tags: { length: 2 } };
  expect(contacts.get("a@example.com")).toMatchObject(held);
  expect(contacts.get("b@example.com")).toMatchObject({ fields: { "First Name": "Bert" }, version: 1 });
});

it.each([
  ["merge", "ada@example.com", { "First Name": "Anna", "Last Name": "Lovelace" }, 2],
  ["last", "ADA@example.com", { "First Name": "Anna" }, 1],
  ["first", "ada@example.com", { "First Name": "Ada", "Last Name": "Lovelace" }, 1],
  ["reject", "ada@example.com", { "First Name": "Ada", "Last Name": "Lovelace" }, 1],
])("makes one contact of several rows by --duplicates %s", async (how, key, fields, length) => {
  const { importing, service } = await startAccount();
  const rows = "ada@example.com,Ada,Lovelace,T1\nb@example.com,B,,\nADA@example.com,Anna,,T2\n";
  const outcome = how === "reject" ? { code: 3, rejected: 1 } : { code: 0, skipped: 1 };
  const { code, rows: counts } = await importing(
    `Email,First Name,Last Name,Tags\n${rows}`,
    `--create-missing --duplicates ${how}`,
  );
  expect({ code, ...counts }).toEqual({ ...none, read: 3, created: 2, ...outcome });
  expect((await readContacts(service)).get(key)).toMatchObject({ fields, tags: { length } });
});

it("names every list and tag that the account does not have, before anything is written", async () => {
  const { ecm, run, keys, service } = await startAccount();
  const path = await inputFile("Email,Lists,Tags\na@example.com,News,VIP\nb@example.com,Offers,\n");
  const command = `import ${path} --map Lists=lists --map Tags=tags`;
  const missing = 'error: The account has no lists "News", "Offers", and no tag "VIP"';
  expect(await refused(ecm(command), 5, missing)).not.toContain("A real run");
  expect(await keys()).toEqual([]);

  const dry = await run(`${command} --create-missing --dry-run`);
  const made = await run(`${command} --create-missing`);
  expect(made.rows.created).toBe(2);
  expect(dry.estimate.requests).toBe(made.requests.total);
  const held = [...(await readContacts(service)).values()].map(({ lists, tags }) => [lists, tags]);
  expect(held).toMatchObject([
    [{ length: 1 }, { length: 1 }],
    [{ length: 1 }, { length: 0 }],
  ]);
  expect((await run(command)).rows.unchanged).toBe(2);
});

it("a new name is one list or tag, in whatever letter case and form, with whatever marks", async () => {
  const { importing, service } = await startAccount();
  const rows = 'a@x.org,"News,news","VIP,vip"\nb@x.org,\u200bNEWS,"Cafe\u0301,\u202aCafé\u202c"\n';
  const text = `Email,Lists,Tags\n${rows}`;
  const plan = await inputFile("", "plan.ndjson");
  const made = await importing(text, `--create-missing --plan ${plan}`);
  expect(made).toMatchObject({ rows: { created: 2, rejected: 0 }, requests: { create: 2 } });
  for (const { lists, tags } of (await readContacts(service)).values())
    expect([lists, tags]).toMatchObject([{ length: 1 }, { length: 1 }]);
  expect((await readFile(plan, "utf8")).match(/^\{"create"/gm)).toHaveLength(3);
});

it("keeps the surplus cells of a rejected row, so that it stays rejected until it is fixed", async () => {
  const { importing, keys } = await startAccount();
  const flags = "--map 'City=First Name' --map Note=ignore";
  const first = await importing("Email,City,Note\na@example.com,Rome, Italy,x,y\n", flags);
  const text = await readFile(first.rejects!, "utf8");
  expect(text).toMatch(/^Email,City,Note,ecm_line,ecm_error,ecm_message\n/);
  expect(text).toMatch(/^a@example\.com,Rome," Italy",2,too_many_cells,.*,x,y$/m);
  const second = await importing(text, flags);
  expect(second.rows).toMatchObject({ read: 1, rejected: 1 });
  expect(await readFile(second.rejects!, "utf8")).toMatch(
    /^Email,City,Note,ecm_line,ecm_error,ecm_message\n/,
  );
  expect(await keys()).toEqual([]);
});

it("gives a rejected row of our own tsv back as our own tsv", async () => {
  const { ecm, run, fieldsOf } = await startAccount();
  const cells = 'C:\\\\new "x"\\n';
  const path = await inputFile(`key\tFirst Name\tlists\ttags\n\t${cells}\t\t\n`, "people.tsv");
  const text = await readFile((await run(`import ${path}`)).rejects!, "utf8");
  expect(text).toContain(`\t${cells}\t`);
  await ecm(`import ${await inputFile(text.replace("\n\t", "\na@example.com\t"), "fixed.tsv")}`);
  expect(await fieldsOf("a@example.com")).toEqual({ "First Name": 'C:\\new "x"\n' });
});

it("rejects the rows that are wrong alone, into a file that imports once it is mended", async () => {
  const { ecm, importing } = await startAccount();
  const result = await importing(`${ofAda}no address,Bob\nc@example.com,Cy\n`);
  expect(result).toMatchObject({ code: 3, rows: { ...none, read: 3, created: 2, rejected: 1 } });
  const text = await readFile(result.rejects!, "utf8");
  expect(text).toMatch(/^Email,First Name,ecm_line,ecm_error,ecm_message\nno address,Bob,3,key_/);
  expect((await ecm("runs rejects last")).stdout).toBe(text);
  const second = await importing(text.replace("no address", "bob@example.com"));
  expect(second.stderr).not.toContain("error:");
  expect(second.rows).toEqual({ ...none, read: 1, created: 1 });
});

it("counts the contacts that are inactive in the account, and leaves them so", async () => {
  const { ecm, run, importing, service } = await startAccount();
  const command = `import ${await inputFile(`${ofAda}b@example.com,Bob\n`)}`;
  await ecm(command);
  const contacts = await call<{ _id: string }[]>(service, "GET", "/api/contact");
  await call(service, "PATCH", `/api/contact/${contacts[0]!._id}`, {
    status: { primary: "Inactive", secondary: "Unsubscribe" },
  });
  for (const flags of ["--dry-run", ""]) expect((await run(`${command} ${flags}`)).inactive).toBe(1);
  const inactive = "1 of these contacts is inactive in the account";
  const changed = await importing("Email,First Name\na@example.com,A\n");
  expect(changed.stderr).toContain(`${inactive}; an import does not change that\n`);
  expect((await ecm("runs undo last")).stderr).toContain(`${inactive}\n`);
});

it("says in a dry run what would happen and what it costs, and sends no write", async () => {
  const { ecm, run, keys } = await startAccount({ contents: { contacts: manyContacts(150) } });
  const path = await inputFile(manyRows(200, (index) => (index < 20 ? "New" : `First ${index}`)));
  const dry = await run(`import ${path} --dry-run`);
  const rows = { ...none, read: 200, created: 50, updated: 20, unchanged: 130 };
  const requests = { create: 0, mutate: 0 };
  expect(dry).toMatchObject({ code: 0, run: null, status: "dry-run", rows, requests });
  expect(await keys()).toHaveLength(150);
  const real = await run(`import ${path}`);
  expect(real.rows).toEqual(rows);
  expect([dry.estimate.requests, real.estimate.requests]).toEqual(Array(2).fill(real.requests.total));
  expect((await ecm("runs list --json")).stdout).not.toContain("dry-run");
});

it("takes standard input, and goes on with it when the same comes again", async () => {
  const { run } = await startAccount();
  const stdin = manyRows(30);
  const stopped = await run("import - --max-requests 12", { stdin });
  expect(stopped.stderr).toContain('"message":"Stopped at --max-requests 12"');
  const stderr = expect.stringContaining("ecm runs resume");
  const stoppedBy = "max-requests";
  expect(stopped).toMatchObject({ code: 7, stderr, status: "stopped", stoppedBy, requests: { total: 12 } });
  expect(await run("import -", { stdin })).toMatchObject({
    run: stopped.run,
    stderr: expect.stringContaining(`Resuming run ${stopped.run}`),
    status: "completed",
    rows: { ...none, read: 30, created: 30 },
    requests: { create: 30 - stopped.rows.created },
  });
});

it("goes on with a stopped run by its id, and starts over only when told to", async () => {
  const { ecm, run } = await startAccount();
  const command = `import ${await inputFile(manyRows(20))}`;
  const first = await run(`${command} --max-requests 10`);
  const resumed = await run(`runs resume ${first.run} --max-requests 5`);
  expect(resumed).toMatchObject({ run: first.run, status: "stopped" });
  const fresh = await run(`${command} --fresh`);
  expect(fresh).toMatchObject({ status: "completed", rows: { unchanged: resumed.rows.created } });
  expect(fresh.run).not.toBe(first.run);
  await refused(ecm(`runs resume ${first.run}`), 2, fresh.run!);
});

it("takes a changed file as a new run", async () => {
  const { run } = await startAccount();
  const path = await inputFile(manyRows(20));
  const first = await run(`import ${path} --max-requests 10`);
  await writeFile(path, manyRows(21));
  expect((await run(`import ${path}`)).rows).toMatchObject({ read: 21, unchanged: first.rows.created });
});

it("refuses to begin what the month cannot hold, unless the run is limited", async () => {
  const { run } = await startAccount({ monthlyLimit: 40 });
  const command = `import ${await inputFile(manyRows(60))}`;
  const errorIn = (stderr: string) => JSON.parse(stderr.trim().split("\n").at(-1)!).error;
  const stopped = await run(command);
  const rows = { created: 0, pending: 60 };
  expect(stopped).toMatchObject({ code: 7, stoppedBy: "month", requests: { create: 0 }, rows });
  // Whether the rest of the month is spent on it is for a person to say.
  const { hint } = errorIn(stopped.stderr);
  expect(hint).toMatch(/^Resume with: ecm runs resume \S+ --max-requests \d+$/m);
  const dry = await run(`${command} --dry-run`);
  expect(dry).toMatchObject({ code: 7, status: "dry-run", stoppedBy: "month", rows: { created: 60 } });
  expect(dry.stderr).toMatch(/This needs \d+ requests, and \d+ are left this month/);
  expect(errorIn(dry.stderr)).toMatchObject({ type: "OutOfBudgetError", limit: "month", exitCode: 7 });
  expect((await run(`${command} --dry-run --max-requests 20`)).code).toBe(0);
  // The account was read already, and a resumed run knows it.
  const limited = await run(`${command} --max-requests 20`);
  expect(limited).toMatchObject({ stoppedBy: "max-requests", rows: { created: 19 } });
});

it("looks first where only the most that can be needed is too much for the month", async () => {
  // The account is too large to be read page by page for so few rows.
  const variants = { page: "cap:100" };
  const options = { monthlyLimit: 110, variants, contents: { contacts: manyContacts(320) } };
  const { importing } = await startAccount(options);
  const rows = manyRows(150, (index) => (index === 7 ? "Seventh" : `First ${index}`));
  expect(await importing(rows)).toMatchObject({
    status: "completed",
    rows: { updated: 1, unchanged: 149 },
    requests: { search: 3, mutate: 1, other: 1, total: 5 },
    estimate: { requests: 5 },
  });
});

it.each([
  ["not 50 where a row is accepted", 50, 1, "", false],
  ["one where none are allowed", 1, 9, "--max-rejects 0", true],
  ["not where there is none", 0, 1, "--max-rejects 0", false],
  ["a share", 1, 9, "--max-rejects 10%", true],
  ["not less than the share", 1, 10, "--max-rejects 10%", false],
  ["no share of anything", 0, 1, "--max-rejects 0%", false],
])("stops after too many rejected rows: %s", async (_which, wrong, sound, flags, stops) => {
  const { importing } = await startAccount();
  const summary = await importing(`${manyRows(sound)}${"wrong,\n".repeat(wrong)}`, flags);
  expect(summary.stoppedBy).toBe(stops ? "max-rejects" : null);
});

it("stops where the service has refused 50 rows and taken none", async () => {
  const service = await startService(({ method, url }, response) => {
    if (method === "GET") return json(response, 200, [plainStructure]);
    if (url.includes("search")) return json(response, 200, { totalRecords: 0, contacts: [] });
    json(response, 400, errorBody("ValidationError", "not this one"));
  });
  const stopped = { stoppedBy: "max-rejects", rows: { rejected: 50, pending: 10 } };
  const { importing } = askingOf({ ...service, ...service.server, apiKey: "" });
  expect(await importing(manyRows(60), "--ignore-unmapped --concurrency 1")).toMatchObject(stopped);
});

it("stops after so many rejected rows, and can go on", async () => {
  const { run } = await startAccount();
  const command = `import ${await inputFile("Email\nx\ny\nz\na@example.com\n")}`;
  const stopped = { code: 3, status: "stopped", stoppedBy: "max-rejects", rows: { created: 0, pending: 1 } };
  expect(await run(`${command} --max-rejects 2`)).toMatchObject(stopped);
  // The limit is the run's: what resumes it says what would allow more.
  const resumed = await run("runs resume last");
  expect(resumed).toMatchObject(stopped);
  expect(resumed.stderr).toMatch(/^Resume with: ecm runs resume \S+ --max-rejects 4$/m);
  expect(await run(command)).toMatchObject({ status: "completed", rows: { created: 1 } });
});
