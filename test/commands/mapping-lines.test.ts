import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

const content = [
  "Email,Bemerkung zum Kunden im Haus,Telefon",
  'ada@example.com,"met in May, when it rained",+49 30 123456',
  "",
].join("\n");

describe("the columns of a file", () => {
  it.each([40, 60, 80])("have a line each in a window of %i columns", async (terminalColumns) => {
    const { ecm } = await startSandbox();
    const label = "Bemerkung zum Kunden im Haus";
    await ecm(["structure", "field", "add", label]);
    const path = await inputFile(content);
    const { stderr } = await ecm(["import", path, "--map", "Telefon=ignore", "--dry-run"], {
      terminalColumns,
    });
    const lines = stripVTControlCharacters(stderr)
      .split(/[\r\n]+/)
      .filter((line) => !line.startsWith("Reading"));
    const begin = lines.findIndex((line) => line.startsWith("  Column"));
    const table = lines.slice(begin, begin + 4);
    expect(table.map((line) => line.trim().split(" ")[0]!.replace(/…$/, ""))).toEqual([
      "Column",
      "Email",
      "Bemerkung",
      "Telefon",
    ]);
    expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(terminalColumns);
  });

  it("say of the key what the structure calls it", async () => {
    const { ecm } = await startSandbox();
    await ecm(["structure", "update", "--key-name", "E-mail address"]);
    const path = await inputFile("Mail,First Name\nada@example.com,Ada\n");
    const { stderr } = await ecm(["import", path, "--dry-run"], { terminalColumns: 80 });
    expect(stripVTControlCharacters(stderr)).toMatch(/Mail +E-mail address \(key\) +ada@example\.com/);
  });
});
