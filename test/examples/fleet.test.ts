/**
 * The fleet of examples/fleet: accounts on a real PostgreSQL, several workers as processes of their own,
 * and what is killed among them.
 *
 * @module-tag slow
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { missingTools } from "../recipes.kit.ts";
import { ecmWith, temporaryFolder } from "../support/ecm.ts";
import { type PostgresServer, startPostgres } from "../support/postgres.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../..", import.meta.url));
const missing = missingTools(["psql", "initdb", "pg_ctl"]);
const why = missing.length > 0 ? ` (not tested: there is no ${missing.join(", ")} here)` : "";

interface StatusRow {
  account: string;
  task: string;
  state: string;
  slices: number;
  exitCode: number | null;
  rejected: number;
  worker: string | null;
  hourLeft: string | null;
  error: string | null;
}

interface Fleet {
  server: PostgresServer;
  folder: string;
  run(...words: string[]): Promise<string>;
  status(): Promise<StatusRow[]>;
  sql(query: string): Promise<string>;
  /** A worker in a process group of its own. @param log receives what it says */
  work(log?: string[]): ChildProcess;
  addAccount(name: string, options?: Parameters<typeof startSandbox>[0]): Promise<RunningSandbox>;
  /** A file of contacts whose keys begin with the name. */
  people(name: string, count: number): Promise<string>;
}

/** Its program, built from what its own package.json asks for. @returns why it cannot be, where it cannot */
async function buildFleet(folder: string): Promise<string | undefined> {
  const source = join(root, "examples/fleet");
  await cp(source, folder, { recursive: true, filter: (path) => !/\/(node_modules|dist)$/.test(path) });
  try {
    await run("npm", ["ci", "--no-audit", "--no-fund", "--prefer-offline"], {
      cwd: folder,
      timeout: 120_000,
    });
  } catch (error) {
    const isOffline = /EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|network/.test(String(error));
    if (!isOffline) throw error;
    return "the packages of examples/fleet cannot be fetched here";
  }
  await run("npm", ["run", "build"], { cwd: folder });
  return undefined;
}

async function startFleet(): Promise<Fleet> {
  const [server, folder] = [await startPostgres(), await temporaryFolder()];
  const { PATH = "" } = process.env;
  const env = { PATH, HOME: folder, ...server.env };
  const program = join(programFolder, "dist/main.js");
  const words = [
    "work",
    "--ecm",
    `${process.execPath} ${join(root, "bin/ecm.js")}`,
    "--folder",
    join(folder, "work"),
  ];
  const fleet: Fleet = {
    server,
    folder,
    run: async (...args) => (await run(process.execPath, [program, ...args], { env, cwd: folder })).stdout,
    status: async () => JSON.parse(await fleet.run("status", "--json")) as StatusRow[],
    sql: async (query) => (await run("psql", ["-X", "-q", "-At", "-c", query], { env })).stdout.trim(),
    work(log = []) {
      const args = [
        program,
        ...words,
        "--lease",
        "3",
        "--store",
        "0.5",
        "--retry",
        "0.5",
        "--concurrency",
        "2",
      ];
      const worker = spawn(process.execPath, args, {
        env,
        cwd: folder,
        detached: true,
        stdio: ["ignore", "ignore", "pipe"],
      });
      worker.stderr?.setEncoding("utf8").on("data", (text: string) => log.push(text));
      onTestFinished(() => signalGroup(worker, "SIGKILL"));
      return worker;
    },
    async addAccount(name, options) {
      const account = await startSandbox(options);
      await writeFile(join(folder, `${name}.key`), account.apiKey);
      const command = `cat ${join(folder, `${name}.key`)}`;
      await fleet.run("account", name, "--base-url", account.baseUrl, "--api-key-command", command);
      return account;
    },
    async people(name, count) {
      const rows = Array.from({ length: count }, (_each, index) => `${name}${index}@example.com,N${index}\n`);
      await writeFile(join(folder, `${name}.csv`), `key,First Name\n${rows.join("")}`);
      return `${name}.csv`;
    },
  };
  return fleet;
}

function signalGroup(worker: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-worker.pid!, signal);
  } catch {
    // It has ended.
  }
}

const countContacts = async ({ ecm }: RunningSandbox) =>
  Number((await ecm(["contact", "search", "--count"])).stdout);
const creations = ({ sandbox }: RunningSandbox) =>
  sandbox.admin
    .requests({ limit: 10_000 })
    .filter(({ method, path }) => method === "POST" && path === "/api/contact");

async function untilCreated(account: RunningSandbox, count: number): Promise<void> {
  await expect
    .poll(() => creations(account).length, { timeout: 60_000, interval: 50 })
    .toBeGreaterThanOrEqual(count);
}

/** Until all tasks have ended, as `fleet status` tells. */
async function untilEnded(fleet: Fleet, states = ["done"]): Promise<StatusRow[]> {
  let rows: StatusRow[] = [];
  const isOver = async () => {
    rows = await fleet.status();
    return rows.every(({ state }) => ["done", "failed"].includes(state));
  };
  await expect.poll(isOver, { timeout: 90_000, interval: 300 }).toBe(true);
  for (const row of rows) expect(states, JSON.stringify(row)).toContain(row.state);
  return rows;
}

let programFolder = "";
let building: Promise<string | undefined> | undefined;

/** Once for all tests of this file: it outlives the test that needs it first. */
async function requireProgram(skip: (note: string) => void): Promise<void> {
  if (!building) {
    programFolder = await mkdtemp(join(tmpdir(), "ecm-fleet-"));
    building = buildFleet(programFolder);
  }
  const reason = await building;
  if (reason !== undefined) skip(reason);
}

afterAll(() => (programFolder === "" ? undefined : rm(programFolder, { recursive: true, force: true })));

describe.skipIf(missing.length > 0)(`the fleet${why}`, () => {
  it("serves accounts with small hours by two workers: every contact once, and no request too many", async ({
    skip,
  }) => {
    await requireProgram(skip);
    const fleet = await startFleet();
    const small = { hourlyLimit: 60, windowSeconds: 2 };
    const accounts = [
      await fleet.addAccount("a", small),
      await fleet.addAccount("b", small),
      await fleet.addAccount("c", small),
    ];
    for (const name of ["a", "b", "c"])
      await fleet.run("add", name, "--", "import", await fleet.people(name, 100));
    fleet.work();
    fleet.work();
    const rows = await untilEnded(fleet);
    expect(rows.map(({ account, exitCode }) => [account, exitCode])).toEqual([
      ["a", 0],
      ["b", 0],
      ["c", 0],
    ]);
    for (const { hourLeft } of rows) expect(hourLeft).toMatch(/^\d+\/60$/);
    for (const account of accounts) {
      expect(await countContacts(account)).toBe(100);
      expect(creations(account).length).toBe(100);
      expect(account.sandbox.admin.requests({ status: 429 })).toEqual([]);
    }
  });

  it("loses no row when a worker dies with all its processes, and PostgreSQL in the middle of the rest", async ({
    skip,
  }) => {
    await requireProgram(skip);
    const fleet = await startFleet();
    const account = await fleet.addAccount("big", { hourlyLimit: 100_000 });
    await fleet.run("add", "big", "--", "import", await fleet.people("big", 1500));
    const log: string[] = [];
    const worker = fleet.work(log);
    await untilCreated(account, 500);
    signalGroup(worker, "SIGKILL");
    fleet.work(log);
    await untilCreated(account, creations(account).length + 300);
    fleet.server.kill();
    fleet.server.start();
    const [row] = await untilEnded(fleet);
    expect(log.join("")).toContain("big: its worker has not been heard of; taking over");
    expect(row).toMatchObject({ exitCode: 0, rejected: 0 });
    expect(await countContacts(account)).toBe(1500);
    // What the dead worker had not stored is looked up, not written again.
    expect(new Set(creations(account).map(({ body }) => (body as { key: string }).key)).size).toBe(1500);
    expect(creations(account).length).toBeLessThan(1600);
  });

  it("stores nothing of a machine that was thought dead and comes back late", async ({ skip }) => {
    await requireProgram(skip);
    const fleet = await startFleet();
    const account = await fleet.addAccount("late", { hourlyLimit: 100_000 });
    await fleet.run("add", "late", "--", "import", await fleet.people("late", 800));
    const log: string[] = [];
    const worker = fleet.work(log);
    await untilCreated(account, 300);
    signalGroup(worker, "SIGSTOP");
    fleet.work();
    await untilEnded(fleet);
    const readAll =
      "SELECT md5(string_agg(path || start || md5(content), ',' ORDER BY path, start)) FROM fleet.state_part";
    const stored = await fleet.sql(readAll);
    signalGroup(worker, "SIGCONT");
    await expect.poll(() => log.join(""), { timeout: 30_000 }).toContain("The lease on late was taken over");
    expect(await fleet.sql(readAll)).toBe(stored);
    expect((await fleet.status())[0]).toMatchObject({ state: "done", exitCode: 0 });
    expect(await countContacts(account)).toBe(800);
  });

  it("never creates again who was erased on another machine, gives up with the error, and repeats by cron", async ({
    skip,
  }) => {
    await requireProgram(skip);
    const fleet = await startFleet();
    const account = await fleet.addAccount("shop");
    // What the account's machine knew before there was a fleet.
    await account.ecm(["suppressions", "add", "shop1@example.com"]);
    const words = [
      "--base-url",
      account.baseUrl,
      "--api-key-command",
      `cat ${join(fleet.folder, "shop.key")}`,
    ];
    await fleet.run("account", "shop", ...words, "--state", account.env.ECM_STATE_DIR!);
    const people = await fleet.people("shop", 5);
    await fleet.run("add", "shop", "--", "contact", "erase", "shop3@example.com", "--yes");
    const first = fleet.work();
    await untilEnded(fleet);
    signalGroup(first, "SIGTERM");
    await expect.poll(() => first.exitCode, { timeout: 20_000 }).toBe(0);

    await fleet.addAccount("refused");
    await writeFile(join(fleet.folder, "refused.key"), `ecm_us_${"x".repeat(43)}`);
    await fleet.run("add", "shop", "--", "import", people);
    await fleet.run("add", "refused", "--", "contact", "search");
    fleet.work();
    const rows = await untilEnded(fleet, ["done", "failed"]);
    expect(rows).toMatchObject([
      { account: "refused", state: "failed", exitCode: 4, error: expect.stringContaining("Invalid API key") },
      { account: "shop", state: "done" },
      { account: "shop", state: "done", exitCode: 0 },
    ]);
    expect(await countContacts(account)).toBe(3);
    await fleet.run("state", "shop", join(fleet.folder, "copy"));
    const copy = { ...account.env, ECM_STATE_DIR: join(fleet.folder, "copy") };
    const runs = await ecmWith(copy)(["runs", "list", "--json"]);
    expect(JSON.parse(runs.stdout)).toMatchObject([
      { status: "completed", rows: { created: 3, skipped: 2 } },
    ]);
    expect(await fleet.sql("SELECT data ->> 'account' FROM pgboss.job WHERE name = 'failed-tasks'")).toBe(
      "refused",
    );
    // Neither the API key nor who was erased stays behind; of what is done no input does.
    for (const secret of [account.apiKey, "shop3@example.com"]) {
      const inState = `SELECT count(*) FROM fleet.state_part WHERE position(convert_to('${secret}', 'UTF8') IN content) > 0`;
      const inTasks = `SELECT count(*) FROM fleet.task AS task WHERE task::text LIKE '%${secret}%'`;
      expect([await fleet.sql(inState), await fleet.sql(inTasks)]).toEqual(["0", "0"]);
    }
    expect(await fleet.sql("SELECT count(*) FROM fleet.input")).toBe("0");

    await fleet.run("add", "shop", "--cron", "* * * * * *", "--", "lists", "list");
    const countSlices = async () =>
      Number(await fleet.sql("SELECT slices FROM fleet.task WHERE cron IS NOT NULL"));
    await expect.poll(countSlices, { timeout: 30_000, interval: 500 }).toBeGreaterThanOrEqual(2);
    const repeated = (await fleet.status()).at(-1)!;
    expect(repeated).toMatchObject({ exitCode: 0, error: null });
    const remove = () =>
      fleet.run("remove", repeated.task).then(
        () => true,
        () => false,
      );
    await expect.poll(remove, { timeout: 30_000, interval: 100 }).toBe(true);
    expect((await fleet.status()).map(({ account }) => account)).toEqual(["refused", "shop", "shop"]);
  });
});
