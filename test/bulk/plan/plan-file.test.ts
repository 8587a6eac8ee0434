/** The plan as a file: what is read of it wherever it was cut off, and that nothing else is believed. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { decide } from "../../../src/bulk/decide.ts";
import type { Desired, Item, Operation } from "../../../src/bulk/desired.ts";
import type { Creation } from "../../../src/bulk/plan/name-book.ts";
import { addToTally } from "../../../src/bulk/plan/numbers.ts";
import {
  createPlanSealer,
  exportPlan,
  openPlanFile,
  type PlanHead,
  PlanWriter,
  readPlanHead,
  readPlanLines,
  readStoredPlan,
} from "../../../src/bulk/plan/plan-file.ts";
import type { Planned, StoredLine } from "../../../src/bulk/plan/plan-line.ts";
import { toPlannedItem, toStoredLine } from "../../../src/bulk/plan/plan-line.ts";
import { toValues } from "../../../src/bulk/values.ts";
import type { Contact } from "../../../src/wire.ts";
import { planHead, temporaryFolder } from "../../kit.ts";
import { runs } from "../../support/runs.ts";

const names = { fields: { f: "Ort é" }, lists: { l: "Kunden 🎉" }, tags: {} };
const head: PlanHead = { ...planHead, names };
const creations: Creation[] = [{ what: "tag", name: "Größe" }];
const input = { read: 5, skipped: {}, rejected: {} } as const;

const key = (ref: number) => `p${ref}@exämple.com`;
const active = { primary: "Active", secondary: "Confirmed" };
const wishes: (Partial<Desired> & { found?: Partial<Contact> })[] = [
  { values: toValues({ fields: [["f", "Zürich\n"]] }) },
  {
    values: toValues({ fields: [["f", "北京"]], addLists: ["l"] }),
    found: { _id: "c1", fields: [], lists: [], __v: 2 },
  },
  { end: "unsubscribe", found: { _id: "c2", status: active } },
  { end: "delete", found: { _id: "c3", key: key(3) } },
  { values: toValues({ addTags: ["new tag Größe"] }), found: { _id: "c4" } },
];

function item(ref: number): Item {
  const { found: _found, ...wish } = wishes[ref]!;
  const desired: Desired = { values: [], absent: "create", present: "change", mayJoinLists: true, ...wish };
  const [written, cells] = [key(ref), [key(ref), undefined]];
  return { ref, line: ref, key: { written, sent: written, identity: written }, cells, desired };
}

const operationFor = (ref: number) =>
  decide(key(ref), item(ref).desired as Desired, wishes[ref]!.found) as Operation;
const lineFor = (ref: number): StoredLine =>
  toStoredLine(item(ref), wishes[ref]!.found, operationFor(ref), names);

/** Blocks of two, from one of them on. */
function addBlocks(writer: PlanWriter): void {
  for (let from = writer.taken; from < wishes.length; from += 2) {
    const refs = [from, from + 1].filter((ref) => ref < wishes.length);
    for (const ref of refs)
      addToTally(writer.tally, { item: item(ref), decision: operationFor(ref), contact: undefined }, 0);
    writer.addBlock(refs.map(lineFor), 1000 + from, refs.length);
  }
}

let file: string;
beforeEach(async () => {
  file = join(await temporaryFolder(), "plan.ndjson");
});

async function wholePlan(): Promise<Buffer> {
  const writer = PlanWriter.create(file, head, creations);
  addBlocks(writer);
  writer.close(input);
  return readFile(file);
}

it("gives back what was written: head, names to create, lines, end", async () => {
  await wholePlan();
  expect(await readPlanHead(file)).toEqual({ head, creations });
  const storedPlan = await readStoredPlan(file);
  expect(storedPlan).toMatchObject({ head, creations, taken: 5, end: { requests: 5, input } });
  const none = { unchanged: 0, skip: 0, reject: 0 };
  expect(storedPlan!.end!.counts).toEqual({ create: 1, update: 3, delete: 1, ...none });
  const text = await readFile(file, "utf8");
  const before = text.slice(0, text.trimEnd().lastIndexOf("\n") + 1);
  const digest = createHash("sha256").update(before).digest("hex");
  expect(storedPlan!.end!.digest).toBe(`sha256:${digest}`);
  const lines = [];
  for await (const line of readPlanLines(file)) lines.push(line);
  expect(lines).toEqual(wishes.map((_, ref) => JSON.parse(JSON.stringify(lineFor(ref)))));
  const planned = lines.map((line) => toPlannedItem(line, line.apply as Planned, (each) => each));
  expect(planned).toMatchObject(wishes.map((_, ref) => ({ ref, key: { sent: key(ref) } })));
});

/** One place of so many and all around the ends of lines, and more with `PROPERTY_RUNS`. */
function isTried(whole: Buffer, at: number, places = 31): boolean {
  const step = Math.ceil(places / runs(1));
  return at % step === 0 || whole.subarray(Math.max(0, at - 2), at + 2).includes("\n");
}

it("continues after its last whole block wherever it was cut off, to the same bytes", async () => {
  const whole = await wholePlan();
  const end = whole.lastIndexOf('{"end":');
  const other = join(await temporaryFolder(), "cut.ndjson");
  for (let length = 0; length < whole.length; length++) {
    if (!isTried(whole, length)) continue;
    await writeFile(other, whole.subarray(0, length));
    const storedPlan = await readStoredPlan(other);
    expect(storedPlan?.end, `cut at ${length}`).toBeUndefined();
    const isBegun = storedPlan !== undefined && storedPlan.taken > 0;
    const writer = isBegun ? PlanWriter.resume(other, storedPlan) : PlanWriter.create(other, head, creations);
    if (length >= end) expect(writer.taken).toBe(5);
    addBlocks(writer);
    writer.close(input);
    expect(Buffer.compare(await readFile(other), whole), `cut at ${length}`).toBe(0);
  }
});

it("is whole again once what was changed on purpose is sealed, in its blocks and at its end", async () => {
  const whole = (await wholePlan()).toString("latin1");
  const toLines = (text: string) => text.trimEnd().split("\n");
  await writeSealed(toLines(whole));
  expect(await readFile(file, "latin1")).toBe(whole);
  await writeSealed(toLines(whole.replaceAll("p1@", "erased@")));
  expect((await readStoredPlan(file))!.end).toBeDefined();
});

it("leaves out blocks that reach beyond what is the same each time", async () => {
  await wholePlan();
  const text = await readFile(file, "utf8");
  await writeFile(file, text.slice(0, text.lastIndexOf('{"end":')));
  const taken = [];
  for (const stable of [0, 1, 2, 3, 4, 5, Number.POSITIVE_INFINITY])
    taken.push((await readStoredPlan(file, stable))!.taken);
  expect(taken).toEqual([0, 0, 2, 2, 4, 5, 5]);
});

let text: Promise<string> | undefined;
const exported = () => {
  text ??= exportWhole();
  return text;
};

async function exportWhole(): Promise<string> {
  await wholePlan();
  const storedPlan = (await readStoredPlan(file))!;
  let text = "";
  const write = async (line: string) => {
    text += line;
  };
  const lines = () => readPlanLines(file);
  const digest = await exportPlan({ ...storedPlan, end: storedPlan.end!, lines }, write);
  expect(text).toContain(`"digest":"${digest}"}}\n`);
  return text;
}

it("a plan that is written for others is refused with any byte changed, and cut off at any byte", async () => {
  const whole = Buffer.from(await exported());
  const head = whole.indexOf("\n");
  const end = whole.lastIndexOf('{"end":');
  // What is said of the rest decides nothing, and is not part of the digest.
  const actions = ['"unchanged":', '"skip":', '"reject":', '"requests":'].map(
    (name) => whole.lastIndexOf(name) + name.length,
  );
  for (let at = 0; at < whole.length; at++) {
    if (!isTried(whole, at, at < end ? 61 : 4)) continue;
    if (actions.includes(at)) continue;
    const changed = Buffer.from(whole);
    changed[at] = changed[at]! ^ 1;
    await writeFile(file, changed);
    const damaged = { exitCode: 2, type: "PlanDamagedError" };
    await expect(openPlanFile(file), `byte ${at}`).rejects.toMatchObject(damaged);
    await writeFile(file, whole.subarray(0, at));
    const said = at <= head ? "is not a plan" : "is cut off";
    await expect(openPlanFile(file), `cut at ${at}`).rejects.toThrow(said);
  }
});

it("a plan that is written for others is refused where it changes between being opened and being read", async () => {
  const whole = await exported();
  await writeSealed(toLetters(whole));
  const plan = await openPlanFile(file);
  expect(plan).toMatchObject({ writes: 5 });
  await writeFile(file, whole.replace("北京", "東京"));
  const read = async () => {
    for await (const _line of plan.lines());
  };
  await expect(read()).rejects.toThrow("was changed");
});

/** Of the exported plan: the head, what is created, one contact of each kind, the end. */
const [ofHead, ofTag, ofCreate, ofChange, ofUnsubscription, ofDeletion, , ofEnd] = [0, 1, 2, 3, 4, 5, 6, 7];

/** Each member of a line once, with a value that no plan has. */
it.each<[line: number, member: string, value: unknown]>([
  [ofHead, "plan.version", "1"],
  [ofHead, "plan.program", null],
  [ofHead, "plan.kind", 1],
  [ofHead, "plan.command", "import"],
  [ofHead, "plan.account.structureId", undefined],
  [ofHead, "plan.input", []],
  [ofHead, "plan.input.size", -1],
  [ofHead, "plan.createdAt", 5],
  [ofHead, "plan.names.lists", { l: 1 }],
  [ofHead, "plan.source", [1]],
  [ofHead, "plan.looks.by", "name"],
  [ofHead, "plan.looks.suppressions", undefined],
  [ofHead, "plan.selection", { lists: [] }],
  [ofHead, "plan.removals", { members: 1 }],
  [ofHead, "plan.removals", { listId: "l", members: 1.5 }],
  [ofTag, "create.what", "contact"],
  [ofTag, "create.name", undefined],
  [ofCreate, "line", 1.5],
  [ofCreate, "key", null],
  [ofCreate, "contactId", 1],
  [ofCreate, "action", "remove"],
  [ofCreate, "code", undefined],
  [ofCreate, "message", 1],
  [ofCreate, "changes", {}],
  [ofCreate, "changes.0.what", "key"],
  [ofCreate, "changes.0.after", null],
  [ofCreate, "apply", null],
  [ofCreate, "apply", undefined],
  [ofCreate, "apply.ref", "1"],
  [ofCreate, "apply.key.sent", undefined],
  [ofCreate, "apply.key.sent", "another@example.com"],
  [ofCreate, "apply.desired.values", {}],
  [ofCreate, "apply.desired.values.0.what", "key"],
  [ofCreate, "apply.desired.values.0.to", true],
  [ofCreate, "apply.desired.values.0.onlyIf", false],
  [ofCreate, "apply.desired.values.0.lost", 1],
  [ofCreate, "apply.desired.who", { is: 1 }],
  [ofCreate, "apply.desired.absent", "delete"],
  [ofCreate, "apply.desired.absent", { reject: "no" }],
  [ofCreate, "apply.desired.present", "leave"],
  [ofCreate, "apply.desired.mayJoinLists", undefined],
  [ofCreate, "apply.desired.strict", { skip: 1 }],
  [ofCreate, "apply.desired.active", false],
  [ofCreate, "apply.desired.status", "Active"],
  [ofCreate, "apply.desired.whole", { fields: [] }],
  [ofCreate, "apply.isRemoval", false],
  [ofChange, "contactId", "c2"],
  [ofChange, "apply.before", undefined],
  [ofChange, "apply.before.id", "c2"],
  [ofChange, "apply.before.version", "2"],
  [ofChange, "apply.before.values.0.to", 1],
  [ofChange, "apply.before.values", []],
  [ofUnsubscription, "action", "delete"],
  [ofUnsubscription, "apply.before", undefined],
  [ofUnsubscription, "apply.desired.end", "delete"],
  [ofUnsubscription, "apply.before.status", { primary: 1 }],
  [ofDeletion, "action", "update"],
  [ofDeletion, "apply.before.contact", undefined],
  [ofDeletion, "apply.before.contact._id", "c2"],
  [ofDeletion, "apply.before.contact.fields", [{ _id: "f" }]],
  [ofDeletion, "apply.desired.values", [{ what: "tag", id: "t", to: true }]],
  [ofEnd, "end.counts.update", 2],
  [ofEnd, "end.counts.skip", -1],
  [ofEnd, "end.counts.reject", undefined],
  [ofEnd, "end.requests", "5"],
])("is no plan with another value in line %i: %s = %j", async (place, member, value) => {
  const lines = toLetters(await exported());
  const line = JSON.parse(lines[place]!) as object;
  const names = member.split(".");
  const last = names.pop()!;
  const holder = names.reduce((part, name) => part[name] as Part, line as Part);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  lines[place] = JSON.stringify(line);
  await writeSealed(lines);
  await expect(openPlanFile(file)).rejects.toThrow("is not a plan");
});

type Part = Record<string, unknown>;

const toLetters = (text: string) => Buffer.from(text).toString("latin1").trimEnd().split("\n");

/** With its digests made again. @param lines each byte a letter */
async function writeSealed(lines: readonly string[]): Promise<void> {
  const seal = createPlanSealer();
  await writeFile(file, lines.map((each) => `${seal(each)}\n`).join(""), "latin1");
}
