import { readFile, rm } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { interruptedError } from "../../src/errors.ts";
import { inputFile, manyRows, parseSummary, startSandbox } from "../kit.ts";
import { done, ends, type Result, readJson, spawnEcm, waitForResult } from "../support/ecm.ts";
import { expectFinished, expectNoRepeats, expectStopped } from "./ends.ts";
import { beforeFirst, startRecordingProxy } from "./recording-proxy.ts";

const isCreate = (path: string) => path === "/api/contact";

/** The words of an import of so many people. */
const importing = async (count: number, ...flags: string[]) => [
  ...["import", await inputFile(manyRows(count)), "--json"],
  ...flags,
];

describe("a bulk run that stops", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("does not wait for a slow answer after %s, and goes on where it was", async (signal, code) => {
    const proxy = await startRecordingProxy({ faults: ["delay:POST:/api/contact:n=30:seconds=60"] });
    const path = await inputFile(`${manyRows(60)}nobody,Without an address\n`);
    const args = ["import", path, "--json"];
    const child = spawnEcm(args, proxy.env);
    const ended = waitForResult(child);
    let signalledAt = 0;
    proxy.onRequest = ({ count, when }) => {
      // By then the slow one is under way.
      if (count === 45 && when === "before") {
        signalledAt = Date.now();
        child.kill(signal);
      }
      return undefined;
    };
    const result = await ended;
    expect(Date.now() - signalledAt).toBeLessThan(50_000);
    const stopped = expectStopped(result, code, "signal");
    expect(result.stderr).toContain(`ecm runs resume ${stopped.run}`);
    expect(await readFile(stopped.rejects!, "utf8")).toContain("nobody,Without an address");
    expectFinished(await proxy.ecm(args), stopped.run, 60);
  });

  it("leaves nothing open where the key may not write: the run can be undone", async () => {
    const proxy = await startRecordingProxy();
    await proxy.ecm(await importing(3));
    const body = { errors: [{ errorType: "ForbiddenError", message: "No." }] };
    proxy.refuses = ({ path }) =>
      /^\/api\/contact\/[0-9a-f]+$/.test(path) ? { status: 403, body } : undefined;
    const stopped = await ends(proxy.ecm("contact delete --all --yes --json"), 4);
    await done(proxy.ecm(["runs", "undo", parseSummary(stopped).run!]));
  });

  it("ends at once when it is interrupted while it waits", async () => {
    const proxy = await startRecordingProxy({ hourlyLimit: 20 });
    const interruption = new AbortController();
    const running = proxy.ecm(await importing(40), { signal: interruption.signal });
    while (proxy.writes.length !== 18) await new Promise((resolve) => setImmediate(resolve));
    interruption.abort(interruptedError("SIGINT"));
    // The hour has just begun.
    expect(expectStopped(await running, 130, "signal").requests.retried).toBe(0);
  });

  it("stops at the hour's end with --no-wait, keeping the reserve", async () => {
    const service = await startSandbox({ hourlyLimit: 40 });
    const stopped = service.ecm(await importing(70, "--no-wait", "--reserve", "10"));
    const result = await ends(stopped, 7, "hour=10/40");
    expect(expectStopped(result, 7, "hour").requests).toMatchObject({ total: 30, retried: 0 });
  });

  it("refuses a --reserve that the hour can never leave, in place of waiting for it", async () => {
    const service = await startSandbox({ hourlyLimit: 40 });
    const said = ["--reserve 40 leaves nothing of the hourly limit of 40", "Give a smaller --reserve"];
    const refused = service.ecm(await importing(9, "--wait", "--reserve", "40"));
    expectStopped(await ends(refused, 2, ...said), 2, "error");
  });

  it.each([
    ["its key is revoked", "keys deactivate mine", "keys activate mine"],
    ["the account is suspended", "account --status suspended", "account --status open"],
  ])("stops with exit 4 when %s, and goes on when that is over", async (_what, close, open) => {
    const proxy = await startRecordingProxy();
    const owner = (line: string) => readJson(proxy.ecm, `sandbox ${line} --data ${proxy.folder}`);
    const { key } = await owner("keys create mine --scope contacts:write");
    let closed: Promise<unknown> | undefined;
    proxy.onRequest = ({ count }) => {
      if (count === 30) closed = owner(close);
      return undefined;
    };
    const args = await importing(60);
    const stopped = await proxy.ecm(args, { env: { ECM_API_KEY: key } });
    await closed;
    const { run } = expectStopped(stopped, 4, "error");
    await owner(open);
    expectFinished(await proxy.ecm(args, { env: { ECM_API_KEY: key } }), run, 60);
  });

  it("refuses a second process on the same run, with its summary, and for everything that would touch the run", async () => {
    const proxy = await startRecordingProxy();
    const args = await importing(5);
    const refused: Result[] = [];
    beforeFirst(proxy, isCreate, async () => {
      const { run } = await readJson(proxy.ecm, "runs show last");
      const verbs = [`resume ${run}`, `undo ${run}`, `remove ${run} --yes`].map((verb) => `runs ${verb}`);
      for (const line of [`import ${args[1]}`, ...verbs]) refused.push(await proxy.ecm(`${line} --json`));
    });
    expectFinished(await proxy.ecm(args), undefined, 5);
    expect(refused).toHaveLength(4);
    for (const each of refused) await ends(each, 6, "is in use by process", '"type":"LockedError"');
    const [first] = refused.slice(0, 3).map((each) => expectStopped(each, 6, "lock"));
    expect(first!.run).toBeNull();
    expect(proxy.writes).toHaveLength(5);
  });

  it("sends no more when its lock is taken away, and resumes", async () => {
    const proxy = await startRecordingProxy();
    const args = await importing(12, "--concurrency", "1");
    proxy.beforeRequest = async (path) => {
      if (isCreate(path) && proxy.writes.length === 3) {
        await rm(`${proxy.env.ECM_STATE_DIR}/locks`, { recursive: true });
      }
    };
    const { run } = expectStopped(await proxy.ecm(args), 6, "lock");
    expect(proxy.writes).toHaveLength(4);
    proxy.beforeRequest = async () => undefined;
    expectFinished(await proxy.ecm(args), run, 12);
    expectNoRepeats(proxy);
  });
});
