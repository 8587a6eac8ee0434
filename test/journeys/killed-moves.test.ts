/**
 * A move that is killed between its two writes, or around either of
 * them: it ends as if it had never been killed.
 */
import { describe, expect, it } from "vitest";
import { findStatus } from "../../src/api/contacts.ts";
import type { Contact } from "../../src/wire.ts";
import { call, inputFile, parseSummary } from "../bulk/kit.ts";
import type { Result } from "../support/ecm.ts";
import { firstGroupsQuick } from "../support/first-quick.ts";
import { runKilled } from "./kills.ts";
import {
  findRepeatedWrites,
  type Moment,
  type RecordingProxy,
  startRecordingProxy,
} from "./recording-proxy.ts";

const old = "ada@old.example";
const next = "ada@new.example";
const args = ["contact", "move", old, next, "--yes", "--json"];

interface Kill {
  /** Which write. */
  at: "create" | "status" | "delete";
  when: "before" | "after";
}

const everywhere: Kill[] = [
  { at: "create", when: "before" },
  { at: "create", when: "after" },
  { at: "status", when: "before" },
  { at: "status", when: "after" },
];

async function scene(variants: Record<string, string> = {}): Promise<RecordingProxy> {
  const witness = await startRecordingProxy({ variants });
  witness.sandbox.admin.seed({
    lists: ["News"],
    tags: ["VIP"],
    contacts: [{ key: old, fields: { "First Name": "Ada" }, lists: ["News"], tags: ["VIP"] }],
  });
  return witness;
}

/** Runs the command, and kills it when that write arrives, or when it was carried out; its answer is lost. */
async function killed(witness: RecordingProxy, { at, when }: Kill, command = args): Promise<void> {
  const isThen = (moment: Moment) => {
    const isCreate = moment.path === "/api/contact" && moment.body !== "";
    const isStatus = /^\/api\/contact\/[0-9a-f]{24}$/.test(moment.path) && moment.body !== "";
    const isThere = at === "create" ? isCreate : at === "status" ? isStatus : isDeletion(witness, moment);
    return isThere && moment.when === when;
  };
  expect((await runKilled(witness, command, isThen, "drop")).code).toBe(-1);
}

/** The last request to the old contact, once the new one was created. */
function isDeletion(witness: RecordingProxy, { path, when }: { path: string; when: string }): boolean {
  const isBegun = witness.writes.some(({ kind }) => kind === "create");
  const isDone = witness.writes.some(({ kind }) => kind === "delete");
  return isBegun && /^\/api\/contact\/[0-9a-f]{24}$/.test(path) && (when === "before" || isDone);
}

async function everybody(witness: RecordingProxy): Promise<Map<string, Contact>> {
  const all = await call<Contact[]>(witness, "GET", "/api/contact");
  return new Map(all.map((each) => [each.key, each]));
}

function isActive(contact: Contact | undefined): boolean {
  return findStatus(contact)?.primary.toLowerCase() === "active";
}

async function leave(witness: RecordingProxy, key: string): Promise<void> {
  const { _id } = (await everybody(witness)).get(key)!;
  const status = { primary: "Inactive", secondary: "Unsubscribe" };
  await call(witness, "PATCH", `/api/contact/${_id}`, { status });
}

function expectMoved(witness: RecordingProxy, result: Result): void {
  expect(result.code, result.stderr).toBe(0);
  expect(findRepeatedWrites(witness.writes, "create")).toEqual([]);
  expect(findRepeatedWrites(witness.writes, "status")).toEqual([]);
}

firstGroupsQuick(1)([{}, { inactive: "hidden" }])("a move under the variants %j", (variants) => {
  it.each(everywhere)(
    "killed $when its $at is resumed by the same command",
    { tags: "slow" },
    async (kill) => {
      const witness = await scene(variants as Record<string, string>);
      await killed(witness, kill);
      const result = await witness.ecm(args);
      expectMoved(witness, result);
      expect(parseSummary(result)).toMatchObject({
        rows: { read: 2, created: 1, updated: 1, skipped: 0, rejected: 0, pending: 0 },
      });
      const people = await everybody(witness);
      expect(isActive(people.get(next))).toBe(true);
      expect(people.get(next)).toMatchObject({
        lists: people.get(old)!.lists,
        tags: people.get(old)!.tags,
      });
      expect(isActive(people.get(old))).toBe(false);
    },
  );
});

it("is resumed by `runs resume` too", { tags: "slow" }, async () => {
  const witness = await scene();
  await killed(witness, { at: "create", when: "after" });
  const result = await witness.ecm(["runs", "resume", "last", "--yes", "--json"]);
  expectMoved(witness, result);
  const people = await everybody(witness);
  expect([isActive(people.get(next)), isActive(people.get(old))]).toEqual([true, false]);
});

it.each(["before", "after"] as const)(
  "with --delete-old, killed %s the deletion, is resumed, and its undo brings the old contact back",
  { tags: "slow" },
  async (when) => {
    const witness = await scene();
    const command = [...args, "--delete-old"];
    await killed(witness, { at: "delete", when }, command);
    const result = await witness.ecm(command);
    expect(result.code, result.stderr).toBe(0);
    expect(parseSummary(result).rows).toMatchObject({ created: 1, deleted: 1 });
    expect([...(await everybody(witness)).keys()]).toEqual([next]);
    const undone = await witness.ecm(["runs", "undo", "last", "--delete-created", "--yes", "--json"]);
    expect(undone.code, undone.stderr).toBe(0);
    expect([...(await everybody(witness)).keys()]).toEqual([old]);
  },
);

describe("somebody who leaves while the move is down", () => {
  it("is not created under the new key", { tags: "slow" }, async () => {
    const witness = await scene();
    await killed(witness, { at: "create", when: "before" });
    await leave(witness, old);
    const result = await witness.ecm(args);
    expect(result.code, result.stderr).toBe(3);
    expect(parseSummary(result).codes.skipped).toEqual({ moved_unsubscribed: 1, not_moved: 1 });
    expect((await everybody(witness)).has(next)).toBe(false);
  });

  it("under the old key, once the new one exists, is named", { tags: "slow" }, async () => {
    const witness = await scene();
    await killed(witness, { at: "create", when: "after" });
    await leave(witness, old);
    const result = await witness.ecm(args);
    expect(result.code, result.stderr).toBe(3);
    expect(parseSummary(result)).toMatchObject({
      rows: { created: 1, rejected: 1 },
      codes: { rejected: { left_meanwhile: 1 } },
    });
    expect(result.stderr).toContain(`ecm contact unsubscribe ${next}`);
  });

  it("is not created after an erasure either, and the old key is gone from this machine", {
    tags: "slow",
  }, async () => {
    const witness = await scene();
    await killed(witness, { at: "create", when: "before" });
    const erased = await witness.ecm(["contact", "erase", old, "--yes"]);
    expect(erased.code, erased.stderr).toBe(0);
    const result = await witness.ecm(["runs", "resume", "last", "--yes", "--json"]);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stdout).not.toContain(old);
    expect((await everybody(witness)).size).toBe(0);
  });

  it("by an erasure, once the new contact exists, is named", { tags: "slow" }, async () => {
    const witness = await scene();
    await killed(witness, { at: "create", when: "after" });
    const erased = await witness.ecm(["contact", "erase", old, "--yes"]);
    expect(erased.code, erased.stderr).toBe(0);
    const result = await witness.ecm(["runs", "resume", "last", "--yes", "--json"]);
    expect(result.code, result.stderr).toBe(3);
    expect(result.stderr).toContain(`ecm contact erase ${next}`);
  });

  it("is not created where another contact took the new key", { tags: "slow" }, async () => {
    const witness = await scene();
    await killed(witness, { at: "create", when: "before" });
    await witness.ecm(["contact", "create", "--key", next, "--set", "First Name=Other"]);
    const result = await witness.ecm(args);
    expect(result.code, result.stderr).toBe(3);
    expect(parseSummary(result).codes).toMatchObject({ rejected: { exists: 1 }, skipped: { not_moved: 1 } });
    expect(isActive((await everybody(witness)).get(old))).toBe(true);
  });
});

describe("a row of an import that moves somebody", () => {
  const rows = `Email,Old email\n${next},${old}\n`;

  async function importing(): Promise<string[]> {
    return ["import", await inputFile(rows), "--map", "Old email=old-key", "--json"];
  }

  it.each(everywhere)(
    "killed $when its $at is resumed by the same command",
    { tags: "slow" },
    async (kill) => {
      const witness = await scene();
      const command = await importing();
      await killed(witness, kill, command);
      const result = await witness.ecm(command);
      expectMoved(witness, result);
      expect(parseSummary(result).rows).toMatchObject({ read: 2, created: 1, updated: 1, pending: 0 });
      const people = await everybody(witness);
      expect([isActive(people.get(next)), isActive(people.get(old))]).toEqual([true, false]);
      expect(people.get(next)).toMatchObject({ lists: people.get(old)!.lists, tags: people.get(old)!.tags });
    },
  );

  it("creates nobody who left while it was down", { tags: "slow" }, async () => {
    const witness = await scene();
    const command = await importing();
    await killed(witness, { at: "create", when: "before" }, command);
    await leave(witness, old);
    const result = await witness.ecm(command);
    expect(result.code, result.stderr).toBe(3);
    expect(parseSummary(result).codes.skipped).toEqual({ moved_unsubscribed: 1, not_moved: 1 });
    expect((await everybody(witness)).has(next)).toBe(false);
  });

  it("names who left between the two writes, with what unsubscribes them", { tags: "slow" }, async () => {
    const witness = await scene();
    const command = await importing();
    await killed(witness, { at: "create", when: "after" }, command);
    await leave(witness, old);
    const result = await witness.ecm(command);
    expect(result.code, result.stderr).toBe(3);
    expect(parseSummary(result).codes.rejected).toEqual({ left_meanwhile: 1 });
    expect(result.stderr).toContain(`ecm contact unsubscribe ${next}`);
  });

  it("creates nobody whose old key was erased while it was down", { tags: "slow" }, async () => {
    const witness = await scene();
    const command = await importing();
    await killed(witness, { at: "create", when: "before" }, command);
    const erased = await witness.ecm(["contact", "erase", old, "--yes"]);
    expect(erased.code, erased.stderr).toBe(0);
    const result = await witness.ecm(["runs", "resume", "last", "--yes", "--json"]);
    expect(result.stdout + result.stderr).not.toContain(old);
    expect((await everybody(witness)).size).toBe(0);
  });
});
