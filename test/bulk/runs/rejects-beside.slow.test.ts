/** What an import rejects, beside its input, and imported again once it is fixed. */
import { readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import iconv from "iconv-lite";
import { expect, it } from "vitest";
import { done, ecmWith, readJson, refused, temporaryFolder, temporaryHome } from "../../support/ecm.ts";
import { textRow, workbook } from "../../tables/workbooks.ts";
import { inputFile, startAccount } from "../kit.ts";

const rows = "Email,First Name\na@x.org,Ada\nwrong,Bob\n";
const at100 = { terminalColumns: 100 };
const contents = { lists: ["News"], tags: ["VIP"] };
const ofVips = "--list News --tag VIP --map Mail=key --map 'Vorname=First Name' --delimiter ';'";

function beside(path: string, ending = ".csv"): string {
  return path.replace(/\.[a-z]+$/, `.rejected${ending}`);
}

async function others(path: string): Promise<string[]> {
  return (await readdir(dirname(path))).filter((name) => !path.endsWith(name)).sort();
}

async function mend(path: string, wrong = "wrong", right = "bob@x.org"): Promise<void> {
  await writeFile(path, (await readFile(path, "utf8")).replace(wrong, right));
}

/** An account, and an import at a terminal that rejects something. */
async function startRejecting() {
  const account = await startAccount({ contents });
  const importAtTerminal = async (path: string, flags = "") => {
    const result = await account.ecm(`import '${path}' --yes ${flags}`, at100);
    expect(result.code, result.stderr).toBe(3);
    return result.stderr.replace(/ \\\n\s*|\s+/g, " ");
  };
  return { ...account, importAtTerminal };
}

it("rejected rows are for their owner alone, and the next step is one command", async () => {
  const { importAtTerminal } = await startRejecting();
  const path = await inputFile("Mail;Vorname\na@x.org;Ada\nwrong;Bob\n");
  const said = await importAtTerminal(path, ofVips);
  expect(await readFile(beside(path), "utf8")).toMatch(
    /^Mail;Vorname;ecm_line;ecm_error;ecm_message\nwrong;Bob;3;/,
  );
  expect((await stat(beside(path))).mode & 0o777).toBe(0o600);
  expect(said).toMatch(/Fix them, then: ecm runs retry \S+/);
  expect(said).not.toContain("The fixed rows alone");
});

it.each([
  ["utf-16le", true],
  ["windows-1252", false],
  ["utf-8", true],
  ["utf-8", false],
])("rejected rows are UTF-8, marked unless the input is bare UTF-8: %s, %s", async (encoding, hasMark) => {
  const { importAtTerminal } = await startRejecting();
  const path = await inputFile("", "Kunden Köln.csv");
  const lines = "Email;First Name\na@x.org;Jürgen\nwrong;Jörg Müßig\nwrong too;Zoë\n";
  await writeFile(path, iconv.encode(lines, encoding, { addBOM: hasMark }));
  await importAtTerminal(path);
  const text = await readFile(beside(path), "utf8");
  expect(text).toContain("wrong;Jörg Müßig;3;");
  expect(text.startsWith("\uFEFF")).toBe(hasMark || encoding !== "utf-8");
});

it("rejected rows of a workbook are a workbook, whose cells are text", async () => {
  const { ecm, importAtTerminal } = await startRejecting();
  const path = await inputFile("", "people.xlsx");
  const sheet = [textRow(1, ["Email", "First Name"]), textRow(2, ["wrong", "00123 &amp; &lt;more&gt;"])];
  await writeFile(path, workbook({ sheets: [{ name: "A", rows: sheet.join("") }] }));
  await importAtTerminal(path);
  expect(await others(path)).toEqual(["people.rejected.xlsx"]);
  const again = `${path}.csv`;
  await ecm(`import ${beside(path, ".xlsx")} --rejects ${again}`);
  expect(await readFile(again, "utf8")).toContain("00123 & <more>");
});

it("rejected rows never take the place of a file, nor of what a link leads to", async () => {
  const { ecm, importAtTerminal } = await startRejecting();
  const path = await inputFile(rows);
  await writeFile(beside(path), "mine");
  const target = join(await temporaryFolder(), "target.csv");
  await symlink(target, beside(path).replace("rejected", "rejected-2"));
  await importAtTerminal(path);
  expect(await readFile(beside(path), "utf8")).toBe("mine");
  await expect(stat(target)).rejects.toThrow("ENOENT");
  expect(await readFile(beside(path).replace("rejected", "rejected-3"), "utf8")).toContain("wrong,Bob");
  await ecm("runs remove last --yes");
  await importAtTerminal(path, "--fresh");
  const numbered = ["-2", "-3", "-4", ""].map((number) => `people.rejected${number}.csv`);
  expect(await others(path)).toEqual(numbered);
});

it("rejected rows never take the name that an older run points to: its retry reads its own rows", async () => {
  const { ecm, importAtTerminal } = await startRejecting();
  const path = await inputFile(rows);
  await importAtTerminal(path);
  const [first] = await readJson(ecm, "runs list");
  await writeFile(path, "Email,First Name\nother@x.org,Other\nother wrong,Eve\n");
  await importAtTerminal(path);
  expect(await readFile(beside(path), "utf8")).toContain("wrong,Bob");
  await rm(beside(path));
  await importAtTerminal(path, "--fresh");
  expect(await others(path)).toEqual(["people.rejected-2.csv", "people.rejected-3.csv"]);
  await refused(ecm(`runs retry ${first.run}`), 5);
});

it("rejected rows at a place that a later run has written to, too, are not retried for the earlier one", async () => {
  const { ecm, importing } = await startRejecting();
  const place = join(await temporaryFolder(), "rejects.csv");
  const earlier = await importing(rows, `--rejects ${place}`);
  const later = await importing("Email,First Name\nother wrong,Eve\n", `--rejects ${place}`);
  await mend(place, "other wrong");
  const retry = (run: string | null) => ecm(`runs retry ${run}`);
  await refused(retry(earlier.run), 2, `run ${later.run} has written`, /hint: .*rejects\.csv/);
  await done(retry(later.run));
});

it("rejected rows are in the run's folder alone where nothing can be written beside the input, which is said", async () => {
  const { importAtTerminal } = await startRejecting();
  const path = await inputFile(rows, `${"n".repeat(250)}.csv`);
  const said = await importAtTerminal(path);
  expect(said).toContain("Rejected rows are in the run's folder alone: nothing can be written to");
  expect(said).toMatch(/Rejected rows \(fix and import again\): \S+rejects\.csv/);
  expect(await others(path)).toEqual([]);
});

it("rejected rows are in the run's folder alone where the input is standard input", async () => {
  const { ecm } = await startRejecting();
  const result = await ecm("import - --yes", { ...at100, stdin: rows });
  const said = result.stderr.replace(/\s+/g, " ");
  expect(said).toContain("alone: standard input has no folder");
  expect(said).toMatch(/import again\): \S+runs\S+rejects\.csv/);
});

it.each([
  ["without a terminal", "", {}],
  ["with --json", "--json --yes", at100],
  ["with --rejects", "--rejects REJECTS --yes", at100],
  ["in a dry run", "--dry-run", at100],
])("rejected rows are not written %s", async (_when, flags, options) => {
  const { ecm } = await startRejecting();
  const path = await inputFile(rows);
  const elsewhere = join(await temporaryFolder(), "rejects.csv");
  await ecm(`import ${path} ${flags.replace("REJECTS", elsewhere)}`, options);
  expect(await others(path)).toEqual([]);
});

it("rejected rows are named by an erasure", async () => {
  const { ecm, importAtTerminal } = await startRejecting();
  await importAtTerminal(await inputFile("Email,First Name\nada@x.org,Ada\nada@x.org grace@x.org,Both\n"));
  const { stderr } = await ecm("contact erase ada@x.org --yes");
  expect(stderr).toContain("people.rejected.csv");
});

it("runs retry imports the fixed rows as the run did: its lists, tags and mapping", async () => {
  const { ecm, run, importAtTerminal } = await startRejecting();
  const path = await inputFile("skip\nMail;Vorname\na@x.org;Ada\nwrong;Bob\n");
  await importAtTerminal(path, `${ofVips} --skip-lines 1`);
  await mend(beside(path));
  // As a spreadsheet saves it.
  const fixed = await readFile(beside(path), "utf8");
  await writeFile(beside(path), `\uFEFF${fixed.replaceAll(";", "\t")}`);
  const again = await run("runs retry last");
  expect(again, again.stderr).toMatchObject({ code: 0, rows: { read: 1, created: 1 } });
  const search = "contact search bob@x.org --columns 'key,First Name,lists,tags'";
  const bob = { key: "bob@x.org", "First Name": "Bob", lists: ["News"], tags: ["VIP"] };
  expect(await readJson(ecm, search)).toEqual([bob]);
  expect(await readJson(ecm, "runs list")).toHaveLength(2);
});

it("runs retry takes the run's own file where there is no other, and one that is named", async () => {
  const { ecm, importing } = await startRejecting();
  const { run, rejects } = await importing(rows, "--list News");
  const named = await inputFile((await readFile(rejects!, "utf8")).replace("wrong", "named@x.org"));
  await done(ecm(`runs retry ${run} ${named}`));
  expect((await ecm(`runs retry ${run}`)).code).toBe(3);
  await mend(rejects!);
  await done(ecm(`runs retry ${run}`));
  expect(await done(ecm("contact search --list News --count"))).toBe("3\n");
});

it("runs retry of an input without a header finds the columns again", async () => {
  const { ecm, fieldsOf, importAtTerminal } = await startRejecting();
  const path = await inputFile("a@x.org,Ada\nwrong,Bob\n");
  await importAtTerminal(path, "--no-header --map 1=key --map '2=First Name'");
  await mend(beside(path));
  await done(ecm("runs retry last"));
  expect(await fieldsOf("bob@x.org")).toEqual({ "First Name": "Bob" });
});

it("runs retry keeps what is rejected again apart from what it was given", async () => {
  const { ecm, importAtTerminal } = await startRejecting();
  const path = await inputFile(rows);
  await importAtTerminal(path);
  const given = await readFile(beside(path), "utf8");
  expect((await ecm("runs retry last --yes", at100)).code).toBe(3);
  expect(await readFile(beside(path), "utf8")).toBe(given);
  expect(await others(path)).toEqual(["people.rejected-2.csv", "people.rejected.csv"]);
});

it("runs retry refuses what left nothing to fix", async () => {
  const { ecm, importing } = await startRejecting();
  const retry = (run: string | null = "last") => ecm(`runs retry ${run}`);
  await refused(retry(), 5);
  const sound = await importing("Email\na@x.org\n");
  await refused(retry(), 2, "rejected no rows");
  const { rejects, run } = await importing(rows);
  await writeFile(rejects!, "");
  await refused(retry(run), 2);
  await ecm(`runs undo ${sound.run} --delete-created --yes`);
  await refused(retry(), 2, "is no import (undo)");
  await importing(rows.replace("Ada", "A"), "--max-requests 1");
  await refused(retry(), 2, "is unfinished");
});

it("runs rejects is a table of lines and reasons at a terminal, however narrow", async () => {
  const { ecm, importAtTerminal } = await startRejecting();
  await importAtTerminal(await inputFile("Email,First Name\na@x.org,Ada\nklaus@@x.org,Klaus\n,Nobody\n"));
  for (const terminalColumns of [60, 80, 120]) {
    const { stdout, stderr } = await ecm("runs rejects last", { terminalColumns, env: { NO_COLOR: "1" } });
    expect(stdout).toMatch(/^line +value +why/i);
    expect(stdout).toMatch(/\n3 +klaus@@x\.org +\S/);
    expect(stdout).toMatch(/\n4 +Nobody +\S/);
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(terminalColumns);
    expect(stderr).toContain("Fix them, then: ecm runs retry");
  }
  expect((await ecm("runs rejects last")).stdout).toMatch(/^Email,First Name,ecm_line,/);
});

it("runs rejects hints at the command with the profile that was chosen by a flag", async () => {
  const own = ecmWith(await temporaryHome());
  const path = await inputFile(`Email\n${[..."abcdef"].map((name) => `${name}@@x.org\n`).join("")}g@x.org\n`);
  const imported = await own(`-p sandbox import ${path} --yes`, at100);
  expect(imported.stderr).toMatch(/1 more: ecm --profile sandbox runs rejects \S+\n/);
  const { stderr } = await own("-p sandbox runs rejects last", at100);
  expect(stderr).toContain("Fix them, then: ecm --profile sandbox runs retry");
});
