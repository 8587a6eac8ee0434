/** A PostgreSQL server of a test's own, on a socket: the programs are Debian's. */
import { execFileSync } from "node:child_process";
import { chownSync, existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A server refuses to run as root: it gets another user. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

export interface PostgresServer {
  /** What psql needs to know. */
  env: Record<string, string>;
  /** As a machine that loses its power. */
  kill(): void;
  start(): void;
}

/** Starts a server without a port; it is stopped and removed when the test ends. */
export async function startPostgres(): Promise<PostgresServer> {
  const home = await mkdtemp(join(tmpdir(), "ecm-pg-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  if (user.uid !== undefined) chownSync(home, user.uid, user.gid);
  const data = join(home, "data");
  const control = (...args: string[]) =>
    execFileSync("pg_ctl", ["-D", data, "-w", ...args], { ...user, cwd: home, stdio: "ignore" });
  execFileSync("initdb", ["-D", data, "-A", "trust", "-U", "shop", "-E", "UTF8", "--no-sync"], {
    ...user,
    cwd: home,
    stdio: "ignore",
  });
  let isRunning = false;
  const start = () => {
    control("-l", join(home, "log"), "-o", `-c listen_addresses='' -k ${home} -F`, "start");
    isRunning = true;
  };
  const kill = () => {
    if (isRunning && existsSync(data)) control("-m", "immediate", "stop");
    isRunning = false;
  };
  onTestFinished(kill);
  start();
  return { env: { PGHOST: home, PGUSER: "shop", PGDATABASE: "postgres" }, kill, start };
}
