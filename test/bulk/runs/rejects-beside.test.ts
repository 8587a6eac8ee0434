/** What an import rejects, beside its input, and imported again once it is fixed. */
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import type { Manifest } from "../../../src/bulk/runs/folder.ts";
import { type Ecm, ecmWith, temporaryFolder, temporaryHome } from "../../support/ecm.ts";
import { startSandbox } from "../../support/sandbox.ts";
import { textRow, workbook } from "../../tables/workbooks.ts";
import { inputFile, parseSummary } from "../kit.ts";

const rows = "Email,First Name\na@x.org,Ada\nwrong,Bob\n";
const at100 = { terminalColumns: 100 };

function beside(path: string, ending = ".csv"): string {
  return path.replace(/\.[a-z]+(\.gz)?$/, `.rejected${ending}`);
}

async function others(path: string): Promise<string[]> {
  return (await readdir(dirname(path))).filter((name) => !path.endsWith(name)).sort();
}

async function importAtTerminal(ecm: Ecm, path: string, ...more: string[]) {
  const result = await ecm(["import", path, "--yes", ...more], at100);
  expect(result.code, result.stderr).toBe(3);
  return result;
}

describe("rejected rows beside the input", () => {
  it("are for their owner alone, and the next step is one command", async () => {
    const { ecm } = await startSandbox({ contents: { tags: ["VIP"], lists: ["News"] } });
    const path = await inputFile(
      `Mail;Vorname\n${rows.split("\n").slice(1).join("\n").replaceAll(",", ";")}`,
    );
    const flags = ["--list", "News", "--tag", "VIP", "--map", "Mail=key", "--map", "Vorname=First Name"];
    const { stderr } = await importAtTerminal(ecm, path, ...flags, "--delimiter", ";");
    expect(await readFile(beside(path), "utf8")).toMatch(
      /^Mail;Vorname;ecm_line;ecm_error;ecm_message\nwrong;Bob;3;/,
    );
    expect((await stat(beside(path))).mode & 0o777).toBe(0o600);
    const text = stderr.replace(/ \\\n\s*|\s+/g, " ");
    expect(text).toMatch(/Fix them, then: ecm runs retry \S+/);
    expect(text).not.toContain("The fixed rows alone");
  });

  it.each([
    ["utf-16le", true],
    ["windows-1252", false],
    ["utf-8", true],
    ["utf-8", false],
  ])("are UTF-8, with a mark where the input is not, or has one: %s, mark: %s", async (encoding, hasMark) => {
    const { ecm } = await startSandbox();
    const path = await inputFile("", "Kunden Köln.csv");
    const lines = "Email;First Name\na@x.org;Jürgen\nwrong;Jörg Müßig\nwrong too;Zoë\n";
    await writeFile(path, iconv.encode(lines, encoding, { addBOM: hasMark }));
    await importAtTerminal(ecm, path);
    const bytes = await readFile(beside(path));
    const text = bytes.toString("utf8");
    expect(text).toContain("wrong;Jörg Müßig;3;");
    expect(text.startsWith("\uFEFF")).toBe(hasMark || encoding !== "utf-8");
  });

  it("of a workbook are a workbook, whose cells are text", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile("", "people.xlsx");
    const sheet = [textRow(1, ["Email", "First Name"]), textRow(2, ["wrong", "00123 &amp; &lt;more&gt;"])];
    await writeFile(path, workbook({ sheets: [{ name: "A", rows: sheet.join("") }] }));
    await importAtTerminal(ecm, path);
    expect(await others(path)).toEqual(["people.rejected.xlsx"]);
    const again = `${path}.csv`;
    await ecm(["import", beside(path, ".xlsx"), "--rejects", again]);
    expect(await readFile(again, "utf8")).toContain("00123 & <more>");
  });

  it("never take the place of a file", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(rows);
    await writeFile(beside(path), "mine");
    await importAtTerminal(ecm, path);
    expect(await readFile(beside(path), "utf8")).toBe("mine");
    const second = beside(path).replace("rejected", "rejected-2");
    expect(await readFile(second, "utf8")).toContain("wrong,Bob");
    await ecm(["runs", "remove", "last", "--yes"]);
    await importAtTerminal(ecm, path, "--fresh");
    expect(await others(path)).toEqual([
      "people.rejected-2.csv",
      "people.rejected-3.csv",
      "people.rejected.csv",
    ]);
  });

  it("never take the name that an older run points to: its retry reads its own rows", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(rows);
    await importAtTerminal(ecm, path);
    const [first] = JSON.parse((await ecm(["runs", "list", "--json"])).stdout) as { run: string }[];
    await writeFile(path, "Email,First Name\nother@x.org,Other\nother wrong,Eve\n");
    await importAtTerminal(ecm, path);
    expect(await readFile(beside(path), "utf8")).toContain("wrong,Bob");
    await rm(beside(path));
    await importAtTerminal(ecm, path, "--fresh");
    expect(await others(path)).toEqual(["people.rejected-2.csv", "people.rejected-3.csv"]);
    expect((await ecm(["runs", "retry", first!.run])).code).toBe(5);
  });

  it("at a place that a later run has written to, too, are not retried for the earlier one", async () => {
    const { ecm } = await startSandbox();
    const place = join(await temporaryFolder(), "rejects.csv");
    const importRejecting = async (text: string) =>
      parseSummary(await ecm(["import", await inputFile(text), "--rejects", place, "--json"]));
    const { run } = await importRejecting(rows);
    const later = await importRejecting("Email,First Name\nother wrong,Eve\n");
    await writeFile(place, (await readFile(place, "utf8")).replace("other wrong", "eve@x.org"));
    const refused = await ecm(["runs", "retry", run!]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(`run ${later.run} has written`);
    expect(refused.stderr).toMatch(/hint: .*rejects\.csv/);
    expect((await ecm(["runs", "retry", later.run!])).code).toBe(0);
  });

  it("leave a link, and what it leads to, as they are", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(rows);
    const target = join(await temporaryFolder(), "target.csv");
    await symlink(target, beside(path));
    await importAtTerminal(ecm, path);
    expect(await readFile(beside(path).replace("rejected", "rejected-2"), "utf8")).toContain("wrong,Bob");
    await expect(stat(target)).rejects.toThrow("ENOENT");
  });

  it("are in the run's folder alone where nothing can be written beside the input, which is said", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(rows, `${"n".repeat(250)}.csv`);
    const { stderr } = await importAtTerminal(ecm, path);
    const text = stderr.replace(/\s+/g, " ");
    expect(text).toContain("Rejected rows are in the run's folder alone: nothing can be written to");
    expect(text).toMatch(/Rejected rows \(fix and import again\): \S+rejects\.csv/);
    expect(await others(path)).toEqual([]);
  });

  it("are in the run's folder alone where the input is standard input", async () => {
    const { ecm } = await startSandbox();
    const result = await ecm(["import", "-", "--yes"], { ...at100, stdin: rows });
    expect(result.stderr.replace(/\s+/g, " ")).toContain("alone: standard input has no folder");
    expect(result.stderr.replace(/\s+/g, " ")).toMatch(/import again\): \S+runs\S+rejects\.csv/);
  });

  it.each([
    ["without a terminal", [], {}],
    ["with --json", ["--json", "--yes"], at100],
    ["with --rejects", ["--rejects", "REJECTS", "--yes"], at100],
    ["in a dry run", ["--dry-run"], at100],
  ])("are not written %s", async (_when, flags, options) => {
    const { ecm } = await startSandbox();
    const path = await inputFile(rows);
    const elsewhere = join(await temporaryFolder(), "rejects.csv");
    await ecm(["import", path, ...flags.map((flag) => (flag === "REJECTS" ? elsewhere : flag))], options);
    expect(await others(path)).toEqual([]);
  });

  it("are named by an erasure", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile("Email,First Name\nada@x.org,Ada\nada@x.org grace@x.org,Both\n");
    await importAtTerminal(ecm, path);
    const { stderr } = await ecm(["contact", "erase", "ada@x.org", "--yes"]);
    expect(stderr).toContain("people.rejected.csv");
  });
});

describe("ecm runs retry", () => {
  const contents = { lists: ["News"], tags: ["VIP"] };

  it("imports the fixed rows as the run did: its lists, tags and mapping", async () => {
    const { ecm } = await startSandbox({ contents });
    const path = await inputFile("skip\nMail;Vorname\na@x.org;Ada\nwrong;Bob\n");
    const flags = ["--map", "Mail=key", "--map", "Vorname=First Name", "--list", "News", "--tag", "VIP"];
    await importAtTerminal(ecm, path, ...flags, "--skip-lines", "1", "--delimiter", ";");
    const fixed = (await readFile(beside(path), "utf8")).replace("wrong", "bob@x.org");
    // As a spreadsheet saves it.
    await writeFile(beside(path), `\uFEFF${fixed.replaceAll(";", "\t")}`);
    const again = await ecm(["runs", "retry", "last", "--json"]);
    expect(again.code, again.stderr).toBe(0);
    expect(parseSummary(again).rows).toMatchObject({ read: 1, created: 1 });
    const columns = ["--columns", "key,First Name,lists,tags", "--json"];
    expect(JSON.parse((await ecm(["contact", "search", "bob@x.org", ...columns])).stdout)).toEqual([
      { key: "bob@x.org", "First Name": "Bob", lists: ["News"], tags: ["VIP"] },
    ]);
    const runs = JSON.parse((await ecm(["runs", "list", "--json"])).stdout) as Manifest[];
    expect(runs).toHaveLength(2);
  });

  it("takes the run's own file where there is no other, and one that is named", async () => {
    const { ecm } = await startSandbox({ contents });
    const { run, rejects } = parseSummary(
      await ecm(["import", await inputFile(rows), "--list", "News", "--json"]),
    );
    const fixed = (await readFile(rejects!, "utf8")).replace("wrong", "bob@x.org");
    const named = await inputFile(fixed.replace("bob@", "named@"));
    expect((await ecm(["runs", "retry", run!, named])).code).toBe(0);
    expect((await ecm(["runs", "retry", run!])).code).toBe(3);
    await writeFile(rejects!, fixed);
    expect((await ecm(["runs", "retry", run!])).code).toBe(0);
    expect((await ecm(["contact", "search", "--list", "News", "--count"])).stdout.trim()).toBe("3");
  });

  it("of an input without a header finds the columns again", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile("a@x.org,Ada\nwrong,Bob\n");
    await importAtTerminal(ecm, path, "--no-header", "--map", "1=key", "--map", "2=First Name");
    await writeFile(beside(path), (await readFile(beside(path), "utf8")).replace("wrong", "bob@x.org"));
    const again = await ecm(["runs", "retry", "last"]);
    expect(again.code, again.stderr).toBe(0);
    expect((await ecm(["contact", "get", "bob@x.org"])).stdout).toContain("Bob");
  });

  it("keeps what is rejected again apart from what it was given", async () => {
    const { ecm } = await startSandbox();
    const path = await inputFile(rows);
    await importAtTerminal(ecm, path);
    const given = await readFile(beside(path), "utf8");
    const again = await ecm(["runs", "retry", "last", "--yes"], at100);
    expect(again.code).toBe(3);
    expect(await readFile(beside(path), "utf8")).toBe(given);
    expect(await others(path)).toEqual(["people.rejected-2.csv", "people.rejected.csv"]);
  });

  it("refuses what left nothing to fix", async () => {
    const { ecm } = await startSandbox({ contents });
    const retry = (run = "last") => ecm(["runs", "retry", run]);
    expect(await retry()).toMatchObject({ code: 5 });
    const done = parseSummary(await ecm(["import", await inputFile("Email\na@x.org\n"), "--json"]));
    expect(await retry()).toMatchObject({ code: 2, stderr: expect.stringContaining("rejected no rows") });
    await ecm(["contact", "mutate", "--list", "News", "--add-tag", "VIP"]);
    const { rejects, run } = parseSummary(await ecm(["import", await inputFile(rows), "--json"]));
    await writeFile(rejects!, "");
    expect((await retry(run!)).code).toBe(2);
    await ecm(["runs", "undo", done.run!, "--delete-created", "--yes"]);
    expect(await retry()).toMatchObject({ code: 2, stderr: expect.stringContaining("is no import (undo)") });
    await ecm(["import", await inputFile(rows.replace("Ada", "A")), "--max-requests", "1"]);
    expect(await retry()).toMatchObject({ code: 2, stderr: expect.stringContaining("is unfinished") });
  });
});

describe("ecm runs rejects", () => {
  it.each([60, 80, 120])(
    "is a table of lines and reasons at a terminal of %i columns",
    async (terminalColumns) => {
      const { ecm } = await startSandbox();
      await importAtTerminal(
        ecm,
        await inputFile("Email,First Name\na@x.org,Ada\nklaus@@x.org,Klaus\n,Nobody\n"),
      );
      const { stdout, stderr } = await ecm(["runs", "rejects", "last"], {
        terminalColumns,
        env: { NO_COLOR: "1" },
      });
      expect(stdout).toMatch(/^line +value +why/i);
      expect(stdout).toMatch(/\n3 +klaus@@x\.org +\S/);
      expect(stdout).toMatch(/\n4 +Nobody +\S/);
      for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(terminalColumns);
      expect(stderr).toContain("Fix them, then: ecm runs retry");
      expect((await ecm(["runs", "rejects", "last"])).stdout).toMatch(/^Email,First Name,ecm_line,/);
    },
  );

  it("hints at the command with the profile that was chosen by a flag", async () => {
    const own = ecmWith(await temporaryHome());
    const rows = ["a@@x.org", "b@@x.org", "c@@x.org", "d@@x.org", "e@@x.org", "f@@x.org", "g@x.org"];
    const imported = await own(
      ["-p", "sandbox", "import", await inputFile(`Email\n${rows.join("\n")}\n`), "--yes"],
      at100,
    );
    expect(imported.stderr).toMatch(/1 more: ecm --profile sandbox runs rejects \S+\n/);
    const { stderr } = await own(["-p", "sandbox", "runs", "rejects", "last"], at100);
    expect(stderr).toContain("Fix them, then: ecm --profile sandbox runs retry");
  });
});
