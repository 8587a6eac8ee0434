/** `ecm import FILE --check` and `--template`: what is known without an account, and a file to begin with. */
import { readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { inputFile, parseSummary } from "../bulk/kit.ts";
import { textRow, workbook } from "../bulk/read/workbooks.ts";
import { ecmWith, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const csv = [
  "Email,Name,Born,Land,Opt-in",
  "ada@example.com,Ada Lovelace,31.12.1980,DE,yes",
  "bob@example.com,Bob M,31.02.1980,DE,yes",
  "nobody,Carl X,01.01.1990,AT,yes",
  "dora@example.com,Dora Y,,CH,no",
  "",
].join("\n");
const mapping = [
  `Name: { field: First Name, value: 'row.Name.split(" ")[0]' }`,
  "Born: { field: Birthday, date: DD.MM.YYYY }",
  "Land: { field: Country, map: { DE: Germany, AT: Austria } }",
  "Source: { constant: Expo }",
].join("\n");

/** `ecm` with an account that counts its requests. */
async function account() {
  let requests = 0;
  const server = createServer((_request, response) => {
    requests += 1;
    response.writeHead(500).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const home = await temporaryHome();
  const { port } = server.address() as AddressInfo;
  const ecm = ecmWith({ ...home, ECM_BASE_URL: `http://127.0.0.1:${port}`, ECM_API_KEY: "ecm_us_test" });
  return { ecm, home, requests: () => requests };
}

describe("ecm import --check", () => {
  it("says what would be made of the file, and sends nothing", { tags: "slow" }, async () => {
    const { ecm, home, requests } = await account();
    const args = ["import", await inputFile(csv), "--mapping", await inputFile(mapping, "m.yaml"), "--check"];
    const result = await ecm([...args, "--json"]);
    expect(result.code).toBe(3);
    const report = JSON.parse(result.stdout);
    expect(report.rows).toEqual({ read: 4, accepted: 2, rejected: 2, notSubscribed: 1 });
    expect(report.columns).toEqual([
      { column: "Email", target: "key", blank: 0, distinct: 4, changed: 0, failed: 0 },
      {
        column: "Name",
        target: "field",
        field: "First Name",
        rule: "computed",
        blank: 0,
        distinct: 4,
        changed: 4,
        failed: 0,
      },
      {
        column: "Born",
        target: "field",
        field: "Birthday",
        rule: "date DD.MM.YYYY",
        blank: 1,
        distinct: 2,
        changed: 2,
        failed: 1,
      },
      {
        column: "Land",
        target: "field",
        field: "Country",
        rule: "table of 2",
        blank: 0,
        distinct: 3,
        changed: 3,
        failed: 0,
      },
      { column: "Opt-in", target: "consent", blank: 0, distinct: 2, changed: 0, failed: 0 },
      {
        column: "Source",
        target: "field",
        field: "Source",
        rule: "constant",
        blank: 0,
        distinct: 1,
        changed: 4,
        failed: 0,
      },
    ]);
    expect(report.sample[0]).toMatchObject({
      line: 2,
      before: { Name: "Ada Lovelace", Born: "31.12.1980" },
      after: {
        key: "ada@example.com",
        fields: { "First Name": "Ada", Birthday: "1980-12-31", Country: "Germany", Source: "Expo" },
      },
    });
    expect(report.rejects).toMatchObject([
      { line: 3, code: "compute", message: 'Born: "31.02.1980" is not a date in DD.MM.YYYY' },
      { line: 4, code: "key_syntax" },
    ]);
    const table = await ecm(args, { terminalColumns: 120, env: { NO_COLOR: "1" } });
    expect(table.stdout).toMatch(/Column +Goes to +Made by/);
    expect(table.stdout).toContain("line 2  ada@example.com  First Name Ada Lovelace → Ada");
    expect(table.stdout).toContain("4 rows: 2 accepted, 2 rejected");
    expect(result.stderr + table.stderr).not.toContain("rate-limit");
    expect(requests()).toBe(0);
    // No run is begun either.
    expect(await readdir(home.ECM_STATE_DIR!).catch(() => [])).not.toContain("runs");
  });

  it("needs no account at all, and reads a pipe and a workbook", async () => {
    const ecm = ecmWith(await temporaryHome());
    const args = ["--check", "--json", "--map", "Name=ignore", "--mapping"];
    const onlyDates = await inputFile("Born: { field: Birthday, date: DD.MM.YYYY }", "m.yaml");
    const piped = await ecm(["import", "-", ...args, onlyDates], { stdin: csv });
    expect(JSON.parse(piped.stdout)).toMatchObject({ file: "-", rows: { read: 4 } });
    const rows = [
      textRow(1, ["Email", "Name", "Born"]),
      textRow(2, ["ada@example.com", "Ada", "31.12.1980"]),
      // A day as a workbook keeps it.
      '<row r="3"><c r="A3" t="inlineStr"><is><t>bob@example.com</t></is></c><c r="C3" s="1"><v>29586</v></c></row>',
    ];
    const book = join(await temporaryFolder(), "people.xlsx");
    await writeFile(
      book,
      workbook({ sheets: [{ name: "People", rows: rows.join("") }], formats: ["dd.mm.yyyy"] }),
    );
    const sheet = await ecm(["import", book, ...args, onlyDates]);
    expect(
      JSON.parse(sheet.stdout).sample.map(({ after }: never) => (after as { fields: unknown })?.fields),
    ).toEqual([{ Birthday: "1980-12-31" }, { Birthday: "1980-12-31" }]);
  });

  it("rejects the rows that the import rejects, and says the same of them", { tags: "slow" }, async () => {
    const { ecm } = await startSandbox();
    const file = await inputFile(
      [
        "Email,Old,First Name,Opt-in",
        "ada@example.com,,1.23457E+11,yes",
        "ADA@example.com,,A,no",
        "bob@example.com,old@example.com,B,yes",
        "cy@example.com,OLD@example.com,C,yes",
        "dee@example.com,,D,perhaps",
        "",
      ].join("\n"),
    );
    const args = ["import", file, "--map", "Old=old-key", "--duplicates", "reject", "--json"];
    const dry = await ecm([...args, "--dry-run"]);
    const check = await ecm([...args, "--check"]);
    const { rows, codes } = parseSummary(dry);
    expect(rows).toMatchObject({ read: 5, skipped: 2, rejected: 3 });
    expect(JSON.parse(check.stdout)).toMatchObject({
      rows: { read: 5, accepted: 2, rejected: 3, notSubscribed: 2 },
      rejectedCodes: codes.rejected,
    });
    const said = /^(?:Column .* its digits are lost|1 contact appears|Opt-in: |Line 6: ).*$/gm;
    expect(check.stderr.match(said)).toHaveLength(4);
    expect(check.stderr.match(said)).toEqual(dry.stderr.match(said));
  });

  it("fails as the import would: a mapping, a file, an expectation", async () => {
    const ecm = ecmWith(await temporaryHome());
    const file = await inputFile(csv);
    for (const [text, message] of [
      ["Nowhere: { date: DD.MM.YYYY }", 'the file has no column "Nowhere"'],
      ["expect: { rows: { min: 9 } }", "1 expectation is not met"],
    ] as const) {
      const result = await ecm(["import", file, "--check", "--mapping", await inputFile(text, "m.yaml")]);
      expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
    const unique = await inputFile("expect: { Email: { unique: true } }", "m.yaml");
    const stdin = "Email\nada@example.com\n<ADA@example.com>\n";
    expect((await ecm(["import", "-", "--check", "--mapping", unique], { stdin })).stderr).toContain(
      '"Email" is not unique: "<ADA@example.com>" is on line 2 too (line 3)',
    );
    expect((await ecm(["import", `${file}.not`, "--check"])).code).toBe(2);
    expect(await ecm(["import", file, "--check", "--dry-run"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--check and --dry-run cannot be used together"),
    });
    expect((await ecm(["import"])).stderr).toContain("Name a file to import");
  });
});

describe("ecm import --template", () => {
  it("prints a header that imports without a mapping", async () => {
    const { ecm } = await startSandbox();
    await ecm(["structure", "field", "add", "Size, shoes"]);
    const template = await ecm(["import", "--template"]);
    expect(template.stdout).toBe('key,First Name,Last Name,"Size, shoes",lists,tags\n');
    const file = await inputFile(`${template.stdout}ada@example.com,Ada,L,42,,\n`);
    const result = await ecm(["import", file, "--json"]);
    expect(parseSummary(result).rows).toMatchObject({ read: 1, created: 1 });
    expect(await ecm(["import", file, "--template"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--template and a file cannot be used together"),
    });
  });
});
