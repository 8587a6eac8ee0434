/** A process that is killed once its run is completed, and before anybody was told. */
import { spawn } from "node:child_process";
import { closeSync, constants, existsSync, openSync, writeSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { type RunningSandbox, startSandbox } from "../support/sandbox.ts";

const program = fileURLToPath(new URL("../../bin/ecm.js", import.meta.url));

/** A pipe that takes nothing more: whoever writes to it waits for a reader that never comes. */
async function fullPipe(): Promise<number> {
  const path = join(await temporaryFolder(), "pipe");
  await new Promise((resolve, reject) => {
    spawn("mkfifo", [path]).on("error", reject).on("close", resolve);
  });
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(() => closeSync(descriptor));
  const piece = Buffer.alloc(4096);
  for (let size = piece.length; size > 0; size = Math.floor(size / 2)) {
    try {
      for (;;) writeSync(descriptor, piece, 0, size);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    }
  }
  return descriptor;
}

async function summariesIn(service: RunningSandbox): Promise<{ id: string; status: string | undefined }[]> {
  const root = join(service.env.ECM_STATE_DIR!, "runs");
  const names = await readdir(root).catch(() => [] as string[]);
  return Promise.all(
    names.map(async (id) => {
      const text = await readFile(join(root, id, "manifest.json"), "utf8").catch(() => "{}");
      return { id, status: (JSON.parse(text) as { summary?: { status: string } }).summary?.status };
    }),
  );
}

/**
 * Kills a command when the manifest of its run says that it is completed, while its stdout takes nothing.
 * @returns the run
 */
async function killUntold(service: RunningSandbox, args: string[]): Promise<string> {
  const before = new Set((await summariesIn(service)).map(({ id }) => id));
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, ...service.env },
    stdio: ["ignore", await fullPipe(), "ignore"],
  });
  const ended = new Promise((resolve) => child.on("close", (_code, signal) => resolve(signal)));
  let completed: string | undefined;
  while (completed === undefined && child.exitCode === null) {
    // Not at once again: that would take the processor from the child.
    await new Promise((resolve) => setTimeout(resolve, 5));
    completed = (await summariesIn(service)).find(
      ({ id, status }) => !before.has(id) && status === "completed",
    )?.id;
  }
  child.kill("SIGKILL");
  expect(await ended).toBe("SIGKILL");
  return completed!;
}

const commands: Record<string, (path: string) => string[]> = {
  import: (path) => ["import", path],
  "contact mutate --keys": (path) => ["contact", "mutate", "--keys", path, "--set", "First Name=New"],
  "contact mutate of a selection": () => [
    ...["contact", "mutate", "--where", 'First_Name != "New"', "--set", "First Name=New"],
  ],
  "contact mutate --all, which changes nothing": () => [
    ...["contact", "mutate", "--all", "--remove-list", "L", "--yes"],
  ],
  "contact delete": () => ["contact", "delete", "--all", "--yes"],
  "lists sync": (path) => ["lists", "sync", "L", path],
};

describe.skipIf(process.platform === "win32")(
  "a run that was completed, and killed before it was said",
  () => {
    it.each(Object.entries(commands))(
      "(%s) is reported by the same command",
      { tags: "slow" },
      async (_name, argsFor) => {
        const service = await startSandbox({ contents: { lists: ["L"], contacts: manyContacts(6) } });
        const { ecm, sandbox } = service;
        const args = [...argsFor(await inputFile(manyRows(6, () => "New"))), "--json"];
        const run = await killUntold(service, args);
        const after = await readContacts(service);
        sandbox.admin.clearRequests();

        const result = await ecm(args);
        expect(result.code, result.stderr).toBe(0);
        expect(parseSummary(result)).toMatchObject({
          run,
          status: "completed",
          rows: { read: 6, pending: 0 },
          requests: { create: 0, mutate: 0 },
        });
        expect(result.stderr).toContain(`Run ${run} is completed`);
        expect(sandbox.admin.requests().every(({ method }) => method === "GET" || method === "POST")).toBe(
          true,
        );
        expect(await readContacts(service)).toEqual(after);
        const last = JSON.parse((await ecm(["runs", "show", "last", "--json"])).stdout) as { run: string };
        expect(last.run).toBe(run);
        // It was said now: the same command is a new run.
        expect(parseSummary(await ecm(args)).run).not.toBe(run);
      },
    );

    it("is undone, not reported, when it was undone meanwhile", { tags: "slow" }, async () => {
      const service = await startSandbox({ contents: { contacts: manyContacts(6) } });
      const { ecm } = service;
      const args = ["import", await inputFile(manyRows(6, () => "New")), "--json"];
      const run = await killUntold(service, args);
      expect((await ecm(["runs", "undo", run])).code).toBe(0);
      const again = parseSummary(await ecm(args));
      expect(again).toMatchObject({ rows: { updated: 6 } });
      expect(again.run).not.toBe(run);
    });

    it("is reported of an undo, too", { tags: "slow" }, async () => {
      const service = await startSandbox({ contents: { contacts: manyContacts(6) } });
      const { ecm } = service;
      const file = await inputFile(manyRows(6, () => "New"));
      const { run } = parseSummary(await ecm(["import", file, "--json"]));
      const undo = ["runs", "undo", run!, "--json"];
      const killed = await killUntold(service, undo);
      expect(parseSummary(await ecm(undo))).toMatchObject({ run: killed, rows: { updated: 6 } });
    });

    it("is started over with --fresh, and is not reported after that", { tags: "slow" }, async () => {
      const service = await startSandbox({ contents: { contacts: manyContacts(6) } });
      const args = ["import", await inputFile(manyRows(6, () => "New")), "--json"];
      const run = await killUntold(service, args);
      const fresh = parseSummary(await service.ecm([...args, "--fresh"]));
      expect(fresh.run).not.toBe(run);
      expect([run, fresh.run]).not.toContain(parseSummary(await service.ecm(args)).run);
    });

    it.skipIf(!existsSync("/dev/full"))(
      "is reported when a full disk has kept it from being said",
      { tags: "slow" },
      async () => {
        const service = await startSandbox({ contents: { contacts: manyContacts(6) } });
        const args = ["import", await inputFile(manyRows(6, () => "New")), "--json"];
        const full = openSync("/dev/full", "w");
        onTestFinished(() => closeSync(full));
        const child = spawn(process.execPath, [program, ...args], {
          env: { PATH: process.env.PATH, ...service.env },
          stdio: ["ignore", full, "ignore"],
        });
        expect(await new Promise((resolve) => child.on("close", resolve))).toBe(1);
        expect(parseSummary(await service.ecm(args))).toMatchObject({ rows: { updated: 6 } });
        expect(parseSummary(await service.ecm(args))).toMatchObject({ rows: { unchanged: 6 } });
      },
    );

    it("does what follows on it: the sources of a merge are deleted", { tags: "slow" }, async () => {
      const contacts = manyContacts(4).map((each, index) => ({ ...each, lists: [index < 2 ? "A" : "B"] }));
      const service = await startSandbox({ contents: { contacts } });
      const args = ["lists", "merge", "A", "B", "--into", "C", "--delete-sources", "--yes", "--json"];
      const run = await killUntold(service, args);
      const result = await service.ecm(args);
      expect(result.code, result.stderr).toBe(0);
      expect(parseSummary(result)).toMatchObject({ run, rows: { updated: 4 } });
      const lists = await service.ecm(["lists", "list", "--json"]);
      expect((JSON.parse(lists.stdout) as { name: string }[]).map(({ name }) => name)).toEqual(["C"]);
    });
  },
);
