/** `ecm mcp`, driven by the protocol's official client over the streams of the command. */
import { execFileSync, spawn } from "node:child_process";
import { mkdir, realpath, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openFileFolder } from "../../src/commands/mcp/index.ts";
import type { Clock } from "../../src/wire.ts";
import { done, json, manyContacts, startHttpServer, summaryOf } from "../kit.ts";
import { type Ecm, ecmWith, ends, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { account, accountSession, ada, bob, searchKeys, startMcp, workingFile } from "../support/mcp.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

/** A profile that leads to an account. */
const logIn = (ecm: Ecm, profile: string, { baseUrl, apiKey }: RunningSandbox, flags = "") =>
  done(
    ecm(`auth login --profile ${profile} --base-url ${baseUrl} --api-key-stdin ${flags}`, { stdin: apiKey }),
  );

describe("tools", () => {
  it("are at most 12 in 14 KB, each with its annotations, and none of them writes unless that is allowed", async () => {
    const home = { ...(await temporaryHome()), ECM_PROFILE: "sandbox" };
    const offered = async (...args: string[]) =>
      (await (await startMcp(home, args)).client.listTools()).tools;
    const all = await offered("--allow-write");
    expect(all.length).toBeLessThanOrEqual(12);
    expect(JSON.stringify({ tools: all }).length).toBeLessThanOrEqual(14 * 1024);
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
    const home = await temporaryHome();
    await logIn(ecmWith(home), "shop", await startSandbox(), "--read-only");
    const session = await startMcp(home, ["--allow-write", "--profile", "shop"]);
    const { tools } = await session.client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint)).toBe(true);
    expect(session.stderr()).toContain('"shop" is read-only');
  });
});

it("tells with an answer what its command warns of", async () => {
  const { env } = await startSandbox({ variants: { literal: "yes" }, contents: { lists: ["A", "B"] } });
  const { call } = await startMcp(env);
  const { warnings } = await call("structure_get");
  expect(warnings).toEqual(["The service did not say which tags there are"]);
  expect(await call("structure_get", { limit: 1 })).toMatchObject({ hasMore: true });
  expect(await call("runs_list")).not.toHaveProperty("warnings");
});

describe("failures", () => {
  const rows = [{ Email: "a@example.com", City: "Oslo" }];
  const unclear = [{ Email: "a@example.com", "Opt in": "maybe" }];
  const number = { keys: [ada.Email], set: { "First Name": 5 } };
  const undo = { action: "undo", run: "nothing" };
  const asksConsent = /\nhint: (?!.*ignore).*consent 'Opt in=opt-in' if a yes means subscribed/;
  /** What is said, as type, exit code and message in a line, and the hint in one below. */
  const failing: [what: string, tool: string, input: object, said: RegExp][] = [
    [
      "nobody",
      "contact_get",
      { contact: "w@x.org" },
      /^\w+ 5: .*w@x\.org.*\nhint: Looked in the structure "Default"\.$/,
    ],
    ["a list that does not exist", "contact_search", { lists: ["Nope"] }, /^\w+ 5: .*Nope/],
    ["a run that does not exist", "plan_run", undo, /^\w+ 5: /],
    [
      "a column for nothing",
      "plan_import",
      { rows },
      /\nhint: Map each with map City=FIELD, or ignore them all with ignore_unmapped$/,
    ],
    ["a consent column that is not clear", "plan_import", { rows: unclear }, asksConsent],
    [
      "a missing argument",
      "apply_plan",
      {},
      /^UsageError .*valid: data must have required property 'token'\nhint: /,
    ],
    ["a wrong value", "plan_change", number, /valid: data\/set\/First Name must be string\nhint: /],
    ["too many rows", "contact_search", { limit: 201 }, /^UsageError .*limit/],
    ["an unknown argument", "contact_search", { limt: 1 }, /^UsageError .*no argument "limt"\nhint: /],
    ["nobody chosen", "plan_change", { action: "delete" }, /\nhint: A selection with lists, where or all$/],
    ["a condition that is none", "contact_search", { where: "X ==" }, /^\w+ 2: where/],
    ["an unknown tool", "contact_explode", {}, /^UsageError /],
  ];

  it("speak with the client's words: arguments in place of a shell's", async () => {
    const { refusal } = await accountSession();
    for (const [what, tool, input, said] of failing) {
      const error = await refusal(tool, input);
      const { type, exitCode, message, hint } = error;
      expect(`${type} ${exitCode}: ${message}\nhint: ${hint}`, what).toMatch(said);
      expect(`${message} ${hint}`, what).not.toMatch(/\becm [a-z]|shell|--/);
      // A summary of a run that has not begun says nothing.
      expect(error, what).not.toHaveProperty("summary");
    }
  });

  it("come at once at the hourly limit, also from a plan: no call waits for the hour", async () => {
    const { env } = await startSandbox({ hourlyLimit: 1 });
    const { refusal } = await startMcp(env, ["--allow-write"]);
    const inputs = { plan_change: { action: "delete", all: true }, contact_search: {} };
    for (const [tool, input] of Object.entries(inputs)) {
      const error = await refusal(tool, input);
      expect(error).toMatchObject({ exitCode: 7, limit: "hour", retryAfterSeconds: expect.any(Number) });
      expect(error.hint).not.toContain("--");
    }
  });

  it("of a plan's rows are shown by it, and stay once it was applied", async () => {
    const { call } = await accountSession();
    const rows = ["a@x.org", "b@x.org", "c@x.org", "nobody"].map((Email) => ({ Email }));
    const { sample, token } = await call("plan_import", { rows });
    expect(sample).toContainEqual(expect.objectContaining({ key: "nobody" }));
    const rejects = [{ line: 4, key: "nobody", action: "reject", message: expect.any(String) }];
    expect(await call("apply_plan", { token })).toMatchObject({ rejects });
    expect(await call("runs_list", { run: "last", rejects: true })).toMatchObject({ rejects, total: 1 });
  });
});

describe("reads", () => {
  it("give at most as many rows as asked, with the total and the next page", async () => {
    const { env } = await account();
    const { call } = await startMcp(env);
    const structure = {
      structure: { label: "Default" },
      lists: [{ name: "News" }],
      total: 1,
      hasMore: false,
    };
    for (const [tool, input, answer] of [
      [
        "contact_search",
        { limit: 1, lists: ["News"] },
        { contacts: [{ key: ada.Email }], total: 2, hasMore: true, nextPage: 2 },
      ],
      ["contact_search", { limit: 1, page: 2 }, { contacts: [{ key: bob.Email }], total: 2, hasMore: false }],
      ["contact_search", { count: true }, { count: 2 }],
      ["contact_get", { contact: ada.Email }, { contact: { key: ada.Email } }],
      ["structure_get", {}, structure],
      ["events_list", { limit: 1 }, { events: [{}], hasMore: true }],
      ["account_status", {}, { works: true, limits: { hour: { limit: 3600 } } }],
      ["runs_list", {}, { runs: [{ kind: "import", status: "completed" }] }],
      [
        "runs_list",
        { run: "last", changes: true, limit: 1 },
        { changes: [{ action: "create" }], total: 2, nextPage: 2 },
      ],
    ] as const)
      expect(await call(tool, input), tool).toMatchObject(answer);
  });

  it("give the structure also where the answer of the lists cannot be read", async () => {
    const { env } = await startSandbox();
    const headers = { "x-api-key": env.ECM_API_KEY! };
    const server = await startHttpServer(async ({ url }, response) => {
      if (/\/lists\?/.test(url)) return json(response, 200, { lists: "none" });
      const answer = await fetch(`${env.ECM_BASE_URL}${url}`, { headers });
      json(response, answer.status, await answer.json());
    });
    const { call } = await startMcp({ ...env, ECM_BASE_URL: server.baseUrl });
    expect(await call("structure_get")).toMatchObject({ structure: { label: "Default" }, lists: null });
  });

  it("send any GET of the API, and nothing else", async () => {
    const campaigns = ["News", "Spring", "Draft"].map((name) => ({ name }));
    const { env, sandbox } = await startSandbox({ contents: { campaigns } });
    const { call, refusal } = await startMcp(env, ["--allow-write"]);
    const path = "/api/email/campaign";
    const sized = await call("api_get", { path, query: { size: "2" } });
    expect(sized).toMatchObject({ answer: { total: 3, records: [{}, {}] } });
    const first = await call("api_get", { path, limit: 1 });
    expect(first).toMatchObject({ answer: { records: [{}] }, total: 3, hasMore: true, nextPage: 2 });
    expect(await call("api_get", { path: "/api/email/domain" })).toHaveProperty("answer");
    expect(await refusal("api_get", { path: "/api/nowhere" })).toMatchObject({ exitCode: 4 });
    expect(await refusal("api_get", { path, method: "DELETE" })).toMatchObject({ type: "UsageError" });
    expect(sandbox.admin.requests().every(({ method }) => method === "GET")).toBe(true);
  });

  it("give no event the key of a person who was erased since", async () => {
    const { env, ecm } = await account();
    const { call } = await startMcp(env);
    expect(JSON.stringify(await call("events_list"))).toContain(ada.Email);
    await done(ecm(`contact erase ${ada.Email} --yes`));
    const { events } = await call("events_list");
    expect(events).toContainEqual(expect.objectContaining({ key: bob.Email }));
    expect(JSON.stringify(events)).not.toContain(ada.Email);
  });

  const pagings: Record<string, string>[] = [
    { page: "cap:5" },
    { page: "refuse:5" },
    { page: "cap:5", lists: "array" },
  ];
  it.each(pagings)("lead through every page of a service with %j", async (variants) => {
    const lists = Array.from({ length: 12 }, (_, index) => `L${index}`);
    const contents = { lists, contacts: manyContacts(25) };
    const { env } = await startSandbox({ variants, contents });
    const { call } = await startMcp(env);
    for (const [tool, name, count] of [
      ["contact_search", "contacts", 25],
      ["structure_get", "lists", 12],
    ] as const) {
      const ids = new Set<string>();
      let page: unknown = 1;
      for (let calls = 0; page !== undefined && calls < 10; calls++) {
        const answer = await call(tool, { limit: 20, page });
        for (const { _id } of answer[name] as { _id: string }[]) ids.add(_id);
        page = answer.nextPage;
      }
      expect({ tool, seen: ids.size, page }).toEqual({ tool, seen: count, page: undefined });
    }
  });

  it("leave stdout to the protocol, and the key out of everything", async () => {
    const { env, apiKey } = await account();
    const session = await startMcp(env);
    await session.call("account_status");
    expect(await session.end()).toBe(0);
    for (const line of session.stdout().trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
    expect(session.stdout() + session.stderr()).not.toContain(apiKey);
  });
});

describe("writes", () => {
  it("plan and apply an import of rows, a change, an unsubscription, a sync and a deletion", async () => {
    const { call, apply, ecm } = await accountSession();
    const eva = "eva@example.com";
    const rows = [{ Email: eva, "First Name": "Eva" }, { Email: "not an address" }];
    const imported = await call("plan_import", { rows, lists: ["News", "New"], create_missing: true });
    const sample = [{ key: eva, action: "create" }, { action: "reject" }];
    expect(imported).toMatchObject({ counts: { create: 1, reject: 1 }, sample });
    expect(await searchKeys(ecm)).not.toContain(eva);
    // Whom the plan does not write was counted with it.
    expect(await apply(imported)).toMatchObject({ rows: { read: 1, created: 1, rejected: 0 } });
    expect(await searchKeys(ecm, "--list", "News")).toEqual([ada.Email, bob.Email, eva]);

    const changed = await call("plan_change", { keys: [ada.Email], set: { "First Name": "A=B" } });
    const change = { changes: [{ before: "Ada", after: "A=B" }] };
    expect(changed).toMatchObject({ counts: { update: 1 }, sample: [change] });
    expect(await apply(changed)).toMatchObject({ rows: { updated: 1 } });

    const left = await call("plan_change", { action: "unsubscribe", where: "First_Name == 'A=B'" });
    expect(await apply(left)).toMatchObject({ rows: { updated: 1 } });
    expect(await searchKeys(ecm, "--status", "inactive")).toEqual([ada.Email]);

    const file = await workingFile("members.txt", "carl@example.com\n");
    const synced = await call("plan_list_sync", { list: "News", file, max_remove: "100%", create: true });
    expect(await apply(synced)).toMatchObject({ members: { added: 1, removed: 3 } });

    const deleted = await call("plan_change", { action: "delete", keys: [ada.Email, bob.Email] });
    expect(await apply(deleted)).toMatchObject({ rows: { deleted: 2 }, backup: expect.any(String) });
    expect(await searchKeys(ecm)).toEqual(["carl@example.com", eva]);
  });

  it("guess neither what a yes means nor whom a table marks", async () => {
    const { call, refusal, apply, ecm } = await accountSession();
    const rows = [
      { Email: "c@example.com", Newsletter: "yes" },
      { Email: "d@example.com", Newsletter: "no" },
    ];
    const message = expect.stringContaining("read as opt-in it leaves out 1 of 2 rows");
    expect(await refusal("plan_import", { rows })).toMatchObject({ type: "ConsentError", message });
    const planned = await call("plan_import", { rows, consent: { Newsletter: "opt-in" } });
    expect(await apply(planned)).toMatchObject({ rows: { created: 1 } });
    const table = "Email,unsubscribed\nada@example.com,yes\nbob@example.com,no\n";
    const leaving = { action: "unsubscribe", keys_file: await workingFile("webinar.csv", table) };
    expect(await refusal("plan_change", leaving)).toMatchObject({ type: "MarkedRowsError" });
    const marked = await call("plan_change", { ...leaving, rows: "marked" });
    expect(await apply(marked)).toMatchObject({ rows: { updated: 1 } });
    expect(await searchKeys(ecm, "--status", "inactive")).toEqual([ada.Email]);
  });

  it("refuse a number whose digits were lost, and keep those of a string", async () => {
    const { call, refusal } = await accountSession();
    const lost = [{ ...ada, "Last Name": Number("1234567890123456789") }];
    expect((await refusal("plan_import", { rows: lost })).message).toContain("rows/0/Last Name must be <= ");
    const whole = { ...ada, "Last Name": "1234567890123456789" };
    const { sample } = await call("plan_import", { rows: [whole, { ...bob, "Last Name": 4915112345678 }] });
    const kept = ["1234567890123456789", "4915112345678"];
    expect(sample).toMatchObject(kept.map((after) => ({ changes: [{ after }] })));
  });

  it("take no cell from what every object inherits", async () => {
    const { call } = await accountSession();
    const rows = [
      { Email: ada.Email, "Last Name": "Lovelace" },
      { Email: bob.Email, constructor: "yes" },
    ] as object[];
    const { sample } = await call("plan_import", { rows, map: { constructor: "First Name" } });
    expect(sample).toMatchObject([
      { changes: [{ name: "Last Name", after: "Lovelace" }] },
      { changes: [{ name: "First Name", after: "yes" }] },
    ]);
  });

  it("refuse a token that is used, unknown, too old, or of another session", async () => {
    const { env } = await account();
    let now = Date.now();
    const clock: Clock = { now: () => now, sleep: () => Promise.resolve() };
    const { call, refusal } = await startMcp(env, ["--allow-write"], clock);
    const planned = (name: string) => call("plan_change", { all: true, set: { "Last Name": name } });
    const { token } = await planned("One");
    const other = await startMcp(env, ["--allow-write"]);
    expect((await other.refusal("apply_plan", { token })).message).toMatch(/No open plan of this session/);
    await call("apply_plan", { token });
    expect((await refusal("apply_plan", { token })).message).toMatch(/No open plan/);
    const late = await planned("Two");
    now += 10 * 60_000 + 1;
    expect((await refusal("apply_plan", { token: late.token })).message).toMatch(/older than 10 minutes/);
  });

  it("refuse a plan when its profile leads to another account", async () => {
    const [one, two] = [await account(), await account()];
    const home = await temporaryHome();
    const ecm = ecmWith(home);
    await logIn(ecm, "shop", one);
    const { call, refusal } = await startMcp(home, ["--allow-write"]);
    const { token } = await call("plan_change", { action: "delete", all: true });
    await done(ecm("auth logout shop --yes"));
    await logIn(ecm, "shop", two);
    expect((await refusal("apply_plan", { token })).type).toBe("PlanRefusedError");
    expect(await searchKeys(two.ecm)).toHaveLength(2);
  });
});

describe("a client that is mistaken, or was misled", () => {
  const isUsage = { type: "UsageError", exitCode: 2 };

  it("does not choose everybody by an empty list of keys", async () => {
    const { refusal, ecm } = await accountSession();
    for (const [name, input] of [
      ["contact_search", { keys: [] }],
      ["plan_change", { action: "delete", keys: [], lists: ["News"] }],
      ["plan_change", { action: "unsubscribe", tags: [], all: true }],
    ] as const)
      expect(await refusal(name, input)).toMatchObject(isUsage);
    expect(await searchKeys(ecm)).toHaveLength(2);
  });

  it("does not override consent: a column about it is neither put aside nor read the other way round", async () => {
    const { env } = await startSandbox();
    const { call, refusal } = await startMcp(env, ["--allow-write"]);
    const rows = [{ Email: "left@example.com", Unsubscribed: "yes" }];
    for (const target of ["ignore", " IGNORE"])
      expect(await refusal("plan_import", { rows, map: { Unsubscribed: target } })).toMatchObject(isUsage);
    for (const more of [{}, { ignore_unmapped: true }, { map: { Unsubscribed: "First Name" } }]) {
      const plan = await call("plan_import", { rows, ...more });
      expect(plan).toMatchObject({ token: null, counts: { skip: 1 } });
    }
  });
});

it("shows none of the runs and values of another account on this machine", async () => {
  const home = await temporaryHome();
  const ecm = ecmWith(home);
  await logIn(ecm, "own", await account());
  await logIn(ecm, "other", await account());
  const set = async (profile: string, name: string) =>
    (await summaryOf(ecm, `contact mutate --list News --set 'First Name=${name}' --profile ${profile}`)).run!;
  const [mine, theirs] = [await set("own", "Mine"), await set("other", "Theirs")];
  const { call, refusal } = await startMcp(home, ["--profile", "own"]);
  expect((await call("runs_list")).runs).toMatchObject([{ run: mine }]);
  expect(await call("runs_list", { run: "last" })).toMatchObject({ run: { run: mine } });
  const { changes } = await call("runs_list", { run: mine, changes: true });
  expect(changes).toMatchObject([{ changes: [{ after: "Mine" }] }, {}]);
  for (const run of [theirs, theirs.slice(0, -1), "20"]) {
    const answer = await call("runs_list", { run, changes: true }).catch(() => undefined);
    expect(JSON.stringify(answer ?? {}), run).not.toContain("Theirs");
  }
  expect(await refusal("runs_list", { run: theirs })).toMatchObject({ exitCode: 5 });
});

describe("files", () => {
  async function openFolder(name: string, env: Record<string, string> = {}) {
    const home = await temporaryHome();
    const [config, state, cache] = Object.values(home);
    return (await openFileFolder({ folders: { config, state, cache }, terminal: { env } } as never, name))!;
  }

  it("are taken below their folder only, wherever a link or a path leads, and only where they end", async () => {
    const outside = await temporaryFolder();
    const folder = join(outside, "work");
    await mkdir(join(folder, "in"), { recursive: true });
    await writeFile(join(outside, "secret.csv"), "x");
    await writeFile(join(folder, "in", "people.csv"), "x");
    for (const [name, target] of [
      ["link.csv", join(outside, "secret.csv")],
      ["out", outside],
      ["inner", join(folder, "in")],
      ["environ.csv", "/proc/self/environ"],
      ["zero.csv", "/dev/zero"],
    ] as const)
      await symlink(target, join(folder, name));
    execFileSync("mkfifo", [join(folder, "pipe.csv")]);
    const { find, path } = await openFolder(folder);
    expect(path).toBe(await realpath(folder));
    const file = await find("in/people.csv");
    expect(file).toMatch(/people\.csv$/);
    expect(await find("inner/people.csv")).toBe(file);
    expect(await find(file)).toBe(file);
    for (const name of [
      ...["../secret.csv", join(outside, "secret.csv"), "link.csv", "out/secret.csv", "in/../../secret.csv"],
      ...["/etc/passwd", "/proc/self/environ", "/dev/stdin", "environ.csv", "zero.csv", "pipe.csv"],
      ...[".", "", "in", "missing.csv", "-", "in/people.csv\0"],
    ])
      await expect(find(name), name).rejects.toThrow(/no file/);
  });

  it("have a folder that is not the disk, a home, the system's, or one of ecm", async () => {
    const home = await temporaryFolder();
    await mkdir(join(home, "imports"));
    await symlink("/", join(home, "all"));
    for (const name of ["/", home, dirname(home), join(home, "all"), homedir()])
      await expect(openFolder(name, { HOME: home }), name).rejects.toThrow(/more than an agent may read/);
    expect((await openFolder(join(home, "imports"), { HOME: home })).path).toMatch(/imports$/);
    await expect(openFolder(join(home, "missing"))).rejects.toThrow(/no folder/);
    const { env } = await startSandbox();
    const config = env.ECM_CONFIG_DIR!;
    await mkdir(config, { recursive: true });
    const started = await ecmWith(env)(["mcp", "--files", config], { stdin: "" });
    expect(started).toMatchObject({ code: 2, stdout: "" });
    // The key's own folder is closed even below a folder that is open.
    await writeFile(join(config, "profiles.json"), "{}");
    const { refusal } = await startMcp(env, ["--allow-write", "--files", dirname(config)]);
    expect((await refusal("plan_import", { file: "config/profiles.json" })).message).toMatch(/no file/);
  });

  it("are read by a tool from --files DIR, else below the working folder", async () => {
    const { env } = await account();
    const folder = await temporaryFolder();
    await writeFile(join(folder, "people.csv"), "Email\neve@example.com\n");
    const open = await startMcp(env, ["--allow-write", "--files", folder]);
    expect(open.client.getInstructions()).toContain(await realpath(folder));
    expect(await open.call("plan_import", { file: "people.csv" })).toMatchObject({ counts: { create: 1 } });
    const usual = await startMcp(env, ["--allow-write"]);
    expect(usual.client.getInstructions()).toContain(process.cwd());
    for (const [{ refusal }, name, input] of [
      [open, "plan_import", { file: join(process.cwd(), "package.json") }],
      [usual, "plan_import", { file: "/etc/passwd" }],
      [usual, "plan_change", { keys_file: "../x", set: { a: "b" } }],
    ] as const)
      expect((await refusal(name, input)).message).toMatch(/no file/);
  });

  it("are none for a server that a client starts in /, which says how to allow some", async () => {
    const { env } = await startSandbox();
    const words = [join(process.cwd(), "bin/ecm.js"), "mcp", "--allow-write"];
    const child = spawn(process.execPath, words, { cwd: "/", env });
    child.stdin.end();
    await ends(waitForResult(child), 0, "--files DIR");
  });
});
