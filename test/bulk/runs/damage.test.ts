/**
 * Journals that lost something: a damaged line, a cut end, a
 * missing file. Nothing of it may pass for a crash.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSandbox } from "../../support/sandbox.ts";
import { inputFile, manyRows, parseSummary, readContacts } from "../kit.ts";

/** Eight contacts, changed by an import that finished, or stopped after so many requests. */
async function scene(stopAfter?: number) {
  const service = await startSandbox();
  const { ecm, env } = service;
  await ecm(`import ${await inputFile(manyRows(8, () => "Old"))}`);
  const path = await inputFile(manyRows(8));
  const args = ["import", path, "--json", "--concurrency", "1"];
  const { run } = parseSummary(
    await ecm(stopAfter === undefined ? args : [...args, "--max-requests", String(stopAfter)]),
  );
  const folder = join(env.ECM_STATE_DIR!, "runs", run!);
  const journal = join(folder, "journal");
  const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
  const write = (changed: string[]) => writeFile(journal, `${changed.join("\n")}\n`);
  const findRecord = (kind: string) => lines.findIndex((line) => line.includes(`"kind":"${kind}"`));
  return { service, ecm, args, run: run!, folder, journal, lines, write, findRecord };
}

const flipped = (line: string) => line.replace(/.$/, "?");

describe("a damaged line with good ones behind it", () => {
  it("stops the run, names file and line, and changes nothing", async () => {
    const { service, ecm, args, lines, write, findRecord, journal, run } = await scene(8);
    const bad = findRecord("done");
    await write(lines.with(bad, flipped(lines[bad]!)));
    const damaged = await readFile(journal, "utf8");
    const others = "First Name=Changed by others";
    await ecm(`contact mutate p0@example.com --set '${others}'`);
    for (const words of [args, ["runs", "resume", run, "--json"]]) {
      const { code, stderr } = await ecm(words);
      expect(code).toBe(1);
      expect(stderr).toContain(`line ${bad + 1} of ${journal}`);
      expect(stderr).toContain("JournalDamagedError");
    }
    expect(await readFile(journal, "utf8")).toBe(damaged);
    expect((await readContacts(service)).get("p0@example.com")!.fields).toEqual({
      "First Name": "Changed by others",
    });
    const view = JSON.parse((await ecm(`runs show ${run} --json`)).stdout) as { status: string };
    expect(view.status).toBe("damaged");
    const fresh = parseSummary(await ecm([...args, "--fresh"]));
    expect(fresh).toMatchObject({ status: "completed", rows: { read: 8, pending: 0 } });
    expect(fresh.run).not.toBe(run);
  });

  it.each(["done", "intent"])("keeps an undo from passing over it: %s", async (kind) => {
    const { service, ecm, lines, write, findRecord, run } = await scene();
    const bad = findRecord(kind);
    await write(lines.with(bad, flipped(lines[bad]!)));
    const refused = await ecm(`runs undo ${run}`);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain(`line ${bad + 1} of `);
    expect((await ecm(`runs show ${run} --changes`)).code).toBe(1);
    const values = [...(await readContacts(service)).values()].map(({ fields }) => fields["First Name"]);
    expect(values.filter((value) => value === "Old")).toHaveLength(0);
  });
});

describe("a journal that lost its end", () => {
  it.each(["undo", "resume"])("is told from a crash by the summary: runs %s", async (verb) => {
    const { ecm, lines, write, findRecord, run } = await scene(verb === "undo" ? undefined : 8);
    await write(lines.slice(0, findRecord("done") + 1));
    const { code, stderr } = await ecm(`runs ${verb} ${run}`);
    expect(code).toBe(1);
    expect(stderr).toContain("ends too early");
  });

  it("does not undo when it is gone", async () => {
    const { ecm, journal, run } = await scene();
    await rm(journal);
    const { code, stderr } = await ecm(`runs undo ${run}`);
    expect(code).toBe(1);
    expect(stderr).toContain(`${journal} is missing or empty`);
  });

  it("does not start over in silence when an unfinished run's is gone", async () => {
    const { ecm, args, journal, folder } = await scene(6);
    await rm(journal);
    const manifest = JSON.parse(await readFile(join(folder, "run.json"), "utf8"));
    await writeFile(join(folder, "run.json"), JSON.stringify({ ...manifest, summary: undefined }));
    const { code, stderr } = await ecm(args);
    expect(code).toBe(1);
    expect(stderr).toContain(`${journal} is missing or empty`);
  });
});

it("a run that was killed between its last record and its summary only reports", async () => {
  const { ecm, args, run, folder } = await scene();
  const file = join(folder, "run.json");
  const manifest = JSON.parse(await readFile(file, "utf8"));
  const whole = manifest.summary;
  await writeFile(file, JSON.stringify({ ...manifest, summary: undefined }));
  const result = await ecm(args);
  expect(result.code).toBe(0);
  expect(parseSummary(result)).toMatchObject({
    run,
    status: "completed",
    rows: whole.rows,
    requests: { search: 0, create: 0, mutate: 0 },
  });
  // Reported once: the same command is a new run then.
  expect(parseSummary(await ecm(args)).run).not.toBe(run);
});
