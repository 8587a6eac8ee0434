/** A dry run of a single command says what would happen before it shows the request. */
import { expect, it } from "vitest";
import { inputFile, startSandbox } from "../kit.ts";

it("of lists, contacts and structures", async () => {
  const contacts = [{ key: "ada@example.com", lists: ["Red"] }];
  const { ecm } = await startSandbox({ contents: { contacts } });
  const said: [line: string, said: RegExp][] = [
    [
      "lists delete Red",
      /^Would delete the list "Red" \(1 contact\); the contacts stay\nDry run: this was not sent\nrate-limit:/,
    ],
    ["lists create Blue", /^Would create the list "Blue"\n/],
    ["lists rename Red Blue", /^Would rename the list "Red" to "Blue"\n/],
    ["contact create --key ' b@Example.com'", /^Would create the contact b@example\.com\n/],
    [
      "contact mutate ada@example.com --set 'First Name=Ada'",
      /^Would change the contact ada@example\.com: ~ First Name {2}\(empty\) → Ada\n/,
    ],
    ["contact unsubscribe ada@example.com", /^Would unsubscribe ada@example\.com\. This cannot be undone/],
    ["contact delete ada@example.com", /^Would permanently delete the contact ada@example\.com\n/],
    [
      "contact erase ada@example.com",
      /^Would change \d+ files? on this machine, and never create this person again\nWould permanently delete ada@/,
    ],
    ["structure tag add VIP", /^Would change the structure "Default":\n\+ .*VIP/],
  ];
  for (const [line, words] of said) {
    const { code, stdout, stderr } = await ecm(`${line} --dry-run`);
    expect([code, stdout], line).toEqual([0, expect.stringContaining("api/")]);
    expect(stderr).toMatch(words);
  }
});

it("gives the answer of the real command where nothing would change, and where it is refused", async () => {
  const contacts = [
    { key: "ada@example.com", fields: { "First Name": "Ada" }, tags: ["vip"], lists: ["Red"] },
    { key: "gone@example.com", status: "Unsubscribe" },
  ];
  const { ecm } = await startSandbox({ contents: { contacts } });
  await ecm("suppressions add never@example.com");
  const body = await inputFile('{"addTags":[]}', "body.json");
  const answer = async (line: string) => {
    const { code, stdout, stderr } = await ecm(line);
    const said = stderr.replace(/^rate-limit:.*\n/m, "").replace(/^error: .*$/m, "error");
    return { code, stdout, said };
  };
  for (const line of [
    "contact mutate ada@example.com --set 'First Name=Ada' --add-tag vip",
    "contact mutate ada@example.com --add-list Red --json",
    "contact mutate ada@example.com --add-list Red --fail-unchanged",
    "contact mutate ada@example.com --if-version 7 --add-tag vip",
    `contact mutate ada@example.com --data ${body}`,
    "contact mutate nobody@example.com --add-tag vip",
    "contact unsubscribe gone@example.com",
    "contact create --key ada@example.com",
    "contact create --key GONE@example.com",
    "contact create --key never@example.com",
    "lists create red",
    "lists create Red --if-missing",
    "lists rename Red Red",
    "lists delete Blue",
    "structure update --label Default",
    "structure tag add VIP",
    "structure tag rename vip vip",
    "structure field add 'first name'",
    "structure field rename 'First Name' 'First Name'",
  ]) {
    const planned = await answer(`${line} --dry-run`);
    expect(planned, line).toEqual(await answer(`${line} --yes`));
    expect(planned.said, line).not.toContain("Would");
  }
});
