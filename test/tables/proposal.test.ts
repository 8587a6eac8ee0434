/** Where the columns of a file could go: what is proposed to a person, from the head of the file alone. */
import { describe, expect, it } from "vitest";
import { type Proposal, proposeLateColumns } from "../../src/tables/columns/proposal.ts";
import { readUnclear, structure } from "./reading.ts";

const account = {
  ...structure,
  fields: [
    ...structure.fields,
    { _id: "f4", label: "Company", dataType: "text" },
    { _id: "f5", label: "Umsatz 2024", dataType: "text" },
    { _id: "f6", label: "key", dataType: "text" },
  ],
};

async function propose(content: string, map: [string, string][] = []): Promise<Proposal> {
  return (await readUnclear(content, { map: new Map(map), isReviewed: true }, account)).proposal;
}

/** Column by column its target; `+` for a field that is to be created. */
async function targets(content: string, map: [string, string][] = []): Promise<Record<string, string>> {
  const { columns } = await propose(content, map);
  return Object.fromEntries(columns.map(({ name, target, isNew }) => [name, isNew ? `+${target}` : target]));
}

describe("a proposal", () => {
  it.each([
    ["First", "First Name"],
    ["Firma", "Company"],
    ["Ort", "City"],
    ["Frist Name", "First Name"],
    ["Schuhgröße", "+Schuhgröße"],
    // Another year, and too short a name to be a slip.
    ["Umsatz 2025", "+Umsatz 2025"],
    ["Cit", "+Cit"],
    // Words that mean another thing as a target.
    ["ignore", "+ignore 2"],
    ["a = b", "+a b"],
    ["", "+Column 2"],
    ["key", "f6"],
  ])("sends %j to %s", async (name, expected) => {
    expect((await targets(`Email,${name}\na@x.org,value\n`))[name]).toBe(expected);
  });

  it("gives each field to one column, and no two columns one label", async () => {
    const proposed = await targets("Email,Ort,Stadt,Note,note\na@x.org,Oslo,Rom,1,2\n");
    expect(proposed).toEqual({ Email: "key", Ort: "City", Stadt: "+Stadt", Note: "+Note", note: "+note 2" });
  });

  it("leaves out what has no value at all, and nothing else", async () => {
    expect(await targets("Email,Empty,Blank,One\na@x.org,, ,\nb@x.org,,,1\n")).toMatchObject({
      Empty: "ignore",
      Blank: "ignore",
      One: "+One",
    });
  });

  it("looks behind the head for a value in what is empty there", async () => {
    const rows = Array.from({ length: 1500 }, (_, at) => `p${at}@x.org,${at === 1400 ? "late" : ""},\n`);
    const proposal = await propose(`Email,Late,Never\n${rows.join("")}`);
    expect(proposal).toMatchObject({ isWhole: false, columns: [{}, { target: "ignore" }, {}] });
    expect((await proposeLateColumns(proposal)).columns).toMatchObject([
      { name: "Email", target: "key" },
      { name: "Late", target: "Late", isNew: true, samples: ["late"] },
      { name: "Never", target: "ignore", isNew: false },
    ]);
  });

  it("says how full a column is, and whom one of consent leaves out", async () => {
    const { columns } = await propose("Email,Ort,Opt-In\na@x.org,Oslo,ja\nb@x.org,,nein\nc@x.org,Rom,\n");
    expect(columns).toMatchObject([
      { filled: 3, addresses: 3 },
      { filled: 2, addresses: 0, samples: ["Oslo", "Rom"] },
      { filled: 2, target: "consent", marked: 2, isSure: true },
    ]);
  });

  it("keeps what flags say, and asks nobody to confirm it", async () => {
    const { columns } = await propose("Email,Ort,Note\na@x.org,Oslo,x\n", [["ort", "Company"]]);
    expect(columns).toMatchObject([
      { target: "key", isSure: true },
      { target: "Company", isSure: true },
      { target: "Note", isNew: true, isSure: false },
    ]);
  });
});
