/**
 * Journals that lost something: a damaged line, a cut end, a
 * missing file. Nothing of it may pass for a crash.
 */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { formatCheckedLine } from "../../../src/disk/log.ts";
import { inputFile, manyRows, refused, startAccount } from "../../kit.ts";

/** Eight contacts, changed by an import that finished, or stopped after so many requests. */
async function scene(stopAfter?: number) {
  const account = await startAccount();
  await account.importing(manyRows(8, () => "Old"));
  const command = `import ${await inputFile(manyRows(8))} --concurrency 1`;
  const { run: id } = await account.run(stopAfter ? `${command} --max-requests ${stopAfter}` : command);
  const folder = join(account.env.ECM_STATE_DIR!, "runs", id!);
  const journal = join(folder, "journal");
  const lines = (await readFile(journal, "utf8")).trimEnd().split("\n");
  return {
    ...account,
    command,
    id: id!,
    journal,
    lines,
    write: (changed: string[]) => writeFile(journal, `${changed.join("\n")}\n`),
    findRecord: (kind: string) => lines.findIndex((line) => line.includes(`"kind":"${kind}"`)),
    /** As after a kill before the summary. @returns the summary that was there */
    async dropSummary() {
      const file = join(folder, "run.json");
      const { summary, ...manifest } = JSON.parse(await readFile(file, "utf8"));
      await writeFile(file, JSON.stringify(manifest));
      return summary;
    },
  };
}

const flipped = (line: string) => line.replace(/.$/, "?");

it("a damaged line with good ones behind it stops the run, names file and line, and changes nothing", async () => {
  const { ecm, run, command, fieldsOf, lines, write, findRecord, journal, id } = await scene(8);
  const bad = findRecord("done");
  await write(lines.with(bad, flipped(lines[bad]!)));
  const damaged = await readFile(journal, "utf8");
  const others = { "First Name": "Changed by others" };
  await ecm("contact mutate p0@example.com --set 'First Name=Changed by others'");
  for (const again of [command, `runs resume ${id}`]) {
    const { code, stderr } = await ecm(`${again} --json`);
    expect(code).toBe(1);
    expect(stderr).toContain(`line ${bad + 1} of ${journal}`);
    expect(stderr).toContain("JournalDamagedError");
  }
  expect(await readFile(journal, "utf8")).toBe(damaged);
  expect(await fieldsOf("p0@example.com")).toEqual(others);
  const shown = await ecm(`runs show ${id} --json`);
  expect(JSON.parse(shown.stdout)).toMatchObject({ status: "damaged" });
  const fresh = await run(`${command} --fresh`);
  expect(fresh).toMatchObject({ status: "completed", rows: { read: 8, pending: 0 } });
  expect(fresh.run).not.toBe(id);
});

it.each(["done", "intent"])("a damaged line keeps an undo from passing over it: %s", async (kind) => {
  const { ecm, keys, fieldsOf, lines, write, findRecord, id } = await scene();
  const bad = findRecord(kind);
  await write(lines.with(bad, flipped(lines[bad]!)));
  await refused(ecm(`runs undo ${id}`), 1, `line ${bad + 1} of `);
  expect((await ecm(`runs show ${id} --changes`)).code).toBe(1);
  for (const key of await keys()) expect(await fieldsOf(key)).not.toEqual({ "First Name": "Old" });
});

it.each(["undo", "resume"])("a lost end is told from a crash by the summary: runs %s", async (verb) => {
  const { ecm, lines, write, findRecord, id } = await scene(verb === "undo" ? undefined : 8);
  await write(lines.slice(0, findRecord("done") + 1));
  await refused(ecm(`runs ${verb} ${id}`), 1, "ends too early");
});

it("a journal that is gone is not undone, and an unfinished run's does not start over in silence", async () => {
  const [whole, stopped] = [await scene(), await scene(6)];
  await stopped.dropSummary();
  for (const [{ ecm, journal }, command] of [
    [whole, `runs undo ${whole.id}`],
    [stopped, stopped.command],
  ] as const) {
    await rm(journal);
    const stderr = expect.stringContaining(`${journal} is missing or empty`);
    expect(await ecm(command)).toMatchObject({ code: 1, stderr });
  }
});

it("a record of a contact that no plan has a place for is damage, and keeps no other run from being listed", async () => {
  const { ecm, run, lines, write, command, journal, id } = await scene(8);
  const other = await run(command.replace("--concurrency", "--fresh --concurrency"));
  for (const ref of [2 ** 45, -1, "1"]) {
    const record = { kind: "done", ref, outcome: "created" };
    await write([...lines, formatCheckedLine(record).trimEnd()]);
    const listed = JSON.parse((await ecm("runs list --json")).stdout);
    const damage = `line ${lines.length + 1} of ${journal} cannot be read`;
    expect(listed).toMatchObject([{ run: other.run }, { run: id, status: "damaged", damage }, {}]);
  }
});

it("a run that was killed between its last record and its summary only reports", async () => {
  const { run, command, id, dropSummary } = await scene();
  const { rows } = await dropSummary();
  const requests = { search: 0, create: 0, mutate: 0 };
  expect(await run(command)).toMatchObject({ code: 0, run: id, status: "completed", rows, requests });
  // Reported once: the same command is a new run then.
  expect((await run(command)).run).not.toBe(id);
});
