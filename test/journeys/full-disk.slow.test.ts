/** Disks that are full, read-only, or gone in the middle of a run: mounted, which needs root on Linux. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { inputFile, manyContacts, manyRows, parseSummary, temporaryHome, waitForResult } from "../kit.ts";
import { ecmWith, ends, refused, spawnEcm, temporaryFolder } from "../support/ecm.ts";
import { expectFinished, expectNoRepeats, expectStopped } from "./ends.ts";
import { startRecordingProxy } from "./recording-proxy.ts";

const canMount = process.platform === "linux" && process.getuid?.() === 0 && tryMount();

describe.runIf(canMount)("a state folder on a small disk", () => {
  it("ends a run when the disk is full, and the run is resumed when there is room", async () => {
    const disk = await mountedDisk("88k");
    const witness = await startRecordingProxy({ hourlyLimit: 1e6, monthlyLimit: 1e6 });
    const env = { ECM_STATE_DIR: join(disk, "state") };
    const path = await inputFile(manyRows(300));
    const hint = /hint"?:[^"]*"?[^"]*Make room on the disk of [^"]*, then run the same command again/;
    const full = await ends(witness.ecm(["import", path, "--json"], { env }), 1, "ENOSPC", hint);
    const { run } = expectStopped(full, 1, "error");
    const still = await witness.ecm(["import", path, "--json"], { env });
    // 2 where not even the run's folder takes a byte more: nothing was sent then.
    expect([1, 2]).toContain(still.code);
    for (const word of ["ENOSPC", hint]) expect(still.stderr).toMatch(word);
    const piped = await ends(witness.ecm("import -", { env, stdin: manyRows(300) }), 2, "ENOSPC");
    for (const { stderr } of [full, still, piped]) expect(stderr).not.toContain("ECM_STATE_DIR");
    remount(disk, "size=8m");
    const resumed = await witness.ecm(["import", path, "--json"], { env });
    expectFinished(resumed, run, 300);
    expectNoRepeats(witness);
  });

  it("ends a run when the disk cannot be written any more, and the run is resumed when it can", async () => {
    const disk = await mountedDisk("8m");
    const witness = await startRecordingProxy();
    const state = join(disk, "state");
    const path = await inputFile(manyRows(60));
    // A file system with files open for writing cannot be made read-only; all that is in it can.
    const protect = (how: string) => execFileSync("chattr", ["-R", how, state], { stdio: "ignore" });
    witness.onRequest = ({ count }) => {
      if (count === 20) protect("+i");
      return undefined;
    };
    // A process of its own: what cannot delete its lock leaves it, and is then known to be gone.
    const start = () =>
      waitForResult(spawnEcm(["import", path, "--json"], { ...witness.env, ECM_STATE_DIR: state }));
    const stopped = await start();
    witness.onRequest = () => undefined;
    const refused = await start();
    protect("-i");
    expect([stopped.code, refused.code], stopped.stderr + refused.stderr).toEqual([1, 2]);
    const resumed = await witness.ecm(["import", path, "--json"], { env: { ECM_STATE_DIR: state } });
    expectFinished(resumed, parseSummary(stopped).run, 60);
    expectNoRepeats(witness);
  });

  it("lets the sandbox say that its disk is full, and lose nothing", async () => {
    const disk = await mountedDisk("300k");
    const env = { ...(await temporaryHome()), ECM_STATE_DIR: join(disk, "state") };
    const ecm = ecmWith(env);
    const create = (number: number) => ecm(`-p sandbox contact create --key p${number}@example.com`);
    let made = 0;
    let result = await create(made);
    while (result.code === 0) result = await create(++made);
    expect(made).toBeGreaterThan(0);
    expect((await ends(result, 1, "disk is full")).stderr).not.toContain("rollback");
    remount(disk, "size=8m");
    const count = await ecm("-p sandbox contact search --count");
    expect(Number(count.stdout)).toBe(made);
  });

  it("leaves what stood there when an export does not fit", async () => {
    const disk = await mountedDisk("16k");
    const witness = await startRecordingProxy({ hourlyLimit: 1e6, monthlyLimit: 1e6 });
    witness.sandbox.admin.seed({ contacts: manyContacts(300) });
    const target = join(disk, "out.csv");
    await writeFile(target, "as it was");
    const hint = /hint: Make room on the disk of .*out.csv, then run/;
    await refused(witness.ecm(["export", "--output-file", target]), 1, "ENOSPC", hint);
    expect(await readFile(target, "utf8")).toBe("as it was");
  });
});

it.runIf(canMount)("a read-only disk, with profiles and caches, is no hindrance to reading", async () => {
  const disk = await mountedDisk("1m");
  const witness = await startRecordingProxy();
  const config = join(disk, "config");
  await mkdir(config, { mode: 0o755 });
  const profile = { baseUrl: witness.env.ECM_BASE_URL, apiKey: witness.apiKey };
  const profiles = JSON.stringify({ version: 1, current: "a", profiles: { a: profile } });
  await writeFile(join(config, "profiles.json"), profiles);
  await chmod(join(config, "profiles.json"), 0o644);
  remount(disk, "ro");
  const [cache, state] = [join(disk, "cache"), join(disk, "state")];
  const ecm = ecmWith({ ECM_CONFIG_DIR: config, ECM_CACHE_DIR: cache, ECM_STATE_DIR: state });
  expect(await ecm("contact search --count")).toMatchObject({ code: 0, stdout: "0\n" });
  const before = witness.arrived();
  await refused(ecm(["import", await inputFile(manyRows(3))]), 2, "Cannot write to the run folder");
  expect(witness.arrived()).toBe(before);
  await refused(ecm("auth use sandbox"), 1, "read-only");
});

function tryMount(): boolean {
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function mountedDisk(size: string): Promise<string> {
  const disk = await temporaryFolder();
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", disk]);
  onTestFinished(() => {
    execFileSync("umount", ["-l", disk]);
  });
  return disk;
}

function remount(disk: string, option: string): void {
  execFileSync("mount", ["-o", `remount,${option}`, disk]);
}
