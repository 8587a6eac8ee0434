/** What is told of a run from its plan and its journal alone: each is a reading of both. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { toOperation } from "../../src/bulk/decide.ts";
import type { Before, DesiredValue } from "../../src/bulk/desired.ts";
import { readingsOf } from "../../src/bulk/jobs/changes.ts";
import type { PlanHead } from "../../src/bulk/plan/plan-file.ts";
import { PlanWriter } from "../../src/bulk/plan/plan-file.ts";
import { type StoredLine, toPlanLine } from "../../src/bulk/plan/plan-line.ts";
import { fileNames, type Manifest } from "../../src/bulk/runs/folder.ts";
import type { JournalRecord } from "../../src/bulk/runs/journal.ts";
import { formatCheckedLine } from "../../src/disk/log.ts";
import { temporaryFolder } from "../support/ecm.ts";
import { planHead } from "./plan-kit.ts";

const names = { fields: { f: "City" }, lists: { l: "News" }, tags: {} };
const head: PlanHead = {
  ...planHead,
  names,
  table: {
    columns: [
      { name: "Email", target: { kind: "key" } },
      { name: "Town", target: { kind: "field", fieldId: "f", label: "City" } },
    ],
    delimiter: ",",
    hasEscapes: false,
  },
};

const keyOf = (ref: number) => `p${ref}@x.org`;
const toRome: DesiredValue = { what: "field", id: "f", to: "Rome" };
const fromOslo = (id: string): Before => ({
  id,
  version: 3,
  values: [{ what: "field", id: "f", to: "Oslo" }],
});

/** A contact that the plan writes. */
function planned(ref: number, values: readonly DesiredValue[], before?: Before): StoredLine {
  const desired = { values, absent: "create", present: "change", mayJoinLists: true } as const;
  const operation = toOperation(keyOf(ref), desired, before);
  const line = toPlanLine({ line: ref, key: keyOf(ref) }, operation, names);
  const apply = { ref, key: { written: keyOf(ref), sent: keyOf(ref) }, desired, ...(before && { before }) };
  return { ...line, cells: [keyOf(ref), "Rome"], apply };
}

/** A row that stands for no contact. */
function passed(line: number, more: Partial<StoredLine>): StoredLine {
  const row = { line, key: "", contactId: null, code: "duplicate", message: "", changes: [] };
  return { ...row, action: "skip", ...more };
}

const lines: StoredLine[] = [
  planned(2, [toRome, { what: "list", id: "new list Fresh", to: true }]),
  planned(3, [toRome], fromOslo("c3")),
  planned(4, [toRome], fromOslo("c4")),
  passed(5, {
    action: "reject",
    code: "invalid_key",
    message: "not an email address: wrong",
    cells: ["wrong", undefined],
  }),
  passed(6, { of: 4, cells: [keyOf(4), "Lima", "more"] }),
  passed(7, { cells: [keyOf(3), "Lima"] }),
  planned(8, [toRome], fromOslo("c8")),
  planned(9, [toRome], fromOslo("c9")),
];

function intent(ref: number): JournalRecord {
  const { desired, before } = lines.find(({ line }) => line === ref)!.apply as {
    desired: Parameters<typeof toOperation>[1];
    before?: Before;
  };
  const operation = toOperation(keyOf(ref), desired, before);
  return { kind: "intent", ref, key: keyOf(ref), at: 0, operation };
}

const journal: JournalRecord[] = [
  { kind: "start", at: 0, program: "0.0.0" },
  { kind: "names", ids: {} },
  { kind: "names", ids: { "new list Fresh": "l9" } },
  intent(2),
  intent(3),
  intent(4),
  intent(9),
  // Outcomes come in any order.
  { kind: "done", ref: 4, outcome: "rejected", code: "keeps_changing", message: "it keeps changing" },
  { kind: "done", ref: 3, outcome: "updated", contactId: "c3" },
  { kind: "done", ref: 2, outcome: "created", contactId: "c2" },
];

let run: Parameters<typeof readingsOf>[0];
beforeEach(async () => {
  const folder = await temporaryFolder();
  const manifest = {
    id: "r",
    kind: "import",
    input: { name: "people.csv", file: "/people.csv" },
  } as Manifest;
  run = { folder, manifest };
  const writer = PlanWriter.create(join(folder, fileNames.plan), head, [{ what: "list", name: "Fresh" }]);
  writer.addBlock(lines.slice(0, 5), 1, 5);
  writer.addBlock(lines.slice(5), 2, 3);
  writer.close({ read: 8, skipped: { duplicate: 2 }, rejected: {} });
  await writeFile(join(folder, fileNames.journal), journal.map(formatCheckedLine).join(""));
});

async function all<T>(values: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const each of values) taken.push(each);
  return taken;
}

describe("the readings of a run", () => {
  it("tell what it changed, in the order of the input; a write without an outcome is unproven", async () => {
    const changes = await readingsOf(run).changes();
    expect(changes.map(({ line, action, contactId, code }) => [line, action, contactId, code])).toEqual([
      [2, "create", "c2", null],
      [3, "update", "c3", null],
      [9, "update", "c9", "unproven"],
    ]);
    expect(changes[0]!.changes).toEqual([
      { what: "field", name: "City", before: null, after: "Rome" },
      { what: "list", name: "Fresh", before: false, after: true },
    ]);
    expect(changes[1]!.changes).toEqual([{ what: "field", name: "City", before: "Oslo", after: "Rome" }]);
    expect((await readingsOf(run).changes(1)).map(({ line }) => line)).toEqual([2]);
  });

  it("tell what it rejected: rows by themselves, contacts, and the rows that a contact stands for", async () => {
    const rejects = await all(readingsOf(run).rejects());
    const why = { code: "keeps_changing", message: "it keeps changing" };
    const wrong = { code: "invalid_key", message: "not an email address: wrong" };
    expect(rejects).toEqual([
      { line: 4, value: keyOf(4), ...why, row: { Email: keyOf(4), Town: "Rome" } },
      { line: 5, value: "wrong", ...wrong, row: { Email: "wrong" } },
      { line: 6, value: keyOf(4), ...why, row: { Email: keyOf(4), Town: "Lima", 3: "more" } },
    ]);
  });

  it("tell what was planned, and what its names were, also of the list that it made", async () => {
    expect(await readingsOf(run).head()).toEqual(head);
    expect(await readingsOf(run).names()).toMatchObject({
      fields: { f: "City" },
      lists: { l: "News", l9: "Fresh" },
    });
    const planned = await all(readingsOf(run).lines());
    expect(planned.map(({ line }) => line)).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
    expect(planned.some((line) => "apply" in line || "cells" in line || "of" in line)).toBe(false);
  });

  it("of a run without a plan are empty", async () => {
    const folder = await temporaryFolder();
    const readings = readingsOf({ ...run, folder });
    expect(await readings.head()).toBeUndefined();
    expect(await readings.names()).toEqual({ fields: {}, lists: {}, tags: {} });
    expect(await all(readings.lines())).toEqual([]);
    expect(await all(readings.rejects())).toEqual([]);
    expect(await readings.changes()).toEqual([]);
  });
});
