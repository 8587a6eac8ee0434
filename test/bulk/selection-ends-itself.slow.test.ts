/**
 * A change that ends its own selection (`--list Trial --remove-list Trial`), with a lost answer: nobody can
 * tell from the selection whether the change was applied. Each is held against the same run without the loss.
 */
import { describe, expect, it } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { type Loss, type RecordingProxy, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { type Result, spawnEcm, waitForResult } from "../support/ecm.ts";
import { inputFile, parseSummary, readContacts } from "./kit.ts";

/** p0 to p3 are chosen; p4 and p5 are not. */
async function startScene(): Promise<RecordingProxy> {
  const witness = await startRecordingProxy({ seed: 7 });
  const { admin } = witness.sandbox;
  const contacts = Array.from({ length: 6 }, (_, index) => ({
    key: `p${index}@example.com`,
    fields: { "First Name": index < 4 ? "Old" : "Other", "Last Name": `L${index}` },
    lists: index < 4 ? ["Trial", "All"] : ["All"],
    tags: index < 4 ? ["Chosen"] : [],
  }));
  admin.clock({ time: new Date(Date.now() - 2 * 86_400_000).toISOString() });
  admin.seed({ lists: ["Done"], tags: ["Late"], contacts: contacts.slice(0, 4) });
  admin.clock({ real: true });
  admin.seed({ contacts: contacts.slice(4) });
  return witness;
}

type Arguments = string[] | (() => Promise<string[]>);
const keysFile = () => inputFile(`${[0, 1, 2, 3].map((n) => `p${n}@example.com`).join("\n")}\n`, "keys.txt");
const named = [0, 1, 2, 3].map((n) => `p${n}@example.com`);
const yesterday = new Date(Date.now() - 86_400_000).toISOString();
const recentlyUnchanged = `updatedAt < timestamp("${yesterday}")`;

const selections: Record<string, Arguments> = {
  "a list that is left": ["mutate", "--list", "Trial", "--remove-list", "Trial"],
  "several lists": ["mutate", "--list", "Trial", "--list", "Done", "--remove-list", "Trial"],
  "a tag that is removed": ["mutate", "--tag", "Chosen", "--remove-tag", "Chosen"],
  "a value": ["mutate", "--where", 'First_Name == "Old"', "--set", "First Name=New"],
  "an emptied value": ["mutate", "--where", 'First_Name != "" && "Trial" in lists', "--set", "First Name="],
  "a tag that is missing": [
    "mutate",
    "--where",
    '"Trial" in lists && !("Late" in tags)',
    "--add-tag",
    "Late",
  ],
  "a list that is missing": [
    "mutate",
    "--where",
    'First_Name == "Old" && !("Done" in lists)',
    "--add-list",
    "Done",
  ],
  "the time of the last change": ["mutate", "--where", recentlyUnchanged, "--add-list", "Done"],
  "one of several changes": [
    ...["mutate", "--list", "Trial", "--remove-list", "Trial"],
    ...["--add-list", "Done", "--add-tag", "Late", "--set", "First Name=New"],
  ],
  "names and a list": ["mutate", ...named, "--list", "Trial", "--remove-list", "Trial"],
  "names and a value": ["mutate", ...named, "--where", 'First_Name == "Old"', "--set", "First Name=New"],
  "a file of keys and a list": async () => [
    ...["mutate", "--keys", await keysFile(), "--list", "Trial", "--remove-list", "Trial"],
  ],
  "a file of keys and a tag": async () => [
    ...["mutate", "--keys", await keysFile(), "--tag", "Chosen", "--remove-tag", "Chosen"],
  ],
  "the status of who is unsubscribed": ["unsubscribe", "--list", "Trial", "--status", "active", "--yes"],
  "the status in an expression": [
    ...["unsubscribe", "--where", 'status == "active" && First_Name == "Old"', "--yes"],
  ],
  "names and a status": ["unsubscribe", ...named, "--status", "active", "--yes"],
  "who is deleted": ["delete", "--list", "Trial", "--yes"],
  "names of who is deleted": ["delete", ...named, "--list", "Trial", "--yes"],
};

/** How the answer to a write is lost: as the client sees it, or with the client itself. */
const losses = ["drop", "500", "cut", "kill"] as const;
type How = (typeof losses)[number];

const isWrite = ({ path }: { path: string }) => /^\/api\/contact\/[^/]+(\/mutate)?$/.test(path);

/**
 * Runs a command whose first write is applied and whose answer is lost; the same command again after a kill.
 */
async function withLoss(witness: RecordingProxy, args: string[], how: How | undefined): Promise<Result> {
  const done = witness.writes.length;
  let isLost = how === undefined;
  const lose = (with_: () => Loss) => {
    witness.onRequest = (moment) => {
      if (isLost || moment.when === "before" || !isWrite(moment) || witness.writes.length === done) return;
      isLost = true;
      return with_();
    };
  };
  if (how === "kill") {
    const child = spawnEcm(args, witness.env);
    lose(() => {
      child.kill("SIGKILL");
      return "drop";
    });
    expect((await waitForResult(child)).code).toBe(-1);
  } else if (how !== undefined) {
    lose(() => how);
  }
  const result = await witness.ecm(args);
  expect(isLost).toBe(true);
  witness.onRequest = () => undefined;
  return result;
}

/** What a run came to, without what differs from run to run. */
function readOutcome(result: Result) {
  const { status, rows, codes, inactive } = parseSummary(result) as Summary;
  return { code: result.code, status, rows, codes, inactive };
}

/** Everybody, without versions: a write that was lost and found again counts once. */
async function everybodyIn(witness: RecordingProxy) {
  return [...(await readContacts(witness))].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** The command, its loss or none, and its undo. */
async function changeAndUndo(given: Arguments, losing: { change?: How; undo?: How }) {
  const witness = await startScene();
  const words = typeof given === "function" ? await given() : given;
  const before = await everybodyIn(witness);
  const changed = await withLoss(witness, ["contact", ...words, "--json"], losing.change);
  const after = await everybodyIn(witness);
  const run = parseSummary(changed).run!;
  const undone = await withLoss(witness, ["runs", "undo", run, "--json"], losing.undo);
  return {
    before,
    change: readOutcome(changed),
    after,
    undo: readOutcome(undone),
    restored: await everybodyIn(witness),
  };
}

const withoutVersions = (people: Awaited<ReturnType<typeof everybodyIn>>) =>
  people.map(([key, { version: _, ...rest }]) => [key, rest]);

/** Without a loss; run once for all tests of a selection. */
const undisturbed = new Map<string, ReturnType<typeof changeAndUndo>>();
function runUndisturbed(name: string, given: Arguments): ReturnType<typeof changeAndUndo> {
  if (!undisturbed.has(name)) undisturbed.set(name, changeAndUndo(given, {}));
  return undisturbed.get(name)!;
}

/** A child process for each takes its time. */
const killed = ["a list that is left", "names and a value", "the status in an expression", "who is deleted"];

describe("a change that ends its own selection", () => {
  describe.each(Object.entries(selections))("(%s)", (name, given) => {
    it("changes everybody who was chosen, and is undone", async () => {
      const { before, change, undo, restored } = await runUndisturbed(name, given);
      expect(change).toMatchObject({ code: 0, rows: { read: 4, skipped: 0, rejected: 0, pending: 0 } });
      expect(change.rows.updated + change.rows.deleted).toBe(4);
      const isUnsubscribed = name.includes("status");
      expect(undo).toMatchObject({
        code: isUnsubscribed ? 3 : 0,
        rows: { read: 4, rejected: isUnsubscribed ? 4 : 0 },
      });
      if (!isUnsubscribed) expect(withoutVersions(restored)).toEqual(withoutVersions(before));
    });

    for (const how of losses) {
      if (how === "kill" && !killed.includes(name)) continue;
      it(`counts everybody once after a lost answer (${how}), and undoes it`, async () => {
        const expected = await runUndisturbed(name, given);
        const lost = await changeAndUndo(given, { change: how });
        expect(lost.change).toEqual(expected.change);
        expect(withoutVersions(lost.after)).toEqual(withoutVersions(expected.after));
        expect(lost.undo).toEqual(expected.undo);
        expect(withoutVersions(lost.restored)).toEqual(withoutVersions(expected.restored));
      });
    }
  });
});

describe("the undo of a change that ended its own selection", () => {
  const { "a list that is left": list, "a value": value } = selections;
  for (const how of losses) {
    it.each([
      ["list", list!],
      ["value", value!],
    ])(`(%s) counts everybody once after a lost answer (${how})`, async (name, given) => {
      const expected = await runUndisturbed(name, given);
      const lost = await changeAndUndo(given, { undo: how });
      expect(lost.undo).toEqual(expected.undo);
      expect(withoutVersions(lost.restored)).toEqual(withoutVersions(expected.restored));
    });
  }
});

describe("an undo that is partly possible", () => {
  /**
   * The run changes a value, a list and a tag of everybody; of each, somebody else then makes another value.
   */
  async function undoInPart(how: How | undefined) {
    const witness = await startScene();
    const change = [
      ...["contact", "mutate", "--list", "Trial", "--set", "First Name=New"],
      ...["--remove-list", "Trial", "--add-tag", "Late", "--json"],
    ];
    const { run } = parseSummary(await witness.ecm(change));
    for (const key of named) await witness.ecm(`contact mutate ${key} --set 'First Name=Theirs'`);
    const undone = await withLoss(witness, ["runs", "undo", run!, "--json"], how);
    const rejects = await witness.ecm("runs rejects last");
    return { undo: readOutcome(undone), rejects: rejects.stdout, people: await everybodyIn(witness) };
  }

  it.each(losses)("says the same of everybody after a lost answer (%s)", async (how) => {
    const expected = await undoInPart(undefined);
    expect(expected.undo.rows).toMatchObject({ read: 4, updated: 4, rejected: 0 });
    for (const [key, { fields, tags }] of expected.people.slice(0, 4)) {
      expect([key, fields["First Name"], tags.length]).toEqual([key, "Theirs", 1]);
    }
    const lost = await undoInPart(how);
    expect(lost.undo).toEqual(expected.undo);
    expect(lost.rejects).toEqual(expected.rejects);
    expect(withoutVersions(lost.people)).toEqual(withoutVersions(expected.people));
  });
});

describe("lists sync, whose removals end the membership that chose them", () => {
  async function syncAndUndo(how: How | undefined) {
    const witness = await startScene();
    const file = await inputFile("p0@example.com\np1@example.com\n", "keys.txt");
    const args = ["lists", "sync", "Trial", file, "--max-remove", "100%", "--json"];
    const before = await everybodyIn(witness);
    const synced = await withLoss(witness, args, how);
    const undone = await witness.ecm(["runs", "undo", parseSummary(synced).run!, "--json"]);
    return {
      before,
      sync: readOutcome(synced),
      undo: readOutcome(undone),
      people: await everybodyIn(witness),
    };
  }

  it.each(losses)("counts everybody once after a lost answer (%s), and undoes it", async (how) => {
    const expected = await syncAndUndo(undefined);
    expect(expected.sync).toMatchObject({ code: 0, rows: { read: 4, updated: 2, unchanged: 2 } });
    const lost = await syncAndUndo(how);
    expect(lost.sync).toEqual(expected.sync);
    expect(lost.undo).toEqual(expected.undo);
    expect(withoutVersions(lost.people)).toEqual(withoutVersions(lost.before));
  });
});
