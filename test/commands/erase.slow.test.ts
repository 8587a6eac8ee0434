/** `ecm contact erase`: nothing of a person is left on this machine, and everything of the others is. */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { fileNames, toLocksFolder, toRunsFolder } from "../../src/bulk/runs/folder.ts";
import { listActivities } from "../../src/disk/activities.ts";
import { takeLease } from "../../src/disk/lease.ts";
import { startRecordingProxy } from "../journeys/recording-proxy.ts";
import { inputFile, parseSummary, startSandbox, summaryOf } from "../kit.ts";
import { done, ends, readJson, refused, spawnEcm, temporaryFolder, waitForResult } from "../support/ecm.ts";
import { readHome } from "../support/home.ts";

const people = [
  "Email,First Name,Last Name",
  "Ada@Example.com,Ada,Byron-Lovelace",
  "granada@example.com,Gran,see ada@example.com",
  "bob@example.com,Bob,Builder",
  "not an address,Eve,asked ADA@example.com",
  "",
].join("\n");

/** None of the words is in any file below a home, in whatever letter case. */
async function expectGone(env: Record<string, string>, ...words: string[]): Promise<void> {
  for (const [path, bytes] of await readHome(env)) {
    const without = bytes.toLowerCase().replaceAll("granada@example.com", "");
    for (const word of words) expect(without.includes(word), `${word} in ${path}`).toBe(false);
  }
}

/** Until a process says that it is at work; what it has said is forgotten once it was killed. */
async function untilUnderWay(env: Record<string, string>): Promise<void> {
  const countActivities = async () => (await listActivities(env.ECM_STATE_DIR!)).length;
  await expect.poll(countActivities, { timeout: 20_000 }).toBe(1);
}

describe("contact erase", () => {
  it("finds somebody inactive whom a search shows only where it asks for a status", async () => {
    const proxy = await startRecordingProxy();
    proxy.sandbox.admin.seed({ contacts: [{ key: "ada@example.com", status: "Unsubscribe" }] });
    proxy.refuses = ({ path, body }) =>
      path === "/api/contact/search" && !body.includes("CONTACT_STATUS")
        ? { status: 200, body: { totalRecords: 0, contacts: [] } }
        : undefined;
    const receipt = await readJson(proxy.ecm, "contact erase ada@example.com --yes");
    expect(receipt).toMatchObject({ contact: "deleted" });
    expect(proxy.writes).toMatchObject([{ kind: "delete", status: 200 }]);
  });

  it("deletes who is created a moment ago, and no search finds yet", async () => {
    const { ecm } = await startSandbox({ variants: { "search-lag": 600000 } });
    await done(ecm(`import ${await inputFile("Email\nada@example.com\nbob@example.com\n")}`));
    expect(await done(ecm("contact search --count"))).toBe("0\n");
    const { contacts } = await readJson(ecm, "contact dossier ada@example.com");
    expect(contacts).toMatchObject([{ key: "ada@example.com" }]);
    const receipt = await readJson(ecm, "contact erase Ada@Example.com --yes");
    expect(receipt).toMatchObject({ contact: "deleted" });
    expect((await ecm(`contact get ${contacts[0]._id}`)).code).toBe(5);
  });

  it("deletes in the account, takes the person out of every file, suppresses, and gives a receipt", async () => {
    const { ecm, env, baseUrl } = await startSandbox();
    const spooled = parseSummary(await ecm("import - --json", { stdin: people }));
    expect(spooled.rows).toMatchObject({ created: 3, rejected: 1 });
    const mutate = "contact mutate ada@example.com bob@example.com --set 'Last Name=King'";
    const changed = await summaryOf(ecm, mutate);
    expect(changed.rows.updated).toBe(2);
    expect((await ecm("contact erase ada@example.com")).code).toBe(2);
    const plan = await readJson(ecm, "contact erase ada@example.com --dry-run");
    expect(plan).toMatchObject({ method: "DELETE" });

    const receipt = await readJson(ecm, "contact erase ' ADA@example.com' --yes");
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(receipt).toMatchObject({ account: baseUrl, contact: "deleted", hash });
    expect(Date.parse(receipt.time)).toBeGreaterThan(0);
    expect(receipt.files).toBeGreaterThan(2);
    expect(JSON.stringify(receipt).toLowerCase()).not.toContain("ada@example.com");

    await expectGone(env, "ada@example.com", "byron-lovelace");
    expect((await ecm("contact get ada@example.com")).code).toBe(5);
    expect((await ecm("suppressions check Ada@example.com")).code).toBe(0);
    expect((await ecm("contact create --key ada@example.com")).code).toBe(6);
    const rejects = await done(ecm(`runs rejects ${spooled.run!}`));
    expect(rejects).toContain("Eve,asked erased---------");
    // The others are as they were, and what was done to them can be undone.
    const gran = await readJson(ecm, "contact get granada@example.com");
    expect(JSON.stringify(gran.fields)).toContain("see ada@example.com");
    const undone = await summaryOf(ecm, `runs undo ${changed.run}`);
    expect(undone.rows).toMatchObject({ updated: 1, rejected: 1 });
    expect(await done(ecm("contact get bob@example.com --json"))).toContain("Builder");
  });

  it("takes the person out of what killed commands have left among the runs and beside them, and says in a sentence what was done", async () => {
    const { ecm, env } = await startSandbox();
    const input = await inputFile(people);
    const plan = join(dirname(input), "plan.ndjson");
    await ecm(`import ${input} --plan ${plan}`);
    const runs = toRunsFolder(env.ECM_STATE_DIR!);
    const [ofPlan, ofRun] = [join(runs, ".plan-0123456789ab"), join(runs, "20200101-0000-abcdef")];
    await mkdir(ofPlan);
    await copyFile(plan, join(ofPlan, "plan.ndjson"));
    await mkdir(ofRun);
    const contact = { _id: "1".repeat(24), key: "ada@example.com", fields: [{ _id: "f", value: "Byron" }] };
    await writeFile(join(ofRun, "snapshot"), `${JSON.stringify(contact)}\n`);
    await writeFile(join(runs, "notes.txt"), "ask ada@example.com\nand bob@example.com\n");
    const sentence = /^Erased: deleted in the account, .*ecm's own files, never created again$/m;
    const stays = `may contain the address, and stay:\n  ${input}\n  ${plan}\n`;
    const { stdout, stderr } = await ends(ecm("contact erase ada@example.com --yes"), 0, sentence, stays);
    expect(stdout).not.toMatch(/[0-9a-f]{64}/);
    expect(stderr).not.toMatch(/ada@example\.com/i);
    await done(ecm("contact create --key eve@example.com"));
    const untouched = "Erased: deleted in the account, in none of ecm's own files, never created again\n";
    await ends(ecm("contact erase eve@example.com --yes"), 0, untouched);
    await expectGone(env, "ada@example.com", "byron");
    expect(await readFile(join(runs, "notes.txt"), "utf8")).toContain("and bob@example.com\n");
  });

  const stopping = "import - --map Contact=key --concurrency 1 --max-requests 12";
  const rest = Array.from({ length: 20 }, (_, n) => [`p${n}@example.com`, `P${n}`, `Oslo ${n}`]);
  const theirs = ["Ada <ada@example.com>", "Ada-Augusta\n2nd", "Marylebone"];
  const table = [["Contact", "First Name", "Last Name"], ...rest.slice(0, 14), theirs, ...rest.slice(14)];
  const quoted = (cell: string) => (/[\n<]/.test(cell) ? `"${cell}"` : cell);
  const csv = (rows: string[][], delimiter = ",") =>
    rows.map((row) => `${row.map(quoted).join(delimiter)}\n`).join("");
  const objects = table.slice(1).map(([who, first, last]) => {
    return { Contact: who!.replace(/.*<|>/g, ""), "First Name": first, "Last Name": last };
  });
  it.each([
    ["csv", csv(table)],
    ["csv with an address twice", csv([...table, theirs, ["eve@example.com", "asks ada@example.com", "x"]])],
    ["semicolons", csv(table, ";")],
    ["UTF-16", Buffer.from(`\ufeff${csv(table, "\t")}`, "utf16le")],
    ["JSON lines", objects.map((each) => `${JSON.stringify(each)}\n`).join("")],
    ["a JSON array", JSON.stringify(objects, null, 2)],
  ])("takes all of a person out of an unfinished run of standard input: %s", async (_name, input) => {
    const { ecm, env } = await startSandbox();
    const stopped = await summaryOf(ecm, stopping, { stdin: input });
    expect(stopped).toMatchObject({ status: "stopped", rows: { read: expect.any(Number) } });
    const receipt = await readJson(ecm, "contact erase ada@example.com --yes");
    expect(receipt).toMatchObject({ contact: "absent" });
    await expectGone(env, "ada@example.com", "ada-augusta", "marylebone");
    const resumed = await summaryOf(ecm, `runs resume ${stopped.run}`);
    expect(resumed).toMatchObject({ status: "completed", rows: { pending: 0, rejected: 0 } });
    const { read, created, skipped } = resumed.rows;
    expect([read, created + skipped]).toEqual([stopped.rows.read, stopped.rows.read]);
    expect(created).toBeGreaterThan(19);
    await expectGone(env, "ada@example.com", "ada-augusta", "marylebone");
    expect((await ecm("contact search --count")).stdout).toBe(`${created}\n`);
  });

  it("counts a contact that was erased after it was created as created", async () => {
    const { ecm } = await startSandbox();
    const stopped = await summaryOf(ecm, stopping, { stdin: csv([table[0]!, theirs, ...rest]) });
    expect(stopped.rows.created).toBeGreaterThan(0);
    await done(ecm("contact erase ada@example.com --yes"));
    const resumed = await summaryOf(ecm, `runs resume ${stopped.run}`);
    expect(resumed.rows).toMatchObject({ read: 21, created: 21, rejected: 0, skipped: 0, pending: 0 });
    expect((await ecm("contact search --count")).stdout).toBe("20\n");
  });

  it("is refused while another process works on a run that holds the person, and nothing is done", async () => {
    const { ecm, env } = await startSandbox();
    const path = await inputFile(people);
    const { run } = await summaryOf(ecm, `import ${path}`);
    const runs = toRunsFolder(env.ECM_STATE_DIR!);
    const manifest = JSON.parse(await readFile(join(runs, run!, fileNames.manifest), "utf8"));
    const lease = await takeLease(toLocksFolder(env.ECM_STATE_DIR!), manifest.fingerprint, "this run");
    try {
      await refused(ecm("contact erase ada@example.com --yes"), 6, run!);
      expect((await ecm("contact get ada@example.com")).code).toBe(0);
      // A run that has nothing to do with them stands in nobody's way.
      expect((await ecm("contact erase somebody@else.org --yes")).code).toBe(0);
    } finally {
      await lease.release();
    }
    const stays = `may contain the address, and stay:\n  ${path}\n`;
    await ends(ecm("contact erase ada@example.com --yes"), 0, stays);
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
    const { hash } = receipt;
    expect(JSON.parse(await done(erase()))).toMatchObject({ contact: "absent", files: 0, hash });
    expect((await ecm(`runs show ${run!}`)).code).toBe(0);
  });

  it("waits for no export and no plan: it is refused while one is under way", async () => {
    const { ecm, env, sandbox } = await startSandbox({
      contents: { contacts: [{ key: "ada@example.com" }] },
    });
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
      await ends(ecm("contact erase ada@example.com --yes"), 6, "may contain this contact");
      child.kill("SIGKILL");
      await ended;
      sandbox.admin.faults([]);
    }
  });

  it.each([true, false])("is refused while a run reads their file (standard input: %j)", async (isPiped) => {
    const { ecm, env, sandbox } = await startSandbox();
    const path = await inputFile(people);
    sandbox.admin.faults(["delay:*:/api/contact-structure*:seconds=600"]);
    const child = spawnEcm(["import", isPiped ? "-" : path], env);
    const ended = waitForResult(child);
    child.stdin!.end(isPiped ? people : "");
    await untilUnderWay(env);
    const isSpooled = async () => (await readHome(env)).some(([, bytes]) => /ada@example\.com/i.test(bytes));
    if (isPiped) await expect.poll(isSpooled, { timeout: 20_000 }).toBe(true);
    sandbox.admin.faults([]);
    await ends(ecm("contact erase ada@example.com --yes"), 6, "Importing");
    expect((await ecm("contact erase somebody@else.org --yes")).code).toBe(0);
    child.kill("SIGKILL");
    await ended;
    expect((await ecm("contact erase ada@example.com --yes")).code).toBe(0);
  });

  it("names once what runs have read and written elsewhere, without searching it", async () => {
    const { ecm } = await startSandbox();
    const folder = await temporaryFolder();
    const at = (name: string) => join(folder, name);
    const [input, packed, gone] = [at("people.csv"), at("of ada@example.com.csv.gz"), at("gone")];
    const [plan, report, backup] = [at("plan.ndjson"), at("report.html"), at("backup.csv")];
    await writeFile(input, people);
    await writeFile(gone, people);
    await writeFile(packed, gzipSync(people));
    await ecm(["import", input, "--plan", plan, "--report", report]);
    await ecm(["import", packed]);
    await ecm(["import", gone]);
    await rm(gone);
    await ecm(`contact delete bob@example.com granada@example.com --backup ${backup} --yes`);
    const { stderr, stdout } = await ends(ecm("contact erase ada@example.com --yes --json"), 0);
    const masked = packed.replace("ada@example.com.csv", "erased---------.csv");
    expect(JSON.parse(stdout).mayContain.sort()).toEqual([input, masked, plan, report, backup].sort());
    for (const file of [input, packed, plan, report, backup]) expect(stderr.split(file).length).toBe(2);
    expect(stderr).not.toContain(gone);
    expect(stderr.indexOf("Erased: ")).toBeLessThan(stderr.indexOf(input));
  });

  it("takes nothing, what is empty, a word and an id for no key", async () => {
    const { ecm } = await startSandbox();
    for (const key of ["", "''", "a", "65f0c2a91b3d4e5f60718293"])
      expect((await ecm(`contact erase ${key} --yes`)).code, key).toBe(2);
  });
});
