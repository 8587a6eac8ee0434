/** What a terminal shows of a file's columns before an import. */
import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { inputFile, startSandbox } from "../kit.ts";

const content =
  'Email,Bemerkung zum Kunden im Haus,Telefon\nada@example.com,"met in May, when it rained",+49 30 123456\n';

it.each([40, 60, 80])("the columns have a line each in a window of %i columns", async (terminalColumns) => {
  const { ecm } = await startSandbox({ contents: { fields: ["Bemerkung zum Kunden im Haus"] } });
  const line = `import ${await inputFile(content)} --map Telefon=ignore --dry-run`;
  const { stderr } = await ecm(line, { terminalColumns });
  const lines = stripVTControlCharacters(stderr)
    .split(/[\r\n]+/)
    .filter((each) => !each.startsWith("Reading"));
  const begin = lines.findIndex((each) => each.startsWith("  Column"));
  const table = lines.slice(begin, begin + 4);
  const first = table.map((each) => each.trim().split(" ")[0]!.replace(/…$/, ""));
  expect(first).toEqual(["Column", "Email", "Bemerkung", "Telefon"]);
  expect(Math.max(...table.map((each) => each.length))).toBeLessThanOrEqual(terminalColumns);
});

it("the columns say of the key what the structure calls it", async () => {
  const { ecm } = await startSandbox();
  await ecm("structure update --key-name 'E-mail address'");
  const path = await inputFile("Mail,First Name\nada@example.com,Ada\n");
  const { stderr } = await ecm(`import ${path} --dry-run`, { terminalColumns: 80 });
  expect(stripVTControlCharacters(stderr)).toMatch(/Mail +E-mail address \(key\) +ada@example\.com/);
});
