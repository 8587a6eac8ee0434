import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../support/sandbox.ts";
import { call, inputFile, manyContacts, manyRows, parseSummary, readContacts } from "./kit.ts";

const none = { created: 0, updated: 0, deleted: 0, unchanged: 0, skipped: 0, rejected: 0, pending: 0 };

describe("ecm import", () => {
  it("creates what is new, and sends no write the second time", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,First Name\nada@example.com,Ada\nbob@example.com,Bob\n");
    const first = await service.ecm(["import", path, "--json"]);
    expect(first.code).toBe(0);
    expect(parseSummary(first)).toMatchObject({
      status: "completed",
      rows: { ...none, read: 2, created: 2 },
      requests: { search: 1, create: 2, mutate: 0, other: 1, retried: 0, total: 4 },
      rejects: null,
      stoppedBy: null,
    });
    const second = parseSummary(await service.ecm(["import", path, "--json"]));
    expect(second.rows).toEqual({ ...none, read: 2, unchanged: 2 });
    expect(second.requests).toMatchObject({ search: 1, create: 0, mutate: 0, total: 2 });
    expect(second.run).not.toBe(parseSummary(first).run);
    expect((await readContacts(service)).get("ada@example.com")?.fields).toEqual({ "First Name": "Ada" });
  });

  it("refuses a pipe without a byte; a header alone is a result without rows", async () => {
    const service = await startSandbox();
    const nothing = await service.ecm(["import", "-"], { stdin: "" });
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("standard input is empty") });
    const header = await service.ecm(["import", "-", "--json"], { stdin: "Email,First Name,tags\n" });
    expect(header.code).toBe(0);
    expect(parseSummary(header)).toMatchObject({ status: "completed", rows: { ...none, read: 0 } });
  });

  it("sends only what changed, in one mutate for each contact", async () => {
    const service = await startSandbox();
    await service.ecm([
      "import",
      await inputFile("Email,First Name,Last Name\na@example.com,Ada,L\nb@example.com,Bob,M\n"),
    ]);
    const changed = await inputFile("Email,First Name,Last Name\na@example.com,Ada,\nb@example.com,Bert,M\n");
    const summary = parseSummary(await service.ecm(["import", changed, "--json"]));
    expect(summary.rows).toEqual({ ...none, read: 2, updated: 1, unchanged: 1 });
    expect(summary.requests).toMatchObject({ create: 0, mutate: 1 });
    const contacts = await readContacts(service);
    expect(contacts.get("a@example.com")).toMatchObject({ fields: { "Last Name": "L" }, version: 0 });
    expect(contacts.get("b@example.com")).toMatchObject({ fields: { "First Name": "Bert" }, version: 1 });
  });

  it("clears a field for a blank cell only when told to", async () => {
    const service = await startSandbox();
    await service.ecm(["import", await inputFile("Email,First Name\na@example.com,Ada\n")]);
    const blank = await inputFile("Email,First Name\na@example.com,\n");
    expect(parseSummary(await service.ecm(["import", blank, "--json"])).rows.unchanged).toBe(1);
    expect(
      parseSummary(await service.ecm(["import", blank, "--blank", "clear", "--json"])).rows.updated,
    ).toBe(1);
    expect((await readContacts(service)).get("a@example.com")?.fields["First Name"] ?? "").toBe("");
    expect(
      parseSummary(await service.ecm(["import", blank, "--blank", "clear", "--json"])).rows.unchanged,
    ).toBe(1);
  });

  it("creates alone, or updates alone, by its mode", async () => {
    const service = await startSandbox();
    await service.ecm(["import", await inputFile("Email,First Name\na@example.com,Ada\n")]);
    const both = await inputFile("Email,First Name\na@example.com,Anna\nb@example.com,Bob\n");
    const update = parseSummary(await service.ecm(["import", both, "--mode", "update", "--json"]));
    expect(update.rows).toEqual({ ...none, read: 2, updated: 1, skipped: 1 });
    expect(update.codes.skipped).toEqual({ missing: 1 });
    const create = parseSummary(await service.ecm(["import", both, "--mode", "create", "--json"]));
    expect(create.rows).toEqual({ ...none, read: 2, created: 1, skipped: 1 });
    expect(create.codes.skipped).toEqual({ exists: 1 });
  });

  it.each([
    ["merge", "Anna", "Lovelace", "skipped"],
    ["last", "Anna", undefined, "skipped"],
    ["first", "Ada", "Lovelace", "skipped"],
    ["reject", "Ada", "Lovelace", "rejected"],
  ])("makes one contact of several rows by --duplicates %s", async (how, firstName, lastName, outcome) => {
    const service = await startSandbox();
    const path = await inputFile(
      "Email,First Name,Last Name\nada@example.com,Ada,Lovelace\nb@example.com,B,\nADA@example.com,Anna,\n",
    );
    const result = await service.ecm(["import", path, "--duplicates", how, "--json"]);
    const summary = parseSummary(result);
    expect(summary.rows).toEqual({ ...none, read: 3, created: 2, [outcome]: 1 });
    expect(result.code).toBe(outcome === "rejected" ? 3 : 0);
    expect(
      (await readContacts(service)).get(how === "last" ? "ADA@example.com" : "ada@example.com")?.fields,
    ).toEqual(lastName ? { "First Name": firstName, "Last Name": lastName } : { "First Name": firstName });
  });

  it("names every list and tag that the account does not have, before anything is written", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,Lists,Tags\na@example.com,News,VIP\nb@example.com,Offers,\n");
    const flags = ["--map", "Lists=lists", "--map", "Tags=tags"];
    const refused = await service.ecm(["import", path, ...flags]);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain('error: The account has no lists "News", "Offers", and no tag "VIP"');
    expect(refused.stderr).not.toContain("A real run");
    expect((await readContacts(service)).size).toBe(0);

    const dry = parseSummary(
      await service.ecm(["import", path, ...flags, "--create-missing", "--dry-run", "--json"]),
    );
    const made = parseSummary(await service.ecm(["import", path, ...flags, "--create-missing", "--json"]));
    expect(made.rows.created).toBe(2);
    expect(dry.estimate.requests).toBe(made.requests.total);
    const { ada, bob } = {
      ada: (await readContacts(service)).get("a@example.com")!,
      bob: (await readContacts(service)).get("b@example.com")!,
    };
    expect([ada.lists.length, ada.tags.length, bob.lists.length, bob.tags.length]).toEqual([1, 1, 1, 0]);
    const again = parseSummary(await service.ecm(["import", path, ...flags, "--json"]));
    expect(again.rows.unchanged).toBe(2);
  });

  it("a new name is one list or tag, in whatever letter case and form it is written", async () => {
    const service = await startSandbox();
    const path = await inputFile(
      'Email,Lists,Tags\na@example.com,"News,news","VIP,vip"\nb@example.com,NEWS,"Cafe\u0301,Café"\n',
    );
    const flags = ["--create-missing", "--plan", await inputFile("", "plan.ndjson"), "--json"];
    const made = parseSummary(await service.ecm(["import", path, ...flags]));
    expect(made).toMatchObject({ rows: { created: 2, rejected: 0 }, requests: { create: 2 } });
    const found = await readContacts(service);
    expect([...found.values()].map(({ lists, tags }) => [lists.length, tags.length])).toEqual([
      [1, 1],
      [1, 1],
    ]);
    const plan = (await readFile(flags[2]!, "utf8")).split("\n");
    expect(plan.filter((line) => line.startsWith('{"create"'))).toHaveLength(3);
  });

  it("keeps the surplus cells of a rejected row, so that it stays rejected until it is fixed", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,City,Note,\na@example.com,Rome, Italy,x,y\n".replaceAll(",\n", "\n"));
    const flags = ["--map", "City=First Name", "--map", "Note=ignore", "--json"];
    const first = parseSummary(await service.ecm(["import", path, ...flags]));
    const text = await readFile(first.rejects!, "utf8");
    expect(text.split("\n")[0]).toBe("Email,City,Note,ecm_line,ecm_error,ecm_message");
    expect(text).toMatch(/^a@example\.com,Rome," Italy",2,too_many_cells,.*,x,y$/m);
    const second = parseSummary(await service.ecm(["import", await inputFile(text), ...flags]));
    expect(second.rows).toMatchObject({ read: 1, rejected: 1 });
    const again = await readFile(second.rejects!, "utf8");
    expect(again.split("\n")[0]).toBe("Email,City,Note,ecm_line,ecm_error,ecm_message");
    expect((await readContacts(service)).size).toBe(0);
  });

  it("gives a rejected row of our own tsv back as our own tsv", async () => {
    const service = await startSandbox();
    const cells = 'C:\\\\new "x"\\n';
    const path = await inputFile(`key\tFirst Name\tlists\ttags\n\t${cells}\t\t\n`, "people.tsv");
    const { rejects } = parseSummary(await service.ecm(["import", path, "--json"]));
    const text = await readFile(rejects!, "utf8");
    expect(text).toContain(`\t${cells}\t`);
    await service.ecm(["import", await inputFile(text.replace("\n\t", "\na@example.com\t"), "fixed.tsv")]);
    expect((await readContacts(service)).get("a@example.com")?.fields).toEqual({
      "First Name": 'C:\\new "x"\n',
    });
  });

  it("adds every contact to the lists and tags of its flags, and never takes one away", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email\na@example.com\n");
    await service.ecm(["import", path, "--list", "One", "--tag", "T1", "--create-missing"]);
    const more = parseSummary(
      await service.ecm(["import", path, "--list", "Two", "--tag", "T2", "--create-missing", "--json"]),
    );
    expect(more.rows.updated).toBe(1);
    const contact = (await readContacts(service)).get("a@example.com")!;
    expect([contact.lists.length, contact.tags.length]).toEqual([2, 2]);
  });

  it("rejects the rows that are wrong alone, into a file that imports once it is mended", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,First Name\na@example.com,Ada\nno address,Bob\nc@example.com,Cy\n");
    const result = await service.ecm(["import", path, "--json"]);
    expect(result.code).toBe(3);
    const summary = parseSummary(result);
    expect(summary.rows).toEqual({ ...none, read: 3, created: 2, rejected: 1 });
    const text = await readFile(summary.rejects!, "utf8");
    expect(text.split("\n")[0]).toBe("Email,First Name,ecm_line,ecm_error,ecm_message");
    expect(text.split("\n")[1]).toMatch(/^no address,Bob,3,key_/);
    expect((await service.ecm(["runs", "rejects", "last"])).stdout).toBe(text);
    const mended = await inputFile(text.replace("no address", "bob@example.com"));
    const second = await service.ecm(["import", mended, "--json"]);
    expect(second.stderr).not.toContain("error:");
    expect(parseSummary(second).rows).toEqual({ ...none, read: 1, created: 1 });
  });

  it("does not create whom the file marks as not subscribed, unless told to", async () => {
    const service = await startSandbox();
    await service.ecm([
      "import",
      await inputFile("Email,First Name\nold@example.com,Old\n"),
      "--list",
      "L",
      "--create-missing",
    ]);
    const path = await inputFile(
      "Email,First Name,Status\nnew@example.com,New,unsubscribed\nold@example.com,Older,unsubscribed\nyes@example.com,Yes,subscribed\n",
    );
    const flags = ["--consent-column", "Status", "--list", "Second", "--create-missing", "--json"];
    const summary = parseSummary(await service.ecm(["import", path, ...flags]));
    expect(summary.rows).toEqual({ ...none, read: 3, created: 1, updated: 1, skipped: 1 });
    expect(summary.codes.skipped).toEqual({ not_subscribed: 1 });
    const old = (await readContacts(service)).get("old@example.com")!;
    expect(old.fields["First Name"]).toBe("Older");
    expect(old.lists).toHaveLength(1);
    expect(
      parseSummary(await service.ecm(["import", path, ...flags, "--include-unsubscribed"])).rows.created,
    ).toBe(1);
  });

  it("counts the contacts that are inactive in the account, and leaves them so", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email,First Name\na@example.com,Ada\nb@example.com,Bob\n");
    await service.ecm(["import", path]);
    const contacts = await call<{ _id: string }[]>(service, "GET", "/api/contact");
    await call(service, "PATCH", `/api/contact/${contacts[0]!._id}`, {
      status: { primary: "Inactive", secondary: "Unsubscribe" },
    });
    expect(parseSummary(await service.ecm(["import", path, "--dry-run", "--json"])).inactive).toBe(1);
    expect(parseSummary(await service.ecm(["import", path, "--json"])).inactive).toBe(1);
    const changed = await inputFile("Email,First Name\na@example.com,A\n");
    const inactive = "1 of these contacts is inactive in the account";
    expect((await service.ecm(["import", changed])).stderr).toContain(
      `${inactive}; an import does not change that\n`,
    );
    expect((await service.ecm(["runs", "undo", "last"])).stderr).toContain(`${inactive}\n`);
  });

  it("says in a dry run what would happen and what it costs, and sends no write", async () => {
    const service = await startSandbox();
    await service.ecm(["import", await inputFile(manyRows(150))]);
    const path = await inputFile(manyRows(300, (index) => (index < 20 ? "New" : `First ${index}`)));
    const dry = await service.ecm(["import", path, "--dry-run", "--json"]);
    expect(dry.code).toBe(0);
    expect(parseSummary(dry)).toMatchObject({
      run: null,
      status: "dry-run",
      rows: { ...none, read: 300, created: 150, updated: 20, unchanged: 130 },
      requests: { create: 0, mutate: 0 },
    });
    expect((await readContacts(service)).size).toBe(150);
    const real = parseSummary(await service.ecm(["import", path, "--json"]));
    expect(real.rows).toMatchObject({ created: 150, updated: 20, unchanged: 130 });
    expect(parseSummary(dry).estimate.requests).toBe(real.requests.total);
    expect(real.estimate.requests).toBe(real.requests.total);
    expect((await service.ecm(["runs", "list", "--json"])).stdout).not.toContain("dry-run");
  });

  it("takes standard input, and goes on with it when the same comes again", async () => {
    const service = await startSandbox();
    const text = manyRows(30);
    const stopped = await service.ecm(["import", "-", "--max-requests", "12", "--json"], { stdin: text });
    expect(stopped.code).toBe(7);
    expect(parseSummary(stopped)).toMatchObject({
      status: "stopped",
      stoppedBy: "max-requests",
      requests: { total: 12 },
    });
    expect(stopped.stderr).toContain("ecm runs resume");
    const { run, rows } = parseSummary(stopped);
    const finished = await service.ecm(["import", "-", "--json"], { stdin: text });
    expect(finished.stderr).toContain(`Resuming run ${run}`);
    expect(parseSummary(finished)).toMatchObject({
      run,
      status: "completed",
      rows: { ...none, read: 30, created: 30 },
    });
    expect(parseSummary(finished).requests.create).toBe(30 - rows.created);
  });

  it("goes on with a stopped run by its id, and starts over only when told to", async () => {
    const service = await startSandbox();
    const path = await inputFile(manyRows(20));
    const stop = () => service.ecm(["import", path, "--max-requests", "10", "--json"]);
    const first = parseSummary(await stop());
    const resumed = parseSummary(
      await service.ecm(["runs", "resume", first.run!, "--max-requests", "5", "--json"]),
    );
    expect(resumed).toMatchObject({ run: first.run, status: "stopped" });
    const fresh = parseSummary(await service.ecm(["import", path, "--fresh", "--json"]));
    expect(fresh.run).not.toBe(first.run);
    expect(fresh.status).toBe("completed");
    expect(fresh.rows.unchanged).toBe(resumed.rows.created);
    const again = await service.ecm(["runs", "resume", first.run!]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain(fresh.run!);
  });

  it("takes a changed file as a new run", async () => {
    const service = await startSandbox();
    const path = await inputFile(manyRows(20));
    const first = parseSummary(await service.ecm(["import", path, "--max-requests", "10", "--json"]));
    const { writeFile } = await import("node:fs/promises");
    await writeFile(path, manyRows(21));
    const second = await service.ecm(["import", path, "--json"]);
    expect(parseSummary(second).rows).toMatchObject({ read: 21, unchanged: first.rows.created });
    // The plan says what is left of the old one: the input is not read again.
    const resumed = parseSummary(await service.ecm(["runs", "resume", first.run!, "--json"]));
    expect(resumed).toMatchObject({ status: "completed", rows: { read: 20, pending: 0 } });
  });

  it("refuses to begin what the month cannot hold, unless the run is limited", async () => {
    const service = await startSandbox({ monthlyLimit: 40 });
    const path = await inputFile(manyRows(60));
    const refused = await service.ecm(["import", path, "--json"]);
    expect(refused.code).toBe(7);
    expect(parseSummary(refused)).toMatchObject({
      stoppedBy: "month",
      requests: { create: 0 },
      rows: { created: 0, pending: 60 },
    });
    // Whether the rest of the month is spent on it is for a person to say.
    const { hint, fix } = JSON.parse(refused.stderr.trim().split("\n").at(-1)!).error;
    expect(hint).toMatch(/^Resume with: ecm runs resume \S+ --max-requests \d+$/m);
    expect(fix).toBeUndefined();
    const dry = await service.ecm(["import", path, "--dry-run", "--json"]);
    expect(dry.code).toBe(7);
    expect(parseSummary(dry)).toMatchObject({ status: "dry-run", stoppedBy: "month", rows: { created: 60 } });
    expect(dry.stderr).toMatch(/This needs \d+ requests, and \d+ are left this month/);
    expect(JSON.parse(dry.stderr.trim().split("\n").at(-1)!).error).toMatchObject({
      type: "OutOfBudgetError",
      limit: "month",
      exitCode: 7,
    });
    const limitedDry = ["import", path, "--dry-run", "--max-requests", "20", "--json"];
    expect((await service.ecm(limitedDry)).code).toBe(0);
    const limited = parseSummary(await service.ecm(["import", path, "--max-requests", "20", "--json"]));
    expect(limited.stoppedBy).toBe("max-requests");
    // The account was read already, and a resumed run knows it.
    expect(limited.rows.created).toBe(19);
  });

  it("looks first where only the most that can be needed is too much for the month", async () => {
    // The account is too large to be read page by page for so few rows.
    const service = await startSandbox({ monthlyLimit: 110, contents: { contacts: manyContacts(2200) } });
    const path = await inputFile(manyRows(150, (index) => (index === 7 ? "Seventh" : `First ${index}`)));
    const summary = parseSummary(await service.ecm(["import", path, "--json"]));
    expect(summary).toMatchObject({
      status: "completed",
      rows: { updated: 1, unchanged: 149 },
      requests: { search: 3, mutate: 1, other: 1, total: 5 },
      estimate: { requests: 5 },
    });
  });

  it("stops after so many rejected rows, and can go on", async () => {
    const service = await startSandbox();
    const path = await inputFile("Email\nx\ny\nz\na@example.com\n");
    const result = await service.ecm(["import", path, "--max-rejects", "2", "--json"]);
    expect(result.code).toBe(3);
    expect(parseSummary(result)).toMatchObject({
      status: "stopped",
      stoppedBy: "max-rejects",
      rows: { created: 0, pending: 1 },
    });
    // The limit is the run's: what resumes it says what would allow more.
    const resumed = await service.ecm(["runs", "resume", "last", "--json"]);
    expect(parseSummary(resumed)).toMatchObject({ stoppedBy: "max-rejects", rows: { created: 0 } });
    expect(resumed.stderr).toMatch(/^Resume with: ecm runs resume \S+ --max-rejects 4$/m);
    expect(parseSummary(await service.ecm(["import", path, "--json"]))).toMatchObject({
      status: "completed",
      rows: { created: 1 },
    });
  });
});
