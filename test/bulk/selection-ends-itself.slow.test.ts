/**
 * A change that ends its own selection (`--list Trial --remove-list Trial`), with a lost answer: nobody can
 * tell from the selection whether the change was applied. Each is held against the same run without the loss.
 */
import { expect, it } from "vitest";
import { type Loss, type RecordingProxy, startRecordingProxy } from "../journeys/recording-proxy.ts";
import { type Result, spawnEcm, toWords, waitForResult } from "../support/ecm.ts";
import { inputFile, parseSummary, readContacts } from "./kit.ts";

const named = [0, 1, 2, 3].map((n) => `p${n}@example.com`);
const yesterday = new Date(Date.now() - 86_400_000).toISOString();

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

/** Commands; `FILE` has the keys of all four, `TWO` of two, `NAMED` are all four. */
const selections = {
  "a list that is left": "contact mutate --list Trial --remove-list Trial",
  "several lists": "contact mutate --list Trial --list Done --remove-list Trial",
  "a tag that is removed": "contact mutate --tag Chosen --remove-tag Chosen",
  "a value": `contact mutate --where 'First_Name == "Old"' --set 'First Name=New'`,
  "an emptied value": `contact mutate --where 'First_Name != "" && "Trial" in lists' --set 'First Name='`,
  "a tag that is missing": `contact mutate --where '"Trial" in lists && !("Late" in tags)' --add-tag Late`,
  "a list that is missing": `contact mutate --where 'First_Name == "Old" && !("Done" in lists)' --add-list Done`,
  "the time of the last change": `contact mutate --where 'updatedAt < timestamp("${yesterday}")' --add-list Done`,
  "one of several changes":
    "contact mutate --list Trial --remove-list Trial --add-list Done --add-tag Late --set 'First Name=New'",
  "names and a list": "contact mutate NAMED --list Trial --remove-list Trial",
  "names and a value": `contact mutate NAMED --where 'First_Name == "Old"' --set 'First Name=New'`,
  "a file of keys and a list": "contact mutate --keys FILE --list Trial --remove-list Trial",
  "a file of keys and a tag": "contact mutate --keys FILE --tag Chosen --remove-tag Chosen",
  "the status of who is unsubscribed": "contact unsubscribe --list Trial --status active --yes",
  "the status in an expression": `contact unsubscribe --where 'status == "active" && First_Name == "Old"' --yes`,
  "names and a status": "contact unsubscribe NAMED --status active --yes",
  "who is not in the file of a sync": "lists sync Trial TWO --max-remove 100%",
  "who is deleted": "contact delete --list Trial --yes",
  "names of who is deleted": "contact delete NAMED --list Trial --yes",
};

/** How the answer to a write is lost: as the client sees it, or with the client itself. */
const losses = ["drop", "500", "cut", "kill"] as const;
type How = (typeof losses)[number];

const isWrite = ({ path }: { path: string }) => /^\/api\/contact\/[^/]+(\/mutate)?$/.test(path);

/**
 * Runs a command whose first write is applied and whose answer is lost; the same command again after a kill.
 */
async function withLoss(witness: RecordingProxy, command: string, how: How | undefined): Promise<Result> {
  const args = [...toWords(command), "--json"];
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
  const { status, rows, codes, inactive } = parseSummary(result);
  return { code: result.code, status, rows, codes, inactive };
}

/** Everybody, without versions: a write that was lost and found again counts once. */
async function everybodyIn(witness: RecordingProxy) {
  const people = [...(await readContacts(witness))].map(
    ([key, { version: _, ...rest }]) => [key, rest] as const,
  );
  return people.sort(([one], [other]) => (one < other ? -1 : 1));
}

type Selection = keyof typeof selections;
type Losing = { change?: How; undo?: How };

/** The command, its loss or none, and its undo. */
async function changeAndUndo(name: Selection, losing: Losing) {
  const witness = await startScene();
  const toFile = (keys: string[]) => inputFile(`${keys.join("\n")}\n`, "keys.txt");
  const command = selections[name]
    .replace("FILE", await toFile(named))
    .replace("TWO", await toFile(named.slice(0, 2)))
    .replace("NAMED", named.join(" "));
  const before = await everybodyIn(witness);
  const changed = await withLoss(witness, command, losing.change);
  const after = await everybodyIn(witness);
  const undone = await withLoss(witness, `runs undo ${parseSummary(changed).run}`, losing.undo);
  const [change, undo] = [readOutcome(changed), readOutcome(undone)];
  return { before, change, after, undo, restored: await everybodyIn(witness) };
}

const names = Object.keys(selections) as Selection[];

it.each(names)("who was chosen is changed and counted once after a lost answer: %s", async (name) => {
  const { before, change, after, undo, restored } = await changeAndUndo(name, { change: "drop" });
  expect(change).toMatchObject({ code: 0, rows: { read: 4, skipped: 0, rejected: 0, pending: 0 } });
  const count = name.endsWith("a sync") ? 2 : 4;
  expect(change.rows.updated + change.rows.deleted).toBe(count);
  const rejected = name.includes("status") ? 4 : 0;
  const left = after.map((person) => JSON.stringify(person));
  const differing = before.filter((person) => !left.includes(JSON.stringify(person)));
  expect(differing).toHaveLength(rejected ? 0 : count);
  expect(undo).toMatchObject({ code: rejected ? 3 : 0, rows: { rejected } });
  if (!rejected) expect(restored).toEqual(before);
});

/** Without a loss; run once for all tests of a selection. */
const undisturbed = new Map<Selection, ReturnType<typeof changeAndUndo>>();
function runUndisturbed(name: Selection): ReturnType<typeof changeAndUndo> {
  if (!undisturbed.has(name)) undisturbed.set(name, changeAndUndo(name, {}));
  return undisturbed.get(name)!;
}

/** How an answer is lost does not depend on the selection. */
it.each<[Selection, Losing]>([
  ...losses.map((how): [Selection, Losing] => ["a list that is left", { change: how, undo: how }]),
  ["a value", { undo: "drop" }],
  ["a value", { undo: "kill" }],
  ["who is deleted", { change: "500" }],
  ["who is deleted", { change: "cut" }],
  ["who is deleted", { change: "kill" }],
  ["names and a value", { change: "kill" }],
  ["the status in an expression", { change: "kill" }],
  ["who is not in the file of a sync", { change: "kill" }],
])("a change and its undo come to the same after a lost answer: %s, %j", async (name, losing) => {
  expect(await changeAndUndo(name, losing)).toEqual(await runUndisturbed(name));
});

/**
 * The run changes a value, a list and a tag of everybody; of each, somebody else then makes another value.
 */
async function undoInPart(how: How | undefined) {
  const witness = await startScene();
  const change = "contact mutate --list Trial --set 'First Name=New' --remove-list Trial --add-tag Late";
  const { run } = parseSummary(await witness.ecm(`${change} --json`));
  await witness.ecm(`contact mutate ${named.join(" ")} --set 'First Name=Theirs'`);
  const undone = await withLoss(witness, `runs undo ${run}`, how);
  const { stdout: rejects } = await witness.ecm("runs rejects last");
  return { undo: readOutcome(undone), rejects, people: await everybodyIn(witness) };
}

it("an undo that is partly possible says the same of everybody after a lost answer", async () => {
  const expected = await undoInPart(undefined);
  expect(expected.undo.rows).toMatchObject({ read: 4, updated: 4, rejected: 0 });
  for (const [key, { fields, tags }] of expected.people.slice(0, 4)) {
    expect([key, fields["First Name"], tags.length]).toEqual([key, "Theirs", 1]);
  }
  for (const how of losses) expect(await undoInPart(how), how).toEqual(expected);
});
