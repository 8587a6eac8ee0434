/** What the name of an output file says, and which files it may replace. */

import { chmod, link, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { done, temporaryFolder } from "../support/ecm.ts";
import { json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { startService } from "../support/service.ts";
import { read } from "../tables/reading.ts";

/** A service that must not be asked, and a folder. */
async function unasked() {
  const service = await startService((_request, response) => json(response, 200, []));
  return { ...service, folder: await temporaryFolder() };
}

const people = {
  contacts: ["a", "b"].map((name) => ({ key: `${name}@example.com`, fields: { "First Name": name } })),
};

it.each([
  ["export --output-file -", "To write to stdout, leave it out"],
  ["contact delete a@example.com --backup - --yes", "Name a file"],
  ["import people.csv --report -", "Name a file"],
])("- is not the name of one: ecm %s", async (line, hint) => {
  const { ecm, server } = await unasked();
  const { code, stderr } = await ecm(line);
  expect({ code, requests: server.requests.length }).toEqual({ code: 2, requests: 0 });
  expect(stderr).toContain(`"-" is not a file\nhint: ${hint}`);
});

describe("the name of an output file", () => {
  it.each([
    ["all.xlsx", "-o csv", "is xlsx by its name, but the output is csv"],
    ["all.xlsx", "--json", "is xlsx by its name, but the output is json"],
    ["all.csv", "-o id", "is csv by its name, but the output is id"],
    ["all.json", "-o ndjson", "is json by its name, but the output is ndjson"],
    ["all.yaml", "-o csv", "is yaml by its name, but the output is csv"],
  ])("%s with %j is refused before a request", async (name, flags, message) => {
    const { server, ecm, folder } = await unasked();
    for (const command of ["export", "contact search", "lists list", "events"]) {
      const result = await ecm(`${command} --output-file ${join(folder, name)} ${flags}`);
      expect(result.code, result.stderr).toBe(2);
      expect(result.stderr).toContain(message);
    }
    expect(server.requests).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    [
      "structure pull --output-file structure.csv",
      "is csv by its name, but the output is yaml\nhint: Name it ",
    ],
    ["structure pull --output-file structure.xlsx", "is xlsx"],
    ["contact mutate --all --set City=x --dry-run --plan plan.csv", "but the output is ndjson"],
    [
      "contact mutate --all --set City=x --dry-run --plan plan.json",
      "is json by its name, but the output is ndjson",
    ],
    ["contact mutate --all --set City=x --yes --rejects rejects.xlsx", "is xlsx"],
    ["contact mutate --all --set City=x --yes --rejects rejects.json", "but the output is csv"],
    ["contact delete --all --yes --backup gone.xlsx", "is xlsx"],
    ["api GET /api/contact --paginate --output-file pages.csv", "but the output is"],
  ])("is refused before a write: ecm %s", async (line, message) => {
    const { server, ecm, folder } = await unasked();
    const result = await ecm(line.replace(/\S+$/, (name) => join(folder, name)));
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toContain(message);
    expect(server.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("decides the format where --output does not", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const starts: [string, RegExp][] = [
      ["all.csv", /^key,First Name,/],
      ["all.tsv", /^key\tFirst Name\t/],
      ["all.json", /^\[\n {2}\{\n/],
      ["all.ndjson", /^\{"_id":/],
      ["all.jsonl", /^\{"_id":/],
      ["all.2026-11-22", /^key,/],
      ["all.constructor", /^key,/],
      [".all", /^key,/],
    ];
    for (const [name, start] of starts) {
      const file = join(folder, name);
      // What a name says goes before what is usual.
      await done(ecm(["export", "--output-file", file], { env: { ECM_OUTPUT: "" } }));
      expect(await readFile(file, "utf8"), name).toMatch(start);
    }
    const file = join(folder, "other.json");
    await ecm(["lists", "list", "--output-file", file], { env: { ECM_OUTPUT: "csv" } });
    expect(await readFile(file, "utf8")).toBe("[]\n");
    const kept = join(folder, "structure.yaml");
    await done(ecm(["structure", "pull", "--output-file", kept], { env: { ECM_OUTPUT: "json" } }));
    expect(await readFile(kept, "utf8")).toContain("label: Default");
    const pulled = join(folder, "structure.json");
    await ecm(["structure", "pull", "--output-file", pulled]);
    expect(JSON.parse(await readFile(pulled, "utf8"))).toMatchObject({ label: "Default" });
  });
});

describe("a workbook", () => {
  const contents = {
    contacts: ["0170 123", "=1+1", "_x0041_\r\n\u0001", "00123"].map((value, index) => ({
      key: `p${index}@example.com`,
      fields: { "First Name": value },
    })),
  };

  it("holds what the same command prints, as text", async () => {
    const { ecm } = await startSandbox({ contents });
    const folder = await temporaryFolder();
    const columns = ["--columns", "key,First Name"];
    const book = join(folder, "all.xlsx");
    // Byte order marks and apostrophes are for text.
    const flags = ["--bom", "--safe-cells", "--output-file", book];
    await done(ecm(["contact", "search", ...columns, ...flags]));
    const { rows } = await read(await readFile(book));
    expect(rows.map(({ cells }) => cells)).toEqual(
      contents.contacts.map(({ key, fields }) => [key, fields["First Name"]]),
    );
  });

  it("refuses what no cell holds, and leaves no file", async () => {
    const value = "x".repeat(32_768);
    const { ecm } = await startSandbox({
      contents: { contacts: [{ key: "a@example.com", fields: { "First Name": value } }] },
    });
    const file = join(await temporaryFolder(), "all.xlsx");
    for (const command of ["export", "contact search"]) {
      const result = await ecm(`${command} --output-file ${file}`);
      expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("has 32,768 characters") });
    }
    expect(await readdir(dirname(file))).toEqual([]);
  });
});

it("empty names of columns are refused before a request, and export --all is what export does", async () => {
  const { server, ecm } = await unasked();
  for (const columns of ["", "key,", " , key"]) {
    for (const command of ["contact search", "export", "lists list"]) {
      const result = await ecm([...command.split(" "), "--columns", columns]);
      expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("name of a column is empty") });
    }
  }
  expect(server.requests).toEqual([]);
  const sandbox = await startSandbox({ contents: people });
  expect((await sandbox.ecm("export --all")).stdout).toBe((await sandbox.ecm("export")).stdout);
});

describe("a file that stands in the place of an output file", () => {
  it.each(["export", "contact search", "lists list", "structure pull", "api GET /api/contact"])(
    "is replaced, whoever wrote it: %s",
    async (command) => {
      const { ecm } = await startSandbox({ contents: people });
      const file = join(await temporaryFolder(), "notes");
      await writeFile(file, "do not lose this\n");
      for (let night = 0; night < 2; night += 1) {
        await done(ecm([...command.split(" "), "--output-file", file]));
        expect(await readFile(file, "utf8")).not.toContain("do not lose this");
      }
    },
  );

  it("stays as it was until the output is whole", async () => {
    const file = join(await temporaryFolder(), "contacts.csv");
    await writeFile(file, "yesterday\n");
    const { ecm } = await startService((_request, response) => json(response, 500, {}));
    for (const line of ["export", "contact search", "lists list", "api GET /api/contact"]) {
      expect((await ecm(`${line} --output-file ${file}`)).code).toBe(1);
      expect(await readFile(file, "utf8")).toBe("yesterday\n");
    }
    expect(await readdir(dirname(file))).toEqual(["contacts.csv"]);
  });

  it.each([
    ["export --keys in.csv --output-file out.csv", "--output-file names the input file"],
    ["contact search --keys in.csv --output-file out.csv", "--output-file names the input file"],
    ["api POST /api/contact/search --data in.csv --output-file out.csv", "--output-file and --data name the"],
    [
      "api POST /api/contact -F note=@in.csv --output-file out.csv",
      "--output-file and -F name the same file",
    ],
  ])("is never what the command reads, also through links: ecm %s", async (line, message) => {
    const { server, ecm, folder } = await unasked();
    const input = join(folder, "in.csv");
    await writeFile(input, "a@example.com\n");
    await symlink(input, join(folder, "symbolic.csv"));
    await link(input, join(folder, "hard.csv"));
    for (const output of ["in.csv", "symbolic.csv", "hard.csv"]) {
      const words = line.replace("out.csv", join(folder, output)).replace("in.csv", input).split(" ");
      const result = await ecm(words);
      expect([result.code, result.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(server.requests).toEqual([]);
    expect(await readFile(input, "utf8")).toBe("a@example.com\n");
  });

  it.each([
    ["--output-file", "lists list"],
    ["--plan", "contact mutate --all --set City=x --dry-run"],
    ["--rejects", "contact mutate --all --set City=x --dry-run"],
    ["--report", "contact mutate --all --set City=x --dry-run"],
    ["--backup", "contact delete --all --yes"],
  ])("is never ecm's own, also through links: %s", async (flag, line) => {
    const { server, ecm, folder, env } = await unasked();
    const shared = join(folder, "suppressed");
    const own = [join(env.ECM_STATE_DIR!, "kept"), join(env.ECM_CONFIG_DIR!, "deeper", "kept"), shared];
    for (const [index, file] of own.entries()) {
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, "kept\n");
      await symlink(file, join(folder, `symbolic-${index}`));
      await link(file, join(folder, `hard-${index}`));
    }
    await symlink(env.ECM_CACHE_DIR!, join(folder, "cache"));
    const linked = own.flatMap((_, index) => [`symbolic-${index}`, `hard-${index}`]);
    const places = [...own, join(env.ECM_STATE_DIR!, "new"), ...linked.map((name) => join(folder, name))];
    await mkdir(env.ECM_CACHE_DIR!, { recursive: true });
    for (const file of [...places, join(folder, "cache", "new")]) {
      const result = await ecm([...line.split(" "), flag, file], { env: { ECM_SUPPRESSIONS: shared } });
      expect([result.code, result.stderr], file).toEqual([
        2,
        expect.stringContaining("one of ecm's own files"),
      ]);
    }
    expect(server.requests).toEqual([]);
    for (const file of own) expect(await readFile(file, "utf8")).toBe("kept\n");
  });

  it.runIf(process.platform !== "win32")("may be a link, but not read-only", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const at = (name: string) => join(folder, name);
    const exportTo = (name: string) =>
      ecm(["export", "--output-file", name.startsWith("/") ? name : at(name)]);
    await writeFile(at("mine.csv"), "Email\n");
    await symlink(at("mine.csv"), at("link.csv"));
    await done(exportTo("link.csv"));
    expect((await lstat(at("link.csv"))).isSymbolicLink()).toBe(true);
    expect(await readFile(at("mine.csv"), "utf8")).toContain("a@example.com");

    await symlink(at("nowhere.csv"), at("broken.csv"));
    expect(await exportTo("broken.csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("leads nowhere"),
    });
    expect((await lstat(at("broken.csv"))).isSymbolicLink()).toBe(true);
    await symlink(at("loop"), at("loop"));
    expect((await exportTo("loop")).code).toBe(2);

    await chmod(at("mine.csv"), 0o444);
    expect(await exportTo("mine.csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is read-only"),
    });

    const long = await exportTo(`${"n".repeat(300)}.csv`);
    expect(long).toMatchObject({ code: 2, stderr: expect.stringContaining("the name is too long") });
    await mkdir(at("sub"));
    expect((await exportTo("sub")).stderr).toContain("it is a folder");
    expect((await exportTo(`${at("new")}/`)).stderr).toContain("there is no such folder");
  });
});

it.runIf(process.platform !== "win32")(
  "a file of people's data is its owner's, unless it has other rights",
  async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const before = process.umask(0);
    try {
      for (const line of ["export", "lists list"]) {
        const file = join(folder, line.slice(0, 5));
        await done(ecm(`${line} --output-file ${file}`));
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await chmod(file, 0o644);
        await done(ecm(`${line} --output-file ${file}`));
        expect((await stat(file)).mode & 0o777).toBe(0o644);
      }
    } finally {
      process.umask(before);
    }
  },
);
