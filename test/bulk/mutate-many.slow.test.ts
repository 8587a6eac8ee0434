/** The same change for several contacts, and a list that becomes what a file names. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { inputFile, manyContacts, readContacts, readJson, refused, startAccount } from "../kit.ts";

/** An account of so many, and who in it is in a list. */
async function withContacts(count: number) {
  const account = await startAccount({ contents: { lists: ["L"], contacts: manyContacts(count) } });
  const members = async () => {
    const contacts = await readContacts(account);
    return [...contacts].flatMap(([key, { lists }]) => (lists.length > 0 ? [key] : [])).sort();
  };
  return { ...account, members };
}

const addresses = (...names: string[]) => names.map((name) => `${name}@example.com`);

const change = "contact mutate --set 'First Name=New'";

it("contact mutate: one contact is a bulk run where a flag asks for what only a run does", async () => {
  const { ecm, service } = await withContacts(1);
  for (const [command, refusal] of [
    [
      `${change} p0@example.com --max-changes 0`,
      "write to 1 contact (of 1 looked at); --max-changes allows 0",
    ],
    ["contact unsubscribe p0@example.com --max-changes 0 --yes", "--max-changes allows 0"],
    ["contact delete p0@example.com --max-delete 0 --dry-run", "--max-delete allows 0"],
  ] as const)
    expect((await ecm(command)).stderr).toContain(refusal);
  expect((await readContacts(service)).get("p0@example.com")).toMatchObject({ version: 0 });
  const report = `${await inputFile("")}.html`;
  expect((await ecm(`${change} p0@example.com --fresh --report ${report}`)).code).toBe(0);
  expect(await readFile(report, "utf8")).toContain("<html");
});

it("contact mutate: rejects keys in a file that is read again as it is", async () => {
  const { ecm, run } = await withContacts(1);
  const rejects = `${await inputFile("")}.csv`;
  await ecm(`${change} --rejects ${rejects} nobody@example.com p0@example.com`);
  expect((await run(`${change} --keys ${rejects}`)).rows).toMatchObject({ read: 1, rejected: 1 });
  expect(await readFile(rejects, "utf8")).toBe(
    "key,ecm_line,ecm_error,ecm_message\nnobody@example.com,1,not_found,no contact has this key or id\n",
  );
});

it("contact mutate: makes the same change on each contact that is named, by key or by id, and only where it changes something", async () => {
  const { ecm, run, members, service } = await withContacts(4);
  const { _id } = await readJson(ecm, "contact get p1@example.com");
  const command = `${change} p0@example.com ${_id} P0@example.com --add-list L`;
  const rows = { read: 3, updated: 2, skipped: 1, rejected: 0 };
  const requests = { mutate: 2 };
  expect(await run(command)).toMatchObject({ code: 0, kind: "mutate", status: "completed", rows, requests });
  const changed = { fields: { "First Name": "New" }, version: 1 };
  expect((await readContacts(service)).get("p1@example.com")).toMatchObject(changed);
  expect(await members()).toEqual(addresses("p0", "p1"));
  expect((await run(command)).rows).toMatchObject({ updated: 0, unchanged: 2 });
});

it("contact mutate: takes keys from a file or standard input, and counts those that do not exist", async () => {
  const { run, members } = await withContacts(3);
  const stdin = "p0@example.com\nnobody@example.com\np2@example.com\n";
  const rows = { read: 3, updated: 2, rejected: 1 };
  const outcome = { code: 3, rows, codes: { rejected: { not_found: 1 } } };
  const added = await run("contact mutate --keys - --add-list L", { stdin });
  expect(added).toMatchObject(outcome);
  expect(await readFile(added.rejects!, "utf8")).toContain("nobody@example.com,2,not_found,");
  expect(await members()).toEqual(addresses("p0", "p2"));
  const removed = await run(`contact mutate --keys ${await inputFile(stdin)} --remove-list L`);
  expect(removed).toMatchObject(outcome);
  expect(await members()).toEqual([]);
});

it("a contact whose key no import would create is found by it all the same, and its export imports again", async () => {
  const odd = ["Jose\u0301@example.com", "a..b@example.com"];
  const { ecm, run, importing } = await startAccount({ contents: { contacts: odd.map((key) => ({ key })) } });
  const keys = await inputFile(odd.join("\n"), "keys.txt");
  expect((await ecm(`contact search --keys ${keys} --count`)).stdout.trim()).toBe("2");
  const { stdout: exported } = await ecm(`export --keys ${keys}`);
  expect((await importing(exported)).rows).toMatchObject({ read: 2, unchanged: 2 });
  const more = await inputFile(`${odd.join("\n")}\nnobody at all\n`, "keys.txt");
  expect(await run(`contact mutate --keys ${more} --set 'First Name=New'`)).toMatchObject({
    code: 3,
    rows: { read: 3, updated: 2, rejected: 1 },
    codes: { rejected: { key_syntax: 1 } },
  });
  for (const [verb, outcome] of Object.entries({ unsubscribe: "updated", delete: "deleted" })) {
    const { rows } = await run(`contact ${verb} ${odd.join(" ")} --yes`);
    expect(rows).toMatchObject({ [outcome]: 2, rejected: 0 });
  }
});

const people = (from: number, to: number) =>
  addresses(...Array.from({ length: to - from }, (_, index) => `p${from + index}`));
const fileOf = (from: number, to: number) => inputFile(`${people(from, to).join("\n")}\n`);

it("lists sync: makes the members exactly the file's keys: adds first, removals after", async () => {
  const { run, keys, members } = await withContacts(30);
  expect(await run(`lists sync L ${await fileOf(0, 20)}`)).toMatchObject({
    kind: "sync",
    status: "completed",
    rows: { read: 20, updated: 20 },
    members: { added: 20, removed: 0 },
  });
  const sync = `lists sync L ${await fileOf(2, 25)}`;
  const dry = await run(`${sync} --dry-run`);
  const real = await run(sync);
  const rows = { read: 25, updated: 7, unchanged: 18, pending: 0 };
  const requests = { mutate: 7, total: dry.estimate.requests };
  expect(real).toMatchObject({ rows, members: { added: 5, removed: 2 }, requests });
  expect(dry.members).toEqual(real.members);
  expect(await members()).toEqual(people(2, 25).sort());
  expect(await keys()).toHaveLength(30);
  expect((await run(sync)).requests).toMatchObject({ mutate: 0, create: 0 });
});

it("lists sync: takes nobody out whom a rejected row names, in whatever form", async () => {
  const { ecm, run, members, sandbox } = await withContacts(1);
  const letters = addresses(..."abcdefghijklmnop");
  const spellings = ["José@example.com", ...addresses("a..b", "ada", "bob", "cy"), ...letters];
  sandbox.admin.seed({
    contacts: [...spellings, "left@example.com"].map((key) => ({ key, lists: ["L"] })),
  });
  const rows = `Email,City
José@example.com,
a..b@example.com,
ada@example.com,Oslo,Norway
Bob (bob@example.com) and eve@example.com,
"cy@example.com"?,Rome
n/a,
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
  const sync = async (text: string) => run(`lists sync L ${await inputFile(text)} --max-remove 100%`);
  const { _id: left } = await readJson(ecm, "contact get left@example.com");
  expect(await sync(rows)).toMatchObject({
    code: 3,
    rows: { rejected: 15 },
    members: { added: 1, removed: 1 },
  });
  expect(await members()).toEqual([...spellings, "p0@example.com"].sort());
  await ecm(`contact mutate ${left} --add-list L`);
  const byId = await sync(`${rows}\n${left.toUpperCase()},\n`);
  expect(byId.members).toEqual({ added: 0, removed: 0 });
});

/** Six members. */
async function scene() {
  const contacts = addresses("a1", "a2", "a3", "a4", "a5", "a6").map((key) => ({ key, lists: ["L"] }));
  const account = await startAccount({ contents: { contacts: [...contacts, { key: "other@example.com" }] } });
  const sync = async (text: string, flags = "") =>
    account.run(`lists sync L ${await inputFile(text)} --max-remove 100% -q ${flags}`);
  return { ...account, sync };
}

it("lists sync: a file that is cut off in its last row takes nobody out", async () => {
  const { sync, ecm } = await scene();
  for (const [where, text, rejected] of [
    ["inside an address", "Email\na1@example.com\na4@exam", { truncated: 1 }],
    ["in front of the @", "a1@example.com\na4", { truncated: 1 }],
    ["with CRLF", "Email\r\na1@example.com\r\na4@exam", { truncated: 1 }],
    ["in a column of several", "First Name,Email\nA,a1@example.com\nB,a4@exam", { truncated: 1 }],
    ["in an export of ours", "key,lists,tags,status\na1@example.com,,,active\na4@ex", { truncated: 1 }],
    ["in a last column of ours", "status,key\nactive,a1@example.com\nactive,a4@ex", { truncated: 1 }],
    ["where an address could end", "Email\na1@example.com\na4@example.co", { not_found: 1 }],
    ["where an unknown address could end", "Email\na1@example.com\nnew@example.co", { not_found: 1 }],
    ["behind a quote", 'Email\n"a1@example.com"\n"a4@exam"', { truncated: 1 }],
  ] as const) {
    expect({ where, ...(await sync(text, "--dry-run")) }).toMatchObject({ where, members: { removed: 0 } });
    const stderr = expect.stringContaining("nobody is taken out of the list");
    const codes = { rejected, skipped: { truncated: 5 } };
    const kept = { where, code: 3, stderr, members: { removed: 0 }, codes };
    expect({ where, ...(await sync(text)) }).toMatchObject(kept);
  }
  expect((await ecm("contact search --list L --count")).stdout).toBe("6\n");
});

it("lists sync: a file that is whole, with a last line end and without, takes out who is left out", async () => {
  const { sync } = await scene();
  const whole = await sync("Email\na1@example.com\na2@example.com\nother@example.com");
  expect(whole).toMatchObject({ code: 0, stderr: "", members: { added: 1, removed: 4 } });
  // A single line has nobody to be compared with.
  expect((await sync("a1@example.com")).members).toEqual({ added: 0, removed: 2 });
  const codes = { rejected: { key_syntax: 1 } };
  expect(await sync("Email\na1@exam\na1@example.com\n")).toMatchObject({ members: { removed: 0 }, codes });
});

it("lists sync: a file that is cut off in its last row takes nobody out with --create either, but who is left out where the last one is new", async () => {
  const { sync } = await scene();
  const cut = await sync("Email\na1@example.com\na4@example.co", "--create");
  expect(cut.stderr).toContain("nobody is taken out of the list");
  expect(cut.members).toMatchObject({ removed: 0 });
  const whole = await sync("Email\na1@example.com\nnew@example.com", "--create");
  expect(whole).toMatchObject({ rows: { created: 1 }, members: { removed: 6 } });
});

it("lists sync: says of keys that they are cut off, for every command that takes them", async () => {
  const { ecm, run } = await withContacts(3);
  const path = await inputFile("p0@example.com\np1@exam");
  for (const command of ["mutate --set 'First Name=X'", "unsubscribe --yes", "delete --yes"]) {
    const { code, codes } = await run(`contact ${command} --keys ${path}`);
    const truncated = { code: 3, codes: { rejected: { truncated: 1 } } };
    expect({ command, code, codes }).toMatchObject({ command, ...truncated });
  }
  const search = await ecm(`contact search --keys ${path} -q -o id`);
  expect(search.stderr).toMatch(/^warning: .*:2: the file ends in the middle of this row/);
});

it("lists sync: refuses a file that names nobody", async () => {
  const { ecm } = await withContacts(2);
  await refused(ecm(`lists sync L ${await inputFile("Email\n")} --max-remove 100%`), 2, "error:");
});

it("lists sync: counts keys that do not exist, and creates them only when told", async () => {
  const { run } = await withContacts(2);
  const sync = `lists sync L ${await inputFile("p0@example.com\np1@example.com\nnew@example.com\n")}`;
  expect(await run(sync)).toMatchObject({ code: 3, rows: { updated: 2, rejected: 1, created: 0 } });
  const created = await run(`${sync} --create`);
  expect(created).toMatchObject({ rows: { created: 1, unchanged: 2 }, members: { added: 1 } });
});

it("lists sync: goes on with a stopped one, removals included", async () => {
  const { ecm, run, members } = await withContacts(40);
  await ecm(`lists sync L ${await fileOf(0, 20)}`);
  const limit = "--max-requests 12";
  let last = await run(`lists sync L ${await fileOf(10, 40)} --max-remove 50% ${limit}`);
  const { run: id } = last;
  for (let tries = 0; last.status !== "completed" && tries < 10; tries++)
    last = await run(`runs resume ${id} ${limit}`);
  const rows = { read: 40, updated: 30 };
  expect(last).toMatchObject({ run: id, status: "completed", members: { added: 20, removed: 10 }, rows });
  expect(await members()).toHaveLength(30);
});
