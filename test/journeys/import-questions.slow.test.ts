/** An import that asks: what can be answered and taken back; nothing happens before the last yes. */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { done, type Ecm, ends, readJson, refused, startSandbox, summaryOf, temporaryFolder } from "../kit.ts";
import { type Answer, down, enter } from "../support/typing.ts";
import { textRow, workbook } from "../tables/workbooks.ts";

const yes = `y${enter}`;
const at120 = { terminalColumns: 120, env: { NO_COLOR: "1" } };

let ecm: Ecm;
let file: string;

beforeEach(async () => {
  ({ ecm } = await startSandbox());
  file = join(await temporaryFolder(), "people.csv");
  const rows = "ada@example.com,Oslo,ja,hallo\nbob@example.com,Rom,nein,\n";
  await writeFile(file, `Email,Stadt,Kontakt,Notiz\n${rows}`);
});

const json = (line: string) => readJson(ecm, line);

/** Imports the file at a terminal. @param flags may be none */
const importAsked = (flags: string, ...typed: Answer[]) =>
  ecm(`import ${file} ${flags}`, { ...at120, typed });

/** The same, which succeeds. @returns stderr */
const agreed = async (flags: string, ...typed: Answer[]) =>
  (await ends(importAsked(flags, ...typed), 0)).stderr;

const exported = (columns: string) => done(ecm(["export", "--columns", columns]));

/** What the account holds, and the runs of this machine. */
const everything = async () => [
  await json("structure get"),
  await json("lists list"),
  await json("contact search"),
  await json("runs list"),
];

/** Of the table of columns, the cursor at its beginning. */
const line = (place: number) => down.repeat(place) + enter;
const table = "Is this right?";
const noList: Answer = ["Add these contacts to a list?", enter];
const mappingPath = (path: string) => path.replace(/\.\w+$/, ".mapping.yaml");

describe("the questions of an import", () => {
  it("are one table, whose lines can be changed, and the list", async () => {
    await ecm("structure tag add vip");
    await ecm("contact create --key ada@example.com --tag vip");
    const stderr = await agreed(
      "",
      [table, line(2)],
      ['Where does "Stadt" (Oslo, Rom) go?', down.repeat(3) + enter],
      ["Name of the new field", `City${enter}`],
      // After a change the cursor is on going on.
      [table, line(3)],
      ['Where does "Kontakt"', down.repeat(5) + enter],
      [table, yes],
      ["Add these contacts to a list?", down + enter],
      ["Name of the new list", `Leads${enter}`],
      ['Create 2 fields, the list "Leads", and write to 1 contact', yes],
    );
    expect(stderr).toMatch(/Stadt +City \(new\) +100 % +Oslo, Rom/);
    expect(stderr).toMatch(/Kontakt +consent \(yes = in\) +100 % +ja, nein/);
    expect(stderr).toMatch(/Notiz +Notiz \(new\) +50 % +hallo/);
    expect((await json("structure get")).fields.at(-2)).toMatchObject({ label: "City", dataType: "text" });
    const columns = "key,City,Notiz,lists,tags";
    expect(await exported(columns)).toBe(`${columns}\nada@example.com,Oslo,hallo,Leads,vip\n`);
    const second = await agreed("--list Leads");
    expect(second).toContain(`Columns as last time: ${mappingPath(file)}`);
    expect(second).toMatch(/1 unchanged\n +1 skipped +not subscribed/);
    const unattended = await json(`import ${file} --mapping ${mappingPath(file)} --list Leads`);
    expect(unattended.rows).toMatchObject({ unchanged: 1, skipped: 1 });
  });

  it("take nothing away from somebody who presses Enter, but what is empty", async () => {
    const columns = Array.from({ length: 29 }, (_, at) => `Column ${at + 1}`);
    const cells = columns.map((_, at) => (at === 3 ? "" : `value ${at + 1}`));
    await writeFile(file, `Email,${columns.join(",")}\nada@example.com,${cells.join(",")}\n`);
    const write = "Create 28 fields, and write to 1 contact";
    const counts = "30 columns, 28 new fields, 1 ignored. Is this right?";
    expect(await agreed("", [table, enter], noList, [write, yes])).toContain(counts);
    const labels = (await json("structure get")).fields.map(({ label }: { label: string }) => label);
    expect(labels.slice(2)).toEqual(columns.filter((_, at) => at !== 3));
  });

  it("find the column of the key where only one has addresses, and ask for none where none has", async () => {
    await writeFile(file, "First Name,Kontaktdaten\nAda,ada@example.com\n");
    await agreed("", [table, enter], noList, ["Write to 1 contact", yes]);
    expect(await exported("key,First Name")).toBe("key,First Name\nada@example.com,Ada\n");
    await writeFile(file, "Name,Telefon\nAda,123\n");
    await refused(importAsked(""), 2, "no key column (Email) found");
  });

  it("are about the sheet of a workbook that has several", async () => {
    file = join(await temporaryFolder(), "people.xlsx");
    const sheets = [
      { name: "Notes", rows: textRow(1, ["call Ada"]) },
      { name: "People", rows: textRow(1, ["Email"]) + textRow(2, ["ada@example.com"]) },
    ];
    await writeFile(file, workbook({ sheets }));
    const second: Answer = ["people.xlsx has 2 sheets", down + enter];
    await agreed("", second, noList, ["Write to 1 contact", yes]);
    expect(await agreed("--dry-run", second)).toContain(`Run it with: ecm import ${file} --sheet People\n`);
  });

  it("end in a run that the same command resumes, with the answers of then", async () => {
    await writeFile(file, `Email,Stadt\n${[1, 2, 3].map((n) => `p${n}@example.com,Oslo\n`).join("")}`);
    const typed: Answer[] = [[table, enter], noList, ['Create the field "Stadt"', yes]];
    expect((await importAsked("--max-requests 5", ...typed)).code).toBe(7);
    const byId = await summaryOf(ecm, "runs resume last --max-requests 1");
    expect(byId.rows).toMatchObject({ read: 3 });
    const resumed = await agreed("--yes");
    expect(resumed).toContain(`Resuming run ${byId.run}`);
    expect(resumed).toMatch(/3 rows in .*: 3 created/);
    expect(await json("runs list")).toHaveLength(1);
  });

  it("name a missing list or tag in the last question alone", async () => {
    const list: Answer = ['Create the list "Leads", and write to 2 contacts', `n${enter}`];
    await ends(importAsked("--ignore-unmapped --list Leads", list), 1);
    expect(await json("lists list")).toEqual([]);
    const tag: Answer = ['Create the tag "hallo", and write to 2 contacts', yes];
    await agreed("--ignore-unmapped --map Notiz=tags", noList, tag);
  });

  it("write nothing in the account when one is answered with Ctrl-C or no, whichever it is", async () => {
    const before = await everything();
    const answers: Answer[] = [
      [table, line(2)],
      ['Where does "Stadt"', enter],
      [table, yes],
      ['Create 3 fields, the list "Leads", and write to', yes],
    ];
    for (const [at, [question]] of answers.entries()) {
      const typed: Answer[] = [...answers.slice(0, at), [question, "\u0003"]];
      const { code, stderr } = await importAsked("--list Leads", ...typed);
      expect({ question, code, stderr }).toEqual({ question, code: 130, stderr });
      // Nothing is kept before the last yes.
      expect(stderr).not.toContain("Saved these answers");
      expect(existsSync(mappingPath(file))).toBe(false);
    }
    const declining: Answer[] = [...answers.slice(0, -1), [answers.at(-1)![0], enter]];
    await ends(importAsked("--list Leads", ...declining), 1);
    expect(await everything()).toEqual(before);
  });

  it("show the plan before the last one, from which they can be asked again", async () => {
    await writeFile(file, "Email,Stadt\nada@example.com,Oslo\nnobody@@x,Rom\n,Wien\n");
    const question = 'Create the field "Stadt", and write to 1 contact';
    const dialog = importAsked(
      "",
      [table, enter],
      noList,
      [question, `c${enter}`],
      [table, line(2)],
      ['Where does "Stadt"', down + enter],
      [table, yes],
      ["Add these contacts to a list?", enter],
      ["Write to 1 contact", yes],
    );
    const counts =
      /3 rows: {2}[█×]+\n {4}1 would be created\n {4}2 rejected +invalid email address \(1\), no email address \(1\)/;
    const rejected = /line 3 {2}nobody@@x {2}not an email address/;
    await ends(dialog, 3, counts, rejected, "+ ada@example.com  Stadt Oslo");
    expect(await exported("key,First Name")).toBe("key,First Name\nada@example.com,Oslo\n");
    expect(await readFile(mappingPath(file), "utf8")).toContain("Stadt: First Name");
    expect(await json("runs list")).toHaveLength(1);
  });

  it("are plain lines with ACCESSIBLE, which list the rows too", async () => {
    await writeFile(file, "Email,Stadt\nada@example.com,Oslo\nnobody@@x,Rom\n,Wien\n");
    const answers = "(y yes, c change columns or list, l list the rows, n no)";
    const dialog = ecm(["import", file], {
      terminalColumns: 200,
      env: { ACCESSIBLE: "1", NO_COLOR: "1" },
      typed: [
        ["Number, 1 to 3 (Enter: 1):", "3\n"],
        ["Number, 1 to 10 (Enter: 1):", "2\n"],
        ["Number, 1 to 3 (Enter: 1):", "\n"],
        ["Number, 1 to 2 (Enter: 1):", "\n"],
        [answers, "l\n"],
        [answers, "perhaps\n"],
        [answers, "yes\n"],
      ],
    });
    const goesTo = (what: string) => `  3. Stadt; Goes to ${what}; Filled 100 %; Values Oslo, Rom, Wien\n`;
    const lines = [
      "! line 3  nobody@@x  rejected: not an email address",
      "! line 4  rejected: no email address\n",
    ];
    const columns = [goesTo("Stadt (new)"), goesTo("First Name")];
    const { stderr } = await ends(dialog, 3, ...columns, ...lines, 'There is no answer "perhaps".');
    expect(stderr).not.toContain("\u001b");
  });

  it("leave a mapping file alone that somebody else has written", async () => {
    await writeFile(mappingPath(file), "Email: key\n");
    expect(await agreed("--dry-run", [table, enter])).not.toContain("Saved these answers");
    expect(await readFile(mappingPath(file), "utf8")).toBe("Email: key\n");
  });

  it("pass over columns of the last time that are gone, and say which", async () => {
    const saved = mappingPath(file);
    const comment = "# Where the columns of a file go: key, lists, tags, consent, ignore, or a field.\n";
    const ofLastTime = "Ort: First Name\nWerbung: consent=opt-in\n";
    const still = "Email: key\nStadt: First Name\nKontakt: ignore\nNotiz: ignore\n";
    await writeFile(saved, comment + ofLastTime + still);
    const gone = 'Not in this file any more: "Ort", "Werbung"';
    expect(await agreed("", noList, ["Write to 2 contacts", yes])).toContain(gone);
    // What has taken their place is asked.
    await writeFile(file, "Email,Wohnort,Kontakt\nada@example.com,Oslo,ja\n");
    const asked = await agreed("--dry-run", [table, enter]);
    expect(asked).toContain(`${gone}, "Stadt", "Notiz"`);
  });

  it("are those of a dry run too, which then says the command", async () => {
    const before = await everything();
    const stderr = await agreed("--dry-run", [table, enter]);
    expect(stderr).toContain("+ ada@example.com  Stadt Oslo");
    // Not again as text behind the table that was agreed to.
    expect(stderr).not.toContain("First value");
    const mapping = mappingPath(file);
    const command = `Run it with: ecm import ${file} --mapping ${mapping}`;
    expect(stderr.replaceAll(/ \\\n */g, " ")).toContain(command);
    expect(await everything()).toEqual(before);
    // The answers of the last time need no question.
    const again = await agreed("--dry-run");
    expect(again).toContain(`Columns as last time: ${mapping}`);
    expect(again).toContain("First value");
    expect(again).toContain("In no list: --list NAME adds them to one");
    const planned = ecm(`import ${file} --dry-run --plan ${file}.plan.ndjson`, at120);
    await ends(planned, 0, `Run it with: ecm apply ${file}.plan.ndjson`);
  });

  it("are asked of nobody without a terminal, nor is the list where --yes confirms everything", async () => {
    const before = await everything();
    await refused(ecm(`import ${file} --list Leads`), 2, "3 columns do not match any field");
    const missing = `import ${file} --ignore-unmapped --list Leads`;
    await refused(ecm(missing), 5, "--create-missing");
    await refused(ecm(`${missing} --yes`, at120), 5);
    expect(await everything()).toEqual(before);
  });
});
