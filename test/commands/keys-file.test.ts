/** A file that names contacts: every command that takes one reads it by the same flags, and a bad one costs nothing. */
import { expect, it } from "vitest";
import { done, inputFile, refused, startSandbox, summaryOf } from "../kit.ts";
import { textRow, workbook } from "../tables/workbooks.ts";

const keys = ["ada@example.com", "bob@example.com"];
const contacts = keys.map((key) => ({ key }));

const fileOf = (content: string | Buffer) => inputFile(content, "keys");

const readRows = (stdout: string) => JSON.parse(stdout).rows;
const countAll = (stdout: string) => JSON.parse(stdout).length;
/** How each command takes the file, and how many contacts of it it says that it has found. */
const commands: [line: string, count: (stdout: string) => number][] = [
  ["contact search --keys FILE --json", countAll],
  ["export --keys FILE -o json", countAll],
  ["contact mutate --keys FILE --set 'First Name=X' --dry-run --json", (out) => readRows(out).updated],
  ["contact unsubscribe --keys FILE --all-rows --dry-run --json", (out) => readRows(out).updated],
  ["contact delete --keys FILE --all-rows --dry-run --json", (out) => readRows(out).deleted],
  ["lists sync News FILE --dry-run --json", (out) => readRows(out).updated],
  ["suppressions add --keys FILE --all-rows --json", countAll],
];

/** A line for each key. */
const rows = (line: string) => keys.map((key) => line.replace("KEY", key)).join("");
const sheet = (name: string, ...column: string[]) => ({
  name,
  rows: ["Email", ...column].map((cell, at) => textRow(at + 1, [cell])).join(""),
});
const sheets = [sheet("Others", "no@example.com"), sheet("These", ...keys)];

/** A file, and the flags without which it would be read otherwise or not at all. */
const readings: Record<string, [content: string | Buffer, flags: string]> = {
  "encoding, --skip-lines, --delimiter and --map": [
    Buffer.from(`Größe\nNo;key;\nStraße:Mail to:Note\n${rows("N:KEY:x\n")}`, "utf16le"),
    "--encoding utf-16le --skip-lines 2 --delimiter : --map 'Mail to=key'",
  ],
  "no-header": [rows("1,KEY,x\n"), "--no-header --map 2=key --delimiter comma"],
  "no-header, one column": [rows("KEY\n"), "--no-header --map 1=key"],
  from: [`E-mail 1 - Value,Labels,File As\n${rows("KEY ::: other@example.com,x,\n")}`, "--from google"],
  sheet: [workbook({ sheets }), "--sheet These"],
  "consent-column": [`Email,Newsletter?\n${rows("KEY,yes\n")}`, "--consent-column Newsletter?=opt-in"],
};

it.each(Object.entries(readings))("every command reads a file by --%s", async (_flags, [content, flags]) => {
  const { ecm } = await startSandbox({ contents: { lists: ["News"], contacts } });
  const file = await fileOf(content);
  for (const [line, count] of commands) {
    const stdout = await done(ecm(`${line.replace("FILE", file)} ${flags}`));
    expect(count(stdout), line).toBe(2);
  }
});

it.each([
  ["a quote that is never closed", 'Email\nada@example.com\n"bob@example.com\n', ":3: a quote opens here"],
  ["one in a list of keys", 'ada@example.com\n"bob@example.com\n', ":2: a quote opens here"],
  ["a file that is none", undefined],
  ["a zero byte", "Email\nada@\0example.com\n"],
  ["a file that is empty", ""],
  ["HTML", "<html><body><table>"],
  ["half a workbook", "PK\x03\x04and no more"],
  ["half an archive", Buffer.from("\x1f\x8b\x08and no more", "latin1")],
  ["JSON without a member", "[{}]"],
])("every command refuses %s before a request", async (_what, content, said = "") => {
  const { ecm, sandbox } = await startSandbox();
  const file = content === undefined ? "no-such-file.csv" : await fileOf(content);
  const lines = commands.map(([line]) => line.replace(" --json", ""));
  for (const line of [...lines, "import FILE", "import FILE --dry-run --list News"])
    await refused(ecm(line.replace("FILE", file)), 2, file + said);
  expect(sandbox.admin.requests()).toEqual([]);
});

it("a flag about a file is refused where there is none", async () => {
  const { ecm } = await startSandbox();
  for (const line of [
    "contact search ada@example.com",
    "export --key ada@example.com",
    "contact mutate ada@example.com --set 'First Name=X'",
    "contact unsubscribe ada@example.com",
    "contact delete ada@example.com",
    "suppressions add ada@example.com",
  ])
    await refused(ecm(`${line} --skip-lines 1`), 2, "--skip-lines applies to the file given with --keys");
});

it("finds whom standard input names, also where a list is looked up again", async () => {
  const contents = { contacts: [{ key: "ada@example.com", lists: ["News"] }] };
  const { ecm } = await startSandbox({ contents });
  const stdin = "No,Who\n1,ada@example.com\n";
  const search = "contact search --keys - --list News --count";
  expect(await ecm(search, { stdin })).toMatchObject({ code: 2 });
  expect(await ecm(`${search} --map Who=key`, { stdin })).toMatchObject({ code: 0, stdout: "1\n" });
});

it("reads it in the same way when the run is resumed", async () => {
  const { ecm } = await startSandbox({ contents: { contacts } });
  const file = await fileOf(keys.map((key) => `x,${key}\n`).join(""));
  const mutate = `contact mutate --keys ${file} --no-header --map 2=key --set 'First Name=X'`;
  const stopped = await summaryOf(ecm, `${mutate} --max-requests 3 --concurrency 1`);
  expect(stopped).toMatchObject({ status: "stopped" });
  const resumed = await summaryOf(ecm, `runs resume ${stopped.run}`);
  expect(resumed).toMatchObject({ status: "completed", rows: { read: 2, updated: 2 } });
});
