/** `import --unique FIELD`: who would be created with a value of somebody inactive is named, for no request more. */
import { describe, expect, it } from "vitest";
import { UniqueValues } from "../../src/bulk/jobs/unique-values.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { inputFile, manyContacts, parseSummary } from "./kit.ts";

const contacts = [
  { key: "ada@old.example", fields: { "First Name": "Ada", "Last Name": "C-1" } },
  { key: "bob@example.com", fields: { "First Name": "Bob", "Last Name": "C-2" } },
];
const rows =
  "Email,Last Name\nada@new.example,C-1\nbob@new.example,C-2\ncy@example.com,C-3\ndee@example.com,\n";

async function scene(more: typeof contacts = []): Promise<RunningSandbox> {
  const service = await startSandbox({ contents: { contacts: [...contacts, ...more] } });
  await service.ecm(["contact", "unsubscribe", "ada@old.example", "--yes"]);
  return service;
}

describe("import --unique", () => {
  it("names who would be created with the value of somebody inactive, before the price", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const file = await inputFile(rows);
    const plain = await service.ecm(["import", file, "--dry-run", "--json"]);
    const told = await service.ecm(["import", file, "--dry-run", "--json", "--unique", "Last Name"]);
    expect(told.code, told.stderr).toBe(0);
    expect(told.stderr).toContain("ada@new.example (line 2): Last Name C-1 is that of ada@old.example");
    expect(told.stderr).not.toContain("bob@new.example");
    expect(told.stderr.indexOf("unique value")).toBeLessThan(told.stderr.indexOf("A real run would"));
    expect(parseSummary(told).requests).toEqual(parseSummary(plain).requests);
    // Said, and nothing more.
    const done = await service.ecm(["import", file, "--json", "--unique", "Last Name"]);
    expect(parseSummary(done).rows).toMatchObject({ created: 4 });
  });

  it("says where it could not be checked, and refuses a field that does not exist", {
    tags: "slow",
  }, async () => {
    const service = await scene(manyContacts(20) as typeof contacts);
    const file = await inputFile("Email,Last Name\nada@new.example,C-1\n");
    const told = await service.ecm(["import", file, "--dry-run", "--unique", "Last Name"]);
    expect(told.stderr).toContain("--unique was not checked");
    const wrong = await service.ecm(["import", file, "--dry-run", "--unique", "Customer number"]);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('--unique: there is no field "Customer number"');
  });
});

it("knows a unique value with blanks around it, and in another letter case", () => {
  const values = new UniqueValues([{ _id: "f1", label: "Number" }]);
  const held = (key: string, value: string) =>
    values.add({ key, status: { primary: "Inactive" }, fields: [{ _id: "f1", value }] } as never);
  held("ada@old.example", "AB-1");
  held("bob@old.example", " ");
  const find = (value: string) => values.find({ fields: new Map([["f1", value]]) } as never)?.inactive;
  expect([" ab-1\u00a0", "AB-1", "AB-12", "", "  "].map(find)).toEqual([
    "ada@old.example",
    "ada@old.example",
    undefined,
    undefined,
    undefined,
  ]);
});
