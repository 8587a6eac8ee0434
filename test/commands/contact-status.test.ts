/**
 * `--status`: documented words in any letter case, people's words, and
 * no other; in every command that has the flag.
 */
import { describe, expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const people = {
  Active: "stays@example.com",
  Unsubscribe: "left@example.com",
  Bounce: "bounced@example.com",
  "Complaint-FBL": "complained@example.com",
};

function account(variants: Record<string, string> = {}): Promise<RunningSandbox> {
  const contacts = Object.entries(people).map(([status, key]) => ({ key, status }));
  return startSandbox({ variants, contents: { contacts } });
}

const gone = [people.Unsubscribe, people.Bounce, people["Complaint-FBL"]];
const found: [word: string, keys: string[]][] = [
  ["active", [people.Active]],
  ["ACTIVE", [people.Active]],
  ["confirmed", [people.Active]],
  ["Inactive", gone],
  ["Unsubscribe", [people.Unsubscribe]],
  ["unsubscribed", [people.Unsubscribe]],
  ["Unsubscribed", [people.Unsubscribe]],
  ["bounce", [people.Bounce]],
  ["bounced", [people.Bounce]],
  ["complaint-fbl", [people["Complaint-FBL"]]],
  ["complained", [people["Complaint-FBL"]]],
];

describe("--status", () => {
  it.each([{}, { literal: "yes" }])("finds those whom the word means, with %j", async (variants) => {
    const { ecm } = await account(variants as Record<string, string>);
    for (const [word, keys] of found) {
      const listed = await ecm(["contact", "search", "--status", word, "--columns", "key", "-o", "csv"]);
      expect(listed.stdout.trim().split(/\r?\n/).slice(1), word).toEqual(keys);
      const counted = await ecm(["contact", "search", "--status", word, "--count"]);
      expect(counted.stdout, word).toBe(`${keys.length}\n`);
      const exported = await ecm(["export", "--status", word, "--columns", "key"]);
      expect(exported.stdout.trim().split(/\r?\n/).slice(1), word).toEqual(keys);
    }
  });

  it("chooses the contacts of bulk changes", async () => {
    const { ecm } = await account();
    for (const [word, keys] of found) {
      const args = ["contact", "delete", "--status", word, "--dry-run", "--json"];
      expect(JSON.parse((await ecm(args)).stdout).rows, word).toMatchObject({ deleted: keys.length });
    }
    const marked = await ecm(
      "contact mutate --status bounced --set".split(" ").concat("First Name=X", "--json", "--yes"),
    );
    expect(JSON.parse(marked.stdout).rows).toMatchObject({ read: 1, updated: 1 });
  });

  it("refuses any other word with exit 2 and the words there are, and sends nothing", async () => {
    const { ecm, sandbox } = await account();
    const keys = await inputFile("stays@example.com\n", "keys.txt");
    for (const args of [
      ["contact", "search"],
      ["contact", "search", "--count"],
      ["export"],
      ["contact", "mutate", "--set", "First Name=X", "--yes"],
      ["contact", "mutate", "--keys", keys, "--set", "First Name=X", "--yes"],
      ["contact", "unsubscribe", "--yes"],
      ["contact", "delete", "--yes"],
    ]) {
      for (const word of ["Nope", "Unsub", "toString"]) {
        const result = await ecm([...args, "--status", word]);
        expect(result, args.join(" ")).toMatchObject({ code: 2, stdout: "" });
        expect(result.stderr).toContain(`--status: there is no status "${word}"`);
        expect(result.stderr).toContain("active, inactive, confirmed, unsubscribe, bounce, complaint-fbl");
        expect(result.stderr).toContain("--filter 'CONTACT_STATUS EQ STATUS'");
      }
    }
    expect(sandbox.admin.requests({})).toEqual([]);
  });

  it("leaves --filter to the service", async () => {
    const { ecm } = await account();
    const args = ["contact", "search", "--filter", "CONTACT_STATUS EQ Nope", "--count"];
    expect(await ecm(args)).toMatchObject({ code: 0, stdout: "0\n" });
  });
});
