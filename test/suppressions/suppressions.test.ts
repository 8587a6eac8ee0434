/** A suppression list is believed only whole, and only as it was written. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { readSuppressionList, Suppressions } from "../../src/suppressions/suppressions.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { runs } from "../support/runs.ts";

async function createList(...keys: string[]) {
  const file = join(await temporaryFolder(), "list.txt");
  const list = new Suppressions(file);
  await list.add(keys, 0);
  return { file, list, text: await readFile(file, "latin1") };
}

const three = ["ada@example.com", "bob@example.com", "carl@example.com"];

it("a suppression list is refused after any cut and after any change of a byte", async () => {
  const { file, text } = await createList(...three);
  const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));
  const place = fc.integer({ min: 0, max: text.length - 1 });
  await fc.assert(
    fc.asyncProperty(place, byte, fc.boolean(), async (at, other, isCut) => {
      fc.pre(isCut || other !== text[at]);
      const rest = isCut ? "" : other + text.slice(at + 1);
      await writeFile(file, text.slice(0, at) + rest, "latin1");
      expect(() => readSuppressionList(file)).toThrow(/^Cannot trust the suppression list /);
    }),
    { numRuns: runs(60) },
  );
});

const former = `ecm-suppressions 1 ${"0".repeat(64)}\n+${"a".repeat(64)} 2026-01-01T00:00:00.000Z\n`;
const secret = (whole: string) => whole.split(" ")[2]!;
const foreign = ":1: it does not begin as a suppression list does";
it.each<[string, (text: string, other: string) => string, string]>([
  ["lacks a record", (text) => text.slice(0, -91), ":4: the file is cut off: 2 of 3 records are left"],
  ["lacks its last byte", (text) => text.slice(0, -1), ": the file is cut off: 2 of 3 records are left"],
  ["is empty", () => "", ":1: the file is empty"],
  ["has more in it", (text) => `${text}garbage\n`, ":5: the line is damaged"],
  ["has another's key", (text, other) => text.replace(secret(text), secret(other)), "key of another list"],
  [
    "is of a later version",
    (text) => text.replace("ns 1", "ns 2"),
    "another version of ecm wrote it (version 2",
  ],
  ["is of a former version", () => former, foreign],
  ["is of no version", (text) => text.slice(text.indexOf("\n") + 1), foreign],
])("a list that %s says so, with its place, and is not taken for empty", async (_name, change, words) => {
  const { file, text } = await createList(...three);
  await writeFile(file, change(text, (await createList(...three)).text), "latin1");
  const said = { kind: "suppressions", message: expect.stringContaining(words) };
  expect(() => new Suppressions(file)).toThrow(expect.objectContaining(said));
  expect(() => new Suppressions(file)).toThrow(file);
});

it("a suppression list forgets who is removed, and finds who is added, also as another process sees it", async () => {
  const { file, list } = await createList(...three);
  const other = new Suppressions(file);
  expect(await list.remove(["ADA@example.com", "nobody@example.com"])).toBe(1);
  expect(await other.add(["dora@example.com", "bob@example.com"], 0)).toMatchObject({ added: 1 });
  for (const each of [list, other, new Suppressions(file)]) {
    const names = ["ada", "bob", "carl", "dora"].filter((name) => each.hasNow(`${name}@example.com`));
    expect(names).toEqual(["bob", "carl", "dora"]);
  }
  expect(await readFile(file, "utf8")).not.toContain("example");
});
