/** What the client does where the service has what the specification shows, and no more. */
import { describe, expect, it } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary, summaryOf } from "../bulk/kit.ts";
import { type RecordingProxy, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { done, ends, errorBody, type RunningSandbox, readJson, refused, startSandbox } from "../kit.ts";

const contents = {
  fields: ["City"],
  contacts: manyContacts(5).map((contact, index) => ({
    ...contact,
    lists: index < 2 ? ["News"] : ["Offers"],
    tags: index === 0 ? ["vip"] : [],
    status: index === 4 ? "Bounce" : "Active",
  })),
};

const account = () => startSandbox({ variants: { literal: "yes" }, contents });

/** The same account, where a search takes the names that both documents have: none of them tells the status. */
async function accountWithCommonNames(): Promise<RecordingProxy> {
  const common = ["_id", "key", "fields", "lists", "tags", "createdAt"];
  const proxy = await startRecordingProxy();
  proxy.sandbox.admin.seed(contents);
  proxy.refuses = ({ path, body }) => {
    if (path !== "/api/contact/search") return undefined;
    const other = (JSON.parse(body) as { source: string[] }).source.find((name) => !common.includes(name));
    if (other === undefined) return undefined;
    return { status: 400, body: errorBody("ValidationError", `${other} is unknown`, { field: "source" }) };
  };
  return proxy;
}

const listAnswers = ({ sandbox }: RunningSandbox): string[] =>
  sandbox.admin
    .requests({})
    .map(({ method, path, status }) => `${method} ${path.replace(/[0-9a-f]{24}/g, "ID")} ${status}`);

const refusedSearch = "POST /api/contact/search 400";

describe("the names that a search can ask for", () => {
  it("are found out once, and kept for the account", async () => {
    const running = await account();
    const found = await readJson(running.ecm, "contact search --key p1@example.com");
    expect(found).toMatchObject([{ key: "p1@example.com", status: { primary: "active" } }]);
    expect(listAnswers(running).filter((each) => each === refusedSearch)).toHaveLength(1);
    running.sandbox.admin.requests.clear();
    await running.ecm("contact search --all --json");
    await running.ecm(`import ${await inputFile(manyRows(7))} --json`);
    expect(listAnswers(running)).not.toContain(refusedSearch);
  });

  it("are found out again when the service takes others", async () => {
    const running = await account();
    await running.ecm("contact search");
    // The same account, behind another address: what was learned goes by the address, so the old one is tried first.
    const other = await startSandbox({ folder: running.folder });
    const { stdout } = await other.ecm("contact search --columns key,updatedAt -o csv");
    expect(stdout).toMatch(/p0@example\.com,\d{4}-/);
  });

  it("that no search tells are said, not shown as empty in silence", async () => {
    const { ecm } = await account();
    await ends(ecm("contact search --columns key,updatedAt"), 0, "The service does not tell updatedAt");
    await ends(ecm("export --since 24h"), 1, "The service did not tell the updatedAt of the contacts");
    const common = await accountWithCommonNames();
    await ends(common.ecm("contact search"), 0, "The service's searches do not tell the status");
    const withStatus = await common.ecm("contact search --columns key,status -o csv");
    expect(withStatus.stdout).toContain("p4@example.com,Inactive");
    expect(withStatus.stderr).not.toContain("do not tell");
  });
});

it("lists by which no search filters are decided here, and what was learned saves the next refusal", async () => {
  const running = await account();
  const count = async (flags: string) => (await running.ecm(`contact search ${flags} --count`)).stdout;
  expect(await count("--list News")).toBe("2\n");
  expect(await count("--list News --list Offers")).toBe("5\n");
  expect(await count("--list Offers --status active")).toBe("2\n");
  expect(await count("--list Offers --key p1@example.com --key p3@example.com")).toBe("1\n");
  running.sandbox.admin.requests.clear();
  expect(await count("--list Offers")).toBe("3\n");
  expect(listAnswers(running)).not.toContain(refusedSearch);
});

describe("tags, which the service does not show", () => {
  it("are left out of a structure that is kept as a file, which is compared without them", async () => {
    const { ecm } = await account();
    const pulled = await done(ecm("structure pull"));
    const diff = (stdin: string) => ecm("structure diff - --exit-code", { stdin });
    expect(await diff(pulled)).toMatchObject({ code: 0, stdout: "" });
    const more = { code: 9, stdout: '+ field "Zip" (text)\n' };
    expect(await diff(`${pulled}  - label: Zip\n`)).toMatchObject(more);
    await refused(diff(`${pulled}tags: [vip]\n`), 1);
  });

  it("are never deleted by an update of the structure", async () => {
    const running = await account();
    const { ecm } = running;
    const changes = ["update --label Customers", "field rename City Town", "field remove City --yes"];
    const could = "update without them could delete them from every contact";
    for (const change of [...changes, "tag add new"]) await refused(ecm(`structure ${change}`), 1, could);
    const said = await refused(ecm("structure field add Town"), 1, "could delete them");
    const [, text, path] = /echo '(\{.*\})' \| ecm api PUT (\S+) --data - --yes$/m.exec(said)!;
    const body = JSON.parse(text!);
    expect(body).toMatchObject({ label: expect.any(String), keyName: expect.any(String) });
    expect(body.fields.at(-1)).toMatchObject({ label: "Town" });
    expect(body.tags).toEqual([{ _id: "TAG-ID", label: "TAG" }]);
    // Filled in, it is what does it.
    const [contact] = await readJson(ecm, "contact search --limit 1");
    const stdin = JSON.stringify({ ...body, tags: [{ _id: contact.tags[0]._id, label: "vip" }] });
    await done(ecm(`api PUT ${path} --data - --yes`, { stdin }));
    const { fields } = await readJson(ecm, "structure get");
    expect(fields).toContainEqual(expect.objectContaining({ label: "Town" }));
    await refused(ecm("structure tag add new"), 1, '"tags":[{"_id":"TAG-ID","label":"TAG"},{"label":"new"}]');
    expect(listAnswers(running).filter((each) => each.startsWith("PUT"))).toHaveLength(1);
    expect((await ecm("structure get")).stderr).toContain("did not say which tags there are");
  });

  it("are named by their ids, and a label is refused before a contact is read or changed", async () => {
    const { ecm } = await account();
    const [contact] = await readJson(ecm, "contact search --limit 1");
    const id: string = contact.tags[0]._id;
    const rows = "Email,Tags\np3@example.com,vip\n";
    for (const line of [
      `contact search --where '"vip" in tags'`,
      `contact mutate --where '!("vip" in tags)' --set City=X --yes`,
      `contact search --where 'tags.exists(each, each == "vip")'`,
      "contact search --tag vip",
      "contact create --key new@example.com --tag vip",
      "contact mutate p1@example.com --add-tag vip",
      `import ${await inputFile(rows)} --map Tags=tags`,
      `import ${await inputFile(rows)} --map Tags=tags --create-missing`,
    ])
      await refused(ecm(line), 5, "did not say which tags there are", "Name the tag by its id");
    const keys = (flags: string) => done(ecm(`contact search ${flags} --columns key -o csv`));
    expect(await keys(`--where '"${id}" in tags'`)).toBe("key\np0@example.com\n");
    expect(await keys("--where 'size(tags) == 1'")).toBe("key\np0@example.com\n");
    const file = await inputFile(rows.replace("vip", id));
    const imported = await summaryOf(ecm, `import ${file} --map Tags=tags`);
    expect(imported.rows).toMatchObject({ updated: 1, rejected: 0 });
    expect(await keys(`--tag ${id}`)).toBe("key\np0@example.com\np3@example.com\n");
  });
});

it("the status, where no search tells it, is read by ids where it decides, and the price says so", async () => {
  const { ecm } = await accountWithCommonNames();
  await ecm("contact search");
  const keys = await inputFile("p0@example.com\np1@example.com\np4@example.com\n", "keys.txt");
  const line = `contact unsubscribe --keys ${keys} --json --yes`;
  const planned = parseSummary(await ecm(`${line} --dry-run`));
  const { rows, requests } = parseSummary(await ecm(line));
  // Who bounced stays as they are.
  expect(rows).toMatchObject({ updated: 2, unchanged: 1, rejected: 0 });
  expect(requests.total).toBeLessThanOrEqual(planned.estimate.requests);
  const { status } = await readJson(ecm, "contact get p4@example.com");
  expect(status).toMatchObject({ primary: "Inactive", secondary: "Bounce" });
  const exported = await done(ecm("export --columns key,status"));
  expect(exported).toContain("p2@example.com,active");
  expect(exported).toContain("p4@example.com,Inactive");
});
