/** What is typed as a contact's key: one rule in every command. */
import { expect, it } from "vitest";
import { done, inputFile, listWrites, readJson, refused, startSandbox } from "../kit.ts";

const accented = "jörg@example.com";

it("accented letters before the @ are refused by create and by import, before a write; --data sends them", async () => {
  const { ecm, sandbox } = await startSandbox();
  const said = "accented letters before the @, which the service's own addresses do not have";
  const create = `contact create --key ${accented}`;
  for (const line of [create, `${create} --dry-run`])
    await refused(ecm(line), 2, said, /^hint: .*--data FILE/m);
  expect(sandbox.admin.requests()).toEqual([]);
  const imported = await ecm(`import ${await inputFile(`Email\n${accented}\nok@example.com\n`)} --json`);
  expect(JSON.parse(imported.stdout).rows).toMatchObject({ created: 1, rejected: 1 });
  const { contactStructureId } = await readJson(ecm, "contact get ok@example.com");
  const stdin = JSON.stringify({ key: accented, contactStructureId });
  await done(ecm("contact create --data -", { stdin }));
  // Such a contact can be asked for and looked after as any other.
  for (const line of ["contact get KEY", "suppressions add KEY", "contact unsubscribe KEY --yes"])
    await done(ecm(line.replace("KEY", accented)));
});

const strict = ["suppressions add", "suppressions check", "contact erase --yes", "contact dossier"];
const changing = ["contact mutate --add-tag vip", "contact unsubscribe --yes", "contact delete --yes"];

it("no command takes a file for a key, nor a word or several addresses where keys are addresses", async () => {
  const { ecm, sandbox } = await startSandbox({ contents: { tags: ["vip"] } });
  const file = await inputFile("ada@example.com\n", "sup.txt");
  for (const line of [...strict, ...changing, "contact search --key", "export --key"])
    await refused(ecm(`${line} ${file}`), 2, "is a file, not the key of a contact", "--keys");
  expect(sandbox.admin.requests()).toEqual([]);
  for (const line of strict) await refused(ecm(`${line} sup.txt`), 2);
  for (const key of ["none", "a@b@c.com", "two@example.com, more@example.com", "sup.txt"])
    await refused(ecm(["contact", "create", "--key", key]), 2);
  expect(listWrites({ sandbox })).toEqual([]);
  expect(await readJson(ecm, "suppressions list")).toEqual([]);
});
