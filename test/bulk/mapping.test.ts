/** Mapping files and constants in whole imports: what is written, planned, resumed and refused. */
import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { inputFile, refused, startAccount } from "../kit.ts";

const accountWith = (...fields: string[]) => startAccount({ contents: { fields } });
const mappingFile = (text: string) => inputFile(text, "mapping.yaml");

it("--set writes the same value for every row", async () => {
  const { ecm, run, fieldsOf } = await accountWith("Source");
  await ecm("contact create --key a@example.com");
  const file = await inputFile("Email\na@example.com\nb@example.com\n");
  const command = `import ${file} --set source=Expo=2026`;
  expect((await run(command)).rows).toMatchObject({ updated: 1, created: 1 });
  for (const key of ["a@example.com", "b@example.com"])
    expect(await fieldsOf(key)).toEqual({ Source: "Expo=2026" });
  expect((await run(command)).rows).toMatchObject({ unchanged: 2 });
});

it("--set takes the place of a column of the field's name, and wins over one that is mapped there", async () => {
  const { importing, fieldsOf } = await accountWith("Source");
  await importing("Email,Source\na@example.com,web\n", "--set source=Expo");
  expect(await fieldsOf("a@example.com")).toEqual({ Source: "Expo" });
  await importing("Email,Quelle\na@example.com,web\n", "--map Quelle=Source --set Source=Fair");
  expect(await fieldsOf("a@example.com")).toEqual({ Source: "Fair" });
});

it.each([
  ["--set Source", '--set: "Source" is not FIELD=VALUE'],
  ["--set Nowhere=x", 'there is no field "Nowhere"'],
])("%s is refused", async (flags, message) => {
  const { ecm } = await accountWith("Source");
  await refused(ecm(`import ${await inputFile("Email\na@example.com\n")} ${flags}`), 2, message);
});

const csv = "Email,City\na@example.com,oslo\nb@example.com,rom\n";

it("a mapping that is wrong stops before a request", async () => {
  const { ecm, sandbox } = await accountWith("City");
  const mapping = await mappingFile("City: { target: City, date: DD.MM.YYYY }");
  await refused(ecm(`import ${await inputFile(csv)} --mapping ${mapping}`), 2, `${mapping}:1`);
  expect(sandbox.admin.requests()).toEqual([]);
});

it("a mapping that has changed is another run; the run that stopped goes on as it began", async () => {
  const { ecm, run, fieldsOf } = await accountWith("City", "Town");
  const mapping = await mappingFile("City: Town\n");
  const command = `import ${await inputFile(csv)} --mapping ${mapping}`;
  const stopped = await run(`${command} --max-requests 3`);
  expect(stopped.code).toBe(7);
  await writeFile(mapping, "City: City\n");
  expect((await run(`${command} --dry-run`)).run).not.toBe(stopped.run);
  await ecm(`runs resume ${stopped.run}`);
  const fields = [await fieldsOf("a@example.com"), await fieldsOf("b@example.com")];
  expect(fields).toEqual([{ Town: "oslo" }, { Town: "rom" }]);
  expect((await run(command)).rows.updated).toBe(2);
  expect(await fieldsOf("a@example.com")).toEqual({ City: "oslo", Town: "oslo" });
});
