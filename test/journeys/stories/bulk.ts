/** A bulk command of a story: carried out, disturbed, repeated, undone, and held against the oracle after each. */
import { writeFile } from "node:fs/promises";
import { expect } from "vitest";
import type { People } from "./account.ts";
import {
  checkConsent,
  checkTouched,
  compareDifference,
  findWrites,
  type Ran,
  readSummary,
  type Summary,
  show,
} from "./checks.ts";
import { type Command, type Expected, expectChange, expectUndo, type Import, none } from "./oracle.ts";
import { expectImport, isMarkedRow, keyIn, markedAddresses, markedIn } from "./oracle-import.ts";
import type { Scene } from "./scene.ts";
import type { Bulk } from "./steps.ts";
import { typed } from "./typed.ts";

export async function playBulk(scene: Scene, step: Bulk): Promise<void> {
  const args = [...typed(step.command, await scene.writeInput(step.command)), "--yes", "--json"];
  const isLagging = scene.account.variants["search-lag"] !== undefined;
  if (isSingle(step.command)) return playSingle(scene, step, args);
  await (isLagging ? playUnseen(scene, step, args) : playSeen(scene, step, args));
}

/** One contact that is named: no bulk run, and no summary. */
function isSingle(command: Command): boolean {
  if (!("whom" in command)) return false;
  const { keys, marked, list, tag, status } = command.whom;
  return keys.length === 1 && [marked, list, tag, status].every((each) => each === undefined);
}

async function playSingle(scene: Scene, step: Bulk, args: string[]): Promise<void> {
  const { account, suppressed } = scene;
  await account.pass(60_000);
  const before = account.people();
  scene.lastRun = undefined;
  const expected = expectBulk(scene, step, before);
  if (step.dry) {
    expect(findWrites(await scene.ecm([...args, "--dry-run"])), "a dry run writes nothing").toEqual([]);
  }
  const ran = await carryOut(scene, args, { ...step, acts: "no", resumes: false }, new Set());
  const after = account.people();
  checkConsent(step.command, [before], after, suppressed);
  expect(show(after), "the account").toEqual(show(expected.people));
  // What was applied although its answer was lost is gone the second time.
  const codes = before.size > expected.people.size ? [0, 5] : expected.rows.rejected > 0 ? [5] : [0, 5];
  expect(codes, "the exit code").toContain(ran.code);
  if (ran.code === 0) expect(expected.rows.rejected, "contacts that do not exist").toBe(0);
}

async function playSeen(scene: Scene, step: Bulk, args: string[]): Promise<void> {
  const { account, suppressed } = scene;
  const { command, undo } = step;
  const before = account.people();
  scene.lastRun = undefined;
  const expected = expectBulk(scene, step, before);
  const plan = mayApply(scene, step, expected) ? scene.newFile("plan", "ndjson") : undefined;
  if (step.dry || plan) {
    await checkDryRun(scene, [...args, "--dry-run", ...(plan ? ["--plan", plan] : [])], expected);
  }
  // Whom others have touched meanwhile.
  const touched = new Set<string>();
  if (plan && step.acts === "after the dry run") await act(scene, step, touched);
  const words = plan ? ["apply", plan, "--yes", "--json"] : args;
  const ran = await carryOut(scene, words, step, touched);
  const after = account.people();
  scene.log.push(`before:\n${show(before)}\nafter:\n${show(after)}`);
  checkConsent(command, [before, scene.afterOthers], after, suppressed);
  if (expected.isRefused) {
    if (touched.size > 0) return;
    expect([1, 2, 5, 6], "a refusal").toContain(ran.code);
    expect(show(after), "after a refusal").toEqual(show(before));
    return;
  }
  expect(show(after, touched), "the account").toEqual(show(expected.people, touched));
  const summary = readSummary(ran);
  expect(summary.requests.total, "requests").toBe(ran.sent.length);
  expect(summary, "the summary").toMatchObject({ rows: { pending: 0 }, status: "completed" });
  const theirs = scene.afterOthers;
  // By now the new list of a merge is there: what it makes of others' changes is asked without its name.
  const late =
    command.kind === "merge" ? expectChange(command, theirs, suppressed) : expectBulk(scene, step, theirs);
  const either = [before, expected.people, theirs, late.people];
  for (const key of touched) checkTouched(key, after, theirs, either);
  if (touched.size > 0) return;
  const { created, updated, deleted, rejected } = expected.rows;
  // A plan has no line for who stays as they are.
  expect(summary.rows, "the summary").toMatchObject(plan ? { created, updated, deleted } : expected.rows);
  expect(ran.code, "the exit code").toBe(rejected > 0 && !plan ? 3 : 0);
  compareDifference(before, after, summary.rows);
  const hasMadeList = command.kind === "merge";
  const { run } = summary;
  scene.lastRun = run === null ? undefined : { run, from: before, to: after, hasMadeList };
  if (step.again) await checkAgain(scene, step, words, plan !== undefined);
  else if (undo !== "no") await checkUndo(scene, step);
  else if (command.kind === "import" && rejected > 0 && !plan) await checkRetry(scene, command, summary);
}

function expectBulk({ account, suppressed }: Scene, { command }: Bulk, before: People): Expected {
  if (command.kind === "import") return expectImport(command, before, suppressed);
  if (command.kind !== "merge") return expectChange(command, before, suppressed);
  const { store, structureId } = account.world;
  const isTaken = store.lists.all(structureId).some(({ name }) => name === command.into);
  const isOneByOne = command.lists.length > 1 && account.variants["max-keys"] === "1";
  return isTaken || isOneByOne
    ? { people: before, rows: none, isRefused: true }
    : expectChange(command, before, suppressed);
}

function mayApply({ account }: Scene, { applies, command }: Bulk, { isRefused }: Expected): boolean {
  // No flag of `apply` creates who is suppressed.
  const isForced = command.kind === "import" && command.includeSuppressed;
  // Where no search tells a status, a contact that is read by its id after all may count as changed.
  const isUntold = account.variants.source !== undefined;
  return applies && !isRefused && !isForced && !isUntold;
}

async function act(scene: Scene, step: Bulk, touched: Set<string>): Promise<void> {
  touched.add(step.act.who);
  await scene.others(step.act);
}

/** Until it is done, whatever goes wrong meanwhile. */
async function carryOut(scene: Scene, args: string[], step: Bulk, touched: Set<string>): Promise<Ran> {
  const { acts, disturbance = { how: "others" as const, at: 3 } } = step;
  const { at } = disturbance;
  const how = acts === "meanwhile" ? "others" : disturbance.how;
  const isDisturbed = acts === "meanwhile" || how !== "others";
  const isShort = how === "budget";
  let ran = await scene.ecm(
    isShort && !isSingle(step.command) ? [...args, "--max-requests", String(at)] : args,
    isDisturbed && !isShort ? { how, at } : undefined,
    () => act(scene, step, touched),
  );
  for (let tries = 0; isDisturbed && mayResume(ran) && tries < 5; tries++) {
    if (tries === 0 && acts === "after a stop") await act(scene, step, touched);
    const run = ran.stdout === "" ? null : readSummary(ran).run;
    ran = await scene.ecm(step.resumes && run !== null ? ["runs", "resume", run, "--yes", "--json"] : args);
  }
  return ran;
}

function mayResume({ code, stderr }: Ran): boolean {
  if ([0, 2, 3, 5, 6].includes(code)) return false;
  // Who interrupts a command knows the next step.
  if (code !== 130) expect(stderr, "a next step").toContain("hint");
  return true;
}

async function checkDryRun(scene: Scene, args: string[], expected: Expected): Promise<void> {
  const before = scene.account.people();
  const told = await scene.ecm(args);
  expect(findWrites(told), "a dry run writes nothing").toEqual([]);
  expect(scene.account.people()).toEqual(before);
  if (expected.isRefused) return;
  const { rows, status } = readSummary(told);
  expect(status).toBe("dry-run");
  expect(rows, "a dry run says what would be").toMatchObject(expected.rows);
}

async function checkAgain(scene: Scene, { command }: Bulk, args: string[], isPlan: boolean): Promise<void> {
  // What a selection finds may be another the second time; a second list of one name is refused.
  if (!(isPlan || command.kind === "import" || command.kind === "sync")) return;
  const before = show(scene.account.people());
  expect(findWrites(await scene.ecm(args)), "the same again").toEqual([]);
  expect(show(scene.account.people())).toEqual(before);
}

async function checkUndo(scene: Scene, step: Bulk): Promise<void> {
  if (step.acts === "before the undo") await scene.others(step.act);
  await undoLastRun(scene, step.undo === "delete-created", { ...step, acts: "no" });
}

/** @param step what goes wrong meanwhile */
export async function undoLastRun(scene: Scene, deletes: boolean, step?: Bulk): Promise<void> {
  const { account, suppressed, erased, lastRun } = scene;
  if (!lastRun) return;
  const { run, from, to, hasMadeList } = lastRun;
  const now = account.people();
  const args = ["runs", "undo", run, "--yes", "--json", ...(deletes ? ["--delete-created"] : [])];
  const undone = await (step ? carryOut(scene, args, step, new Set()) : scene.ecm(args));
  const after = account.people();
  scene.log.push(`after the undo:\n${show(after)}`);
  const gone = new Set([...suppressed, ...erased]);
  const put = expectUndo({ from, to, now, suppressed: gone, deletes });
  expect(show(after), "after the undo").toEqual(show(put));
  const summary = readSummary(undone);
  const { rows, partial = 0 } = summary;
  compareDifference(now, after, rows);
  expect(undone.code, "the exit code of the undo").toBe(rows.rejected + partial > 0 ? 3 : 0);
  if (show(now) === show(to) && show(after) !== show(from)) {
    expect(rows.rejected + rows.skipped + partial, "what is not undone is said").toBeGreaterThan(0);
  }
  // A list that went with the undo does not come back.
  const isLast = summary.run === null || (hasMadeList && deletes);
  scene.lastRun = isLast ? undefined : { run: summary.run!, from: now, to: after };
}

/** The rejected rows are given keys that nobody has, and are imported again. */
async function checkRetry(scene: Scene, command: Import, { run }: Summary): Promise<void> {
  const wrong = command.rows.filter(({ key }) => keyIn(key) === undefined);
  if (command.duplicates === "reject") return;
  const { account, suppressed } = scene;
  const before = account.people();
  const { stdout } = await scene.ecm(["runs", "rejects", run!]);
  const [header, ...lines] = stdout.trimEnd().split("\n");
  expect(lines.length, "rejected rows").toBe(wrong.length);
  const file = scene.newFile("fixed", "csv");
  const keys = lines.map((_, at) => `new${at}-${before.size}@x.org`);
  const fixed = lines.map((line, at) => line.replace(/^("[^"]*"|[^,]*)/, keys[at]!));
  await writeFile(file, `${[header, ...fixed].join("\n")}\n`);
  const marks = markedIn(command);
  for (const [at, row] of wrong.entries()) {
    // A mark elsewhere in the input counts for the person whom the wrong cell may mean.
    const isMarked = isMarkedRow(command, row) || markedAddresses(row.key).some((each) => marks.has(each));
    if (isMarked) marks.add(keys[at]!);
  }
  const ran = await scene.ecm(["runs", "retry", run!, file, "--yes", "--json"]);
  const rows = wrong.map((row, at) => ({ ...row, key: keys[at]! }));
  // What overrides a mark or the suppression list was typed for the first run alone.
  const retried: Import = { ...command, rows, marked: "leave", includeSuppressed: false };
  const expected = expectImport(retried, before, suppressed, marks);
  expect(show(account.people()), "after the retry").toEqual(show(expected.people));
  expect(readSummary(ran).rows, "the retry").toMatchObject(expected.rows);
}

/** Where a search does not show everybody, the oracle cannot tell the numbers; they are true all the same. */
async function playUnseen(scene: Scene, step: Bulk, args: string[]): Promise<void> {
  const { account, suppressed } = scene;
  const { command } = step;
  await account.pass(60_000);
  const before = account.people();
  const ran = await carryOut(scene, args, { ...step, acts: "no" }, new Set());
  const after = account.people();
  scene.log.push(`before:\n${show(before)}\nafter:\n${show(after)}`);
  checkConsent(command, [before, scene.afterOthers], after, suppressed);
  if (![0, 3].includes(ran.code)) return;
  const { rows, codes } = readSummary(ran);
  compareDifference(before, after, rows, codes.skipped.exists_hidden);
  if (!step.again || command.kind !== "import") return;
  await account.pass(60_000);
  const applied = findWrites(await scene.ecm(args)).filter(({ status }) => status < 300);
  // The create of somebody whom no search shows is tried, and refused.
  expect(applied, "the same again").toEqual([]);
}
