/** What the name of an output file says, and what stands in its place already. */

import { chmod, lstat, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { firstQuick } from "../support/first-quick.ts";
import { json } from "../support/http-server.ts";
import { startSandbox } from "../support/sandbox.ts";
import { plainStructure, startService } from "../support/service.ts";
import { read } from "../tables/reading.ts";
import { textRow, workbook } from "../tables/workbooks.ts";

/** A service that must not be asked, and a folder. */
async function unasked() {
  const { server, ecm } = await startService((_request, response) => json(response, 200, []));
  return { server, ecm, folder: await temporaryFolder() };
}

const people = {
  contacts: ["a", "b"].map((name) => ({ key: `${name}@example.com`, fields: { "First Name": name } })),
};

it.each([
  [["export", "--output-file", "-"], "To write to stdout, leave it out"],
  [["contact", "delete", "a@example.com", "--backup", "-", "--yes"], "Name a file"],
  [["import", "people.csv", "--report", "-"], "Name a file"],
])("- is not the name of one: ecm %j", async (words, hint) => {
  const { ecm, server } = await unasked();
  const { code, stderr } = await ecm(words);
  expect({ code, requests: server.requests.length }).toEqual({ code: 2, requests: 0 });
  expect(stderr).toContain(`"-" is not a file\nhint: ${hint}`);
});

describe("the name of an output file", () => {
  it.each([
    ["all.xlsx", ["-o", "csv"], "is a workbook by its name, but the output is CSV", "all.csv"],
    ["all.xlsx", ["--json"], "is a workbook by its name, but the output is JSON", "all.json"],
    ["all.XLS", ["-o", "csv"], "is a workbook by its name, which ecm does not write", "all.csv"],
    ["all.ods", ["--json"], "is a workbook", "a workbook, "],
    ["all.json.gz", ["-o", "csv"], "is JSON by its name, but the output is CSV", "all.csv"],
    ["all.csv.xz", [], "is a compressed file", "gzip all.csv"],
    ["all.tar.gz", [], "is a compressed file", "gzip all.tar.csv"],
    ["all.json", ["--excel"], "is JSON by its name, but the output is CSV", "all.csv"],
    ["all.csv", ["--excel", "--json"], "--excel writes csv", "Leave out one"],
    ["all.json", ["--delimiter", ";"], "--delimiter is for csv", "-o csv"],
    ["all.csv", ["--delimiter", "x"], "does not separate cells", "semicolon"],
    ["all.zip", [], "is a compressed file", "all.csv"],
    ["all.parquet", [], "is a database", "all.csv"],
    ["all.html", [], "is a document", "all.csv"],
    ["all.csv", ["-o", "json"], "is CSV by its name, but the output is JSON", "all.json"],
    ["all.csv", ["--json"], "is CSV by its name, but the output is JSON", "all.json"],
    ["all.csv", ["-o", "id"], "is CSV by its name, but the output is ids", "all.txt"],
    ["all.json", ["-o", "ndjson"], "is JSON by its name, but the output is JSON lines", "all.ndjson"],
    ["all.tsv", ["-o", "csv"], "is TSV by its name, but the output is CSV", "all.csv"],
    ["all.yaml", ["-o", "csv"], "is YAML by its name", "all.csv"],
  ])("%s with %j is refused before a request", async (name, flags, message, hint) => {
    const { server, ecm, folder } = await unasked();
    for (const command of [["export"], ["contact", "search"], ["lists", "list"], ["events"]]) {
      const result = await ecm([...command, "--output-file", join(folder, name), ...flags]);
      expect(result.code, result.stderr).toBe(2);
      expect(result.stderr).toContain(message);
      expect(result.stderr).toContain(hint);
    }
    expect(server.requests).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each([
    ["structure.csv", ["structure", "pull"], "--output-file", "is CSV by its name, but the output is YAML"],
    [
      "plan.csv",
      ["contact", "mutate", "--all", "--set", "City=x", "--dry-run"],
      "--plan",
      "but the output is JSON lines",
    ],
    ["plan.json", ["contact", "mutate", "--all", "--set", "City=x", "--dry-run"], "--plan", "plan.ndjson"],
    [
      "rejects.xlsx",
      ["contact", "mutate", "--all", "--set", "City=x", "--yes"],
      "--rejects",
      "is a workbook",
    ],
    [
      "rejects.json",
      ["contact", "mutate", "--all", "--set", "City=x", "--yes"],
      "--rejects",
      "but the output is CSV",
    ],
    ["gone.xlsx", ["contact", "delete", "--all", "--yes"], "--backup", "is a workbook"],
    ["structure.xlsx", ["structure", "pull"], "--output-file", "is a workbook"],
    ["pages.json.gz", ["api", "GET", "/api/contact", "--paginate"], "--output-file", "is a compressed file"],
    ["pages.csv", ["api", "GET", "/api/contact", "--paginate"], "--output-file", "but the output is"],
  ])("%s of %j is refused by %s", async (name, args, flag, message) => {
    const { server, ecm, folder } = await unasked();
    const result = await ecm([...args, flag, join(folder, name)]);
    expect(result.code, result.stderr).toBe(2);
    expect(result.stderr).toContain(message);
    expect(server.requests.filter(({ method }) => method !== "GET")).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("decides the format where --output does not", { tags: "slow" }, async () => {
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
      const { code, stderr } = await ecm(["export", "--output-file", file], { env: { ECM_OUTPUT: "" } });
      expect(code, stderr).toBe(0);
      expect(await readFile(file, "utf8"), name).toMatch(start);
    }
    const file = join(folder, "other.json");
    await ecm(["lists", "list", "--output-file", file], { env: { ECM_OUTPUT: "csv" } });
    expect(await readFile(file, "utf8")).toBe("[]\n");
    const pulled = join(folder, "structure.json");
    await ecm(["structure", "pull", "--output-file", pulled]);
    expect(JSON.parse(await readFile(pulled, "utf8"))).toMatchObject({ label: "Default" });
  });
});

describe("a workbook or a compressed file", () => {
  const contents = {
    contacts: ["0170 123", "=1+1", "_x0041_\r\n\u0001", "00123"].map((value, index) => ({
      key: `p${index}@example.com`,
      fields: { "First Name": value },
    })),
  };

  it("holds what the same command prints, as text", { tags: "slow" }, async () => {
    const { ecm } = await startSandbox({ contents });
    const folder = await temporaryFolder();
    const columns = ["--columns", "key,First Name"];
    const { stdout: tsv } = await ecm(["contact", "search", ...columns]);
    const book = join(folder, "all.xlsx");
    // Excel, byte order marks and apostrophes are for text.
    const flags = ["--bom", "--safe-cells", "--excel", "--output-file", book];
    const { code, stderr } = await ecm(["contact", "search", ...columns, ...flags]);
    expect(code, stderr).toBe(0);
    const { rows } = await read(await readFile(book));
    expect(rows.map(({ cells }) => cells)).toEqual(
      contents.contacts.map(({ key, fields }) => [key, fields["First Name"]]),
    );
    const packed = join(folder, "all.tsv.gz");
    await ecm(["contact", "search", ...columns, "--output-file", packed]);
    expect(gunzipSync(await readFile(packed)).toString()).toBe(tsv);
    const json = join(folder, "all.json.gz");
    await ecm(["lists", "list", "--output-file", json]);
    expect(gunzipSync(await readFile(json)).toString()).toBe("[]\n");
  });

  it("refuses what no cell holds, and leaves no file", { tags: "slow" }, async () => {
    const value = "x".repeat(32_768);
    const { ecm } = await startSandbox({
      contents: { contacts: [{ key: "a@example.com", fields: { "First Name": value } }] },
    });
    const file = join(await temporaryFolder(), "all.xlsx");
    for (const command of [["export"], ["contact", "search"]]) {
      const result = await ecm([...command, "--output-file", file]);
      expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining("has 32,768 characters") });
    }
    expect(await readdir(dirname(file))).toEqual([]);
  });
});

describe("--excel", () => {
  it.each([
    ["de_DE.UTF-8", ";"],
    ["nb_NO", ";"],
    ["en_GB.UTF-8", ","],
    ["C", ","],
  ])("writes csv that Excel opens where the language is %s", async (language, delimiter) => {
    const values = ["+47 22 33", "=1+1", "-5,5", "Köln"];
    const { ecm } = await startSandbox({
      contents: {
        contacts: values.map((value, at) => ({ key: `${at}@x.org`, fields: { "First Name": value } })),
      },
    });
    const { stdout } = await ecm(["export", "--excel", "--columns", "key,First Name"], {
      env: { LC_ALL: language },
    });
    const quoted = delimiter === "," ? '"-5,5"' : "-5,5";
    expect(stdout).toBe(
      [
        "\ufeffkey,First Name,ecm:safe-cells",
        "0@x.org,+47 22 33,",
        "1@x.org,'=1+1,",
        "2@x.org,#,",
        "3@x.org,Köln,",
        "",
      ]
        .join("\n")
        .replaceAll(",", delimiter)
        .replace("#", quoted),
    );
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
  expect((await sandbox.ecm(["export", "--all"])).stdout).toBe((await sandbox.ecm(["export"])).stdout);
});

it("a file that is cut off inside a quote costs no request", { tags: "slow" }, async () => {
  const { server, ecm, folder } = await unasked();
  const file = join(folder, "cut.csv");
  await writeFile(file, 'Email,City\na@example.com,"New York"\nb@example.com,"Los');
  for (const args of [
    ["import", file],
    ["lists", "sync", "L", file],
    ["contact", "delete", "--yes", "--keys", file],
  ]) {
    const result = await ecm(args);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(":3: a quote opens here") });
  }
  expect(server.requests).toEqual([]);
});

describe("a file that stands in the place of an output file", () => {
  const foreign: [string, string | Buffer][] = [
    ["book", workbook({ sheets: [{ name: "People", rows: textRow(1, ["Email"]) }] })],
    ["crm.csv", "Email,First Name,City\nada@example.com,Ada,Oslo\n"],
    ["keys.csv", "key\nada@example.com\n"],
    ["notes.txt", "do not lose this\n"],
    ["package.json", '{\n  "name": "site",\n  "version": "1.0.0"\n}\n'],
    ["rows.json", '[\n  {\n    "email": "ada@example.com"\n  }\n]\n'],
    ["rows.ndjson", '{"Email":"ada@example.com"}\n'],
    ["bytes", Buffer.from([0, 1, 2, 255])],
  ];

  firstQuick(3)(foreign)(
    "is not replaced where it is not ours, unless by --force: %s",
    async (name, content) => {
      const { server, ecm, folder } = await unasked();
      const file = join(folder, name);
      await writeFile(file, content);
      for (const command of [
        "export",
        "contact search",
        "lists list",
        "structure get",
        "api GET /api/contact",
      ]) {
        const result = await ecm([...command.split(" "), "--output-file", file]);
        expect(result.code, command).toBe(2);
        expect(result.stderr).toContain(`${file} already exists and was not written by ecm`);
        expect(result.stderr).toContain("--force");
      }
      expect(server.requests).toEqual([]);
      expect(await readFile(file)).toEqual(Buffer.from(content));
      expect(await readdir(folder)).toEqual([name]);
      const sandbox = await startSandbox({ contents: people });
      const forced = await sandbox.ecm(["export", "--output-file", file, "--force"]);
      expect(forced.code, forced.stderr).toBe(0);
      expect(await readFile(file, "utf8")).toContain("a@example.com");
    },
  );

  it.each([
    ["--plan", "plan.ndjson", ["contact", "mutate", "--all", "--set", "City=x", "--dry-run"]],
    ["--rejects", "crm.csv", ["contact", "mutate", "--all", "--set", "City=x", "--dry-run"]],
  ])("is not replaced by %s either", async (flag, name, args) => {
    const { server, ecm, folder } = await unasked();
    const file = join(folder, name);
    await writeFile(file, '{"name":"site"}\n');
    const result = await ecm([...args, flag, file]);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining("already exists and was not") });
    expect(result.stderr).toContain("Name another file, or remove it first");
    expect(server.requests).toEqual([]);
    expect(await readFile(file, "utf8")).toBe('{"name":"site"}\n');
  });

  const rewritten: string[][] = [
    ["export"],
    ["export", "--columns", "key,First Name"],
    ["export", "--safe-cells", "--bom"],
    ["export", "-o", "tsv"],
    ["export", "-o", "json"],
    ["export", "-o", "ndjson"],
    ["export", "-o", "ndjson", "--columns", "key,status"],
    ["export", "-o", "id"],
    ["contact", "search", "--limit", "1"],
    ["contact", "search", "--key", "nobody@example.com", "-o", "json"],
    ["contact", "get", "a@example.com", "--json"],
    ["export", "--excel", "--delimiter", ";"],
    ["lists", "list"],
    ["lists", "list", "--json"],
    ["structure", "list"],
    ["structure", "get"],
    ["structure", "pull"],
    ["structure", "pull", "--json"],
    ["suppressions", "list"],
    ["auth", "list"],
    ["events"],
    ["events", "--columns", "time,key", "-o", "csv"],
    ["events", "--json"],
    ["api", "GET", "/api/contact"],
    ["api", "GET", "/api/contact", "--paginate"],
  ];

  const nightly = rewritten.map((args) => [args.join(" "), args, "nightly"] as [string, string[], string]);
  nightly.push(["export", ["export"], "nightly.xlsx"], ["events", ["events"], "nightly.json.gz"]);

  firstQuick(3)(nightly)(
    "is replaced each night where it is ours, also by a machine that does not remember: %s",
    async (_line, args, name) => {
      const { ecm, env } = await startSandbox({ contents: people });
      await ecm(["lists", "create", "Newsletter"]);
      await ecm(["suppressions", "add", "gone@example.com"]);
      const file = join(await temporaryFolder(), name);
      for (let night = 0; night < 3; night += 1) {
        const { code, stderr } = await ecm([...args, "--output-file", file]);
        expect(code, stderr).toBe(0);
        if (night === 1) await rm(join(env.ECM_STATE_DIR!, "written"), { recursive: true });
      }
    },
  );

  it("is replaced where it is as ecm left it, and no longer where somebody has changed it", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const file = join(await temporaryFolder(), "people.txt");
    const show = (...flags: string[]) =>
      ecm(["contact", "search", "-o", "table", "--output-file", file, ...flags]);
    expect((await show()).code).toBe(0);
    expect((await show("--columns", "key")).code).toBe(0);
    await writeFile(file, "mine\n");
    expect((await show()).code).toBe(2);
    expect(await readFile(file, "utf8")).toBe("mine\n");
    await writeFile(file, "");
    expect((await show()).code).toBe(0);
  });

  it.runIf(process.platform !== "win32")("may be a link, or read-only", async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const at = (name: string) => join(folder, name);
    const exportTo = (name: string, ...flags: string[]) =>
      ecm(["export", "--output-file", name.startsWith("/") ? name : at(name), ...flags]);
    await writeFile(at("mine.csv"), "Email\nada@example.com\n");
    await symlink(at("mine.csv"), at("link.csv"));
    expect(await exportTo("link.csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("was not written"),
    });
    expect(await readFile(at("mine.csv"), "utf8")).toContain("ada@");

    await symlink(at("nowhere.csv"), at("broken.csv"));
    expect(await exportTo("broken.csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("leads nowhere"),
    });
    expect((await lstat(at("broken.csv"))).isSymbolicLink()).toBe(true);
    await symlink(at("loop"), at("loop"));
    expect((await exportTo("loop")).code).toBe(2);

    expect((await exportTo("ours.csv")).code).toBe(0);
    await chmod(at("ours.csv"), 0o444);
    expect(await exportTo("ours.csv")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("is read-only"),
    });
    expect((await exportTo("ours.csv", "--force")).code).toBe(0);

    await mkdir(at("sub"));
    expect((await exportTo("sub")).stderr).toContain("it is a folder");
    expect((await exportTo(`${at("new")}/`)).stderr).toContain("there is no such folder");
  });

  it("is not replaced where somebody has put it there while the output was made", async () => {
    const file = join(await temporaryFolder(), "contacts.csv");
    const { ecm } = await startService(async (request, response) => {
      if (request.method === "GET")
        return json(
          response,
          200,
          request.url.includes("/lists")
            ? []
            : request.url.endsWith(plainStructure._id)
              ? plainStructure
              : [plainStructure],
        );
      await writeFile(file, "somebody's\n");
      json(response, 200, { totalRecords: 0, contacts: [] });
    });
    for (const args of [["export"], ["contact", "search"]]) {
      const result = await ecm([...args, "--output-file", file]);
      expect(result).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("changed by another program"),
      });
      expect(await readFile(file, "utf8")).toBe("somebody's\n");
      await rm(file);
    }
  });
});

it.runIf(process.platform !== "win32")(
  "a file of people's data is its owner's, unless it has other rights",
  { tags: "slow" },
  async () => {
    const { ecm } = await startSandbox({ contents: people });
    const folder = await temporaryFolder();
    const before = process.umask(0);
    try {
      for (const args of [["export"], ["lists", "list"]]) {
        const file = join(folder, args[0]!);
        expect((await ecm([...args, "--output-file", file])).code).toBe(0);
        expect((await stat(file)).mode & 0o777).toBe(0o600);
        await chmod(file, 0o644);
        expect((await ecm([...args, "--output-file", file])).code).toBe(0);
        expect((await stat(file)).mode & 0o777).toBe(0o644);
      }
    } finally {
      process.umask(before);
    }
  },
);
