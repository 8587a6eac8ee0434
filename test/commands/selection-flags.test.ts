/** All flags that select contacts, combined at random, against a plain filter over the whole account. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { done, startSandbox, temporaryFolder } from "../kit.ts";
import { runs } from "../support/runs.ts";

interface Person {
  key: string;
  fields: Record<string, string>;
  lists: string[];
  tags: string[];
  status: string;
}

const lists = ["News", "A, B", "Old"];
const tags = ["VIP", "x;y"];
const statuses = ["Active", "Active", "Unsubscribe", "Bounce"];

/** Of every combination one, so that each condition meets people. */
const people: Person[] = Array.from({ length: 48 }, (_, index) => ({
  key: `${["ada", "Jürgen", "Bob"][index % 3]}${index}@${["x.org", "Example.com"][index % 2]}`,
  fields: { City: index % 4 ? ["Oslo", "São Paulo", "oslo"][index % 3]! : "" },
  lists: lists.filter((_list, bit) => (index >> bit) & 1),
  tags: tags.filter((_tag, bit) => (index >> (bit + 2)) & 1),
  status: statuses[(index >> 4) % 4]!,
}));

/** Flags, and for whom they hold. */
type Condition = [flags: string[], holds: (person: Person) => boolean];

const where = (expression: string, holds: Condition[1]): Condition => [["--where", expression], holds];
const isAny = (named: string[], own: string[]) => named.some((name) => own.includes(name));
const flag = (name: string, values: string[]) => values.flatMap((value) => [name, value]);
const some = (values: string[]) => fc.uniqueArray(fc.constantFrom(...values), { minLength: 1 });
const keys = people.map(({ key }) => key);
const toLower = (values: string[]) => values.map((value) => value.toLowerCase());

const conditions: fc.Arbitrary<Condition>[] = [
  fc
    .uniqueArray(fc.constantFrom(...keys, ...keys.map((key) => key.toUpperCase()), "no@x.org"), {
      minLength: 1,
      maxLength: 20,
    })
    .map((named) => [flag("--key", named), ({ key }) => toLower(named).includes(key.toLowerCase())]),
  some(lists).map((named) => [flag("--list", named), (person) => isAny(named, person.lists)]),
  some(tags).map((named) => [flag("--tag", named), (person) => isAny(named, person.tags)]),
  fc.constantFrom<Condition>(
    [["--status", "inactive"], ({ status }) => status !== "Active"],
    [["--status", "subscribed"], ({ status }) => status === "Active"],
    [["--status", "bounced"], ({ status }) => status === "Bounce"],
  ),
  fc.constantFrom<Condition>(
    where('City == "Oslo" || "A, B" in lists', (p) => p.fields.City === "Oslo" || p.lists.includes("A, B")),
    where('City == "" && !tags.exists(t, t == "VIP")', (p) => !p.fields.City && !p.tags.includes("VIP")),
    where('substatus != "Bounce" && size(lists) > 1', (p) => p.status !== "Bounce" && p.lists.length > 1),
  ),
  fc.constantFrom<Condition>(
    [["--text", "JURGEN sao"], (p) => p.key.startsWith("Jürgen") && p.fields.City === "São Paulo"],
    [["--text", "ada"], (p) => p.key.startsWith("ada")],
  ),
];

const upTo = (max: number) => fc.integer({ min: 1, max });
/** How what is found is read, and which part of it that gives. */
const reading = (line: string, ...part: [from?: number, to?: number]) => ({
  command: `${line} -o ndjson`.split(" "),
  part,
});
const readings = fc.oneof(
  fc.constant(reading("export")),
  upTo(60).map((size) => reading(`contact search --all --page-size ${size}`)),
  upTo(20).map((limit) => reading(`contact search --limit ${limit}`, 0, limit)),
  fc.tuple(upTo(4), upTo(20)).map(([page, size]) => {
    return reading(`contact search --page ${page} --page-size ${size}`, (page - 1) * size, page * size);
  }),
);

it("select whom a plain filter selects, however they are combined and read", async () => {
  const { ecm } = await startSandbox({ contents: { fields: ["City"], lists, tags, contacts: people } });
  const file = join(await temporaryFolder(), "keys.txt");
  const chosen = fc.tuple(...conditions.map((each) => fc.option(each, { freq: 2, nil: undefined })));
  await fc.assert(
    fc.asyncProperty(chosen, fc.boolean(), readings, async (given, isKeyFile, { command, part }) => {
      const wanted = given.filter((each) => each !== undefined);
      const found = people.filter((person) => wanted.every(([, holds]) => holds(person)));
      const named = given[0]?.[0].filter((word) => word !== "--key");
      if (named && isKeyFile) await writeFile(file, `${named.join("\n")}\n`);
      const readsFile = ([flag]: string[]) => isKeyFile && flag === "--key";
      const words = wanted.flatMap(([flags]) => (readsFile(flags) ? ["--keys", file] : flags));
      const stdout = await done(ecm([...command, ...words, "-q"]));
      const shown = stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line).key]));
      expect(shown, words.join(" ")).toEqual(found.slice(...part).map(({ key }) => key));
      const count = await ecm(["contact", "search", "--count", ...words, "-q"]);
      expect(count.stdout, words.join(" ")).toBe(`${found.length}\n`);
    }),
    { numRuns: runs(4) },
  );
});
