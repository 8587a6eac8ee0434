import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { call, manyContacts } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { firstQuick } from "../support/first-quick.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

/** An account with thirty contacts, a tag and a list, and one who unsubscribed. */
async function account(variants: Record<string, string> = {}): Promise<RunningSandbox> {
  const contacts = manyContacts(30).map((each, index) => ({
    ...each,
    tags: ["Guild"],
    status: index === 7 ? "Unsubscribe" : "Active",
  }));
  return startSandbox({ variants, contents: { lists: ["Guild"], contacts } });
}

async function probed({ ecm }: RunningSandbox, ...words: string[]) {
  const file = join(await temporaryFolder(), "probe.json");
  const result = await ecm(["probe", "--save", file, "--json", ...words]);
  expect(result.code, result.stderr).toBe(0);
  const text = await readFile(file, "utf8");
  return { ...result, file, text, saved: JSON.parse(text) };
}

const played: Record<string, string>[] = [
  { keys: "refused", page: "cap:10", lists: "array", structures: "slim", status: "object" },
  { keys: "first", "max-keys": "25", "key-case": "exact", inactive: "hidden" },
  { page: "refuse:250", "mutate-elements": "id", "mutate-answer": "empty", noop: "NothingToDoError" },
  { source: "specified", columns: "specified" },
  { source: "common" },
  { "max-keys": "50", "mutate-answer": "other", "hourly-headers": "missing", "mutate-elements": "object" },
];

describe("ecm probe", () => {
  firstQuick(2)(played)("finds out what the service plays: %o", async (variants) => {
    const running = await account(variants);
    const { saved, stderr, stdout } = await probed(running, "--write", "-y");
    const { "max-keys": most, ...others } = variants;
    expect(saved.variants).toMatchObject(others);
    // Halved from a hundred: the greatest number that was tried and taken.
    if (most) expect(Number(saved.variants["max-keys"])).toBeLessThanOrEqual(Number(most));
    expect(Number(/^(\d+) reads/m.exec(stderr)?.[1])).toBeLessThanOrEqual(12);
    expect(JSON.parse(stdout)[0]).toEqual({
      point: "several keys in one search",
      documented: "not said",
      seen: expect.any(String),
      does: expect.any(String),
    });
    const { stdout: count } = await running.ecm(["contact", "search", "--count"]);
    expect(count).toBe(variants.inactive === "hidden" ? "29\n" : "30\n");
    await startSandbox({ variants: saved.variants });
  });

  it("finds out that the service is what its specification shows, and creates nobody it could not delete", {
    tags: "slow",
  }, async () => {
    const running = await account({ literal: "yes" });
    const { saved, stderr } = await probed(running, "--write", "-y");
    expect(saved.variants).toMatchObject({ literal: "yes", source: "specified", columns: "specified" });
    expect(stderr).toContain("--write was left out");
    expect(Number(/^(\d+) reads/m.exec(stderr)?.[1])).toBeLessThanOrEqual(12);
    expect((await running.ecm(["contact", "search", "--count"])).stdout).toBe("30\n");
    expect((await running.ecm(["doctor", "-o", "tsv"])).stdout).toMatch(
      /names that a search can ask for: the members of a contact in the specification; .*LIST_ID is refused/,
    );
    await startSandbox({ variants: saved.variants });
  });

  it("keeps what it found out for the next command, and doctor shows it", async () => {
    const running = await account({ keys: "refused" });
    await probed(running);
    const { stdout } = await running.ecm(["doctor", "-o", "tsv"]);
    expect(stdout).toMatch(
      /pass\tbehavior\tlearned about .*several keys in one search: not as values of one condition/,
    );
  });

  it("saves nobody's address, id, name or value, and one stand-in for each", async () => {
    const running = await account();
    const { text, file, saved } = await probed(running, "--write", "-y");
    const [structure] = await call<{ _id: string }[]>(running, "GET", "/api/contact-structure");
    for (const secret of [
      /p\d+@example/i,
      /First \d/,
      /Guild/i,
      /ecm-probe-\w/i,
      structure!._id,
      running.apiKey,
    ]) {
      expect(text).not.toMatch(secret);
    }
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const searches = saved.exchanges.filter((each: { path: string }) => each.path === "/api/contact/search");
    const ids = new Set(
      searches.map((each: { body: { contactStructureId: string } }) => each.body.contactStructureId),
    );
    expect(ids.size).toBe(1);
    expect([...ids][0]).toMatch(/^[0-9a-f]{24}$/);
  });

  it("writes nothing without --write, and asks before it does", { tags: "slow" }, async () => {
    const running = await account();
    await running.ecm(["probe"]);
    await running.ecm(["probe", "--write", "--dry-run"]);
    expect((await running.ecm(["probe", "--write"])).code).toBe(2);
    const refused = await running.ecm(["probe", "--write", "-y", "--read-only"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("read-only")]);
    const created = ["events", "--type", "contact-created", "--json", "--all"];
    expect(JSON.parse((await running.ecm(created)).stdout)).toEqual([]);
    await running.ecm(["probe", "--write", "-y"]);
    expect(JSON.parse((await running.ecm(created)).stdout)).not.toEqual([]);
  });

  it("works in an account where nobody is", async () => {
    const running = await startSandbox();
    const { saved } = await probed(running);
    expect(saved.variants).toMatchObject({ lists: "records", structures: "whole" });
    expect(saved.variants.keys).toBeUndefined();
  });
});
