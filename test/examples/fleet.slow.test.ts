/** examples/fleet: accounts on a real PostgreSQL, workers as processes, and what is killed among them. */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { done, ecmWith, type RunningSandbox, startSandbox, temporaryFolder } from "../kit.ts";
import { recipe } from "../recipes/kit.ts";
import { startPostgres } from "../support/postgres.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const nodeLines: string = new URL("../../scripts/node-lines.mjs", import.meta.url).href;
const nodeLine = "24";
const page = readFileSync(join(root, "docs/fleet.md"), "utf8");
const blocks = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);

interface StatusRow {
  account: string;
  command: string;
  state: string;
  next: string | null;
  summary: { rows?: Record<string, number> } | null;
  error: string | null;
}

let home = "";
let preparing: Promise<string | undefined> | undefined;

/** The newer Node, and the first block of docs/fleet.md, once for all tests. @returns why they cannot be had */
async function prepare(): Promise<string | undefined> {
  home = await mkdtemp(join(tmpdir(), "ecm-fleet-"));
  const program = join(home, "examples/fleet");
  const filter = (path: string) => !path.endsWith("node_modules");
  await cp(join(root, "examples/fleet"), program, { recursive: true, filter });
  try {
    const { fetchNode }: { fetchNode(line: string, folder: string): string } = await import(nodeLines);
    const node = fetchNode(nodeLine, home);
    const path = `${dirname(node)}${delimiter}${process.env.PATH}`;
    const env = { ...process.env, PATH: path, npm_config_prefix: join(home, "npm") };
    await run("bash", ["-euc", blocks[0]!], { cwd: home, env, timeout: 120_000 });
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const types = join(root, "node_modules/@types");
    await run(node, [compiler, "-p", program, "--typeRoots", types]);
    await mkdir(join(home, "bin"));
    const start = (file: string, words: string[]) =>
      writeFile(join(home, "bin", file), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
    await start("ecm", [process.execPath, join(root, "bin/ecm.js")]);
    await start("node", [node]);
  } catch (error) {
    if (!/EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|network|npm install/.test(String(error))) throw error;
    return `Node ${nodeLine}, or the packages of examples/fleet, cannot be had here`;
  }
  return undefined;
}

async function startFleet(skip: (note: string) => void) {
  preparing ??= prepare();
  const reason = await preparing;
  if (reason !== undefined) skip(reason);
  const server = await startPostgres();
  /** All workers share it. */
  const folder = await temporaryFolder();
  const env = {
    PATH: [join(home, "bin"), join(home, "npm/bin"), process.env.PATH].join(delimiter),
    HOME: folder,
    ECM_CONFIG_DIR: join(folder, "config"),
    ECM_CACHE_DIR: join(folder, "cache"),
    ...server.env,
  };
  const place = { env, cwd: folder };
  const program = join(home, "npm/bin/fleet");
  const fleet = async (...words: string[]) => (await run(program, words, place)).stdout;
  return {
    ...{ server, env, folder },
    run: fleet,
    status: async (): Promise<StatusRow[]> => JSON.parse(await fleet("status", "--json")),
    sql: (query: string) => ask(env, query),
    /** A worker in a process group of its own. */
    work() {
      const worker = spawn(program, ["work"], { ...place, detached: true, stdio: "ignore" });
      onTestFinished(() => signalGroup(worker, "SIGKILL"));
      return worker;
    },
    async addAccount(name: string, options?: Parameters<typeof startSandbox>[0]) {
      const account = await startSandbox(options);
      const login = ["auth", "login", "--profile", name, "--base-url", account.baseUrl, "--no-verify"];
      const keyFile = join(folder, `${name}.key`);
      await writeFile(keyFile, account.apiKey);
      await done(ecmWith(env)([...login, "--api-key-command", `cat ${keyFile}`]));
      return account;
    },
    /** A file of contacts whose keys begin with the name. */
    async people(name: string, count: number): Promise<string> {
      const rows = Array.from({ length: count }, (_each, index) => `${name}${index}@example.com,N${index}\n`);
      await writeFile(join(folder, `${name}.csv`), `key,First Name\n${rows.join("")}`);
      return `${name}.csv`;
    },
  };
}

/** Questions that are asked again and again go to the database: a start of `fleet status` costs fifty of them. */
const ask = async (env: NodeJS.ProcessEnv, query: string) =>
  (await run("psql", ["-X", "-q", "-At", "-c", query], { env })).stdout.trim();

/** Jobs of the queue of which this is true. */
const countJobs = (env: NodeJS.ProcessEnv, condition: string) =>
  ask(env, `SELECT count(*) FROM pgboss.job WHERE name = 'ecm' AND ${condition}`);

const untilAllEnded = (env: NodeJS.ProcessEnv) =>
  expect
    .poll(() => countJobs(env, "state NOT IN ('completed', 'failed')"), { timeout: 400_000, interval: 2000 })
    .toBe("0");

function signalGroup(worker: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-worker.pid!, signal);
  } catch {
    // It has ended.
  }
}

const countContacts = async ({ ecm }: RunningSandbox) =>
  Number((await ecm(["contact", "search", "--count"])).stdout);

/** Waits until so many more contacts are to be created in an account. */
async function untilCreated({ sandbox }: RunningSandbox, count: number): Promise<void> {
  const follow = sandbox.admin.requests.follow({ method: "POST", path: "/api/contact" });
  let seen = 0;
  const countSeen = () => {
    seen += follow(count).length;
    return seen;
  };
  await expect.poll(countSeen, { timeout: 240_000, interval: 200 }).toBeGreaterThanOrEqual(count);
}

afterAll(() => (home === "" ? undefined : rm(home, { recursive: true, force: true })));

recipe("the fleet", () => {
  it("loses and repeats no row through kill -9, a restart of PostgreSQL, a worker that sleeps, and faults", {
    timeout: 600_000,
  }, async ({ skip }) => {
    const fleet = await startFleet(skip);
    const faults = ["503:*:*:p=0.01", "reset-after:POST:/api/contact:p=0.01"];
    const counts = { north: 300, south: 60, west: 180 };
    const accounts = {
      // Its import is still under way whenever something happens to a worker.
      north: await fleet.addAccount("north", {
        hourlyLimit: 100_000,
        faults: [...faults, "delay:POST:/api/contact:seconds=0.2"],
      }),
      south: await fleet.addAccount("south", { hourlyLimit: 100_000, faults }),
      west: await fleet.addAccount("west", { hourlyLimit: 120, windowSeconds: 3 }),
    };
    for (const [name, count] of Object.entries(counts))
      await fleet.run("add", name, "--", "import", await fleet.people(name, count));

    const first = fleet.work();
    await untilCreated(accounts.north, 40);
    signalGroup(first, "SIGKILL");

    // The second takes over what the first had, and goes on without PostgreSQL.
    const second = fleet.work();
    await untilCreated(accounts.north, 40);
    fleet.server.kill();
    fleet.server.start();
    await untilCreated(accounts.north, 40);
    signalGroup(second, "SIGSTOP");

    // The third takes over too, and is kept out by the lock until the second has learned that it lost its job.
    fleet.work();
    const keptOut = () => countJobs(fleet.env, "output ->> 'error' LIKE 'This run is in use by %'");
    await expect.poll(keptOut, { timeout: 200_000, interval: 2000 }).not.toBe("0");
    signalGroup(second, "SIGCONT");
    await untilAllEnded(fleet.env);
    expect((await fleet.status()).map(({ account, state, error }) => [account, state, error])).toEqual(
      Object.keys(counts).map((account) => [account, "done", null]),
    );
    for (const [name, count] of Object.entries(counts)) {
      const account = accounts[name as keyof typeof accounts];
      expect(await countContacts(account), name).toBe(count);
      expect(account.sandbox.admin.requests({ status: 429 })).toEqual([]);
    }
  });

  it("starts what is due beside what waits, repeats by cron, and gives up with the error", async ({
    skip,
  }) => {
    const fleet = await startFleet(skip);
    await fleet.addAccount("small", { hourlyLimit: 30 });
    await fleet.addAccount("refused");
    await writeFile(join(fleet.folder, "refused.key"), `ecm_us_${"x".repeat(43)}`);
    await fleet.run("add", "small", "--", "import", await fleet.people("small", 100));
    fleet.work();
    const putOff = () =>
      countJobs(fleet.env, "state = 'created' AND start_after > now() + interval '10 minutes'");
    await expect.poll(putOff, { timeout: 60_000, interval: 1000 }).toBe("1");
    const [waiting] = await fleet.status();
    expect(Date.parse(waiting!.next!)).toBeGreaterThan(Date.now() + 540_000);
    expect(waiting!.summary!.rows!.created).toBeGreaterThan(0);

    // Neither needs a request of the account whose hour is used up.
    await fleet.run("add", "small", "--", "suppressions", "add", "gone@example.com");
    for (const _twice of [1, 2])
      await fleet.run("add", "small", "--cron", "* * * * *", "--", "suppressions", "list");
    await fleet.run("add", "refused", "--", "contact", "search");
    await fleet.run("add", "refused", "--", "suppressions", "add", "--keys", "missing.csv");
    const ended = () =>
      fleet.sql(`SELECT count(DISTINCT data ->> 'id') FROM pgboss.job
        WHERE name = 'ecm-dead-letters' OR state = 'completed' AND data -> 'words' ->> 0 = 'suppressions'`);
    await expect.poll(ended, { timeout: 120_000, interval: 1000 }).toBe("4");
    const rows = await fleet.status();
    expect(rows.toSorted((a, b) => (a.command < b.command ? -1 : 1))).toMatchObject([
      { command: "contact search", state: "dead letter", error: "Invalid API key", next: null },
      { command: "import small.csv --no-wait", state: "waiting", summary: { stoppedBy: "hour" } },
      { command: "suppressions add --keys missing.csv", state: "dead letter" },
      { command: "suppressions add gone@example.com", state: "done", error: null },
      { command: "suppressions list", state: "done", error: null, next: expect.any(String) },
    ]);
    for (const { error } of rows) expect(error ?? "").not.toContain("rate-limit");
    const delay =
      "SELECT max(extract(epoch FROM started_on - start_after)) FROM pgboss.job WHERE name = 'ecm' AND state IN ('completed', 'failed')";
    // Two seconds of polling, and a busy machine.
    expect(Number(await fleet.sql(delay))).toBeLessThan(10);
    expect(await fleet.sql("SELECT count(*) FROM pgboss.schedule")).toBe("1");
  });

  it("does what docs/fleet.md says, from nothing to three accounts", async ({ skip }) => {
    const { env, folder } = await startFleet(skip);
    const script = join(folder, "page.sh");
    await writeFile(script, `set -euo pipefail\n${blocks.slice(1).join("\n")}`);
    const shell = spawn("bash", [script], { cwd: home, env, detached: true, stdio: "ignore" });
    onTestFinished(() => signalGroup(shell, "SIGKILL"));
    expect(await once(shell, "exit")).toEqual([0, null]);
    const fleetEnv = { ...env, PGDATABASE: "fleet" };
    await untilAllEnded(fleetEnv);
    const { stdout } = await run(join(home, "npm/bin/fleet"), ["status", "--json"], { env: fleetEnv });
    const rows = JSON.parse(stdout) as StatusRow[];
    for (const { state } of rows) expect(["done", "scheduled"]).toContain(state);
    for (const wanted of ["north", "west"]) {
      const task = rows.find(({ account, command }) => account === wanted && command.startsWith("import"));
      expect(task?.summary?.rows).toMatchObject({ read: 200, created: 200 });
    }
    // Who is erased is not there, whichever of the two tasks of the account came first.
    const customers = ["--profile", "south", "contact", "search", "--list", "Customers", "--count"];
    const pageEnv = { ...env, ECM_CONFIG_DIR: join(folder, "fleet/config") };
    expect((await run("ecm", customers, { env: pageEnv })).stdout).toBe("199\n");
  });
}, ["psql", "initdb", "pg_ctl"]);
