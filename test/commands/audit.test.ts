/** `ecm audit`: what is recorded of each command, and that it cannot be edited in silence. */
import { appendFile, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

async function recorded() {
  const service = await startSandbox();
  const file = join(await temporaryFolder(), "audit", "record.ndjson");
  const env = { ECM_AUDIT: file };
  const ecm = (words: string[], more: Record<string, string> = {}, stdin?: string) =>
    service.ecm(words, { env: { ...env, ...more }, stdin });
  const readLines = async () => (await readFile(file, "utf8")).trimEnd().split("\n");
  const verify = async (...words: string[]) => {
    const { code, stdout, stderr } = await ecm(["audit", "verify", "--json", ...words]);
    return { code, stderr, value: stdout === "" ? undefined : JSON.parse(stdout) };
  };
  return { ...service, ecm, file, readLines, verify };
}

describe("the record", () => {
  it("has a line for each command that talked to the service, without addresses and values", {
    tags: "slow",
  }, async () => {
    const { ecm, readLines, verify } = await recorded();
    await ecm(["contact", "create", "--key", "ada@example.com", "--set", "First Name=Augusta"]);
    await ecm(["contact", "get", "nobody@example.com"], { TRACEPARENT: `00-${traceId}-00f067aa0ba902b7-01` });
    await ecm(["api", "delete", "/api/contact/65f0c2a91b3d4e5f60718293", "--yes"]);
    const imported = await ecm(["import", "-", "--json"], {}, "Email,First Name\nbob@example.com,Robert\n");
    await ecm(["limits"]);
    await ecm(["contact", "serch"]);
    const lines = (await readLines()).map((line) => JSON.parse(line));
    const summary = JSON.parse(imported.stdout);
    expect(lines).toMatchObject([
      { command: ["contact", "create", "--key", "--set"], exitCode: 0, run: null },
      { command: ["contact", "get"], exitCode: 5, traceId },
      { command: ["api", "DELETE", "--yes"], exitCode: 5 },
      { command: ["import", "--json"], run: summary.run, rows: { created: 1 }, exitCode: 0 },
    ]);
    for (const { user, host, time, requests, program, milliseconds } of lines) {
      expect(milliseconds).toBeGreaterThan(0);
      expect(user && host && time && program).toBeTruthy();
      expect(requests).toBeGreaterThan(0);
    }
    expect(lines[3].plan).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect((await readLines()).join()).not.toMatch(/@example|Augusta|Robert/);
    expect(summary.audit).toBe(lines[3].prev);
    expect(await verify("--head", summary.audit)).toMatchObject({ code: 0, value: { lines: 4, torn: 0 } });
    expect(JSON.parse((await ecm(["audit", "show", "--json", "--limit", "1"])).stdout)).toEqual([lines[3]]);
  });

  it("is kept in the state folder, and not with off", async () => {
    const { ecm, env } = await startSandbox();
    await ecm(["lists", "list"]);
    const file = join(env.ECM_STATE_DIR!, "audit.ndjson");
    expect((await readFile(file, "utf8")).split("\n")).toHaveLength(2);
    await ecm(["lists", "list"], { env: { ECM_AUDIT: "off" } });
    expect((await readFile(file, "utf8")).split("\n")).toHaveLength(2);
    expect((await ecm(["audit", "show"], { env: { ECM_AUDIT: "off" } })).code).toBe(2);
  });

  it("leaves a file that is something else as it is", async () => {
    const { ecm, file } = await recorded();
    await ecm(["lists", "list"]);
    for (const text of ["Email\nada@example.com", "no line end"]) {
      await writeFile(file, text);
      const { code, stderr } = await ecm(["lists", "list"]);
      expect(code).toBe(0);
      expect(stderr).toContain("record.ndjson is another file");
      expect(await readFile(file, "utf8")).toBe(text);
    }
  });

  it("shows a line that was changed, taken out or put in, and with a hash of elsewhere that the end is missing", async () => {
    const { ecm, file, readLines, verify } = await recorded();
    for (let turn = 0; turn < 4; turn++) await ecm(["lists", "list"]);
    const lines = await readLines();
    const { value } = await verify();
    const changes: string[][] = [
      lines.map((line, index) => (index === 1 ? line.replace('"exitCode":0', '"exitCode":1') : line)),
      lines.filter((_line, index) => index !== 2),
      [...lines.slice(0, 2), lines[1]!, ...lines.slice(2)],
      lines.slice(1),
    ];
    for (const changed of changes) {
      await writeFile(file, `${changed.join("\n")}\n`);
      expect((await verify()).code).toBe(1);
    }
    await writeFile(file, `${lines.slice(0, 3).join("\n")}\n`);
    expect((await verify()).code).toBe(0);
    expect((await verify("--head", value.head)).code).toBe(1);
  });

  it("tells a line that a killed process left unfinished, and mends it", async () => {
    const { ecm, file, verify } = await recorded();
    await ecm(["lists", "list"]);
    await appendFile(file, '{"prev":"sha256:00');
    const torn = await verify();
    expect(torn).toMatchObject({ code: 0, value: { lines: 1, torn: 18 } });
    expect(torn.stderr).toContain("unfinished");
    await ecm(["lists", "list"]);
    expect(await verify()).toMatchObject({ code: 0, value: { lines: 2, torn: 0, mended: 1 } });
  });

  it("is whole where several commands end at once", { tags: "slow" }, async () => {
    const { ecm, verify } = await recorded();
    await Promise.all(Array.from({ length: 12 }, () => ecm(["lists", "list"])));
    expect(await verify()).toMatchObject({ code: 0, value: { lines: 12 } });
  });

  it("is one file, by whatever name it is found", { tags: "slow" }, async () => {
    const { ecm, file, verify } = await recorded();
    await ecm(["lists", "list"]);
    const link = join(await temporaryFolder(), "link.ndjson");
    await symlink(file, link);
    const names = Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? file : link));
    await Promise.all(names.map((name) => ecm(["lists", "list"], { ECM_AUDIT: name })));
    expect(await verify()).toMatchObject({ code: 0, value: { lines: 9 } });
    // Rotated: each file is a chain of its own.
    const old = `${file}.1`;
    await rename(file, old);
    await ecm(["lists", "list"]);
    expect(await verify()).toMatchObject({ code: 0, value: { lines: 1 } });
    expect((await ecm(["audit", "verify"], { ECM_AUDIT: old })).stdout).toContain("9 lines, whole");
  });

  it("is in syslog too, its hash first; where there is none, a warning says so", async () => {
    const { ecm, env } = await startSandbox();
    const bin = await temporaryFolder();
    const log = join(bin, "log");
    await writeFile(join(bin, "logger"), `#!/bin/sh\n/bin/cat > ${log}\n`, { mode: 0o755 });
    const record = join(env.ECM_STATE_DIR!, "audit.ndjson");
    await ecm(["lists", "list"], { env: { ECM_AUDIT: "syslog", PATH: bin } });
    const noted = await readFile(log, "utf8");
    expect(noted).toMatch(/^\{"hash":"sha256:[0-9a-f]{64}","time":/);
    const verified = await ecm(["audit", "verify", "--json", "--head", JSON.parse(noted).hash]);
    expect(verified, verified.stderr).toMatchObject({ code: 0 });
    const without = await ecm(["lists", "list"], { env: { ECM_AUDIT: "syslog", PATH: "/nonexistent" } });
    expect(without).toMatchObject({ code: 0, stderr: expect.stringContaining("but not in syslog") });
    expect((await readFile(record, "utf8")).trimEnd().split("\n")).toHaveLength(2);
  });

  it("stays whole when a person is erased, of whom it knows nothing", { tags: "slow" }, async () => {
    const { ecm, readLines, verify } = await recorded();
    await ecm(["import", "-"], {}, "Email\nada@example.com\n");
    const before = await readLines();
    await ecm(["contact", "erase", "ada@example.com", "--yes"]);
    expect((await readLines()).slice(0, before.length)).toEqual(before);
    expect((await verify()).code).toBe(0);
  });

  it("that cannot be written is a warning, and the command goes on", async () => {
    const { ecm } = await startSandbox();
    const { code, stderr } = await ecm(["lists", "list", "--json"], { env: { ECM_AUDIT: "/dev/null/no" } });
    expect(code).toBe(0);
    expect(stderr).toContain("missing in the record");
  });
});
