/** A plan says what lists, tags and fields are called; under other names it is not carried out. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inputFile, parseSummary } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

async function account() {
  const running = await startSandbox();
  running.sandbox.admin.seed({
    fields: ["City", "Note"],
    lists: ["L2", "Other"],
    tags: ["VIP"],
    contacts: [{ key: "ada@example.com" }, { key: "bob@example.com" }],
  });
  const writes = () =>
    running.sandbox.admin
      .requests()
      .filter(
        ({ method, path }) => method !== "GET" && !path.endsWith("/search") && path.includes("/contact/"),
      );
  return { ...running, writes };
}

const changes = [
  {
    flags: ["--add-list", "L2"],
    rename: ["lists", "rename", "L2", "Never mail"],
    words: ['the list "L2"', '"Never mail"'],
  },
  {
    flags: ["--set", "City=Bergen"],
    rename: ["structure", "field", "rename", "City", "Town"],
    words: ['the field "City"', '"Town"'],
  },
  {
    flags: ["--add-tag", "VIP"],
    rename: ["structure", "tag", "rename", "VIP", "Spam"],
    words: ['the tag "VIP"', '"Spam"'],
  },
];

describe.each(changes)("where $rename ran since", ({ flags, rename, words }) => {
  it("apply refuses the plan before a write, with both names", async () => {
    const { ecm, writes } = await account();
    const plan = join(await temporaryFolder(), "plan.ndjson");
    await ecm(["contact", "mutate", "--all", ...flags, "--dry-run", "--plan", plan]);
    expect((await ecm(rename)).code).toBe(0);
    const refused = await ecm(`apply ${plan} --yes`);
    expect(refused.code).toBe(2);
    for (const word of words) expect(refused.stderr).toContain(word);
    expect(writes()).toEqual([]);
  });

  it("so does the resume of a run", async () => {
    const { ecm, writes } = await account();
    const stopped = await ecm(["contact", "mutate", "--all", ...flags, "--yes", "--max-requests", "3"]);
    expect(stopped.code, stopped.stderr).toBe(7);
    const before = writes().length;
    expect((await ecm(rename)).code).toBe(0);
    const refused = await ecm("runs resume last --yes");
    expect(refused.code).toBe(2);
    for (const word of words) expect(refused.stderr).toContain(word);
    expect(writes()).toHaveLength(before);
  });
});

it("names that the plan does not speak of may change", async () => {
  const { ecm } = await account();
  const plan = join(await temporaryFolder(), "plan.ndjson");
  const file = await inputFile("Email,City\nada@example.com,Rome\nnew@example.com,Oslo\n");
  await ecm(`import ${file} --list L2 --dry-run --plan ${plan}`);
  await ecm("lists rename Other Else");
  await ecm("structure field rename Note Remark");
  const applied = await ecm(`apply ${plan} --yes --json`);
  expect(parseSummary(applied).rows).toMatchObject({ created: 1, updated: 1 });
});
