/** What is unclear about the columns of a file is said at once, with the flags that settle each. */
import { describe, expect, test } from "vitest";
import type { Unclear } from "../../src/tables/columns/unclear.ts";
import type { ReadOptions } from "../../src/tables/rows.ts";
import { understandInput } from "../../src/tables/understand.ts";
import { catchFailure, fileWith, read, readUnclear, structure, toInputFile } from "./reading.ts";

const text = `Mail,E-Mail-Adresse,Newsletter,Shoe Size,Permission,,Citty,Shoe Size
a@example.com,,yes,41,no,,Oslo,42
b@example.com,,no,,no,x,Bergen,
`;

async function unclearIn(file: string, options: Partial<ReadOptions> = {}): Promise<readonly Unclear[]> {
  return (await readUnclear(file, options)).unclear;
}

test("as data: consent, the key and what matches no field", async () => {
  const unclear = await unclearIn(text);
  expect(unclear).toEqual([
    {
      kind: "consent",
      column: "Newsletter",
      readings: { rows: 2, optIn: 1, optOut: 1 },
      settledBy: [
        ["--consent-column", "Newsletter=opt-in"],
        ["--consent-column", "Newsletter=opt-out"],
        ["--map", "Newsletter=ignore"],
      ],
    },
    expect.objectContaining({ kind: "consent", column: "Permission" }),
    {
      kind: "key",
      columns: ["Mail", "E-Mail-Adresse"],
      keyName: "Email",
      ignoresOthers: false,
      settledBy: [["--map", "Mail=key"]],
    },
    {
      kind: "unmapped",
      columns: [
        { name: "Shoe Size", place: 4, isRepeated: false },
        { name: "", place: 6, isRepeated: false },
        { name: "Citty", place: 7, isRepeated: false, near: "City" },
        { name: "Shoe Size", place: 8, isRepeated: true },
      ],
      settledBy: [
        ["--map", "Shoe Size=ignore"],
        ["--map", "Citty=ignore"],
        ["--map", "Shoe Size=ignore"],
        ["--ignore-unmapped"],
      ],
    },
  ]);
});

test("in words: each once, in one message and one hint", async () => {
  const { message, hint } = await catchFailure(read(text));
  expect(message.replace(/^.*?:1: /, "").split("; ")).toEqual([
    '"Newsletter" may say who is subscribed, but its name does not say which way round: read as opt-in it leaves out 1 of 2 rows, as opt-out 1',
    '"Permission" may say who is subscribed, but its name does not say which way round: read as opt-in it leaves out 2 of 2 rows, as opt-out 0',
    '2 columns could be the key: "Mail", "E-Mail-Adresse"',
    '4 columns do not match any field: "Shoe Size", column 6, which has no name, "Citty" (like the field "City"?), the second "Shoe Size" (column 8)',
  ]);
  expect(hint?.split("\n")).toEqual([
    "Say how to read it: --consent-column Newsletter=opt-in if a yes means subscribed, --consent-column Newsletter=opt-out if a yes means not subscribed, or ignore it with --map Newsletter=ignore",
    'The same for "Permission": --consent-column Permission=opt-in, --consent-column Permission=opt-out, or --map Permission=ignore',
    "Say which one: --map Mail=key, and map the others to a field or to ignore",
    "Map each with --map 'Shoe Size=FIELD' or --map 'Shoe Size=ignore', or ignore them all with --ignore-unmapped",
  ]);
});

describe("the flags of each settle all of it", () => {
  test.each(["opt-in", "opt-out"])("read as %s", async (reading) => {
    const unclear = await unclearIn(text);
    const flags = unclear.flatMap(({ kind, settledBy }) =>
      kind === "consent" ? settledBy.filter(([, value]) => value?.endsWith(`=${reading}`)) : settledBy,
    );
    const values = (name: string) => flags.flatMap(([flag, value]) => (flag === name ? [value!] : []));
    const { rows } = await read(text, {
      map: new Map(values("--map").map((each) => each.split("=") as [string, string])),
      consentColumns: values("--consent-column"),
      ignoreUnmapped: flags.some(([flag]) => flag === "--ignore-unmapped"),
    });
    expect(rows.map(({ notSubscribed }) => notSubscribed !== undefined)).toEqual(
      reading === "opt-in" ? [true, true] : [true, false],
    );
  });
});

test("what --ignore-unmapped passes over is not said, but consent and the key are", async () => {
  const kinds = (await unclearIn(text, { ignoreUnmapped: true })).map(({ kind }) => kind);
  expect(kinds).toEqual(["consent", "consent", "key"]);
});

test("of a file of keys, consent and the key are said, and other columns are ignored", async () => {
  const options = { map: new Map<string, string>(), readsConsent: true, consentChoosesRows: true };
  const found = await understandInput("keys", toInputFile(await fileWith(text)), options, structure);
  const unclear = "unclear" in found ? found.unclear : [];
  expect(unclear.map(({ kind }) => kind)).toEqual(["consent", "consent", "key"]);
  expect(unclear[0]?.settledBy).toContainEqual(["--all-rows"]);
});

test("columns that are listed already, since none has the key, are not listed again", async () => {
  const { message } = await catchFailure(read("Name,Size\nAda,39\n"));
  expect(message).toMatch(
    /: no key column \(Email\) found; columns: "Name", "Size"; none of them matches a field$/,
  );
  const some = await catchFailure(read("City,Size\nOslo,39\n"));
  expect(some.message).toMatch(/columns: "City", "Size"; 1 column does not match any field: "Size"$/);
});
