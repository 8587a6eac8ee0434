import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importJob } from "../../src/bulk/jobs/import.ts";
import { runJob } from "../../src/bulk/jobs/run.ts";
import type { Engine } from "../../src/bulk/plan/session.ts";
import { type JournalFile, readJournal } from "../../src/bulk/runs/journal.ts";
import { realClock } from "../../src/clock.ts";
import { openLog } from "../../src/disk/log.ts";
import { inputFile, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { createSurroundings } from "../bulk/steps-kit.ts";
import { createSendTo } from "../support/test-send.ts";
import { expectFinished, expectNoRepeats } from "./ends.ts";
import { type RecordingProxy, startRecordingProxy } from "./recording-proxy.ts";

describe("a disk that fails", () => {
  it.each([
    ["write", 0],
    ["write", 5],
    ["sync", 3],
  ] as const)("ends the run before the next request (%s number %d)", async (part, works) => {
    const proxy = await startRecordingProxy();
    const path = await inputFile(manyRows(40));
    const { summary, stop } = await importWith(proxy, path, failingAfter(part, works));
    expect(stop?.failure.message).toContain("Cannot write the journal");
    expect(summary).toMatchObject({ status: "stopped", stoppedBy: "error" });

    // Every write that left had its intent on the disk.
    const intents = new Set<string>();
    const journal = join(proxy.env.ECM_STATE_DIR!, "runs", summary.run!, "journal");
    for await (const { record } of readJournal(journal)) {
      if (record.kind === "intent") intents.add(record.key);
    }
    for (const write of proxy.writes) expect(intents).toContain(write.what);

    expectFinished(await proxy.ecm(["import", path, "--json"]), summary.run, 40);
    expect((await readContacts(proxy)).size).toBe(40);
  });

  // At every byte, what can be read of a journal is tested in test/bulk/runs/journal.test.ts.
  it("can lose the end of the journal, after each record and in its middle", async () => {
    const proxy = await startRecordingProxy({ hourlyLimit: 1e6, monthlyLimit: 1e6 });
    await proxy.ecm(["import", await inputFile("Email,First Name\na@x.org,Old\nb@x.org,Bob\n")]);
    const mixed = "a@x.org,New\nb@x.org,Bob\nc@x.org,Cy\nd@x.org,Di\nwrong,\n";
    const args = ["import", await inputFile(`Email,First Name\n${mixed}`), "--json"];
    const { run, rows } = parseSummary(await proxy.ecm(args));
    expect(rows).toMatchObject({ created: 2, updated: 1, unchanged: 1, rejected: 1 });
    const folder = join(proxy.env.ECM_STATE_DIR!, "runs", run!);
    const { summary: _summary, ...manifest } = JSON.parse(await readFile(join(folder, "run.json"), "utf8"));
    const journal = await readFile(join(folder, "journal"));
    const contacts = await readContacts(proxy);
    // The first record was on the disk before the run began.
    const ends = [...journal.keys()].filter((at) => journal[at] === 10);
    const cuts = ends.slice(1).flatMap((end, at) => [ends[at]! + 1, Math.ceil((ends[at]! + end) / 2), end]);
    expect(cuts.length).toBeGreaterThan(20);
    for (const cut of cuts.reverse()) {
      await writeFile(join(folder, "journal"), journal.subarray(0, cut));
      await writeFile(join(folder, "run.json"), JSON.stringify(manifest));
      const result = await proxy.ecm(args);
      const story = `cut at ${cut}\n${result.stderr}`;
      const summary = parseSummary(result);
      // What the journal no longer knows of was there before; what it knows of counts as it did.
      expect(summary, story).toMatchObject({
        ...{ run, status: "completed", requests: { mutate: 0 } },
        rows: { read: 5, rejected: 1, skipped: 0, pending: 0 },
      });
      const { created, updated, unchanged } = summary.rows;
      expect(created + updated + unchanged, story).toBe(4);
    }
    expect(await readContacts(proxy)).toEqual(contacts);
    expectNoRepeats(proxy);
  });
});

/** A real journal file whose disk is full after so many writes, or whose syncs fail after so many. */
function failingAfter(part: "write" | "sync", works: number): (file: string) => JournalFile {
  return (file) => {
    const real = openLog(file);
    let done = 0;
    const full = () => {
      if (done++ >= works)
        throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
    };
    return {
      append(data) {
        if (part === "write") full();
        real.append(data);
      },
      async datasync() {
        if (part === "sync") full();
        await real.datasync();
      },
      close: real.close,
    };
  };
}

async function importWith(proxy: RecordingProxy, path: string, openFile: Engine["openJournalFile"]) {
  const { baseUrl, apiKey } = proxy;
  const { signal } = new AbortController();
  const { send } = await createSendTo(baseUrl, { apiKey, clock: realClock }, "bulk");
  const engine: Engine = {
    ...createSurroundings(proxy.env.ECM_STATE_DIR!),
    send,
    clock: realClock,
    signal,
    version: "test",
    account: { baseUrl, isReadOnly: false },
    openJournalFile: openFile,
  };
  const job = importJob({
    input: { name: path },
    read: { map: new Map(), hasNoHeader: false },
    mode: "upsert",
    blank: "keep",
    duplicates: "merge",
    lists: [],
    tags: [],
    createMissing: false,
    includeUnsubscribed: false,
    includeSuppressed: false,
  });
  const options = { isDryRun: false, isFresh: false, concurrency: 8, reserve: 0, waits: true };
  return runJob(engine, job, options, () => undefined);
}
