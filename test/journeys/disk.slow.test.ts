import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importJob } from "../../src/bulk/jobs/import.ts";
import { runJob } from "../../src/bulk/jobs/run.ts";
import type { Engine } from "../../src/bulk/plan/session.ts";
import { type JournalFile, readJournal } from "../../src/bulk/runs/journal.ts";
import { realClock } from "../../src/clock.ts";
import { openLog } from "../../src/disk/log.ts";
import { openNetwork } from "../../src/http/network.ts";
import { createSend } from "../../src/http/send.ts";
import { inputFile, manyRows, parseSummary, readContacts } from "../bulk/kit.ts";
import { createSurroundings } from "../bulk/steps-kit.ts";
import { cutEvery } from "./journal-cut.ts";
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
    for await (const { record } of readJournal(
      join(proxy.env.ECM_STATE_DIR!, "runs", summary.run!, "journal"),
    )) {
      if (record.kind === "intent") intents.add(record.key);
    }
    for (const write of proxy.writes) expect(intents).toContain(write.what);

    const finished = parseSummary(await proxy.ecm(["import", path, "--json"]));
    expect(finished).toMatchObject({
      run: summary.run,
      status: "completed",
      rows: { created: 40, unchanged: 0 },
    });
    expect((await readContacts(proxy)).size).toBe(40);
  });

  it("never sees the API key", async () => {
    const proxy = await startRecordingProxy();
    const { run } = parseSummary(await proxy.ecm(["import", await inputFile(manyRows(5)), "--json"]));
    for (const file of ["manifest.json", "journal"]) {
      const text = await readFile(join(proxy.env.ECM_STATE_DIR!, "runs", run!, file), "utf8");
      expect(text).not.toContain(proxy.apiKey);
    }
  });

  it("can lose the end of the journal at any byte", async () => {
    expect(await cutEvery(173)).toBeGreaterThan(4);
  });

  // At every byte, what can be read of a journal is tested in test/bulk/runs/journal.test.ts.
  it("can lose the end of the journal at any byte of thirteen", async () => {
    expect(await cutEvery(13)).toBeGreaterThan(75);
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
  const network = await openNetwork({ baseUrl: proxy.baseUrl, purpose: "bulk", connections: 8 });
  const signal = new AbortController().signal;
  const { baseUrl, apiKey } = proxy;
  const send = createSend({
    baseUrl,
    apiKey,
    transport: network.transport,
    clock: realClock,
    timeoutSeconds: 30,
    maxWaitSeconds: 0,
    readOnly: false,
    signal,
  });
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
  try {
    return await runJob(engine, job, options, () => undefined);
  } finally {
    await network.close();
  }
}
