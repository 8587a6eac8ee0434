/** A file that names contacts: every command that takes one reads it by the same flags, and a bad one costs nothing. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseSummary } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import { textRow, workbook } from "../tables/workbooks.ts";

const keys = ["ada@example.com", "bob@example.com"];

async function fileOf(content: string | Buffer, name = "keys"): Promise<string> {
  const path = join(await temporaryFolder(), name);
  await writeFile(path, content);
  return path;
}

/** How each command takes the file, and how many contacts of it it says that it has found. */
const commands: [name: string, words: (file: string) => string[], count: (stdout: string) => number][] = [
  [
    "mutate",
    (file) => ["contact", "mutate", "--keys", file, "--set", "First Name=X", "--json"],
    (stdout) => JSON.parse(stdout).rows.updated,
  ],
  ...["unsubscribe", "delete"].map((verb): (typeof commands)[number] => [
    verb,
    (file) => ["contact", verb, "--keys", file, "--all-rows", "--yes", "--json"],
    (stdout) => JSON.parse(stdout).rows[verb === "delete" ? "deleted" : "updated"],
  ]),
  [
    "search",
    (file) => ["contact", "search", "--keys", file, "--json"],
    (stdout) => JSON.parse(stdout).length,
  ],
  ["export", (file) => ["export", "--keys", file, "-o", "json"], (stdout) => JSON.parse(stdout).length],
  [
    "suppressions add",
    (file) => ["suppressions", "add", "--keys", file, "--all-rows", "--json"],
    (stdout) => JSON.parse(stdout).length,
  ],
  [
    "lists sync",
    (file) => ["lists", "sync", "News", file, "--json"],
    (stdout) => JSON.parse(stdout).rows.updated,
  ],
];

/** A file, and the flags without which it would be read otherwise or not at all. */
const readings: Record<string, [content: string | Buffer, flags: string[]]> = {
  "skip-lines, delimiter and map": [
    `Report\nNo;key;${"\n"}Name:Mail to:Note\n${keys.map((key) => `N:${key}:x\n`).join("")}`,
    ["--skip-lines", "2", "--delimiter", ":", "--map", "Mail to=key"],
  ],
  "no-header": [
    keys.map((key) => `1,${key},x\n`).join(""),
    ["--no-header", "--map", "2=key", "--delimiter", "comma"],
  ],
  "no-header, one column": [keys.map((key) => `${key}\n`).join(""), ["--no-header", "--map", "1=key"]],
  encoding: [
    Buffer.from(`Straße;E-Mail-Adresse\n${keys.map((key) => `ä;${key}\n`).join("")}`, "utf16le"),
    ["--encoding", "utf-16le", "--map", "E-Mail-Adresse=key"],
  ],
  from: [
    `E-mail 1 - Value,Labels,File As\n${keys.map((key) => `${key} ::: other@example.com,x,\n`).join("")}`,
    ["--from", "google"],
  ],
  sheet: [
    workbook({
      sheets: [
        { name: "Others", rows: textRow(1, ["Email"]) + textRow(2, ["no@example.com"]) },
        {
          name: "These",
          rows: textRow(1, ["Email"]) + keys.map((key, at) => textRow(at + 2, [key])).join(""),
        },
      ],
    }),
    ["--sheet", "These"],
  ],
  "consent-column": [
    `Email,Newsletter?\n${keys.map((key) => `${key},yes\n`).join("")}`,
    ["--consent-column", "Newsletter?=opt-in"],
  ],
};

describe.each(commands)("%s", (name, words, count) => {
  it.each(Object.entries(readings))("reads a file by --%s", async (_flags, [content, flags]) => {
    const { ecm } = await startSandbox({
      contents: { lists: ["News"], contacts: keys.map((key) => ({ key })) },
    });
    const file = await fileOf(content);
    const { code, stdout, stderr } = await ecm([...words(file), ...flags]);
    expect(code, stderr).toBe(0);
    expect(count(stdout), stderr).toBe(2);
  });

  it.each([
    ["a quote that is never closed", 'Email\nada@example.com\n"bob@example.com\n'],
    ["one in a list of keys", 'ada@example.com\n"bob@example.com\n'],
    ["a file that is none", undefined],
    ["a zero byte", "Email\nada@\0example.com\n"],
    ["a file that is empty", ""],
  ])("refuses %s before a request", async (_what, content) => {
    const { ecm } = await startSandbox({ contents: { lists: ["News"] } });
    const file = content === undefined ? "no-such-file.csv" : await fileOf(content);
    const { code, stderr } = await ecm(words(file));
    expect(code, stderr).toBe(2);
    expect(stderr).not.toContain("rate-limit");
  });

  if (name.startsWith("lists")) return;
  it("refuses a flag about a file where there is none", async () => {
    const { ecm } = await startSandbox();
    const key = "ada@example.com";
    const left = ["--keys", "--all-rows", ...(name === "export" ? [key] : [])];
    const named = words(key).filter((word) => !left.includes(word));
    const { code, stderr } = await ecm([...named, "--skip-lines", "1"]);
    expect(code).toBe(2);
    expect(stderr).toContain("--skip-lines applies to the file given with --keys");
  });
});

it("finds whom standard input names, also where a list is looked up again", async () => {
  const { ecm } = await startSandbox({
    contents: { lists: ["News"], contacts: [{ key: "ada@example.com", lists: ["News"] }] },
  });
  const search = ["contact", "search", "--keys", "-", "--list", "News", "--count"];
  expect(await ecm(search, { stdin: "No,Who\n1,ada@example.com\n" })).toMatchObject({ code: 2 });
  const found = await ecm([...search, "--map", "Who=key"], { stdin: "No,Who\n1,ada@example.com\n" });
  expect(found).toMatchObject({ code: 0, stdout: "1\n" });
});

it("reads it in the same way when the run is resumed", async () => {
  const { ecm } = await startSandbox({ contents: { contacts: keys.map((key) => ({ key })) } });
  const file = await fileOf(keys.map((key) => `x,${key}\n`).join(""));
  const mutate = [
    "contact",
    "mutate",
    "--keys",
    file,
    "--no-header",
    "--map",
    "2=key",
    "--set",
    "First Name=X",
  ];
  const stopped = parseSummary(await ecm([...mutate, "--max-requests", "3", "--concurrency", "1", "--json"]));
  expect(stopped).toMatchObject({ status: "stopped" });
  const resumed = parseSummary(await ecm(["runs", "resume", stopped.run!, "--json"]));
  expect(resumed).toMatchObject({ status: "completed", rows: { read: 2, updated: 2 } });
});
