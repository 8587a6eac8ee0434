/**
 * After an erasure the bytes of all that the program keeps are searched: in none of the spellings in which a
 * file may write it is the person there; and what is there of the others is still usable.
 */
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { domainToASCII } from "node:url";
import { expect, it } from "vitest";
import { toSuppressionsPath } from "../../src/suppressions/suppressions.ts";
import { inputFile, manyContacts, parseSummary, readJson, refused, startSandbox, summaryOf } from "../kit.ts";
import type { Ecm } from "../support/ecm.ts";
import { done, ecmWith, spawnEcm, temporaryFolder, temporaryHome, waitForResult } from "../support/ecm.ts";
import { readHome } from "../support/home.ts";

const bytesOf = (text: string, encoding: BufferEncoding = "utf8") =>
  Buffer.from(text, encoding).toString("latin1");
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");
const escapeAll = (text: string) =>
  Array.from({ length: text.length }, (_, at) => `\\u${hex(text.charCodeAt(at), 4)}`).join("");
const escapeSome = (text: string, which: RegExp) => text.replaceAll(which, escapeAll);
const percent = (text: string, which: RegExp) =>
  text.replaceAll(which, (character) =>
    [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join(""),
  );

/** The text as the files of many programs would have it, letter case aside. */
function listWrittenForms(text: string): string[] {
  const [, domain = ""] = text.split("@");
  const ascii = domain === "" ? text : text.replace(domain, domainToASCII(domain) || domain);
  return [text, ascii].flatMap((each) => {
    const [composed, decomposed] = [each.normalize("NFC"), each.normalize("NFD")];
    const wide = bytesOf(composed, "utf16le");
    const swapped = Buffer.from(wide, "latin1").swap16().toString("latin1");
    const html = composed.replaceAll(/[@'+]/g, (character) => `&#${character.charCodeAt(0)};`);
    return [
      ...[composed, decomposed, JSON.stringify(composed).slice(1, -1), html].map((form) => bytesOf(form)),
      ...[/\P{ASCII}/gu, /[@]/g, /[^a-z0-9]/gi, /./gs].map((which) => escapeSome(composed, which)),
      ...[/[@]/g, /[^a-z0-9._-]/gi, /./gsu].map((which) => bytesOf(percent(composed, which))),
      bytesOf(composed.replaceAll(/[_*]/g, "\\$&")),
      wide,
      swapped,
    ];
  });
}

/** The part of base64 text that does not depend on what precedes and follows. */
function listBase64Forms(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.from("x".repeat(before) + text).toString("base64");
    return encoded.slice(before === 0 ? 0 : before + 1, -4);
  });
}

async function expectNowhere(
  env: Record<string, string>,
  texts: readonly string[],
  others: readonly string[] = [],
) {
  const forms = [...new Set(texts.flatMap(listWrittenForms).map((form) => form.toLowerCase()))];
  const exact = texts.flatMap(listBase64Forms);
  const found: string[] = [];
  for (const [path, bytes] of await readHome(env)) {
    let lower = bytes.toLowerCase();
    for (const other of others) lower = lower.replaceAll(other.toLowerCase(), "");
    for (const form of forms) if (lower.includes(form)) found.push(`${JSON.stringify(form)} in ${path}`);
    for (const form of exact) if (bytes.includes(form)) found.push(`${form} in ${path}`);
  }
  expect(found).toEqual([]);
}

const people = [
  {
    typed: "Ada_L*x+News@Bücher.example",
    stored: "Ada_L*x+News@xn--bcher-kva.example",
    names: ["Ædå-Åugusta", 'Byron "de" Lôvelace_*'],
  },
  {
    typed: "o'Brien.99@Example.com",
    stored: "O'BRIEN.99@example.com",
    names: ["Zoë;Xaviera", "Müllér, d'Ö"],
  },
] as const;
const secrets = people.flatMap(({ typed, stored, names }) => [
  typed,
  stored,
  ...names,
  ...["Ædå-Åugusta", "Lôvelace", "Xaviera", "Müllér"],
]);

const quoted = (cells: readonly string[]) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(",");
const mentions = ({ stored }: (typeof people)[number]) => [
  `asked ${stored}.`,
  `https://x.example/?of=${encodeURIComponent(stored.toLowerCase())}&n=1`,
  `{"of":"${stored.replace("@", "\\u0040")}"}`,
  "nobody",
];

/** A table with both persons in it, others who speak of them, and a rejected row that does. */
function createTable(name: string): string {
  const others = people
    .flatMap((person) => mentions(person))
    .map((text, n) => [`p${n}@example.com`, `P${n}`, text]);
  const theirs = people.map(({ typed, names }) => [typed, ...names]);
  const rejected = [`no address ${people[0].stored}`, "Eve", mentions(people[1])[0]!];
  const rows = [
    ["Email", "First Name", "Last Name"],
    ...others,
    ...theirs,
    rejected,
    ["bob@example.com", "Bob", name],
  ];
  return rows.map((row) => `${quoted(row)}\n`).join("");
}

const erase = (ecm: Ecm) => ecm(["contact", "erase", ...people.map(({ typed }) => typed), "--yes", "--json"]);

it("an erasure leaves nothing of the persons in any file, and all of the others", async () => {
  const { ecm, env, sandbox } = await startSandbox({ hourlyLimit: 10_000, variants: { page: "cap:100" } });
  const folder = await temporaryFolder();
  const run = (line: string, stdin?: string | Uint8Array) => summaryOf(ecm, line, { stdin });
  const [one, other] = people.map(({ stored }) => stored);
  await done(ecm(`lists create 'for ${one}'`));
  const csv = await inputFile(createTable("One"), `of ${one}.csv`);
  const imported = await run(`import '${csv}' --list 'for ${one}'`);
  expect(imported.rows).toMatchObject({ created: 11, rejected: 1 });
  const workbook = join(folder, "people.xlsx");
  await done(ecm(["export", "--output-file", workbook]));
  const { _id } = await readJson(ecm, `contact get ${one}`);
  const edited = await run(`contact mutate ${_id} bob@example.com --set 'Last Name=King'`);
  expect(edited.rows.updated).toBe(2);
  expect(await run(`import ${workbook}`)).toMatchObject({ rows: { updated: 2 } });
  const json = people.map(({ typed, names }) => ({ Email: typed, "First Name": names[1] }));
  const piped = [...json, { Email: "bob@example.com", "First Name": "Robert" }];
  expect(await run("import -", JSON.stringify(piped))).toMatchObject({ rows: { updated: 3 } });
  const deleted = await run(`contact delete ${one} "${other}" p0@example.com p1@example.com --yes`);
  expect(deleted.rows.deleted).toBe(4);
  expect(await run(`runs undo ${deleted.run}`)).toMatchObject({ rows: { created: 4 } });
  // A run that was stopped while it applied its plan, and one that was stopped while it made it.
  const wave = "import - --concurrency 1";
  const stopped = await run(`${wave} --set 'First Name=New' --max-requests 9`, createTable("Two"));
  expect(stopped).toMatchObject({ status: "stopped", rows: { pending: expect.any(Number) } });
  sandbox.admin.seed({ contacts: manyContacts(320) });
  const many = Array.from({ length: 120 }, (_, n) => `"p${n + 100}@example.com","","M"\n`).join("");
  const unplanned: string[] = [];
  for (const stdin of [
    createTable("Three") + many,
    Buffer.from(`\ufeff${createTable("Four") + many}`, "utf16le"),
    `Email,First Name,Last Name\n${many}`,
  ]) {
    const begun = await run(`${wave} --max-requests 2`, stdin);
    expect(begun.rows).toMatchObject({ created: 0, updated: 0 });
    unplanned.push(begun.run!);
  }
  const where = `key == "${other!.toLowerCase()}"`;
  const chosen = await readJson(ecm, ["contact", "mutate", "--where", where, "--set", "Last Name=Changed"]);
  expect(chosen.rows).toMatchObject({ updated: 1 });

  const { code, stdout, stderr } = await erase(ecm);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ contact: "deleted" }, { contact: "deleted" }]);
  await expectNowhere(env, secrets);
  expect(JSON.parse((await erase(ecm)).stdout)).toMatchObject([{ files: 0 }, { files: 0 }]);

  const listed: { run: string; status: string; folder: string }[] = await readJson(ecm, "runs list");
  expect(listed).toHaveLength(11);
  expect(listed.filter(({ status }) => status === "damaged")).toEqual([]);
  for (const each of listed) await done(ecm(`runs show ${each.run} --changes -q`));
  expect(await done(ecm(`runs show ${edited.run} --changes --json`))).toContain("bob@example.com");
  expect(await done(ecm(`runs rejects ${imported.run}`))).toMatch(/"?Eve"?,asked erased/);
  const ofDeletion = listed.find((each) => each.run === deleted.run)!;
  expect(await readFile(join(ofDeletion.folder, "backup.csv"), "utf8")).toContain("p1@example.com");
  const edit = await run(`runs undo ${edited.run}`);
  expect(edit.rows).toMatchObject({ read: 2, unchanged: 1, rejected: 1 });
  const resumed = await run(`runs resume ${stopped.run}`);
  expect(resumed).toMatchObject({ status: "completed", rows: { pending: 0 } });
  const [three, four, clean] = unplanned;
  for (const unfit of [three!, four!]) {
    expect(stderr).toContain(unfit);
    await refused(ecm(`runs resume ${unfit}`), 2, "a person was erased");
  }
  const others = await run(`runs resume ${clean}`);
  expect(others).toMatchObject({ rows: { updated: 120, pending: 0 } });
  for (const { stored } of people) await refused(ecm(["contact", "get", stored]), 5);
  await expectNowhere(env, secrets);
});

it("an erasure leaves a run that rejected nobody else without rejected rows", async () => {
  const { ecm, env } = await startSandbox();
  const [{ typed }] = people;
  const csv = await inputFile(`Email,First Name\n${typed},Ædå-Åugusta,too,many\nbob@example.com,Bob\n`);
  const { run, rows } = parseSummary(await ecm(["import", csv, "--json"]));
  expect(rows).toMatchObject({ created: 1, rejected: 1 });
  expect(await done(ecm(["runs", "rejects", run!]))).toContain(typed);
  await done(erase(ecm));
  await expectNowhere(env, secrets);
  const stderr = `Run ${run} has no rejected rows\n`;
  expect(await ecm(["runs", "rejects", run!])).toEqual({ code: 0, stdout: "", stderr });
  expect(JSON.parse(await done(ecm(["runs", "rejects", run!, "-o", "json"])))).toEqual([]);
});

it.each([false, true])("nothing is left in a sandbox and its snapshots (running: %s)", async (isRunning) => {
  const env = await temporaryHome();
  const ecm = ecmWith(env);
  const sandbox: Ecm = (args, options) => ecm([...args, "-p", "sandbox"], options);
  if (isRunning) {
    const server = spawnEcm(["sandbox", "start"], env);
    await new Promise((resolve) => server.stdout!.once("data", resolve));
  }
  const csv = await inputFile(createTable("One"));
  expect((await sandbox(["import", csv])).code).toBe(3);
  await done(ecm(["sandbox", "snapshot", "save", "before"]));
  await done(sandbox(["contact", "mutate", people[0].stored, "--set", "Last Name=Lôvelace"]));
  expect(await done(ecm(["sandbox", "requests", "--json"]))).toContain("Lôvelace");
  await done(erase(sandbox));
  await expectNowhere(env, secrets);
  await done(ecm(["sandbox", "snapshot", "load", "before", "--yes"]));
  expect(await done(sandbox(["contact", "search", "--count"]))).toBe("9\n");
  await expectNowhere(env, secrets);
});

const moments = ["suppressed", "deleted", "first plan", "second plan", "last run"] as const;
it.each(moments)("an erasure is completed by the same command after kill -9: %s", async (moment) => {
  const { ecm, env, sandbox, baseUrl } = await startSandbox();
  const csv = await inputFile(createTable("One"));
  const runs: string[] = [];
  for (const blank of ["a", "b", "c"])
    runs.push(parseSummary(await ecm(["import", csv, "--set", `Last Name=${blank}`, "--json"])).run!);
  const folders = runs.map((run) => join(env.ECM_STATE_DIR!, "runs", run));
  const plans = folders.map((each) => join(each, "plan.ndjson"));
  const sizes = await Promise.all(plans.map(async (plan) => (await stat(plan)).size));
  const isRewritten = async (n: number) => (await stat(plans[n]!)).size !== sizes[n];
  if (moment === "suppressed") sandbox.admin.faults(["delay:DELETE:/api/contact/*:seconds=600"]);
  const child = spawnEcm(["contact", "erase", ...people.map(({ typed }) => typed), "--yes"], env);
  const ended = waitForResult(child);
  const isReached = async () => {
    if (child.exitCode !== null) return true;
    if (moment === "suppressed") return existsSync(toSuppressionsPath(env.ECM_STATE_DIR!, baseUrl));
    if (moment === "deleted") return sandbox.admin.requests({ method: "DELETE" }).length > 0;
    return isRewritten(moments.indexOf(moment) - 2);
  };
  await expect.poll(isReached, { timeout: 20_000, interval: 1 }).toBe(true);
  child.kill("SIGKILL");
  await ended;
  sandbox.admin.faults([]);
  for (const { typed } of people) expect((await ecm(["suppressions", "check", typed])).code).toBe(0);
  await done(erase(ecm));
  await expectNowhere(env, secrets);
  for (const run of runs) await done(ecm(["runs", "show", run, "--changes", "-q"]));
  const undone = parseSummary(await ecm(["runs", "undo", runs[2]!, "--json"]));
  expect(undone.rows).toMatchObject({ updated: 9, rejected: 2 });
});
