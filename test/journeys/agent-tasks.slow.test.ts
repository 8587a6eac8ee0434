/**
 * Twelve tasks as an agent with nothing but a shell does them: wrong guesses first, each of which must lead
 * straight on. Judged by what the account holds in the end.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Result, temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const maxCommands = 30;
const maxWrongGuesses = 5;
const everything = "_id,key,contactStatus";
const byKey = (one: { key: string }, other: { key: string }) => one.key.localeCompare(other.key);

/** An agent: it reads JSON, asks nobody, and follows what an error says. */
async function startAgent() {
  const { ecm } = await startSandbox({ contents: { lists: ["News", "Old"], tags: ["vip"] } });
  const folder = await temporaryFolder();
  let commands = 0;
  let wrongGuesses = 0;
  const type = (words: string[]): Promise<Result> => {
    commands += 1;
    return ecm([...words, "--json", "--no-input"]);
  };
  return {
    folder,
    counted: () => ({ commands, wrongGuesses }),
    /** @returns what stdout says */
    async run(...words: string[]) {
      const { code, stdout, stderr } = await type(words);
      expect({ words, code, stderr: code === 0 ? "" : stderr }).toEqual({ words, code: 0, stderr: "" });
      return stdout === "" ? undefined : JSON.parse(stdout);
    },
    /** @returns the exit code and the summary of a run that is not done with 0 */
    async runTo(code: number, ...words: string[]) {
      const result = await type(words);
      expect({ words, code: result.code }).toEqual({ words, code });
      return JSON.parse(result.stdout);
    },
    /** A guess that is wrong: the next command is the one of the hint, word by word. */
    async guess(...wrong: string[]) {
      wrongGuesses += 1;
      const refused = await type(wrong);
      expect(refused.code, wrong.join(" ")).toBe(2);
      const errorLine = refused.stderr.split("\n").find((line) => line.startsWith('{"error"'))!;
      const { hint } = JSON.parse(errorLine).error;
      const right = followHint(hint, wrong);
      const result = await type(right);
      expect(result, right.join(" ")).toMatchObject({ code: 0 });
      return JSON.parse(result.stdout);
    },
  };
}

/**
 * What the hint says to type: a whole command, or a flag in place of the one that is refused. A word in
 * capitals stands for what was typed.
 */
function followHint(hint: string, typed: string[]): string[] {
  const value = typed.at(-1)!;
  const words = hint
    .replace(/^Use: /, "")
    .split(" ")
    .map((word) => (/^[A-Z-]+$/.test(word) ? value : word));
  if (words[0] === "ecm") return words.slice(1);
  const refusedFlag = typed.findIndex((word) => word.startsWith("--"));
  return [...typed.slice(0, refusedFlag), ...words];
}

it("takes at most 30 commands and 5 wrong guesses, and every wrong guess leads straight on", async () => {
  const { run, runTo, guess, folder, counted } = await startAgent();
  const file = join(folder, "people.csv");

  // 1. What can be done here?
  expect((await run("commands")).commands.length).toBeGreaterThan(60);

  // 2. A field for the city.
  await run("structure", "field", "add", "City");

  // 3. Import a file, and know beforehand what happens.
  await writeFile(file, "Email,City\nada@example.com,Paris\nbob@example.com,\nnobody,Rome\n");
  const dry = await runTo(3, "import", file, "--list", "News", "--dry-run");
  expect(dry).toMatchObject({ status: "dry-run", rows: { created: 2, rejected: 1 } });
  const imported = await runTo(3, "import", file, "--list", "News");
  expect(imported.rows).toMatchObject({ created: 2, rejected: 1 });

  // 4. Mend the row that was rejected.
  const mended = join(folder, "mended.csv");
  await writeFile(mended, (await readFile(imported.rejects, "utf8")).replace("nobody", "cy@example.com"));
  expect((await run("import", mended, "--list", "News")).rows.created).toBe(1);

  // 5. Who is in the list?
  expect(await guess("lists", "members", "News")).toHaveLength(3);
  expect(await run("contact", "search", "--list", "News", "--count")).toBe(3);

  // 6. Read one person.
  expect((await guess("get", "ada@example.com")).key).toBe("ada@example.com");

  // 7. Give a city to those who have none, after a look at the plan.
  const plan = join(folder, "plan.ndjson");
  const selection = ["contact", "mutate", "--list", "News", "--where", 'City == ""', "--set", "City=Oslo"];
  expect((await run(...selection, "--dry-run", "--plan", plan)).rows.updated).toBe(1);
  expect((await run("apply", plan)).rows.updated).toBe(1);

  // 8. A tag for all of Oslo, and back again.
  const tagged = ["contact", "mutate", "--where", 'City == "Oslo"', "--add-tag", "vip"];
  expect((await run(...tagged)).rows.updated).toBe(1);
  expect((await run("runs", "undo", "last")).rows.updated).toBe(1);

  // 9. One person to another list.
  await run("contact", "mutate", "cy@example.com", "--add-list", "Old", "--remove-list", "News");

  // 10. Somebody wants no more mails.
  await run("contact", "unsubscribe", "bob@example.com", "--yes");
  const [bob] = await guess("contact", "search", "--email", "bob@example.com");
  expect(bob.key).toBe("bob@example.com");

  // 11. Somebody wants to be forgotten, and proof of it.
  await run("contact", "erase", "ada@example.com", "--yes");
  await run("suppressions", "check", "ada@example.com");

  // 12. Rename a list, and keep a copy of who is left.
  await run("lists", "rename", "Old", "Archive");
  const copy = join(folder, "copy.json");
  await run("export", "--output-file", copy);

  const { commands, wrongGuesses } = counted();
  expect(commands).toBeLessThanOrEqual(maxCommands);
  expect(wrongGuesses).toBeLessThanOrEqual(maxWrongGuesses);
  // The account in the end.
  const [bob2, cy, ...others] = (await run("contact", "search", "--all", "--source", everything)).sort(byKey);
  expect(others).toEqual([]);
  expect(bob2).toMatchObject({ key: "bob@example.com", contactStatus: "Inactive" });
  expect(cy.key).toBe("cy@example.com");
  const lists: { name: string; totalContacts: number }[] = await run("lists", "list");
  expect(lists.map(({ name, totalContacts }) => [name, totalContacts]).sort()).toEqual([
    ["Archive", 1],
    ["News", 1],
  ]);
  expect(await run("contact", "search", "--tag", "vip", "--count")).toBe(0);
  expect(await run("contact", "search", "--where", 'City == "Oslo"', "--count")).toBe(1);
  expect(await readFile(copy, "utf8")).not.toContain("ada@example.com");
});
