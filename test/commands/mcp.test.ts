/** `ecm mcp`, driven by the protocol's official client over the streams of the command. */
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fileBelowWorkingFolder } from "../../src/commands/mcp/files.ts";
import type { Clock } from "../../src/wire.ts";
import { manyContacts } from "../bulk/kit.ts";
import { ecmWith, resultOf, spawnEcm, temporaryFolder, temporaryHome } from "../support/ecm.ts";
import { type Answer, account, ada, belowWorkingFolder, bob, keysIn, serving } from "../support/mcp.ts";
import { startSandbox } from "../support/sandbox.ts";

describe("tools", () => {
  it("are at most 14 in 20 KB, each with its annotations, and none of them writes unless that is allowed", async () => {
    const home = { ...(await temporaryHome()), ECM_PROFILE: "sandbox" };
    const offered = async (...args: string[]) => (await (await serving(home, args)).client.listTools()).tools;
    const all = await offered("--allow-write");
    expect(all.length).toBeLessThanOrEqual(14);
    expect(JSON.stringify({ tools: all }).length).toBeLessThanOrEqual(20 * 1024);
    for (const { annotations, description } of all) {
      expect(annotations).toMatchObject({
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
      });
      expect(description!.length).toBeGreaterThan(20);
    }
    const readers = await offered();
    expect(readers.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(readers.map(({ name }) => name).filter((name) => /plan/.test(name))).toEqual([]);
    expect(await offered("--allow-write", "--read-only")).toEqual(readers);
  });

  it("are not offered for writing by a profile that is read-only, and a warning says so", async () => {
    const { env, baseUrl, apiKey } = await startSandbox();
    const { ECM_BASE_URL: _address, ECM_API_KEY: _key, ...home } = env as Record<string, string>;
    const login = ["auth", "login", "--profile", "shop", "--base-url", baseUrl, "--api-key-stdin"];
    await ecmWith(home)([...login, "--read-only"], { stdin: apiKey });
    const session = await serving(home, ["--allow-write", "--profile", "shop"]);
    const { tools } = await session.client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(session.stderr()).toContain('"shop" is read-only');
  });

  it("answer a wrong input, an unknown tool and a command's failure as errors that say what is wrong", async () => {
    const { env } = await startSandbox();
    const session = await serving(env);
    expect(await session.refusal("contact_search", { limit: 201 })).toMatchObject({ type: "UsageError" });
    expect(await session.refusal("contact_search", { limt: 1 })).toMatchObject({ type: "UsageError" });
    expect(await session.refusal("plan_delete", { all: true })).toMatchObject({ type: "UsageError" });
    expect(await session.refusal("contact_get", { contact: "nobody@example.com" })).toMatchObject({
      exitCode: 5,
    });
    expect(await session.refusal("contact_search", { where: "Nonsense == 1" })).toMatchObject({
      exitCode: 2,
    });
    expect(await session.end()).toBe(0);
  });
});

describe("reads", () => {
  it("give at most as many rows as asked, with the total and the next page", async () => {
    const { env } = await account();
    const { call } = await serving(env);
    const first = await call("contact_search", { limit: 1, lists: ["News"] });
    expect(first).toMatchObject({ contacts: [{ key: ada.Email }], total: 2, hasMore: true, nextPage: 2 });
    const second = await call("contact_search", { limit: 1, page: 2 });
    expect(second).toMatchObject({ contacts: [{ key: bob.Email }], total: 2, hasMore: false });
    expect(await call("contact_search", { count: true })).toEqual({ count: 2 });
    expect(await call("contact_get", { contact: ada.Email })).toMatchObject({ contact: { key: ada.Email } });
    expect(await call("lists_list")).toMatchObject({ lists: [{ name: "News" }], total: 1, hasMore: false });
    expect(await call("structure_get")).toMatchObject({ structure: { label: "Default" } });
    expect(await call("events_list", { limit: 1 })).toMatchObject({ events: [{}], hasMore: true });
    expect(await call("account_status")).toMatchObject({ works: true, limits: { hour: { limit: 3600 } } });
    const { runs } = await call("runs_list");
    expect(runs).toMatchObject([{ kind: "import", status: "completed" }]);
    const shown = await call("run_show", { run: "last", changes: true, limit: 1 });
    expect(shown).toMatchObject({ changes: [{ action: "create" }], total: 2, nextPage: 2 });
  });

  it.each([{ page: "cap:50" }, { page: "refuse:50" }, { page: "cap:50", lists: "array" }])(
    "lead through every page of a service with %j",
    async (variants) => {
      const { env } = await startSandbox({
        variants,
        contents: {
          lists: Array.from({ length: 120 }, (_, index) => `L${index}`),
          contacts: manyContacts(250),
        },
      });
      const { call } = await serving(env);
      for (const [tool, name, count] of [
        ["contact_search", "contacts", 250],
        ["lists_list", "lists", 120],
      ] as const) {
        const seen = new Set<string>();
        let page: unknown = 1;
        for (let calls = 0; page !== undefined && calls < 10; calls++) {
          const answer = await call(tool, { limit: 200, page });
          for (const { _id } of answer[name] as { _id: string }[]) seen.add(_id);
          page = answer.nextPage;
        }
        expect({ tool, seen: seen.size, page }).toEqual({ tool, seen: count, page: undefined });
      }
    },
  );

  it("leave stdout to the protocol, and the key out of everything", async () => {
    const { env, apiKey } = await account();
    const session = await serving(env);
    await session.call("account_status");
    expect(await session.end()).toBe(0);
    for (const line of session.stdout().trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(session.stdout() + session.stderr()).not.toContain(apiKey);
  });
});

describe("writes", () => {
  it("plan and apply an import of rows, a change, an unsubscription, a sync and a deletion", async () => {
    const { env, ecm } = await startSandbox();
    const { call } = await serving(env, ["--allow-write"]);
    const apply = async (plan: Answer) => (await call("apply_plan", { token: plan.token })).summary;

    const rows = [ada, bob, { Email: "not an address" }];
    const imported = await call("plan_import", { rows, lists: ["News"], create_missing: true });
    expect(imported).toMatchObject({
      counts: { create: 2, reject: 1 },
      sample: [{ key: ada.Email, action: "create" }, { action: "create" }, { action: "reject" }],
    });
    expect(await keysIn(ecm)).toEqual([]);
    // Whom the plan does not write was counted with it.
    expect(await apply(imported)).toMatchObject({ rows: { read: 2, created: 2, rejected: 0 } });
    expect(await keysIn(ecm, "--list", "News")).toEqual([ada.Email, bob.Email]);

    const changed = await call("plan_change", { keys: [ada.Email], set: { "First Name": "A=B" } });
    expect(changed).toMatchObject({
      counts: { update: 1 },
      sample: [{ changes: [{ before: "Ada", after: "A=B" }] }],
    });
    expect(await apply(changed)).toMatchObject({ rows: { updated: 1 } });

    const left = await call("plan_unsubscribe", { where: "First_Name == 'A=B'" });
    expect(await apply(left)).toMatchObject({ rows: { updated: 1 } });
    expect(await keysIn(ecm, "--status", "inactive")).toEqual([ada.Email]);

    const synced = await call("plan_list_sync", {
      list: "News",
      file: await belowWorkingFolder("members.txt", "carl@example.com\n"),
      max_remove: "100%",
      create: true,
    });
    expect(await apply(synced)).toMatchObject({ members: { removed: 2 } });

    const deleted = await call("plan_delete", { keys: [ada.Email, bob.Email] });
    expect(await apply(deleted)).toMatchObject({ rows: { deleted: 2 }, backup: expect.any(String) });
    expect(await keysIn(ecm)).not.toContain(ada.Email);
  });

  it("refuse a number whose digits were lost, and keep those of a string", async () => {
    const { env } = await account();
    const { call, refusal } = await serving(env, ["--allow-write"]);
    const error = await refusal("plan_import", {
      rows: [{ ...ada, "Last Name": Number("1234567890123456789") }],
    });
    expect(error).toMatchObject({
      type: "UsageError",
      message: expect.stringContaining('rows[0]: the number in "Last Name"'),
    });
    const rows = [
      { ...ada, "Last Name": "1234567890123456789" },
      { ...bob, "Last Name": 4915112345678 },
    ];
    const { sample } = await call("plan_import", { rows });
    expect(sample).toMatchObject([
      { changes: [{ after: "1234567890123456789" }] },
      { changes: [{ after: "4915112345678" }] },
    ]);
  });

  it("give no token where nothing would change", async () => {
    const { env } = await account();
    const { call } = await serving(env, ["--allow-write"]);
    expect(await call("plan_import", { rows: [ada] })).toMatchObject({
      token: null,
      counts: { unchanged: 1 },
    });
  });

  it("refuse a token that is used, unknown, too old, or of another session", async () => {
    const { env } = await account();
    let now = Date.now();
    const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };
    const { call, refusal } = await serving(env, ["--allow-write"], clock);
    const add = (tag: string) => ({ all: true, set: { "Last Name": tag } });
    const { token } = await call("plan_change", add("One"));
    const other = await serving(env, ["--allow-write"]);
    expect((await other.refusal("apply_plan", { token })).message).toMatch(/No plan of this session/);
    await call("apply_plan", { token });
    expect((await refusal("apply_plan", { token })).message).toMatch(/already been used/);
    const late = await call("plan_change", add("Two"));
    now += 10 * 60_000 + 1;
    expect((await refusal("apply_plan", { token: late.token })).message).toMatch(/older than 10 minutes/);
  });

  it("refuse a plan when its profile leads to another account", async () => {
    const [one, two] = [await account(), await account()];
    const home = await temporaryHome();
    const ecm = ecmWith(home);
    const login = ({ baseUrl, apiKey }: typeof one) =>
      ecm(["auth", "login", "--profile", "shop", "--base-url", baseUrl, "--api-key-stdin"], {
        stdin: apiKey,
      });
    await login(one);
    const { call, refusal } = await serving(home, ["--allow-write"]);
    const { token } = await call("plan_delete", { all: true });
    await ecm(["auth", "logout", "shop", "--yes"]);
    await login(two);
    expect((await refusal("apply_plan", { token })).message).toBe("This plan was made for another account");
    expect(await keysIn(two.ecm)).toHaveLength(2);
  });
});

describe("files", () => {
  it("are taken below the working folder only, wherever a link or a path leads", async () => {
    const outside = await temporaryFolder();
    const folder = join(outside, "work");
    await mkdir(join(folder, "in"), { recursive: true });
    await writeFile(join(outside, "secret.csv"), "x");
    await writeFile(join(folder, "in", "people.csv"), "x");
    await symlink(join(outside, "secret.csv"), join(folder, "link.csv"));
    await symlink(outside, join(folder, "out"));
    await symlink(join(folder, "in"), join(folder, "inner"));
    const taken = (name: string) => fileBelowWorkingFolder(name, folder);
    const file = await taken("in/people.csv");
    expect(file).toMatch(/people\.csv$/);
    expect(await taken("inner/people.csv")).toBe(file);
    expect(await taken(file)).toBe(file);
    for (const name of [
      "../secret.csv",
      join(outside, "secret.csv"),
      "link.csv",
      "out/secret.csv",
      "/etc/passwd",
      ".",
    ])
      await expect(taken(name), name).rejects.toThrow(/outside the working folder/);
    for (const name of ["in", "missing.csv", "-"]) await expect(taken(name), name).rejects.toThrow(/no file/);
  });

  it("are refused to a tool, before a request", async () => {
    const { env } = await startSandbox();
    const { refusal } = await serving(env, ["--allow-write"]);
    expect((await refusal("plan_import", { file: "/etc/passwd" })).message).toMatch(/outside/);
    expect((await refusal("plan_change", { keys_file: "../x", set: { a: "b" } })).message).toMatch(/outside/);
  });
});

it("is loaded for its own command only", async () => {
  const home = await temporaryHome();
  const folder = await temporaryFolder();
  const hook = join(folder, "loaded.cjs");
  await writeFile(
    hook,
    `process.on("exit", () => require("node:fs").writeFileSync(process.env.LOADED, Object.keys(require.cache).join("\\n")));`,
  );
  const loaded = async (...args: string[]) => {
    const file = join(folder, `${args.join(" ")}.txt`);
    const env = { ...home, LOADED: file, NODE_OPTIONS: `--require=${hook}` };
    const child = spawnEcm(args, env);
    child.stdin!.end();
    expect(await resultOf(child)).toMatchObject({ code: 0 });
    const files = (await readFile(file, "utf8")).split("\n").filter((each) => each.includes("/dist/"));
    const texts = await Promise.all(files.map((each) => readFile(each, "utf8")));
    return texts.some((text) => text.includes("notifications/initialized"));
  };
  const search = ["contact", "search", "--profile", "sandbox"];
  const all = await Promise.all([loaded("--version"), loaded("--help"), loaded(...search)]);
  expect(all).toEqual([false, false, false]);
  expect(await loaded("mcp", "--profile", "sandbox")).toBe(true);
});
