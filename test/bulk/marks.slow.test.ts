/** A mark counts wherever it stands in a file, and is carried out only where it is understood. */

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { read } from "../tables/reading.ts";
import { textRow, workbook } from "../tables/workbooks.ts";
import { inputFile, parseSummary, readContacts, summaryOf } from "./kit.ts";

const enter = "\r";
const down = "\u001b[B";

async function keysIn(service: RunningSandbox): Promise<string[]> {
  return [...(await readContacts(service)).keys()].sort();
}

/** How many requests have reached the service. */
function requestsTo({ sandbox }: RunningSandbox): number {
  return sandbox.admin.requests().length;
}

async function activeIn(service: RunningSandbox): Promise<string[]> {
  const { stdout } = await service.ecm("contact search --status Active --all -o csv --columns key");
  return stdout.trim().split("\n").slice(1).sort();
}

async function startAccount(...keys: string[]): Promise<RunningSandbox> {
  const service = await startSandbox();
  await service.ecm(["import", await inputFile(`Email\n${keys.map((key) => `${key}\n`).join("")}`)]);
  return service;
}

describe("a row that is rejected", () => {
  it.each([
    ["several addresses in one cell", '"g@example.org, h@example.org",yes'],
    ["a blank inside", "g@example .org,yes\nh@example.org; x,yes"],
    ["a remark", "g@example.org (old),yes\nh@example.org - left,yes"],
    ["an invisible mark inside", "g@exa\u200bmple.org,yes\n<h@example.org> <x@example.org>,yes"],
    ["(at)", "g (at) example.org,yes\nh[at]example.org,yes"],
    ["a line break between", '"g@example.org\nh@example.org",yes'],
    ["a sign between", "g@example.org:h@example.org,yes"],
    ["a name without a comma between", "Grace g@example.org,yes\nmailto:h@example.org?x=y z,yes"],
  ])("%s: every address that its key cell holds is marked", async (_name, rows) => {
    const service = await startSandbox();
    const text = `Email,Unsubscribed\n${rows}\ng@example.org,no\nH@example.org,\nok@example.org,no\n`;
    const result = await summaryOf(service.ecm, `import ${await inputFile(text)} --max-rejects 100%`);
    expect(await keysIn(service)).toEqual(["ok@example.org"]);
    expect(result.consent.not_subscribed).toBe(2);
    expect(result.stderr).toMatch(/Unsubscribed: \d of \d rows say?s? "yes": not created/);
  });

  it.each([
    ["a quote without its other half", 'g@example.org,"yes" really,x\n'],
    ["an unquoted comma before the mark", "g@example.org,no,Lovelace, Ada,yes\n"],
  ])("%s: its contact is marked", async (_name, row) => {
    const service = await startSandbox();
    const text = `Email,Opt-Out,First Name,Unsubscribed\n${row}g@example.org,no,G,no\nok@example.org,no,O,no\n`;
    await service.ecm(`import ${await inputFile(text)} --json --max-rejects 100%`);
    expect(await keysIn(service)).toEqual(["ok@example.org"]);
  });
});

describe("a rejects file", () => {
  it.each(["runs retry last", "import FILE"])("keeps the marks of the whole input: %s", async (how) => {
    const service = await startSandbox();
    // The rejected rows alone have no word that makes a column of consent.
    const text =
      "Email,Status,Opt in\na@example.org,unsubscribed,no\na@example.org,active,yes,more\nb at example.org,inactive,yes\nc at example.org,active,\nd at example.org,active,yes\ne@example.org,Prospect,yes,\nf at example.org,Prospect,yes\ne@example.org,active,yes,more\n";
    const flags = ["--ignore-unmapped", "--json"];
    const first = parseSummary(await service.ecm(["import", await inputFile(text), ...flags]));
    expect(first.rows).toMatchObject({ rejected: 6, skipped: 2, created: 0 });
    const fixed = (await readFile(first.rejects!, "utf8")).replaceAll(" at ", "@").replaceAll(",more", "");
    expect(fixed.split("\n").map((line) => line.split(",").at(-1))).toEqual([
      "ecm_not_subscribed",
      "another row of the input says so",
      "Status: inactive",
      "Opt in: (empty)",
      "",
      "? Status: Prospect",
      "? another row of the input says so",
      "",
    ]);
    await writeFile(first.rejects!, fixed);
    const args = how === "import FILE" ? ["import", first.rejects!, ...flags] : [...how.split(" "), "--json"];
    const again = await service.ecm(args);
    expect(parseSummary(again).rows, again.stderr).toMatchObject({ created: 1, skipped: 5, rejected: 0 });
    expect(await keysIn(service)).toEqual(["d@example.org"]);
  });

  it("can say that somebody is subscribed all the same, and unsubscribes nobody where it is unclear", async () => {
    const service = await startAccount("a@example.org", "b@example.org");
    const text =
      "Email,ecm_not_subscribed\na@example.org,? Status: Prospect\nb@example.org,Status: left\nc@example.org,\n";
    const path = await inputFile(text);
    const { rows } = await summaryOf(service.ecm, `import ${path}`);
    expect(rows).toMatchObject({ created: 1, unchanged: 2 });
    await service.ecm(`contact unsubscribe --keys ${path} --marked-rows --yes`);
    expect(await activeIn(service)).toEqual(["a@example.org", "c@example.org"]);
  });

  it.each([
    [
      "its reason, moved by an unquoted comma",
      "a@example.org,Ada, Countess,2,key_syntax,no address,? Status: L\n",
    ],
    [
      "its reason, moved by an unquoted comma in a row whose last cell is blank",
      "a@example.org,Ada, Countess,2,key_syntax,no address,\n",
    ],
    ["a surplus cell behind an unclear mark", "a@example.org,Ada,2,key_syntax,no address,? Status: L,more\n"],
  ])("unsubscribes nobody for %s", async (_name, row) => {
    const service = await startAccount("a@example.org", "b@example.org");
    const text = `Email,First Name,ecm_line,ecm_error,ecm_message,ecm_not_subscribed\n${row}a@example.org,Ada,3,key_syntax,no address,\nb@example.org,B,4,key_syntax,no address,Status: left\n`;
    const path = await inputFile(text);
    await service.ecm(`contact unsubscribe --keys ${path} --marked-rows --yes`);
    expect(await activeIn(service)).toEqual(["a@example.org"]);
  });
});

it("a row with a value below a nameless column marks its contact", async () => {
  const sound = Array.from({ length: 1001 }, (_, at) => `p${at}@example.org,no,\n`).join("");
  const { rejected } = await read(`Email,Unsubscribed,\n${sound}G@example.org,yes,surplus\n`);
  expect(rejected).toMatchObject([
    { code: "unnamed_column", identities: ["g@example.org"], mark: { isClear: true } },
  ]);
});

it("a merged range of a workbook has its value in each of its cells, and this is said", async () => {
  const service = await startSandbox();
  const rows = [
    textRow(1, ["People of 2024"]),
    textRow(2, ["Email", "City", "Unsubscribed"]),
    textRow(3, ["a@example.org", "Oslo", "yes"]),
    textRow(4, ["b@example.org", "", ""]),
    textRow(5, ["c@example.org", "Rome", ""]),
    textRow(6, ["d@example.org", "Bergen", "no"]),
    textRow(7, ["e@example.org", "", "no"]),
  ].join("");
  const merged = ["A1:XFD1", "C3:C5", "B6:B7"];
  const path = join(await temporaryFolder(), "people.xlsx");
  await writeFile(path, workbook({ sheets: [{ name: "P", rows, merged }] }));
  await service.ecm("structure field add City");
  const result = await service.ecm(`import ${path}`);
  expect(result.stderr).toContain(
    "3 merged ranges in the workbook: each of their cells is read with the value of the range",
  );
  expect(result.stderr).toContain('Unsubscribed: 3 of 5 rows say "yes": not created');
  const contacts = await readContacts(service);
  expect([...contacts.keys()].sort()).toEqual(["d@example.org", "e@example.org"]);
  expect(contacts.get("e@example.org")?.fields.City).toBe("Bergen");
});

it("a cell that cannot be understood keeps from creating, and unsubscribes nobody", async () => {
  const service = await startAccount("a@example.com", "b@example.com", "c@example.com");
  const path = await inputFile(
    "Email,Unsubscribed\na@example.com,yes\nb@example.com,-1\nc@example.com,maybe\nnew@example.com,perhaps\n",
  );
  const result = await service.ecm(`import ${path} --json`);
  expect(result.stderr).toContain(
    'Line 3: Unsubscribed says "-1", which cannot be understood; counted as not subscribed',
  );
  expect(result.stderr).toContain(
    "3 contacts are active in the account although the file says not subscribed",
  );
  expect(result.stderr).toMatch(/Unsubscribe them with: ecm contact unsubscribe .*--marked-rows/);
  await service.ecm(`contact unsubscribe --keys ${path} --marked-rows --yes`);
  expect(await activeIn(service)).toEqual(["b@example.com", "c@example.com"]);
});

describe("a column that may be consent", () => {
  const text = "Email,Keine Einwilligung\na@example.com,no\nb@example.com,yes\n";
  const unclear = "Email,Consent gone\na@example.com,no\nb@example.com,yes\n";

  it("is understood whole, or stops every command before a request, --yes and --ignore-unmapped or not", async () => {
    const service = await startSandbox();
    const understood = await inputFile(text);
    await service.ecm(`import ${understood} --ignore-unmapped`);
    expect(await keysIn(service)).toEqual(["a@example.com"]);
    const path = await inputFile(unclear);
    const before = requestsTo(service);
    for (const command of [
      ["import", path, "--ignore-unmapped", "--yes"],
      ["import", path, "--dry-run", "--ignore-unmapped"],
      ["import", path, "--map", "Consent gone=First Name"],
      ["lists", "sync", "News", path, "--create", "--yes"],
      ["contact", "mutate", "--keys", path, "--add-list", "News", "--yes"],
      ["contact", "unsubscribe", "--keys", path, "--yes"],
      ["contact", "delete", "--keys", path, "--yes", "--marked-rows"],
    ]) {
      const { code, stderr } = await service.ecm(command);
      expect({ command, code }).toEqual({ command, code: 2 });
      expect(stderr).toContain("read as opt-in it leaves out 1 of 2 rows, as opt-out 1");
      expect(stderr).toContain("'Consent gone=opt-out'");
    }
    expect(requestsTo(service)).toBe(before);
    await service.ecm(`import ${path} --consent-column 'Consent gone=opt-in'`);
    expect(await keysIn(service)).toEqual(["a@example.com", "b@example.com"]);
  });

  it("is asked about first at a terminal, with what each reading leaves out", async () => {
    const service = await startSandbox();
    const path = await inputFile(
      "Email,Stadt,Newsletter\na@example.com,Oslo,ja\nb@example.com,Rom,nein\nc@example.com,Rom,nein\n",
    );
    const dialog = await service.ecm(`import ${path}`, {
      terminalColumns: 120,
      typed: [
        ['Does "Newsletter" (ja, nein) say who is subscribed?', enter],
        ["Is this right?", enter],
        ["Add these contacts to a list?", enter],
        ["write to", `y${enter}`],
      ],
    });
    expect(dialog.stderr).toContain("a yes means subscribed (leaves out 2 of 3 rows)");
    expect(dialog.stderr).toContain("a yes means not subscribed (leaves out 1 of 3 rows)");
    const answers = await readFile(path.replace(".csv", ".mapping.yaml"), "utf8");
    expect(answers).toContain("Newsletter: consent=opt-in");
    expect(await keysIn(service)).toEqual(["a@example.com"]);
  });
});

describe("a table given to unsubscribe or delete", () => {
  const table = "Email,unsubscribed\na@example.com,yes\nb@example.com,no\nc@example.com,maybe\n";

  it.each(["unsubscribe", "delete"])(
    "%s: one that marks some rows is not taken whole in silence",
    async (verb) => {
      const service = await startAccount("a@example.com", "b@example.com", "c@example.com");
      const path = await inputFile(table);
      const refused = await service.ecm(`contact ${verb} --keys ${path} --yes`);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain("The file marks 1 of 3 rows as not subscribed");
      expect(refused.stderr).toContain("--marked-rows");
      expect(await activeIn(service)).toHaveLength(3);
      const marked = await summaryOf(service.ecm, `contact ${verb} --keys ${path} --yes --marked-rows`);
      expect(marked.codes.skipped).toEqual({ not_selected: 2 });
      expect(await activeIn(service)).toEqual(["b@example.com", "c@example.com"]);
      await service.ecm(`contact ${verb} --keys ${path} --yes --all-rows`);
      expect(await activeIn(service)).toEqual([]);
    },
  );

  it("asks at a terminal", async () => {
    const service = await startAccount("a@example.com", "b@example.com");
    const path = await inputFile(table.slice(0, table.indexOf("c@")));
    const nobody = await service.ecm(`contact unsubscribe --keys ${path}`, {
      terminalColumns: 120,
      typed: [["Whom do you want to unsubscribe?", down + down + enter]],
    });
    expect(nobody.code).toBe(1);
    expect(await activeIn(service)).toHaveLength(2);
    await service.ecm(`contact unsubscribe --keys ${path}`, {
      terminalColumns: 120,
      typed: [
        ["Whom do you want to unsubscribe?", enter],
        ["Unsubscribe 1 contact?", `y${enter}`],
      ],
    });
    expect(await activeIn(service)).toEqual(["b@example.com"]);
    await service.ecm(`contact unsubscribe --keys ${path}`, {
      terminalColumns: 120,
      typed: [
        ["Whom do you want to unsubscribe?", down + enter],
        ["Unsubscribe 1 contact?", `y${enter}`],
      ],
    });
    expect(await activeIn(service)).toEqual([]);
  });

  it("of one that marks all rows, or has no column of consent, every row is meant", async () => {
    const service = await startAccount("a@example.com", "b@example.com", "c@example.com");
    const all = await inputFile("Email,unsubscribed\na@example.com,yes\n");
    expect((await service.ecm(`contact unsubscribe --keys ${all} --yes`)).code).toBe(0);
    const none = await inputFile("Email,City\nb@example.com,Oslo\n");
    expect((await service.ecm(`contact unsubscribe --keys ${none} --yes`)).code).toBe(0);
    expect(await activeIn(service)).toEqual(["c@example.com"]);
    const exported = join(await temporaryFolder(), "ours.csv");
    await service.ecm(`export --status Active --output-file ${exported}`);
    expect((await service.ecm(`contact unsubscribe --keys ${exported} --yes`)).code).toBe(0);
    expect(await activeIn(service)).toEqual([]);
    const flags = ["contact", "unsubscribe", "--keys", none, "--yes", "--marked-rows"];
    expect((await service.ecm(flags)).stderr).toContain("no column that says who is not subscribed");
  });
});

it("--marked-rows says that a row whose mark is not understood is not chosen, as it is not", async () => {
  const service = await startSandbox();
  await service.ecm(`import ${await inputFile("Email\na@example.com\nb@example.com\nc@example.com\n")}`);
  const path = await inputFile(
    "Email,Newsletter\na@example.com,ja\nb@example.com,nein\nc@example.com,vielleicht\n",
  );
  const flags = ["--keys", path, "--marked-rows", "--consent-column", "Newsletter=opt-in"];
  const result = await service.ecm(["contact", "unsubscribe", ...flags, "--yes", "--json"]);
  expect(result.stderr).toContain('Newsletter: 1 of 3 rows says "nein": chosen\n');
  expect(result.stderr).toContain(
    'Line 4: Newsletter says "vielleicht", which cannot be understood; not chosen\n',
  );
  expect(parseSummary(result).rows).toMatchObject({ updated: 1 });
});
