/**
 * One process at a time for one run, and for one command. The lock is a name in the kernel that a process listens on: it is gone the moment the
 * process is, however it ended, so that no crash can leave one behind.
 */
import { createHash } from "node:crypto";
import { realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";

export interface Lock {
  release(): Promise<void>;
}

/** Takes the lock on a matter within a folder; undefined when another process (or this one) holds it. */
export async function takeLock(folder: string, matter: string): Promise<Lock | undefined> {
  const name = await nameFor(folder, matter);
  let server = await listen(name);
  if (!server && isFile(name) && !(await isAnswered(name))) {
    // A socket file outlives its process where names without a file do not exist; nobody answers on this one.
    await rm(name, { force: true });
    server = await listen(name);
  }
  if (!server) return undefined;
  const held = server;
  return { release: () => new Promise((resolve) => held.close(() => resolve())) };
}

/** Linux has names without a file, Windows has pipes; elsewhere a socket file stands in the temporary folder. */
async function nameFor(folder: string, matter: string): Promise<string> {
  const hash = createHash("sha256")
    .update(JSON.stringify([await realpath(folder), matter]))
    .digest("hex")
    .slice(0, 32);
  if (platform() === "linux") return `\0ecm-run-${hash}`;
  if (platform() === "win32") return `\\\\.\\pipe\\ecm-run-${hash}`;
  return join(tmpdir(), `ecm-${hash.slice(0, 16)}.sock`);
}

function isFile(name: string): boolean {
  return platform() !== "linux" && platform() !== "win32" && !name.startsWith("\0");
}

function listen(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    server.listen({ path: name, exclusive: true }, () => {
      server.unref();
      resolve(server);
    });
  });
}

function isAnswered(name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(name, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
