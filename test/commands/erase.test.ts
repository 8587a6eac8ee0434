/** `ecm contact erase`: nothing of a person is left on this machine, and everything of the others is. */
import { copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { fileNames, toLocksFolder, toRunsFolder } from "../../src/bulk/runs/folder.ts";
import { listActivities } from "../../src/disk/activities.ts";
import { takeLease } from "../../src/disk/lease.ts";
import { inputFile, parseSummary } from "../bulk/kit.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { done, ecmWith, spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { startSandbox } from "../support/sandbox.ts";

const people = [
  "Email,First Name,Last Name",
  "Ada@Example.com,Ada,Byron-Lovelace",
  "granada@example.com,Gran,see ada@example.com",
  "bob@example.com,Bob,Builder",
  "not an address,Eve,asked ADA@example.com",
  "",
].join("\n");

/** Every file below a home, with its bytes in lower case. */
async function readFiles(env: Record<string, string>): Promise<[path: string, bytes: string][]> {
  const files: [string, string][] = [];
  for (const root of [env.ECM_STATE_DIR!, env.ECM_CACHE_DIR!]) {
    const names = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of names) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      // What the database keeps only while it is open may go meanwhile.
      const bytes = await readFile(path, "latin1").catch(() => "");
      files.push([path, bytes.toLowerCase()]);
    }
  }
  return files;
}

async function expectGone(env: Record<string, string>, ...args: string[]): Promise<void> {
  for (const [path, bytes] of await readFiles(env)) {
    const without = bytes.replaceAll("granada@example.com", "");
    for (const word of args) expect(without.includes(word), `${word} in ${path}`).toBe(false);
  }
}

/** Until a process says that it is at work; what it has said is forgotten once it was killed. */
async function untilUnderWay(env: Record<string, string>): Promise<void> {
  await expect
    .poll(async () => (await listActivities(env.ECM_STATE_DIR!)).length, { timeout: 20_000 })
    .toBe(1);
}

describe("contact erase", () => {
  it("finds somebody inactive whom a search shows only where it asks for a status", async () => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key: "ada@example.com", status: "Unsubscribe" }] });
    proxy.refuses = ({ path, body }) =>
      path === "/api/contact/search" && !body.includes("CONTACT_STATUS")
        ? { status: 200, body: { totalRecords: 0, contacts: [] } }
        : undefined;
    const erased = await proxy.ecm("contact erase ada@example.com --yes --json");
    expect(JSON.parse(erased.stdout)).toMatchObject({ contact: "deleted" });
    expect(proxy.writes).toMatchObject([{ kind: "delete", status: 200 }]);
  });

  it("deletes who is created a moment ago, and no search finds yet", async () => {
    const service = await startSandbox({ variants: { "search-lag": 600000 } });
    const path = await inputFile("Email\nada@example.com\nbob@example.com\n");
    await service.ecm(`import ${path}`);
    expect((await service.ecm("contact search --count")).stdout).toBe("0\n");
    const dossier = await service.ecm("contact dossier ada@example.com --json");
    expect(JSON.parse(dossier.stdout).contacts).toMatchObject([{ key: "ada@example.com" }]);
    const [{ _id }] = JSON.parse(dossier.stdout).contacts;
    const erased = await service.ecm("contact erase Ada@Example.com --yes --json");
    expect(JSON.parse(erased.stdout)).toMatchObject({ contact: "deleted" });
    expect((await service.ecm(`contact get ${_id}`)).code).toBe(5);
  });

  it("deletes in the account, takes the person out of every file, suppresses, and gives a receipt", async () => {
    const { ecm, env, baseUrl } = await startSandbox();
    const spooled = parseSummary(await ecm("import - --json", { stdin: people }));
    expect(spooled.rows).toMatchObject({ created: 3, rejected: 1 });
    const changed = parseSummary(
      await ecm("contact mutate ada@example.com bob@example.com --set 'Last Name=King' --json"),
    );
    expect(changed.rows.updated).toBe(2);
    expect((await ecm("contact erase ada@example.com")).code).toBe(2);
    const plan = await ecm("contact erase ada@example.com --dry-run --json");
    expect(JSON.parse(plan.stdout)).toMatchObject({ method: "DELETE" });

    const result = await ecm("contact erase ' ADA@example.com' --yes --json");
    expect(result.code, result.stderr).toBe(0);
    const receipt = JSON.parse(result.stdout);
    expect(receipt).toMatchObject({
      account: baseUrl,
      contact: "deleted",
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(Date.parse(receipt.time)).toBeGreaterThan(0);
    expect(receipt.files).toBeGreaterThan(2);
    expect(result.stdout.toLowerCase()).not.toContain("ada@example.com");

    await expectGone(env, "ada@example.com", "byron-lovelace");
    expect((await ecm("contact get ada@example.com")).code).toBe(5);
    expect((await ecm("suppressions check Ada@example.com")).code).toBe(0);
    expect((await ecm("contact create --key ada@example.com")).code).toBe(6);
    const rejects = await done(ecm(`runs rejects ${spooled.run!}`));
    expect(rejects).toContain("Eve,asked erased---------");
    // The others are as they were, and what was done to them can be undone.
    const gran = JSON.parse(await done(ecm("contact get granada@example.com --json")));
    expect(JSON.stringify(gran.fields)).toContain("see ada@example.com");
    const undone = parseSummary(await ecm(`runs undo ${changed.run!} --json`));
    expect(undone.rows).toMatchObject({ updated: 1, rejected: 1 });
    expect(await done(ecm("contact get bob@example.com --json"))).toContain("Builder");
  });

  it("finds what a killed plan has left among the runs", async () => {
    const { ecm, env } = await startSandbox();
    const input = await inputFile(people);
    const plan = join(dirname(input), "plan.ndjson");
    await ecm(`import ${input} --plan ${plan}`);
    const folder = join(toRunsFolder(env.ECM_STATE_DIR!), ".plan-0123456789ab");
    await mkdir(folder);
    await copyFile(plan, join(folder, "plan.ndjson"));
    const { code, stderr } = await ecm("contact erase ada@example.com --yes");
    expect(code, stderr).toBe(0);
    await expectGone(env, "ada@example.com");
    expect(stderr).toContain(`may contain the address, and stay:\n  ${input}\n  ${plan}\n`);
    const long = new Date(Date.now() - 2 * 86_400_000);
    for (const name of [...(await readdir(folder)), "."]) await utimes(join(folder, name), long, long);
    await ecm(`import ${input} --dry-run`);
    await expect(stat(folder)).rejects.toThrow("ENOENT");
  });

  it("takes the person out of files that lie beside the runs", async () => {
    const { ecm, env } = await startSandbox();
    await ecm(["import", await inputFile(people)]);
    const runs = toRunsFolder(env.ECM_STATE_DIR!);
    const contact = { _id: "1".repeat(24), key: "ada@example.com", fields: [{ _id: "f", value: "Byron" }] };
    // A dry run that was killed has left its folder.
    const left = join(runs, "20200101-0000-abcdef");
    await mkdir(left);
    await writeFile(join(left, "snapshot"), `${JSON.stringify(contact)}\n`);
    await writeFile(join(runs, "notes.txt"), "ask ada@example.com\nand bob@example.com\n");
    const { code, stderr } = await ecm("contact erase ada@example.com --yes");
    expect(code, stderr).toBe(0);
    await expectGone(env, "ada@example.com", "byron");
    expect(await readFile(join(runs, "notes.txt"), "utf8")).toContain("and bob@example.com\n");
  });

  it("leaves nothing in the embedded service's own files either", async () => {
    const env = await temporaryHome();
    const ecm = ecmWith(env);
    const sandbox = (...args: string[]) => ecm([...args, "--profile", "sandbox"], { stdin: people });
    expect((await sandbox("import", "-", "--json")).code).toBe(3);
    await done(sandbox("contact", "mutate", "ada@example.com", "--set", "Last Name=Noel-King"));
    await done(sandbox("contact", "erase", "ada@example.com", "--yes"));
    await expectGone(env, "ada@example.com", "byron-lovelace", "noel-king");
    expect(await done(sandbox("contact", "search", "--count"))).toBe("2\n");
    const gran = await done(sandbox("contact", "get", "granada@example.com", "--json"));
    expect(gran).toContain("see erased");
  });

  it("lets an unfinished run of standard input go on without the person", async () => {
    const { ecm, env } = await startSandbox();
    const rows = Array.from({ length: 30 }, (_, n) => `p${n}@example.com,P${n},L`);
    rows.splice(20, 0, "ada@example.com,Ada,Byron");
    const stopped = parseSummary(
      await ecm("import - --max-requests 12 --concurrency 1 --json", {
        stdin: `Email,First Name,Last Name\n${rows.join("\n")}\n`,
      }),
    );
    expect(stopped.status).toBe("stopped");
    const receipt = JSON.parse(await done(ecm("contact erase ada@example.com --yes --json")));
    expect(receipt.contact).toBe("absent");
    await expectGone(env, "ada@example.com");
    const resumed = await ecm(`runs resume ${stopped.run!} --json`);
    expect(parseSummary(resumed)).toMatchObject({ status: "completed", rows: { created: 30, pending: 0 } });
    expect((await ecm("contact get ada@example.com")).code).toBe(5);
  });

  const rest = Array.from({ length: 30 }, (_, n) => [`p${n}@example.com`, `P${n}`, `Oslo ${n}`]);
  const theirs = ["Ada <ada@example.com>", "Ada-Augusta\n2nd", "Marylebone"];
  const table = [["Contact", "First Name", "Last Name"], ...rest.slice(0, 20), theirs, ...rest.slice(20)];
  const quoted = (cell: string) => (/[\n<]/.test(cell) ? `"${cell}"` : cell);
  const csv = (rows: string[][], delimiter = ",") =>
    rows.map((row) => `${row.map(quoted).join(delimiter)}\n`).join("");
  const objects = table.slice(1).map(([Contact, first, last]) => ({
    ...{ Contact: Contact!.replace(/.*<|>/g, ""), "First Name": first, "Last Name": last },
  }));
  it.each([
    ["csv", csv(table)],
    ["csv with an address twice", csv([...table, theirs, ["eve@example.com", "asks ada@example.com", "x"]])],
    ["semicolons", csv(table, ";")],
    ["UTF-16", Buffer.from(`\ufeff${csv(table, "\t")}`, "utf16le")],
    ["JSON lines", objects.map((each) => `${JSON.stringify(each)}\n`).join("")],
    ["a JSON array", JSON.stringify(objects, null, 2)],
  ])("takes all of a person out of an unfinished run of standard input: %s", async (_name, input) => {
    const { ecm, env } = await startSandbox();
    const args = ["import", "-", "--map", "Contact=key", "--concurrency", "1", "--json"];
    const stopped = parseSummary(await ecm([...args, "--max-requests", "12"], { stdin: input }));
    expect(stopped).toMatchObject({ status: "stopped", rows: { read: expect.any(Number) } });
    await done(ecm("contact erase ada@example.com --yes --json"));
    await expectGone(env, "ada@example.com", "ada-augusta", "marylebone");
    const resumed = parseSummary(await ecm(`runs resume ${stopped.run!} --json`));
    expect(resumed).toMatchObject({ status: "completed", rows: { pending: 0, rejected: 0 } });
    const { read, created, skipped } = resumed.rows;
    expect([read, created + skipped]).toEqual([stopped.rows.read, stopped.rows.read]);
    expect(created).toBeGreaterThan(29);
    await expectGone(env, "ada@example.com", "ada-augusta", "marylebone");
    expect((await ecm("contact search --count")).stdout).toBe(`${created}\n`);
  });

  it("counts a contact that was erased after it was created as created", async () => {
    const { ecm } = await startSandbox();
    const input = csv([table[0]!, theirs, ...rest]);
    const args = ["import", "-", "--map", "Contact=key", "--concurrency", "1", "--json"];
    const stopped = parseSummary(await ecm([...args, "--max-requests", "12"], { stdin: input }));
    expect(stopped.rows.created).toBeGreaterThan(0);
    await done(ecm("contact erase ada@example.com --yes"));
    const resumed = parseSummary(await ecm(`runs resume ${stopped.run!} --json`));
    expect(resumed.rows).toMatchObject({ read: 31, created: 31, rejected: 0, skipped: 0, pending: 0 });
    expect((await ecm("contact search --count")).stdout).toBe("30\n");
  });

  it("is refused while another process works on a run that holds the person, and nothing is done", async () => {
    const { ecm, env } = await startSandbox();
    const path = await inputFile(people);
    const { run } = parseSummary(await ecm(`import ${path} --json`));
    const runs = toRunsFolder(env.ECM_STATE_DIR!);
    const manifest = JSON.parse(await readFile(join(runs, run!, fileNames.manifest), "utf8"));
    const lease = await takeLease(toLocksFolder(env.ECM_STATE_DIR!), manifest.fingerprint, "this run");
    try {
      const refused = await ecm("contact erase ada@example.com --yes");
      expect(refused.code).toBe(6);
      expect(refused.stderr).toContain(run!);
      expect((await ecm("contact get ada@example.com")).code).toBe(0);
      // A run that has nothing to do with them stands in nobody's way.
      expect((await ecm("contact erase somebody@else.org --yes")).code).toBe(0);
    } finally {
      await lease.release();
    }
    const erased = await ecm("contact erase ada@example.com --yes");
    expect(erased.code).toBe(0);
    expect(erased.stderr).toContain(`may contain the address, and stay:\n  ${path}\n`);
  });

  it("is completed by the same command after it was cut off at any point", async () => {
    const { ecm, env } = await startSandbox({
      faults: ["503:DELETE:/api/contact/*:n=1", "reset-after:DELETE:/api/contact/*:n=1"],
    });
    const { run } = parseSummary(await ecm("import - --json", { stdin: people }));
    const erase = () => ecm("contact erase ada@example.com --yes --json");
    expect((await erase()).code).toBe(1);
    expect((await ecm("suppressions check ada@example.com")).code).toBe(0);
    const folder = join(toRunsFolder(env.ECM_STATE_DIR!), run!);
    await writeFile(join(folder, ".ecm-0123456789ab.tmp"), "half a copy of ada@example.com");
    await mkdir(env.ECM_CACHE_DIR!, { recursive: true });
    await writeFile(join(env.ECM_CACHE_DIR!, "names.json"), '{"lists":["ada\\u0040example.com"]}');
    const receipt = JSON.parse(await done(erase()));
    expect(receipt.contact).toBe("deleted");
    await expectGone(env, "ada@example.com", "u0040");
    expect(JSON.parse(await done(erase()))).toMatchObject({
      contact: "absent",
      files: 0,
      hash: receipt.hash,
    });
    expect((await ecm(`runs show ${run!}`)).code).toBe(0);
  });

  it("waits for no export and no plan: it is refused while one is under way", async () => {
    const { ecm, env, sandbox } = await startSandbox({ hourlyLimit: 10_000 });
    const contacts = Array.from({ length: 2500 }, (_, n) => ({ key: `p${n}@example.com` }));
    sandbox.admin.seed({ contacts: [{ key: "ada@example.com" }, ...contacts] });
    const file = join(await temporaryFolder(), "all");
    for (const words of [
      ["export"],
      ["export", "--output-file", `${file}.csv`],
      ["contact", "mutate", "--all", "--set", "First Name=x", "--dry-run", "--plan", `${file}.ndjson`],
    ]) {
      sandbox.admin.faults(["delay:POST:/api/contact/search:seconds=600"]);
      const child = spawnEcm(words, env);
      const ended = waitForResult(child);
      await untilUnderWay(env);
      const refused = await ecm("contact erase ada@example.com --yes --json");
      expect(refused.code, refused.stderr).toBe(6);
      expect(JSON.parse(refused.stderr).error.message).toContain("may contain this contact");
      child.kill("SIGKILL");
      await ended;
      sandbox.admin.faults([]);
    }
  });

  it.each([true, false])(
    "is refused while a run reads the person from a file (standard input: %j)",
    async (isPiped) => {
      const { ecm, env, sandbox } = await startSandbox();
      const path = await inputFile(people);
      sandbox.admin.faults(["delay:*:/api/contact-structure*:seconds=600"]);
      const child = spawnEcm(["import", isPiped ? "-" : path], env);
      const ended = waitForResult(child);
      child.stdin!.end(isPiped ? people : "");
      await untilUnderWay(env);
      const isSpooled = async () =>
        (await readFiles(env)).some(([, bytes]) => bytes.includes("ada@example.com"));
      if (isPiped) await expect.poll(isSpooled, { timeout: 20_000 }).toBe(true);
      sandbox.admin.faults([]);
      const refused = await ecm("contact erase ada@example.com --yes");
      expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining("Importing")]);
      expect((await ecm("contact erase somebody@else.org --yes")).code).toBe(0);
      child.kill("SIGKILL");
      await ended;
      expect((await ecm("contact erase ada@example.com --yes")).code).toBe(0);
    },
  );

  it("names once what runs have read and written elsewhere, without searching it", async () => {
    const { ecm } = await startSandbox();
    const folder = await temporaryFolder();
    const [input, packed, plan, report, backup, gone] = [
      ...["people.csv", "of ada@example.com.csv.gz", "plan.ndjson", "report.html", "backup.csv", "gone.csv"],
    ].map((name) => join(folder, name)) as [string, string, string, string, string, string];
    await writeFile(input, people);
    await writeFile(gone, people);
    await writeFile(packed, gzipSync(people));
    await ecm(["import", input, "--plan", plan, "--report", report]);
    await ecm(["import", packed]);
    await ecm(["import", gone]);
    await rm(gone);
    await ecm(`contact delete bob@example.com granada@example.com --backup ${backup} --yes`);
    const erase = () => ecm("contact erase ada@example.com --yes --json");
    const { code, stderr, stdout } = await erase();
    expect(code, stderr).toBe(0);
    const masked = packed.replace("ada@example.com.csv", "erased---------.csv");
    expect(JSON.parse(stdout).mayContain.sort()).toEqual([input, masked, plan, report, backup].sort());
    for (const file of [input, packed, plan, report, backup]) expect(stderr.split(file).length).toBe(2);
    expect(stderr).not.toContain(gone);
    expect(stderr.indexOf("Erased: ")).toBeLessThan(stderr.indexOf(input));
  });

  it.each([[[]], [[""]], [["a"]], [["65f0c2a91b3d4e5f60718293"]]])("takes no %j for a key", async (keys) => {
    const { ecm } = await startSandbox();
    expect((await ecm(["contact", "erase", ...keys, "--yes"])).code).toBe(2);
  });
});

it("says in a sentence what was done, without the address and the hash", async () => {
  const { ecm } = await startSandbox({ contents: { contacts: [{ key: "ada@example.com" }] } });
  const { stdout, stderr } = await ecm("contact erase ada@example.com --yes");
  expect(stdout).not.toMatch(/[0-9a-f]{64}/);
  expect(stderr).toMatch(/^Erased: deleted in the account, .*ecm's own files, never created again$/m);
  expect(stderr).not.toContain("ada@example.com");
});
