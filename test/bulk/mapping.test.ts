/**
 * Mapping entries, constants and defaults in whole imports: what is written, planned, resumed and refused.
 */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { firstQuick } from "../support/first-quick.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { contactLines, inputFile, parseSummary, readContacts } from "./kit.ts";

async function accountWith(...fields: string[]): Promise<RunningSandbox> {
  const service = await startSandbox();
  for (const field of fields) await service.ecm(["structure", "field", "add", field]);
  return service;
}

async function readFields(service: RunningSandbox, key: string): Promise<Record<string, string> | undefined> {
  return (await readContacts(service)).get(key)?.fields;
}

const mappingFile = (text: string) => inputFile(text, "mapping.yaml");

describe("a blank value", () => {
  it("by `only-if-empty` leaves the contact's own value, and fills one that is blank", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("Phone");
    await service.ecm(["import", await inputFile("Email,Phone\na@example.com,1\nb@example.com,\n")]);
    const mapping = await mappingFile("Phone: { field: Phone, blank: only-if-empty }\n");
    const file = await inputFile("Email,Phone\na@example.com,9\nb@example.com,9\nc@example.com,9\n");
    const { rows } = parseSummary(await service.ecm(["import", file, "--mapping", mapping, "--json"]));
    expect(rows).toMatchObject({ unchanged: 1, updated: 1, created: 1 });
    const contacts = await readContacts(service);
    expect([..."abc"].map((name) => contacts.get(`${name}@example.com`)?.fields.Phone)).toEqual([
      "1",
      "9",
      "9",
    ]);
  });

  it("is kept or cleared by each column's own rule, whatever --blank says", { tags: "slow" }, async () => {
    const service = await accountWith("Phone", "City");
    await service.ecm(["import", await inputFile("Email,Phone,City\na@example.com,1,Oslo\n")]);
    const blank = await inputFile("Email,Phone,City\na@example.com,,\n");
    const keepCity = await mappingFile("Phone: { blank: clear }\nCity: { blank: keep }\n");
    await service.ecm(["import", blank, "--mapping", keepCity]);
    expect(await readFields(service, "a@example.com")).toMatchObject({ City: "Oslo", Phone: "" });
    await service.ecm(["import", blank, "--mapping", keepCity, "--blank", "clear", "--fresh"]);
    expect(await readFields(service, "a@example.com")).toMatchObject({ City: "Oslo" });
  });

  it("stays only-if-empty where somebody else creates the contact after the plan", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("Phone");
    const mapping = await mappingFile("Phone: { field: Phone, blank: only-if-empty }\n");
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const file = await inputFile("Email,Phone\na@example.com,9\n");
    await service.ecm(["import", file, "--mapping", mapping, "--dry-run", "--plan", plan]);
    const lines = (await readFile(plan, "utf8")).split("\n").map((line) => line && JSON.parse(line));
    expect(lines.find((line) => line?.apply)?.apply.desired).toMatchObject({
      onlyIfEmpty: [expect.any(String)],
    });
    await service.ecm(["contact", "create", "--key", "a@example.com", "--set", "Phone=1"]);
    await service.ecm(["apply", plan]);
    expect(await readFields(service, "a@example.com")).toEqual({ Phone: "1" });
  });
});

describe("--set and --default", () => {
  it("write a constant for every row, and a value where a contact is created without one", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("Source", "Language");
    await service.ecm(["contact", "create", "--key", "a@example.com"]);
    const file = await inputFile("Email,Language\na@example.com,\nb@example.com,\nc@example.com,de\n");
    const flags = ["--set", "Source=Expo=2026", "--default", "Language=en"];
    const result = await service.ecm(["import", file, ...flags, "--json"]);
    expect(parseSummary(result).rows).toMatchObject({ updated: 1, created: 2 });
    const contacts = await readContacts(service);
    expect(contacts.get("a@example.com")?.fields).toEqual({ Source: "Expo=2026" });
    expect(contacts.get("b@example.com")?.fields).toEqual({ Source: "Expo=2026", Language: "en" });
    expect(contacts.get("c@example.com")?.fields).toEqual({ Source: "Expo=2026", Language: "de" });
    const again = parseSummary(await service.ecm(["import", file, ...flags, "--json"]));
    expect(again.rows).toMatchObject({ unchanged: 3 });
  });

  it("keep a default that the import before has written, also with --blank clear", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("City", "Language");
    await service.ecm(["contact", "create", "--key", "a@example.com", "--set", "City=Oslo"]);
    const file = await inputFile("Email,City,Language\na@example.com,,\nb@example.com,,\n");
    const args = ["import", file, "--blank", "clear", "--default", "Language=en", "--json"];
    expect(parseSummary(await service.ecm(args)).rows).toMatchObject({ created: 1, updated: 1 });
    expect(parseSummary(await service.ecm(args)).rows).toMatchObject({ unchanged: 2 });
    expect(await readFields(service, "a@example.com")).toEqual({ City: "" });
    expect(await readFields(service, "b@example.com")).toEqual({ Language: "en" });
  });

  it("take the place of a column of the field's name, and win over one that is mapped there", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("Source");
    const file = await inputFile("Email,Source\na@example.com,web\n");
    await service.ecm(["import", file, "--set", "source=Expo"]);
    expect(await readFields(service, "a@example.com")).toEqual({ Source: "Expo" });
    const other = await inputFile("Email,Quelle\na@example.com,web\n");
    const result = await service.ecm(["import", other, "--map", "Quelle=Source", "--set", "Source=Fair"]);
    expect(result.stderr).toContain('"Quelle", "Source" all fill "Source"');
    expect(await readFields(service, "a@example.com")).toEqual({ Source: "Fair" });
  });

  it.each([
    [["--set", "Source"], '--set: "Source" is not FIELD=VALUE'],
    [["--default", "=x"], '--default: "=x" is not FIELD=VALUE'],
    [["--set", "Nowhere=x"], 'there is no field "Nowhere"'],
    [["--default", "Nowhere=x"], '--default: there is no field "Nowhere"'],
  ])("%j is refused", async (flags, message) => {
    const service = await accountWith("Source");
    const result = await service.ecm(["import", await inputFile("Email\na@example.com\n"), ...flags]);
    expect(result).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe("a mapping", () => {
  const csv = "Email,City\na@example.com,oslo\nb@example.com,rom\n";
  const upper = "City: { value: 'row.City.upperAscii()' }\n";

  it("that is wrong stops before a request", { tags: "slow" }, async () => {
    const service = await accountWith("City");
    const before = await countRequests(service);
    for (const text of [
      "City: { value: 'row.Town' }",
      "City: { value: 'row.' }",
      "City: { date: never }",
      "City: { value: '1 + row.City' }",
      "expect: { rows: { min: 3 } }",
      "expect: { City: { matches: '^x' } }",
    ]) {
      const result = await service.ecm([
        "import",
        await inputFile(csv),
        "--mapping",
        await mappingFile(text),
      ]);
      expect(result.code, text).toBe(2);
      expect(result.stderr).not.toContain("rate-limit");
    }
    expect(await countRequests(service)).toBe(before);
  });

  it("is part of the plan and of its digest", { tags: "slow" }, async () => {
    const service = await accountWith("City");
    const folder = await temporaryFolder();
    const file = await inputFile(csv);
    const planned = async (mapping: string) => {
      const plan = join(folder, `${mapping.includes("upper") ? "upper" : "lower"}.ndjson`);
      await service.ecm([
        "import",
        file,
        "--mapping",
        await mappingFile(mapping),
        "--dry-run",
        "--plan",
        plan,
      ]);
      const text = await readFile(plan, "utf8");
      return { plan, text, head: JSON.parse(text.split("\n")[0]!).plan };
    };
    const first = await planned(upper);
    expect(first.head.mapping).toMatchObject({
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      entries: [{ name: "City", value: "row.City.upperAscii()" }],
    });
    const second = await planned("City: { value: 'row.City.lowerAscii()' }\n");
    expect(second.head.mapping.digest).not.toBe(first.head.mapping.digest);
    expect(contactLines(first.text)[0]).toMatchObject({ changes: [{ name: "City", after: "OSLO" }] });
    expect((await service.ecm(["apply", first.plan])).code).toBe(0);
    expect(await readFields(service, "b@example.com")).toEqual({ City: "ROM" });
  });

  it("that has changed is another run; the run that stopped goes on as it began", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("City");
    const file = await inputFile(csv);
    const mapping = await mappingFile(upper);
    const args = ["import", file, "--mapping", mapping, "--json"];
    const stopped = await service.ecm([...args, "--max-requests", "3"]);
    expect(stopped.code).toBe(7);
    const { run } = parseSummary(stopped);
    await writeFile(mapping, "City: { value: 'row.City + \"!\"' }\n");
    const dry = parseSummary(await service.ecm([...args, "--dry-run"]));
    expect(dry.run).not.toBe(run);
    await service.ecm(["runs", "resume", run!]);
    const contacts = await readContacts(service);
    expect([contacts.get("a@example.com")?.fields, contacts.get("b@example.com")?.fields]).toEqual([
      { City: "OSLO" },
      { City: "ROM" },
    ]);
    const changed = parseSummary(await service.ecm(args));
    expect(changed.rows.updated).toBe(2);
    expect(await readFields(service, "a@example.com")).toEqual({ City: "oslo!" });
  });

  it("rejects rows that cannot be made, and its rejects file imports again once it is fixed", {
    tags: "slow",
  }, async () => {
    const service = await accountWith("Born");
    const folder = await temporaryFolder();
    const rejects = join(folder, "rejects.csv");
    const mapping = await mappingFile("Born: { date: DD.MM.YYYY }\n");
    const file = await inputFile("Email,Born\na@example.com,31.02.1980\nb@example.com,01.02.1980\n");
    const args = ["--mapping", mapping, "--json"];
    const result = await service.ecm(["import", file, ...args, "--rejects", rejects]);
    expect(result.code).toBe(3);
    expect(parseSummary(result).codes.rejected).toEqual({ compute: 1 });
    const text = await readFile(rejects, "utf8");
    expect(text).toBe(
      'Email,Born,ecm_line,ecm_error,ecm_message\na@example.com,31.02.1980,2,compute,"Born: ""31.02.1980"" is not a date in DD.MM.YYYY"\n',
    );
    await writeFile(rejects, text.replace("a@example.com,31.02", "a@example.com,28.02"));
    expect((await service.ecm(["import", rejects, ...args])).code).toBe(0);
    expect(await readFields(service, "a@example.com")).toEqual({ Born: "1980-02-28" });
  });

  it("names its line where a target, or the column, does not exist", { tags: "slow" }, async () => {
    const service = await accountWith("City");
    const mapping = await mappingFile("Email: key\nCity: Cite\n");
    const file = await inputFile("Email,City\na@example.com,Oslo\n");
    const { code, stderr } = await service.ecm(["import", file, "--mapping", mapping]);
    expect(code).toBe(2);
    expect(stderr).toContain(`${mapping}:2: "City": there is no field "Cite"`);
    expect(stderr).toContain('Did you mean "City"?');
    const other = await service.ecm([
      "import",
      await inputFile("Email\na@example.com\n"),
      "--mapping",
      mapping,
    ]);
    expect(other.stderr).toContain(`${mapping}:2 names a column that does not exist: "City"`);
    const typed = await service.ecm(["import", file, "--mapping", mapping, "--map", "City=Cide"]);
    expect(typed.stderr).toContain('--map City=Cide: there is no field "Cide"');
  });

  it("that computes tags names those that do not exist", { tags: "slow" }, async () => {
    const service = await accountWith();
    const mapping = await mappingFile('T: { tags: true, split: ";" }\n');
    const file = await inputFile("Email,T\na@example.com,x;y\n");
    const refused = await service.ecm(["import", file, "--mapping", mapping]);
    expect(refused.code).toBe(5);
    expect((await service.ecm(["import", file, "--mapping", mapping, "--create-missing"])).code).toBe(0);
    expect((await readContacts(service)).get("a@example.com")?.tags).toHaveLength(2);
  });

  it("takes rows of standard input", { tags: "slow" }, async () => {
    const service = await accountWith("City");
    const result = await service.ecm(["import", "-", "--mapping", await mappingFile(upper)], { stdin: csv });
    expect(result.code).toBe(0);
    expect(await readFields(service, "a@example.com")).toEqual({ City: "OSLO" });
  });
});

describe("expectations", () => {
  const csv = "Email,City,Zip\na@example.com,Oslo,01\nb@example.com,,x\na@example.com,Rom,02\n";

  firstQuick(2)([
    ["rows: { min: 4 }", "the file has 3 rows, expected at least 4"],
    ["rows: { max: 2 }", "the file has 3 rows, expected at most 2"],
    ["City: { filled: 80% }", '"City" is filled in 66.6 % of the rows, expected 80 %; blank (line 3)'],
    ["Email: { unique: true }", '"Email" is not unique: "a@example.com" is on line 2 too (line 4)'],
    ["City: { values: [Oslo] }", '"City" has unexpected values such as "Rom" (line 4)'],
    ["Zip: { matches: '^[0-9]+$' }", '"Zip" does not match ^[0-9]+$: "x" (line 3)'],
    ["Town: { unique: true }", 'expect: there is no column "Town"'],
    ["City: { filled: 120% }", "filled is not a share"],
    ["City: { matches: '(' }", 'the pattern "(" is wrong'],
    ["City: { size: 3 }", 'unknown rule "size"'],
  ])("%s", async (expected, message) => {
    const service = await accountWith("City", "Zip");
    const mapping = await mappingFile(`expect:\n  ${expected}\n`);
    const result = await service.ecm(["import", await inputFile(csv), "--mapping", mapping, "--json"]);
    expect(result.code).toBe(2);
    expect(JSON.parse(result.stderr.trim().split("\n").at(-1)!).error.message).toContain(message);
    expect((await readContacts(service)).size).toBe(0);
  });

  it("only warn where they say so, also when nothing else is said", { tags: "slow" }, async () => {
    const service = await accountWith("City", "Zip");
    const mapping = await mappingFile(
      "expect: { rows: { min: 9, warn: true }, City: { filled: 80%, warn: true } }\n",
    );
    const result = await service.ecm(["import", await inputFile(csv), "--mapping", mapping, "-q"]);
    expect(result.code).toBe(0);
    expect(result.stderr).toContain('warning: "City" is filled in 66.6 %');
    expect(result.stderr).toContain("warning: the file has 3 rows");
  });

  it("hold for what the mapping makes", { tags: "slow" }, async () => {
    const service = await accountWith("City", "Zip");
    const file = await inputFile(csv);
    const made = "City: { map: { Oslo: N, Rom: I } }\nexpect: { City: { values: [N, I] } }\n";
    const result = await service.ecm(["import", file, "--mapping", await mappingFile(made)]);
    expect(result.code).toBe(0);
  });
});

async function countRequests({ baseUrl, apiKey }: RunningSandbox): Promise<number> {
  const answer = await fetch(`${baseUrl}/api/contact-structure`, { headers: { "x-api-key": apiKey } });
  const left = Number(answer.headers.get("x-ratelimit-remaining"));
  return Number(answer.headers.get("x-ratelimit-limit")) - left - ++asked;
}

let asked = 0;
