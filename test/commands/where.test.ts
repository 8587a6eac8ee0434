/** `--where`, `--since`: what is decided here, on the pages that the service's own filters leave. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import { done, type Ecm, ends, inputFile, readJson, refused, startSandbox, temporaryFolder } from "../kit.ts";

const news = { lists: ["News"], tags: ["VIP"] };
const contents: SeedData = {
  fields: ["City", "Age", "First-Name!", "a.b", "a-b", "key", "in", "Größe", "constructor"],
  contacts: [
    { key: "ada@example.com", fields: { City: "Oslo", Age: "36", "First-Name!": "Ada" }, ...news },
    { key: "bob@example.com", fields: { City: "Oslo", "First-Name!": "Bob" } },
    { key: "eve@example.com", fields: { City: "Rome", Age: "41" }, lists: ["News", "Old"], tags: ["VIP"] },
  ],
};
const withPeople = () => startSandbox({ contents });

/** The first letters of the keys that are found. */
async function found(ecm: Ecm, expression: string, more = ""): Promise<string> {
  const rows = await done(ecm(`export --where '${expression}' ${more} -o csv --columns ecm:key`));
  return rows.replace(/^.*\n/, "").replace(/^(.).*\n/gm, "$1");
}

describe("--where", () => {
  it("chooses by key, status, lists, tags, fields and times, by the names that people use", async () => {
    const { ecm } = await withPeople();
    const table: [expression: string, keys: string][] = [
      ['City == "Oslo"', "ab"],
      ['City == "Oslo" && "VIP" in tags', "a"],
      ['!("News" in lists)', "b"],
      ["size(lists) == 2", "e"],
      ['key.startsWith("e") || First_Name_ == "Bob"', "be"],
      ['fields["First-Name!"] == "" && fields.Age != ""', "e"],
      ['Age != "" && int(Age) > 36', "e"],
      // Keys are one in every letter case where they are compared as a whole, and texts elsewhere are not.
      ['!(key in ["ADA@example.com", "x"]) && key != "Bob@Example.com"', "e"],
      ['First_Name_ == "Ada" && fields["First-Name!"] + "@example.com" != key', "a"],
      ['key == "Eve@example.com" || key.startsWith("A") || City == "oslo"', "e"],
      // A built-in name wins over the field of that name.
      ['key == "ada@example.com" && fields["key"] == ""', "a"],
      ['fields["in"] == "" && fields["Größe"] == "" && fields["a.b"] == ""', "abe"],
      // A name that every object inherits is a label like others.
      ['constructor == "" && fields["constructor"] == ""', "abe"],
      ['createdAt > timestamp("2020-01-01T00:00:00Z") && createdAt <= updatedAt', "abe"],
      ['createdAt < timestamp("2020-01-01T00:00:00Z")', ""],
      // The service's letter case and the expression's do not matter.
      ['status == "Active" && substatus != "Unsubscribe"', "abe"],
      ['status in ["ACTIVE"]', "abe"],
      ['tags.exists(tag, tag.startsWith("V"))', "ae"],
      ['tags.exists(t, t == "VIP" || t == City) && ["Old", "News"].all(l, l in lists)', "e"],
      ['lists.exists(l, key == "x" || l == "Old") || lists == ["News"]', "ae"],
      ['!(substatus in ["unsubscribed", "BOUNCE"])', "abe"],
    ];
    for (const [expression, keys] of table) expect(await found(ecm, expression), expression).toBe(keys);
    expect(await found(ecm, 'City == "Oslo"', "--list News")).toBe("a");
    expect(await found(ecm, 'City == "Oslo"', "--key bob@example.com")).toBe("b");
    expect(await done(ecm(`contact search --where 'City == "Oslo"' --count`))).toBe("2\n");
    // Also where the key itself is not asked for.
    const several = "contact search --key ada@example.com --key bob@example.com";
    expect(await done(ecm(`${several} --where 'key.startsWith("a")' --count`))).toBe("1\n");
    expect(await done(ecm(`${several} --text bob -o id`))).toMatch(/^[0-9a-f]{24}\n$/);
    expect(await found(ecm, '"Old" in lists')).toBe("e");
  });

  it("names what is wrong and where, before a contact is read", async () => {
    const { ecm } = await withPeople();
    const table: [expression: string, ...words: string[]][] = [
      ["City == ", "Unexpected token", "(at the end)"],
      ['City = "Oslo"', "(at character 6:"],
      ['Cty == "Oslo"', 'Unknown name "Cty" (at character 1: Cty == "Oslo")', "Did you mean City?"],
      ["City", "is not a condition: its type is string"],
      ["City == 1", "string == int", "Fields are text"],
      ['createdAt > "2026"', "(at character 1:"],
      ['fields["Ciy"] == ""', 'No field is named "Ciy" (at character 8:', 'Did you mean "City"?'],
      ['"vip" in tags', 'No tag is named "vip" (at character 1:', 'Did you mean "VIP"?'],
      ['!("Nws" in lists)', 'No list is named "Nws"', 'Did you mean "News"?'],
      ['!tags.exists(t, t == "vip")', 'No tag is named "vip" (at character 22:', 'Did you mean "VIP"?'],
      ['lists.all(l, l != "News" && l != "Odl")', 'No list is named "Odl"', 'Did you mean "Old"?'],
      ['tags.exists(t, t in ["VIP", "vp"])', 'No tag is named "vp"'],
      ['size(tags) > 0 && tags[0] == "vip"', 'No tag is named "vip"'],
      ['lists != ["Nws"]', 'No list is named "Nws"'],
      ['status == "actve"', 'Did you mean "active"?'],
      ['!(status in ["unsubscribed", "inactive"])', "(at character 14: ", "Known: active, inactive"],
      ['a_b == ""', "can mean 2 fields", 'fields["a.b"] or fields["a-b"]'],
    ];
    for (const [expression, ...words] of table) {
      const said = await refused(ecm(["contact", "search", "--where", expression, "-v"]), 2);
      for (const word of words) expect(said, expression).toContain(word);
      expect(said).not.toContain("/search");
    }
    await refused(ecm("contact search --where (", { env: { ECM_BASE_URL: "http://127.0.0.1:9" } }), 2);
  });

  it("fails on a contact for which the expression has no value, and names it", async () => {
    const { ecm } = await withPeople();
    const said = ["for the contact bob@example.com", 'Age != "" && int(Age) > 30'];
    await ends(ecm("contact search --where 'int(Age) > 30' --all"), 2, ...said);
  });
});

it("--keys names contacts by key or id, also from standard input, and a file of nobody is nobody", async () => {
  const { ecm } = await withPeople();
  const { _id } = await readJson(ecm, "contact get bob@example.com");
  const stdin = `${_id}\nADA@example.com\nnobody@example.com\n`;
  const out = join(await temporaryFolder(), "out.csv");
  const write = ecm(`export --keys - --columns ecm:key --output-file ${out}`, { stdin });
  await ends(write, 0, `Wrote 2 contacts to ${out}\n`);
  const written = (await readFile(out, "utf8")).split("\n").sort().join(" ");
  expect(written).toBe(" ada@example.com bob@example.com ecm:key");
  expect(await done(ecm(`export --keys ${await inputFile("Email\n", "none.csv")} -o id`))).toBe("");
  const both = await inputFile("Email\nADA@example.com\neve@example.com\n", "keys.csv");
  expect(await found(ecm, 'City == "Rome"', `--keys ${both}`)).toBe("e");
  await refused(ecm(`export --keys ${both} --key ada@example.com`), 2);
});

it("export --since gives the contacts that were updated after a time", async () => {
  const { ecm } = await withPeople();
  const rows = async (since: string) =>
    (await done(ecm(`export --since ${since} -o id`))).split("\n").filter(Boolean).length;
  expect(await rows("1h")).toBe(3);
  expect(await rows("2020-01-01")).toBe(3);
  expect(await rows("2090-01-01T00:00:00Z")).toBe(0);
  await refused(ecm("export --since yesterday"), 2, '--since: "yesterday" is not a time');
});
