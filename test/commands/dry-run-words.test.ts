/** A dry run of a single command says what would happen before it shows the request. */
import { expect, it } from "vitest";
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
    /^Would change the contact ada@example\.com: set "First Name=Ada"\n/,
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
