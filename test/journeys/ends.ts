/** What has become of a run, of its writes, and of the account behind a recording proxy. */
import { expect } from "vitest";
import type { Summary } from "../../src/bulk/runs/report.ts";
import { parseSummary, type Result, readContacts } from "../kit.ts";
import type { RecordingProxy } from "./recording-proxy.ts";

/** A run, the one that was stopped before, has come to its end, and has created so many contacts. */
export function expectFinished(result: Result, run: string | null | undefined, created: number): void {
  const summary = parseSummary(result);
  expect(summary, result.stderr).toMatchObject({ status: "completed", rows: { created, unchanged: 0 } });
  if (run !== undefined) expect(summary.run).toBe(run);
}

/** A run was stopped. @returns its summary */
export function expectStopped(result: Result, code: number, stoppedBy: Summary["stoppedBy"]): Summary {
  expect(result.code, result.stderr).toBe(code);
  const summary = parseSummary(result);
  expect(summary).toMatchObject({ status: "stopped", stoppedBy });
  return summary;
}

/** No write of a kind was carried out more than once for one contact. */
export function expectNoRepeats({ writes }: Pick<RecordingProxy, "writes">, story?: string): void {
  const done = writes.filter(({ status }) => status >= 200 && status < 300);
  const names = done.map(({ kind, what }) => `${kind} ${what}`);
  const repeated = names.filter((name, at) => names.indexOf(name) !== at);
  expect(repeated, story).toEqual([]);
}

/** Contacts without the ids of their lists and tags, which differ from service to service. */
export async function readComparable(proxy: RecordingProxy) {
  const contacts = await readContacts(proxy);
  for (const contact of contacts.values()) {
    contact.lists = contact.lists.map(() => "list");
    contact.tags = contact.tags.map(() => "tag");
  }
  return contacts;
}
