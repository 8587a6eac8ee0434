/** A dry run of a single command says what would happen before it shows the request. */
import { expect, it } from "vitest";
import { inputFile } from "../bulk/kit.ts";
import { startSandbox } from "../support/sandbox.ts";

it("of lists, contacts and structures", async () => {
  const { ecm } = await startSandbox();
  await ecm(["lists", "create", "Red"]);
  await ecm(["contact", "create", "--key", "ada@example.com", "--list", "Red"]);
  const said = async (...args: string[]) => {
    const { code, stdout, stderr } = await ecm([...args, "--dry-run"]);
    expect({ args, code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/api\//) });
    return stderr.split("\nrate-limit:")[0];
  };
  expect(await said("lists", "delete", "Red")).toBe(
    'Would delete the list "Red" (1 contact); the contacts stay\nDry run: this was not sent',
  );
  expect(await said("lists", "create", "Blue")).toMatch(/^Would create the list "Blue"\n/);
  expect(await said("lists", "rename", "Red", "Blue")).toMatch(/^Would rename the list "Red" to "Blue"\n/);
  expect(await said("contact", "create", "--key", " b@Example.com")).toMatch(
    /^Would create the contact b@example\.com\n/,
  );
  expect(await said("contact", "mutate", "ada@example.com", "--set", "First Name=Ada")).toMatch(
    /^Would change the contact ada@example\.com: ~ First Name {2}\(empty\) → Ada\n/,
  );
  expect(await said("contact", "unsubscribe", "ada@example.com")).toMatch(
    /^Would unsubscribe ada@example\.com\. This cannot be undone/,
  );
  expect(await said("contact", "delete", "ada@example.com")).toMatch(
    /^Would permanently delete the contact ada@example\.com\n/,
  );
  expect(await said("contact", "erase", "ada@example.com")).toMatch(
    /^Would change \d+ files? on this machine, and never create this person again\nWould permanently delete ada@/,
  );
  expect(await said("structure", "tag", "add", "VIP")).toMatch(
    /^Would change the structure "Default":\n\+ .*VIP/,
  );
});

it("gives the answer of the real command where nothing would change, and where it is refused", async () => {
  const { ecm, sandbox } = await startSandbox();
  sandbox.admin.seed({
    lists: ["Red"],
    tags: ["vip"],
    contacts: [
      { key: "ada@example.com", fields: { "First Name": "Ada" }, tags: ["vip"], lists: ["Red"] },
      { key: "gone@example.com", status: { primary: "Inactive", secondary: "Unsubscribe" } },
    ],
  });
  await ecm(["suppressions", "add", "never@example.com"]);
  const body = await inputFile('{"addTags":[]}', "body.json");
  const answers = async (...words: string[]) => {
    const results = [await ecm([...words, "--dry-run"]), await ecm([...words, "--yes"])];
    return results.map(({ code, stdout, stderr }) => ({
      code,
      stdout,
      said: stderr.replace(/^rate-limit:.*\n/m, "").replace(/^error: .*$/m, "error"),
    }));
  };
  for (const words of [
    ["contact", "mutate", "ada@example.com", "--set", "First Name=Ada", "--add-tag", "vip"],
    ["contact", "mutate", "ada@example.com", "--add-list", "Red", "--json"],
    ["contact", "mutate", "ada@example.com", "--add-list", "Red", "--fail-unchanged"],
    ["contact", "mutate", "ada@example.com", "--if-version", "7", "--add-tag", "vip"],
    ["contact", "mutate", "ada@example.com", "--data", body],
    ["contact", "mutate", "nobody@example.com", "--add-tag", "vip"],
    ["contact", "unsubscribe", "gone@example.com"],
    ["contact", "create", "--key", "ada@example.com"],
    ["contact", "create", "--key", "GONE@example.com"],
    ["contact", "create", "--key", "never@example.com"],
    ["lists", "create", "red"],
    ["lists", "create", "Red", "--if-missing"],
    ["lists", "rename", "Red", "Red"],
    ["lists", "delete", "Blue"],
    ["structure", "update", "--label", "Default"],
    ["structure", "tag", "add", "VIP"],
    ["structure", "tag", "rename", "vip", "vip"],
    ["structure", "field", "add", "first name"],
    ["structure", "field", "rename", "First Name", "First Name"],
  ]) {
    const [planned, done] = await answers(...words);
    expect(planned, words.join(" ")).toEqual(done);
    expect(planned?.said, words.join(" ")).not.toContain("Would");
  }
});
