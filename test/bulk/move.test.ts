/**
 * `ecm contact move`: the person keeps what they have, and nobody who left is written to under another key.
 */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findStatus } from "../../src/api/contacts.ts";
import type { SeedData } from "../../src/sandbox/public-types.ts";
import type { Contact } from "../../src/wire.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { firstQuick } from "../support/first-quick.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";
import { call, parseSummary, readContacts } from "./kit.ts";

const old = "ada@old.example";
const next = "ada@new.example";

const contents: SeedData = {
  lists: ["News"],
  tags: ["VIP"],
  contacts: [
    { key: old, fields: { "First Name": "Ada", "Last Name": "L" }, lists: ["News"], tags: ["VIP"] },
    { key: "bob@example.com", fields: { "First Name": "Bob" } },
  ],
};

async function scene(options: Parameters<typeof startSandbox>[0] = {}): Promise<RunningSandbox> {
  return startSandbox({ contents, ...options });
}

/** As the service has it; the reference's `GET /api/contact` where there is one, else what `ecm` finds. */
async function held(service: RunningSandbox, key: string): Promise<Contact | undefined> {
  const all = await call<Contact[]>(service, "GET", "/api/contact");
  if (Array.isArray(all)) return all.find((each) => each.key === key);
  const found = await service.ecm(["contact", "get", key, "--json"]);
  return found.code === 0 ? (JSON.parse(found.stdout) as Contact) : undefined;
}

async function statusIn(service: RunningSandbox, key: string): Promise<string | undefined> {
  return findStatus(await held(service, key))?.primary.toLowerCase();
}

function writesIn({ sandbox }: RunningSandbox): number {
  return sandbox.admin.requests().filter(({ method, path }) => method !== "GET" && !path.endsWith("/search"))
    .length;
}

const move = (service: RunningSandbox, ...more: string[]) =>
  service.ecm(["contact", "move", old, next, "--yes", "--json", ...more]);

describe("a contact that moves", () => {
  it("is created with its values, lists and tags in one request, and then unsubscribed", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    const before = (await readContacts(service)).get(old)!;
    const moved = await move(service);
    expect(moved.code, moved.stderr).toBe(0);
    expect(moved.stderr).toContain("history and date of creation stay with the old one");
    expect(parseSummary(moved)).toMatchObject({
      kind: "move",
      status: "completed",
      rows: { read: 2, created: 1, updated: 1, pending: 0 },
      requests: { create: 1, mutate: 0 },
    });
    const after = await readContacts(service);
    expect(after.get(next)).toMatchObject({ fields: before.fields, lists: before.lists, tags: before.tags });
    expect(await statusIn(service, next)).toBe("active");
    expect(await statusIn(service, old)).toBe("inactive");
    const again = await move(service);
    expect(again.code).toBe(6);
    expect(again.stderr).toContain("only an active contact can be moved");
  });

  it("is written as the plan says, or not at all", { tags: "slow" }, async () => {
    const service = await scene();
    const plan = join(await temporaryFolder(), "plan.ndjson");
    const dry = await service.ecm(["contact", "move", old, next, "--dry-run", "--plan", plan, "--json"]);
    expect(dry.code, dry.stderr).toBe(0);
    expect(parseSummary(dry)).toMatchObject({ status: "dry-run", rows: { created: 1, updated: 1 } });
    expect((await readContacts(service)).has(next)).toBe(false);
    const applied = await service.ecm(["apply", plan, "--yes", "--json"]);
    expect(parseSummary(applied).rows).toMatchObject({ created: 1, updated: 1, rejected: 0, skipped: 0 });
    expect(await statusIn(service, old)).toBe("inactive");
  });

  it("is not written by a plan that is older than their unsubscription", { tags: "slow" }, async () => {
    const service = await scene();
    const plan = join(await temporaryFolder(), "plan.ndjson");
    await service.ecm(["contact", "move", old, next, "--dry-run", "--plan", plan]);
    await service.ecm(["contact", "unsubscribe", old, "--yes"]);
    const applied = await service.ecm(["apply", plan, "--yes", "--json"]);
    expect(applied.code).toBe(3);
    expect((await readContacts(service)).has(next)).toBe(false);
  });

  it("is deleted with --delete-old, after a backup; an undo creates it again", { tags: "slow" }, async () => {
    const service = await scene();
    const before = (await readContacts(service)).get(old)!;
    const backup = join(await temporaryFolder(), "backup.csv");
    const moved = await move(service, "--delete-old", "--backup", backup);
    expect(parseSummary(moved).rows).toMatchObject({ created: 1, deleted: 1 });
    expect(await readFile(backup, "utf8")).toContain(old);
    expect((await readContacts(service)).has(old)).toBe(false);
    const undone = await service.ecm(["runs", "undo", "last", "--delete-created", "--yes", "--json"]);
    expect(undone.code, undone.stderr).toBe(0);
    expect(parseSummary(undone).rows).toMatchObject({ created: 1, deleted: 1 });
    const after = await readContacts(service);
    expect(after.has(next)).toBe(false);
    expect(after.get(old)).toMatchObject({ fields: before.fields, lists: before.lists, tags: before.tags });
  });

  it("is not created again by an undo once they have left under the new key", { tags: "slow" }, async () => {
    const service = await scene();
    await move(service, "--delete-old");
    await service.ecm(["contact", "unsubscribe", next, "--yes"]);
    const undone = await service.ecm(["runs", "undo", "last", "--delete-created", "--yes", "--json"]);
    expect(undone.code).toBe(3);
    expect(parseSummary(undone).codes.rejected).toMatchObject({ left_since: 1 });
    expect((await readContacts(service)).has(old)).toBe(false);
  });

  it("is not created again by an undo once they are gone under the new key, or under that of the undo", {
    tags: "slow",
  }, async () => {
    const undo = (service: RunningSandbox, run: string) =>
      service.ecm(["runs", "undo", run, "--delete-created", "--yes", "--json"]);
    const service = await scene();
    const moved = parseSummary(await move(service, "--delete-old")).run!;
    const undone = parseSummary(await undo(service, moved)).run!;
    expect(await statusIn(service, old)).toBe("active");
    await service.ecm(["contact", "unsubscribe", old, "--yes"]);
    const again = await undo(service, undone);
    expect(parseSummary(again).codes.rejected).toMatchObject({ left_since: 1 });
    expect((await readContacts(service)).has(next)).toBe(false);

    const other = await scene();
    const { run } = parseSummary(await move(other, "--delete-old"));
    const plan = join(await temporaryFolder(), "plan.ndjson");
    await other.ecm(["runs", "undo", run!, "--dry-run", "--plan", plan]);
    await other.ecm(["contact", "delete", next, "--yes"]);
    expect(parseSummary(await undo(other, run!)).codes.rejected).toMatchObject({ left_since: 1 });
    expect((await other.ecm(["apply", plan, "--yes"])).code).toBe(3);
    expect([...(await readContacts(other)).keys()]).toEqual(["bob@example.com"]);

    // Where the new contact lacked nothing, the run did not write it.
    await other.ecm(["contact", "create", "--key", old]);
    await other.ecm(["contact", "create", "--key", next]);
    const merged = parseSummary(await move(other, "--merge", "--delete-old")).run!;
    await other.ecm(["contact", "unsubscribe", next, "--yes"]);
    expect(parseSummary(await undo(other, merged)).codes.rejected).toMatchObject({ left_since: 1 });
  });

  it("stays unsubscribed when the move is undone, and that is said", { tags: "slow" }, async () => {
    const service = await scene();
    await move(service);
    const undone = await service.ecm(["runs", "undo", "last", "--json"]);
    expect(undone.code).toBe(3);
    expect(parseSummary(undone).codes.rejected).toMatchObject({ created: 1, unsubscribed: 1 });
    expect(await statusIn(service, old)).toBe("inactive");
  });

  it("gives an existing contact what it lacks with --merge; what that has stays", {
    tags: "slow",
  }, async () => {
    const service = await scene();
    await service.ecm(["contact", "create", "--key", next, "--set", "First Name=Augusta"]);
    const refused = await move(service);
    expect(refused.code).toBe(6);
    expect(refused.stderr).toContain("already exists");
    const merged = await move(service, "--merge");
    expect(merged.code, merged.stderr).toBe(0);
    expect(parseSummary(merged).rows).toMatchObject({ updated: 2 });
    const contact = (await readContacts(service)).get(next)!;
    expect(contact.fields).toEqual({ "First Name": "Augusta", "Last Name": "L" });
    expect(contact.lists).toHaveLength(1);
    expect(contact.tags).toHaveLength(1);
    expect(await statusIn(service, old)).toBe("inactive");
  });

  it("is unsubscribed all the same where the new contact lacks nothing", { tags: "slow" }, async () => {
    const service = await scene({
      contents: { contacts: [{ key: old }, { key: next, fields: { "First Name": "A" } }] },
    });
    expect(parseSummary(await move(service, "--merge")).rows).toMatchObject({ unchanged: 1, updated: 1 });
    expect(await statusIn(service, old)).toBe("inactive");
  });
});

describe("a move that is refused", () => {
  const refusals: [string, string[][], number, string][] = [
    ["whose old contact has left", [["contact", "unsubscribe", old, "--yes"]], 6, "only an active contact"],
    ["whose old key is suppressed", [["suppressions", "add", old]], 6, "suppression list"],
    ["whose new key is suppressed", [["suppressions", "add", next]], 6, "suppression list"],
    [
      "to a contact that has left, even with --merge",
      [
        ["contact", "create", "--key", next],
        ["contact", "unsubscribe", next, "--yes"],
      ],
      6,
      "only an active contact can be merged into",
    ],
  ];
  const kinds = [{}, { inactive: "hidden" }, { literal: "yes" }, { literal: "yes", inactive: "hidden" }];
  for (const variants of kinds) {
    firstQuick(2)(refusals)(`%s (${JSON.stringify(variants)})`, async (_what, before, code, text) => {
      const service = await scene({ variants: variants as Record<string, string> });
      for (const args of before) {
        const prepared = await service.ecm(args);
        expect(prepared.code, prepared.stderr).toBe(0);
      }
      const writes = writesIn(service);
      const refused = await move(service, "--merge");
      expect(refused.code, refused.stderr).toBe(code);
      expect(refused.stderr).toContain(text);
      expect(writesIn(service)).toBe(writes);
      expect((await service.ecm(["runs", "list", "--json"])).stdout).not.toContain('"move"');
    });
  }

  it("has no contact to move", async () => {
    const service = await startSandbox();
    const refused = await move(service);
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain("No contact has the key or id");
  });

  it("names one contact twice, or a key that is none", { tags: "slow" }, async () => {
    const service = await scene();
    for (const to of ["ADA@old.example", "nonsense", ""]) {
      expect((await service.ecm(["contact", "move", old, to, "--yes"])).code).toBe(2);
    }
    expect((await service.ecm(["contact", "move", old, next])).code).toBe(2);
  });
});

it.each([{ literal: "yes" }, { inactive: "hidden" }, { "search-lag": "3600000" }])(
  "a move works under the variant %j",
  { tags: "slow" },
  async (variants) => {
    const service = await scene({ variants: variants as unknown as Record<string, string> });
    const moved = await move(service);
    expect(moved.code, moved.stderr).toBe(0);
    const [before, after] = [await held(service, old), await held(service, next)];
    expect(after?.lists).toHaveLength(1);
    expect(after?.tags).toHaveLength(1);
    if (before) expect(findStatus(before)?.primary.toLowerCase()).toBe("inactive");
    expect(await statusIn(service, next)).toBe("active");
  },
);
