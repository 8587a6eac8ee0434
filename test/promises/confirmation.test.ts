/**
 * What cannot be undone is not done unasked: without a terminal it needs `--yes`.
 * `every-command.test.ts` tries each command that always asks; here is what asks by what is typed.
 */
import { describe, expect, it } from "vitest";
import { describeCommandJson } from "../../src/commands/help/help-text.ts";
import { done, ecmWith, listWrites, readJson, refused, startSandbox, temporaryHome } from "../kit.ts";
import { loadLeaves } from "../support/command-tree.ts";

async function seeded() {
  const contacts = [{ key: "ada@example.com", lists: ["Leads"] }, { key: "bob@example.com" }];
  const { ecm, sandbox } = await startSandbox({ contents: { tags: ["vip"], contacts } });
  return { ecm, writes: () => listWrites({ sandbox }) };
}

describe("without a terminal and without --yes", () => {
  it("what cannot be undone is refused, and nothing is written", async () => {
    const { ecm, writes } = await seeded();
    const stdin = '{"status":{"primary":"Inactive","secondary":"Unsubscribe"}}';
    for (const line of [
      "contact unsubscribe ada@example.com bob@example.com",
      "contact unsubscribe --list Leads",
      "contact delete ada@example.com bob@example.com",
      "contact delete --list Leads",
      "api DELETE /api/contact/64f0c2a9e1b2c3d4e5f60718",
      "api delete /api/contact/64f0c2a9e1b2c3d4e5f60718",
      "api PATCH /api/contact/64f0c2a9e1b2c3d4e5f60718 --data -",
      "api PATCH /api/contact-structure/64f0c2a9e1b2c3d4e5f60718/lists/64f0c2a9e1b2c3d4e5f60719 -f name=New",
      "api PUT /api/contact-structure/64f0c2a9e1b2c3d4e5f60718 --data -",
    ]) {
      const stderr = await refused(ecm(`${line} --json`, { stdin }), 2);
      const { error } = JSON.parse(stderr.split("\n").find((each) => each.startsWith("{"))!);
      expect(error, line).toMatchObject({ type: "InputRequiredError", exitCode: 2 });
      expect(error.hint, line).toContain("--yes");
      if (line.startsWith("contact unsubscribe")) expect(error.message).toContain("cannot be undone");
      expect(writes(), line).toEqual([]);
    }
  });

  it("what can be undone, and what has its yes, goes on", async () => {
    const { ecm } = await seeded();
    const [bob] = await readJson(ecm, "contact search bob@example.com");
    await done(ecm("contact mutate --list Leads --add-tag vip"));
    await done(ecm("contact mutate ada@example.com --remove-tag vip"));
    await done(ecm("contact mutate --all --add-tag vip"));
    await done(ecm(`api DELETE /api/contact/${bob._id} --yes`));
    await done(ecm(`api POST /api/contact-structure/${bob.contactStructureId}/lists -f name=New`));
  });
});

it("--no-input at a terminal is named as what forbids to ask", async () => {
  const { ecm, writes } = await seeded();
  for (const line of [
    "lists delete Leads",
    "contact mutate --all --add-tag vip",
    "contact delete --list Leads",
  ])
    await refused(
      ecm(`${line} --no-input`, { terminalColumns: 100, env: { NO_COLOR: "1" } }),
      2,
      /^error: .*, and --no-input forbids questions$/m,
    );
  expect(writes()).toEqual([]);
});

it("the help of every command that asks says so, and so does the index for programs", async () => {
  const ecm = ecmWith(await temporaryHome());
  const asking: string[] = [];
  for (const { command, path } of await loadLeaves()) {
    const { confirmation } = describeCommandJson(command);
    const help = await done(ecm(`${path} --help`));
    expect(help.includes("it needs --yes"), path).toBe(confirmation !== undefined);
    if (confirmation) asking.push(path);
  }
  const byWhatIsTyped = ["api", "lists merge", "runs undo", "structure apply"];
  expect(asking).toEqual(expect.arrayContaining(byWhatIsTyped));
  expect(asking).not.toContain("contact get");
});
