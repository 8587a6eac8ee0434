import { appendFile, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cutTornTail, Journal, type JournalRecord, readJournal } from "../../../src/bulk/runs/journal.ts";
import { formatCheckedLine } from "../../../src/disk/log.ts";
import { temporaryFolder } from "../../support/ecm.ts";
import { runs } from "../../support/runs.ts";

const records: JournalRecord[] = [
  { kind: "start", at: 1, program: "1" },
  {
    kind: "intent",
    ref: 2,
    key: "ä@x.org",
    at: 2,
    operation: { kind: "create", key: "ä@x.org", values: [] },
  },
  { kind: "done", ref: 2, outcome: "created", contactId: "c" },
];

async function read(file: string) {
  const found: JournalRecord[] = [];
  let end = 0;
  for await (const each of readJournal(file)) {
    found.push(each.record);
    end = each.end;
  }
  return { found, end };
}

it("the journal gives back what was written, and can be appended to again", async () => {
  const file = join(await temporaryFolder(), "journal");
  for (const half of [records.slice(0, 2), records.slice(2)]) {
    const journal = new Journal(file);
    for (const record of half) journal.append(record);
    await journal.sync();
    await journal.close();
  }
  expect((await read(file)).found).toEqual(records);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it("the journal keeps every whole record when it is cut at any byte, and can go on there", async () => {
  const file = join(await temporaryFolder(), "journal");
  const lines = records.map(formatCheckedLine);
  const whole = Buffer.from(lines.join(""));
  const ends = lines.map((_, index) => Buffer.byteLength(lines.slice(0, index + 1).join("")));
  const step = Math.ceil(4 / runs(1));
  for (let cut = 0; cut <= whole.length; cut++) {
    if (cut % step > 0 && !ends.some((end) => Math.abs(end - cut) <= 2)) continue;
    await writeFile(file, whole.subarray(0, cut));
    const { found, end } = await read(file);
    const wholeRecords = ends.filter((each) => each <= cut).length;
    expect(found).toEqual(records.slice(0, wholeRecords));
    await cutTornTail(file, end);
    await appendFile(file, formatCheckedLine(records[0]!));
    expect((await read(file)).found).toEqual([...records.slice(0, wholeRecords), records[0]]);
  }
});

it("the journal tells a changed byte with records behind it from a torn end", async () => {
  const file = join(await temporaryFolder(), "journal");
  const whole = Buffer.from(records.map(formatCheckedLine).join(""));
  for (let place = 0; place < whole.length; place += 7) {
    const changed = Buffer.from(whole);
    changed[place] = changed[place]! ^ 1;
    await writeFile(file, changed);
    const line = whole.subarray(0, place).toString("latin1").split("\n").length;
    if (line < records.length) {
      await expect(read(file)).rejects.toThrow(`Line ${line} of ${file} is damaged`);
    } else expect((await read(file)).found).toEqual(records.slice(0, -1));
    const wholeRecords: JournalRecord[] = [];
    for await (const { record } of readJournal(file, () => undefined)) wholeRecords.push(record);
    const kinds = wholeRecords.map(({ kind }) => kind);
    expect(wholeRecords).toEqual(records.filter(({ kind }) => kinds.includes(kind)));
    expect(wholeRecords.length).toBeGreaterThanOrEqual(records.length - 2);
  }
});

it("the journal shares one sync among those who ask at the same time", async () => {
  let syncs = 0;
  let text = "";
  const journal = new Journal("anywhere", () => ({
    append: (data) => {
      text += data;
    },
    datasync: async () => {
      syncs++;
      await new Promise((resolve) => setImmediate(resolve));
    },
    close: () => undefined,
  }));
  await Promise.all(
    records.map(async (record) => {
      journal.append(record);
      await journal.sync();
    }),
  );
  expect(text).toBe(records.map(formatCheckedLine).join(""));
  expect(syncs).toBe(2);
});

it("the journal is empty where there is no file", async () => {
  const file = join(await temporaryFolder(), "journal");
  expect(await read(file)).toEqual({ found: [], end: 0 });
  await cutTornTail(file, 0);
  await expect(truncate(file, 0)).rejects.toThrow();
  await expect(readFile(file)).rejects.toThrow();
});
