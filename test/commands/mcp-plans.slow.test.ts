/** What `apply_plan` writes: the plan that was shown, and nothing else, whatever happened since. */
import { once } from "node:events";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { realClock } from "../../src/clock.ts";
import type { Clock } from "../../src/wire.ts";
import { done, type Ecm, manyContacts, readJson, spawnEcm, startSandbox, temporaryHome } from "../kit.ts";
import { readHome } from "../support/home.ts";
import { account, accountSession, ada, bob, searchKeys, startMcp, workingFile } from "../support/mcp.ts";

const carl = "carl@example.com";
const dora = "dora@example.com";
const eva = "eva@example.com";
const fay = "fay@example.com";
const minute = 60_000;

/** Folders of plans that were not applied. */
const openPlans = async (state: string): Promise<string[]> =>
  (await readdir(join(state, "runs"))).filter((name) => name.startsWith(".plan-"));

async function readCell(ecm: Ecm, key: string, column: string): Promise<string> {
  const stdout = await done(ecm(`contact search --key ${key} -o csv --columns '${column}'`));
  return (stdout.trim().split("\n")[1] ?? "").replaceAll('"', "");
}

/** `apply_plan` is `ecm apply`: what `apply.slow.test.ts` promises of every kind of plan holds here too. */
it("skips whom others created, changed, deleted, unsubscribed or suppressed after the plan", async () => {
  const { call, apply, ecm } = await accountSession();
  for (const key of [eva, fay]) await done(ecm(`contact create --key ${key}`));
  const keys = [ada.Email, bob.Email, carl, dora, eva, fay];
  const rows = keys.map((Email) => ({ Email, "First Name": "New" }));
  const plan = await call("plan_import", { rows, lists: ["News"] });
  expect(plan.counts).toEqual({ create: 2, update: 4 });
  await done(ecm(`contact unsubscribe ${ada.Email} --yes`));
  await done(ecm(`contact delete ${bob.Email} --yes`));
  await done(ecm(`contact create --key ${carl} --set 'First Name=Other'`));
  await done(ecm(`suppressions add ${dora}`));
  await done(ecm(`contact mutate ${eva} --set 'First Name=Eva'`));
  expect(await apply(plan)).toMatchObject({
    status: "completed",
    rows: { read: 6, created: 0, updated: 1, skipped: 5 },
    codes: { skipped: { changed: 4, suppressed: 1 } },
  });
  expect(await searchKeys(ecm)).toEqual([ada.Email, carl, eva, fay]);
  const named = Object.entries({ [ada.Email]: "Ada", [carl]: "Other", [eva]: "Eva", [fay]: "New" });
  for (const [key, name] of named) expect(await readCell(ecm, key, "First Name"), key).toBe(name);
});

describe("nobody is written who is not in the plan", () => {
  it("also where the conditions of a deletion hold for others since; it backs up everybody whom it takes", async () => {
    const { call, apply, ecm } = await accountSession();
    const plan = await call("plan_change", { action: "delete", lists: ["News"] });
    await done(ecm(`contact create --key ${carl} --list News`));
    const { rows, requests, estimate, backup } = await apply(plan);
    expect(rows).toMatchObject({ read: 2, deleted: 2 });
    expect(requests.total).toBe(estimate.requests);
    const kept = await readFile(backup!, "utf8");
    expect([ada.Email, bob.Email, carl].map((key) => kept.includes(key))).toEqual([true, true, false]);
    expect(await searchKeys(ecm)).toEqual([carl]);
    await done(ecm("runs undo last --yes"));
    expect(await searchKeys(ecm)).toEqual([ada.Email, bob.Email, carl]);
  });

  it("also by two plans for the same contacts that are applied at once", async () => {
    const { call, apply, ecm } = await accountSession();
    const planned = (name: string) => call("plan_change", { all: true, set: { "Last Name": name } });
    const plans = [await planned("One"), await planned("Two")];
    const summaries = await Promise.all(plans.map(apply));
    expect(summaries.map(({ rows }) => `${rows.updated} ${rows.skipped}`)).toEqual(["2 0", "0 2"]);
    expect(await readCell(ecm, ada.Email, "Last Name")).toBe("One");
  });
});

it("a plan that its guard refuses has no token", async () => {
  const { call, refusal, ecm, state } = await accountSession();
  const file = await workingFile("members.txt", `${ada.Email}\n`);
  const message = expect.stringContaining("This would remove 1 of the 2 members");
  expect(await refusal("plan_list_sync", { list: "News", file })).toMatchObject({
    type: "GuardError",
    message,
  });
  expect(await openPlans(state)).toEqual([]);
  const { token } = await call("plan_list_sync", { list: "News", file, max_remove: "1" });
  expect(token).toBeTypeOf("string");
  expect(await searchKeys(ecm, "--list", "News")).toEqual([ada.Email, bob.Email]);
});

describe("a plan's file", () => {
  it("is private, and is removed when it was applied, when nothing would change, and when the plan fails", async () => {
    const { call, refusal, apply, state } = await accountSession();
    const plan = await call("plan_import", { rows: [{ Email: carl }] });
    const [folder, ...others] = await openPlans(state);
    expect(others).toEqual([]);
    const path = join(state, "runs", folder!);
    expect(await readdir(path)).toEqual(["plan.ndjson"]);
    const mode = async (file: string) => (await stat(file)).mode & 0o777;
    expect([await mode(path), await mode(join(path, "plan.ndjson"))]).toEqual([0o700, 0o600]);
    const summary = await apply(plan);
    expect(await openPlans(state)).toEqual([]);
    expect(await readdir(join(state, "runs", summary.run!))).not.toContain("input");

    expect(await call("plan_import", { rows: [ada] })).toMatchObject({ token: null });
    await refusal("plan_change", { all: true, set: { Nonsense: "1" } });
    await refusal("plan_import", { rows: [{ Email: dora, Nonsense: "1" }] });
    expect(await openPlans(state)).toEqual([]);
    expect(await readdir(state)).not.toContain("written");
  });

  it("is removed after ten minutes, also where nobody asks, and at the end of the session", async () => {
    let now = Date.now();
    const waiting: (() => void)[] = [];
    const sleepLong = () => new Promise<void>((resolve) => void waiting.push(resolve));
    const clock: Clock = {
      now: () => now,
      sleep: (milliseconds, signal) => (milliseconds < 5 * minute ? realClock.sleep(0, signal) : sleepLong()),
    };
    const { call, end, state } = await accountSession(clock);
    await call("plan_import", { rows: [{ Email: carl }] });
    now += 9 * minute;
    await call("plan_import", { rows: [{ Email: dora }] });
    expect(await openPlans(state)).toHaveLength(2);
    now += minute + 1;
    waiting[0]!();
    await expect.poll(() => openPlans(state)).toHaveLength(1);
    expect(await end()).toBe(0);
    expect(await openPlans(state)).toEqual([]);
  });

  it("do not keep a server that is told to end, although its client leaves the input open", async () => {
    const { env } = await account();
    const child = spawnEcm(["mcp", "--allow-write"], env);
    const ended = once(child, "exit");
    await once(child.stderr!, "data");
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(143);
  });

  it("loses a person who is erased, and is refused then", async () => {
    const { call, refusal, ecm, env } = await accountSession();
    const rows = [{ Email: carl, "First Name": "Carl" }, { Email: dora }];
    const created = await call("plan_import", { rows });
    const changed = await call("plan_change", { all: true, set: { "Last Name": "Planned" } });
    await done(ecm(`contact erase ${carl} ${ada.Email} --yes`));
    const damaged = { type: "PlanDamagedError", exitCode: 2 };
    for (const { token } of [created, changed])
      expect(await refusal("apply_plan", { token })).toMatchObject(damaged);
    expect(await searchKeys(ecm)).toEqual([bob.Email]);
    expect(await readCell(ecm, bob.Email, "Last Name")).toBe("");
    for (const [file, bytes] of await readHome(env))
      for (const name of [carl, ada.Email, "Carl"]) expect(bytes, file).not.toContain(name);
  });

  it("of a run that is done shows what it rejected, but nobody who was erased since", async () => {
    const { call, apply, ecm, end, state } = await accountSession();
    const keys_file = await workingFile("keys.txt", `${ada.Email}\n${carl}\n${dora}\n`);
    await apply(await call("plan_change", { keys_file, set: { "Last Name": "Planned" } }));
    const readRejected = () => call("runs_list", { run: "last", rejects: true });
    expect(await readRejected()).toMatchObject({ rejects: [{ key: carl }, { key: dora }] });
    await done(ecm(`contact erase ${carl} --yes`));
    expect(JSON.stringify(await readRejected())).not.toContain(carl);
    await end();
    expect(await openPlans(state)).toEqual([]);
  });

  it("is for its account: not for another behind the same address", async () => {
    const home = await temporaryHome();
    const { call, refusal } = await startMcp({ ...home, ECM_PROFILE: "sandbox" }, ["--allow-write"]);
    const { token } = await call("plan_import", { rows: [{ Email: carl }] });
    await rm(join(home.ECM_STATE_DIR!, "sandbox"), { recursive: true });
    const refused = { type: "PlanRefusedError", exitCode: 2 };
    expect(await refusal("apply_plan", { token })).toMatchObject(refused);
    expect(await call("contact_search", { count: true })).toEqual({ count: 0 });
  });
});

it("an undo of an import deletes whom it created only where that is asked for", async () => {
  const { call, apply, ecm } = await accountSession();
  await apply(await call("plan_import", { rows: [{ Email: carl }] }));
  const undo = (more = {}) => call("plan_run", { action: "undo", run: "last", ...more });
  expect(await undo()).toMatchObject({ token: null });
  const taken = await undo({ delete_created: true });
  expect(taken.counts).toMatchObject({ delete: 1 });
  await apply(taken);
  expect(await searchKeys(ecm)).toEqual([ada.Email, bob.Email]);
});

it("a client that goes in the middle of an apply stops it after the writes under way", async () => {
  const contacts = manyContacts(60);
  const { env, sandbox, ecm } = await startSandbox({ contents: { contacts } });
  const { call, client, end } = await startMcp(env, ["--allow-write"]);
  const { token } = await call("plan_change", { all: true, set: { "Last Name": "Planned" } });
  sandbox.admin.faults(["delay:PUT:*:seconds=0.2"]);
  const writes = () => sandbox.admin.requests().filter(({ path }) => path.endsWith("/mutate"));
  void client.callTool({ name: "apply_plan", arguments: { token } }).catch(() => undefined);
  await expect.poll(() => writes().length, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(await end()).toBe(0);
  const [run] = await readJson(ecm, "runs list");
  expect(run).toMatchObject({ status: "stopped", stoppedBy: "signal", open: 0 });
  expect(run.rows.updated).toBeLessThan(60);
});
