/**
 * An import that asks: what can be answered, what can be taken back,
 * and that nothing happens before the last yes.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type Ecm, type Result, temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";
import type { Answer } from "../support/typing.ts";

const enter = "\r";
const down = "\u001b[B";
const yes = `y${enter}`;
const at120 = { terminalColumns: 120, env: { NO_COLOR: "1" } };

let ecm: Ecm;
let file: string;

beforeEach(async () => {
  ({ ecm } = await startSandbox());
  file = join(await temporaryFolder(), "people.csv");
  await writeFile(
    file,
    "Email,Stadt,Kontakt,Notiz\nada@example.com,Oslo,ja,hallo\nbob@example.com,Rom,nein,\n",
  );
});

async function json(...args: string[]) {
  return JSON.parse((await ecm([...args, "--json"])).stdout);
}

/** What the account holds, and the runs of this machine. */
async function everything() {
  return {
    structure: await json("structure", "get"),
    lists: await json("lists", "list"),
    contacts: await json("contact", "search"),
    runs: await json("runs", "list"),
  };
}

/** The words of the command that is offered for the next time. */
function nextTime({ stderr }: Result): string[] {
  const [, command = ""] = /^Next time:\s+ecm (.*)$/m.exec(stderr) ?? [];
  return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, word]) => quoted ?? word!);
}

const newCity: Answer[] = [
  ['Where does "Stadt"', down + enter],
  ["Name of the new field", `\u007f\u007f\u007f\u007f\u007fCity${enter}`],
  ["Type of its values", enter],
];

describe("the questions of an import", () => {
  it("create a field, name the consent column, and can be taken back", async () => {
    await ecm(["structure", "tag", "add", "vip"]);
    await ecm(["contact", "create", "--key", "ada@example.com", "--tag", "vip"]);
    const dialog = await ecm(["import", file], {
      ...at120,
      typed: [
        ['Where does "Stadt"', enter],
        ['Where does "Kontakt"', `\u001b[A${down.repeat(10)}${enter}`],
        ...newCity,
        ['Where does "Kontakt"', `${down.repeat(6)}${enter}`],
        ['Where does "Notiz"', enter],
        ["Save these answers", down + down + enter],
        ['Where does "Notiz"', enter],
        ["Save these answers", enter],
        ['Create the field "City", and write to 1 contact', yes],
      ],
    });
    expect(dialog.stderr).toContain(
      'The field "City" (text) will be added to the structure "Default", for all contacts of the account',
    );
    expect(dialog.stderr).toContain("City (new)");
    expect(dialog.code).toBe(0);
    expect((await json("structure", "get")).fields.at(-1)).toMatchObject({ label: "City", dataType: "text" });
    const { stdout } = await ecm(["export", "--columns", "key,City,tags"]);
    expect(stdout).toBe("key,City,tags\nada@example.com,Oslo,vip\n");
    const again = nextTime(dialog);
    expect(again).toEqual(
      `import ${file} --map Stadt=City --map Notiz=ignore --consent-column Kontakt=opt-in`.split(" "),
    );
    const second = await json(...again);
    expect(second.rows).toMatchObject({ unchanged: 1, skipped: 1 });
  });

  it("end in a run that the command for the next time resumes", async () => {
    await writeFile(file, `Email,Stadt\n${[1, 2, 3].map((n) => `p${n}@example.com,Oslo\n`).join("")}`);
    const dialog = await ecm(["import", file, "--max-requests", "5"], {
      ...at120,
      typed: [...newCity, ["Save these answers", enter], ['Create the field "City"', yes]],
    });
    expect(dialog.code).toBe(7);
    const byId = await json("runs", "resume", "last", "--max-requests", "1");
    expect(byId.rows).toMatchObject({ read: 3 });
    const resumed = await json(
      ...nextTime(dialog).filter((word) => word !== "--max-requests" && word !== "5"),
    );
    expect(resumed.rows).toMatchObject({ read: 3, created: 3 });
    expect(await json("runs", "list")).toHaveLength(1);
  });

  it("offer to create a missing list before any other", async () => {
    const dialog = await ecm(["import", file, "--list", "Leads"], {
      ...at120,
      typed: [
        ['Create the list "Leads" with this import?', yes],
        ['Where does "Stadt"', enter],
        ['Where does "Kontakt"', enter],
        ['Where does "Notiz"', enter],
        ["Save these answers", enter],
        ['Create the list "Leads", and write to 2 contacts', yes],
      ],
    });
    expect(dialog.code).toBe(0);
    expect(nextTime(dialog).join(" ")).toContain("--list Leads --create-missing");
    expect(await json("lists", "list")).toMatchObject([{ name: "Leads" }]);
  });

  it("offer to create tags that cells name", async () => {
    const dialog = await ecm(["import", file, "--ignore-unmapped", "--map", "Notiz=tags"], {
      ...at120,
      typed: [
        ['Create the tag "hallo" with this import?', yes],
        ['Create the tag "hallo", and write to 2 contacts', yes],
      ],
    });
    expect(dialog.code).toBe(0);
  });

  it("change nothing when one is answered with Ctrl-C or no, whichever it is", async () => {
    const before = await everything();
    const answers: Answer[] = [
      ['Create the list "Leads" with', yes],
      ...newCity,
      ['Where does "Kontakt"', enter],
      ['Where does "Notiz"', enter],
      ["Save these answers", enter],
      ['Create the field "City" and the list "Leads", and write to', yes],
    ];
    for (const [at, [question]] of answers.entries()) {
      const typed: Answer[] = [...answers.slice(0, at), [question, "\u0003"]];
      const { code, stderr } = await ecm(["import", file, "--list", "Leads"], { ...at120, typed });
      expect({ question, code, stderr }).toEqual({ question, code: 130, stderr });
      expect(stderr).not.toContain("Next time");
    }
    const declined = await ecm(["import", file, "--list", "Leads"], {
      ...at120,
      typed: [...answers.slice(0, -1), [answers.at(-1)![0], `n${enter}`]],
    });
    expect(declined.code).toBe(1);
    expect(declined.stderr).toContain(`  ecm structure field add City && ecm import ${file}`);
    expect(await everything()).toEqual(before);
  });

  it("are those of a dry run too, which then says the command", async () => {
    const before = await everything();
    const { code, stderr } = await ecm(["import", file, "--dry-run"], {
      ...at120,
      typed: [
        ...newCity,
        ['Where does "Kontakt"', enter],
        ['Where does "Notiz"', enter],
        ["Save these answers", enter],
      ],
    });
    expect(code).toBe(0);
    expect(stderr).toContain("+ ada@example.com  City Oslo");
    expect(stderr).toContain(`Run it with:\n  ecm structure field add City && ecm import ${file} --map`);
    expect(await everything()).toEqual(before);
  });

  it("are asked of nobody without a terminal, nor is the list where --yes confirms everything", async () => {
    const before = await everything();
    const { code, stderr } = await ecm(["import", file, "--list", "Leads"]);
    expect(code).toBe(2);
    expect(stderr).toContain("3 columns do not match any field");
    const missing = await ecm(["import", file, "--ignore-unmapped", "--list", "Leads"]);
    expect(missing.code).toBe(5);
    expect(missing.stderr).toContain("--create-missing");
    const agreed = await ecm(["import", file, "--ignore-unmapped", "--list", "Leads", "--yes"], at120);
    expect(agreed.code).toBe(5);
    expect(await everything()).toEqual(before);
  });
});

describe("the questions about how values are written", () => {
  const dates = [
    "Email,Geboren,Themen,Land",
    "a@example.com,31.12.1980,x;y,DE",
    "b@example.com,01.02.1990,y,DE",
    "c@example.com,,x,AT",
    "d@example.com,03.04.1970,,AT",
    "",
  ].join("\n");

  it("offer a date that fits, a split and a table of values, and save them all", async () => {
    await ecm(["structure", "field", "add", "Birthday"]);
    await ecm(["structure", "field", "add", "Country"]);
    await ecm(["contact", "create", "--key", "z@example.com", "--set", "Country=Germany"]);
    await ecm(["contact", "create", "--key", "y@example.com", "--set", "Country=Austria"]);
    await writeFile(file, dates);
    const mapping = join(await temporaryFolder(), "saved.yaml");
    const field = (place: number) => `${down.repeat(place)}${enter}`;
    const dialog = await ecm(["import", file, "--create-missing"], {
      ...at120,
      typed: [
        // Nowhere, a new field, then the fields, lists and tags.
        ['Where does "Geboren"', field(4)],
        ['How are the dates of "Geboren" written?', enter],
        ['Where does "Themen"', field(6)],
        ['Split the cells of "Themen" at ";"?', yes],
        ['Where does "Land"', field(4)],
        ["Choose one for each?", yes],
        ['What is "DE"?', enter],
        ['What is "AT"?', down + enter],
        ["Save these answers", enter],
        ["File", `${"\u007f".repeat(40)}${mapping}${enter}`],
        ["write to 4 contacts", yes],
      ],
    });
    expect(dialog.code, dialog.stderr).toBe(0);
    expect(dialog.stderr).toContain("31.12.1980 → 1980-12-31");
    expect(dialog.stderr).toContain("x;y → x, y");
    expect(nextTime(dialog).join(" ")).toContain(`--mapping ${mapping}`);
    const { stdout } = await ecm([
      "contact",
      "search",
      "--columns",
      "key,Birthday,Country,tags",
      "-o",
      "csv",
    ]);
    expect(stdout).toContain('a@example.com,1980-12-31,Germany,"x,y"');
    expect(stdout).toContain("d@example.com,1970-04-03,Austria,");
    const again = await json("import", file, "--mapping", mapping);
    expect(again.rows).toMatchObject({ unchanged: 4 });
  });
});
