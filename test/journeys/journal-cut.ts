/** A finished import's journal, cut at a byte as by a power failure, and the run gone on with. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { inputFile, parseSummary, readContacts } from "../bulk/kit.ts";
import { findRepeatedWrites, startRecordingProxy } from "./recording-proxy.ts";

/** @param every cut at each of so many bytes */
export async function cutEvery(every: number): Promise<number> {
  const proxy = await startRecordingProxy({ hourlyLimit: 1e6, monthlyLimit: 1e6 });
  await proxy.ecm(["import", await inputFile("Email,First Name\na@x.org,Old\nb@x.org,Bob\n")]);
  const path = await inputFile(
    "Email,First Name\na@x.org,New\nb@x.org,Bob\nc@x.org,Cy\nd@x.org,Di\nwrong,\n",
  );
  const args = ["import", path, "--json"];
  const whole = parseSummary(await proxy.ecm(args));
  expect(whole.rows).toMatchObject({ created: 2, updated: 1, unchanged: 1, rejected: 1 });
  const folder = join(proxy.env.ECM_STATE_DIR!, "runs", whole.run!);
  const manifest = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as { summary?: unknown };
  delete manifest.summary;
  const journal = await readFile(join(folder, "journal"));
  const contacts = await readContacts(proxy);
  let cuts = 0;
  // The first record was on the disk before the run began.
  const first = journal.indexOf("\n") + 1;
  for (let cut = journal.length - 1; cut >= first; cut -= every) {
    await writeFile(join(folder, "journal"), journal.subarray(0, cut));
    await writeFile(join(folder, "manifest.json"), JSON.stringify(manifest));
    const result = await proxy.ecm(args);
    const summary = parseSummary(result);
    const story = `cut at ${cut}\n${result.stderr}`;
    expect(summary, story).toMatchObject({ run: whole.run, status: "completed" });
    // What the journal no longer knows of was there before; what it knows of counts as it did.
    const { read, created, updated, unchanged, skipped, rejected, pending } = summary.rows;
    expect({ read, rejected, skipped, pending }, story).toEqual({
      read: 5,
      rejected: 1,
      skipped: 0,
      pending: 0,
    });
    expect(created + updated + unchanged, story).toBe(4);
    expect(summary.requests.mutate, story).toBe(0);
    cuts++;
  }
  expect(await readContacts(proxy)).toEqual(contacts);
  expect(findRepeatedWrites(proxy.writes, "create")).toEqual([]);
  return cuts;
}
