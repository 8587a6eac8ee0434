/** `ecm lists …` against the embedded service over HTTP. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { json, startHttpServer } from "../support/http-server.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

async function done(result: ReturnType<RunningSandbox["ecm"]>): Promise<string> {
  const { code, stdout, stderr } = await result;
  expect(code, stderr).toBe(0);
  return stdout;
}

describe("lists create", () => {
  it("gives the service's own object, and people a name and an id", async () => {
    const { ecm } = await startSandbox();
    const list = JSON.parse(await done(ecm(["lists", "create", "ニュース, all", "--json"])));
    expect(list).toMatchObject({ name: "ニュース, all" });
    expect(await done(ecm(["lists", "list", "-o", "csv"]))).toBe(
      `name,totalContacts,_id\n"ニュース, all",0,${list._id}\n`,
    );
  });

  it("returns the existing list with --if-missing, and makes no second", async () => {
    const { ecm } = await startSandbox();
    const id = await done(ecm(["lists", "create", "News", "--if-missing", "-o", "id"]));
    expect(await done(ecm(["lists", "create", "news", "--if-missing", "-o", "id"]))).toBe(id);
    expect(await done(ecm(["lists", "list", "-o", "id"]))).toBe(id);
  });

  it("sends nothing with --dry-run", async () => {
    const { ecm } = await startSandbox();
    const shown = JSON.parse(await done(ecm(["lists", "create", "News", "--dry-run", "--json"])));
    expect(shown).toMatchObject({ method: "POST", body: { name: "News" } });
    expect(shown.path).toMatch(/^\/api\/contact-structure\/[0-9a-f]{24}\/lists$/);
    expect(await done(ecm(["lists", "list", "--json"]))).toBe("[]\n");
  });

  it("refuses a blank name with exit 2", async () => {
    const { ecm } = await startSandbox();
    expect((await ecm(["lists", "create", " "])).code).toBe(2);
  });
});

describe("lists list", () => {
  it.each([
    ["json", "[]\n"],
    ["ndjson", ""],
    ["id", ""],
    ["csv", "name,totalContacts,_id\n"],
    ["tsv", "name\ttotalContacts\t_id\n"],
  ])("shows none in %s, with exit 0", async (format, stdout) => {
    const { ecm } = await startSandbox();
    expect(await ecm(["lists", "list", "-o", format])).toMatchObject({ code: 0, stdout });
  });

  it("counts members, pages, and says when a page is not everything", async () => {
    const { ecm } = await startSandbox();
    for (const name of ["one", "two", "three"]) await done(ecm(["lists", "create", name]));
    await done(ecm(["contact", "create", "--key", "a@x.org", "--list", "two"]));
    const page = await ecm(["lists", "list", "--size", "2", "-o", "tsv", "--columns", "name,totalContacts"]);
    expect(page.stdout).toBe("name\ttotalContacts\none\t0\ntwo\t1\n");
    expect(page.stderr).toContain("2 of 3 lists shown; --all reads every page, --page 2 the next");
    const next = await ecm(["lists", "list", "--size", "2", "--page", "2", "-o", "csv", "--columns", "name"]);
    expect(next.stdout).toBe("name\nthree\n");
    expect(next.stderr).not.toContain("shown");
    expect(JSON.parse(await done(ecm(["lists", "list", "--all", "--json"])))).toHaveLength(3);
  });

  it("takes a bare array, keeps attributes that it does not know, and escapes what a terminal would obey", async () => {
    const lists = [{ _id: "l1", name: "A\u001b[31m", color: { deep: [1, null] } }];
    const structures = [{ _id: "s1", label: "D", keyName: "E", keyType: "email", fields: [] }];
    const server = await startHttpServer((request, response) =>
      json(response, 200, request.url.includes("/lists") ? lists : structures),
    );
    const env = { ECM_BASE_URL: server.baseUrl, ECM_API_KEY: `ecm_us_${"x".repeat(43)}` };
    const ecm = ecmWith({ ...(await temporaryHome()), ...env });
    expect(JSON.parse(await done(ecm(["lists", "list", "--json"])))).toEqual(lists);
    expect(await done(ecm(["lists", "list", "-o", "ndjson"]))).toBe(`${JSON.stringify(lists[0])}\n`);
    const table = await done(ecm(["lists", "list"], { terminalColumns: 40 }));
    expect(table).toContain("A\\x1b[31m");
    expect(table).not.toContain("\u001b[31m");
  });

  it("guards a spreadsheet with --safe-cells and writes a file whole", async () => {
    const { ecm } = await startSandbox();
    const file = join(await temporaryFolder(), "lists.csv");
    await done(ecm(["lists", "create", "=1+1"]));
    await done(
      ecm(["lists", "list", "-o", "csv", "--columns", "name", "--safe-cells", "--output-file", file]),
    );
    expect(await readFile(file, "utf8")).toBe("name\n'=1+1\n");
  });
});
