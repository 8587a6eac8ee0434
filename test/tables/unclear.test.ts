/** What is unclear about the columns of a file is said at once, with the flags that settle each. */
import { expect, test } from "vitest";
import { formatHint } from "../../src/hint.ts";
import { read, readUnclear, refuses, structure } from "./reading.ts";

const text = `Mail,E-Mail-Adresse,Newsletter,Shoe Size,Permission,,Citty,Shoe Size
a@example.com,,yes,41,no,,Oslo,42
b@example.com,,no,,no,x,Bergen,
`;

test("each once, in one message and one hint", async () => {
  const { message, details } = await refuses(read(text), ":1: ");
  expect(message.replace(/^.*?:1: /, "").split("; ")).toEqual([
    '"Newsletter" may say who is subscribed, but its name does not say which way round: read as opt-in it leaves out 1 of 2 rows, as opt-out 1',
    '"Permission" may say who is subscribed, but its name does not say which way round: read as opt-in it leaves out 2 of 2 rows, as opt-out 0',
    '2 columns could be the key: "Mail", "E-Mail-Adresse"',
    '4 columns do not match any field: "Shoe Size", column 6, which has no name, "Citty", the second "Shoe Size" (column 8)',
  ]);
  expect(formatHint(details.hint!).split("\n")).toEqual([
    "Say how to read it: --consent-column Newsletter=opt-in if a yes means subscribed, --consent-column Newsletter=opt-out if a yes means not subscribed, or ignore it with --map Newsletter=ignore",
    'The same for "Permission": --consent-column Permission=opt-in, --consent-column Permission=opt-out, or --map Permission=ignore',
    "Say which one: --map Mail=key, and map the others to a field or to ignore",
    "Map each with --map 'Shoe Size=FIELD' or --map 'Shoe Size=ignore', or ignore them all with --ignore-unmapped",
  ]);
});

test.each([
  ["opt-in", [true, true]],
  ["opt-out", [true, false]],
])("the flags of each settle all of it: a yes is read as %s", async (reading, marked) => {
  const consentColumns = [`Newsletter=${reading}`, `Permission=${reading}`];
  const { rows } = await read(text, { map: [["Mail", "key"]], consentColumns, ignoreUnmapped: true });
  expect(rows.map(({ mark }) => mark !== undefined)).toEqual(marked);
});

test("what --ignore-unmapped passes over is not said, but consent and the key are", async () => {
  const { unclear } = await readUnclear(text, { ignoreUnmapped: true });
  expect(unclear.map(({ kind }) => kind)).toEqual(["consent", "consent", "key"]);
});

test("of a file of keys, consent and the key are said, and other columns are ignored", async () => {
  const options = { readsConsent: true, consentChoosesRows: true };
  const { unclear } = await readUnclear(text, options, structure, "keys");
  expect(unclear.map(({ kind }) => kind)).toEqual(["consent", "consent", "key"]);
  expect(unclear[0]?.hint).toContain("--all-rows");
});
