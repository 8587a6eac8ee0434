/**
 * Taking people out of the files of a run, so that the run can still be shown, resumed and undone for all
 * others. Each file is replaced whole; called again after a kill, it completes what is left.
 */
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { findStatus } from "../../api/contacts.ts";
import { createErasedKey } from "../../api/key-spelling.ts";
import { formatCsvLine } from "../../delimited-lines.ts";
import { AtomicFile } from "../../disk/atomic-file.ts";
import { decodeLine, formatCheckedLine, LineSplitter, readCheckedLine, readLines } from "../../disk/log.ts";
import { exists, walkFiles } from "../../disk/walk.ts";
import { parseJson } from "../../json.ts";
import { readRecords } from "../../tables/index.ts";
import type { Write } from "../desired.ts";
import { createPlanSealer } from "../plan/plan-file.ts";
import { isPlanned, type StoredLine } from "../plan/plan-line.ts";
import { fileNames, readManifest } from "../runs/folder.ts";
import type { JournalRecord } from "../runs/journal.ts";
import { readRunRecord } from "../runs/ledger.ts";
import { writeRejects } from "./rejects.ts";

/** The people who are erased. */
export interface ErasedPeople {
  /** Whether a text is one of their keys, in any spelling, and nothing else. */
  isKey(text: string): boolean;
  /** The text with their keys masked; undefined where it holds none. */
  mask(text: string): string | undefined;
  /** `unreadable`: no UTF-8 text. A file that does not exist holds nobody. */
  search(file: string): Promise<"found" | "absent" | "unreadable">;
}

/**
 * Lines of theirs in plan and journal keep their place alone; what others' lines and the words of the command
 * say of them is masked. The rejects file is made again, and what only planning needs is removed.
 * @returns how many files were changed or removed, and whether a copied input is among them
 */
export async function eraseFromRun(
  folder: string,
  people: ErasedPeople,
): Promise<{ files: number; removesInput: boolean }> {
  const [plan, journal, manifest] = [fileNames.plan, fileNames.journal, fileNames.manifest].map((name) =>
    join(folder, name),
  ) as [string, string, string];
  let files = 0;
  const rewrite = async (isMeant: boolean, file: string, erase: () => Promise<boolean>) => {
    if (isMeant || (await people.search(file)) === "found") files += Number(await erase());
  };
  await rewrite(false, plan, () => eraseFromPlan(plan, people));
  const refs = await readErasedRefs(plan);
  const hasJournal = refs.size > 0 && (await exists(journal));
  await rewrite(hasJournal, journal, () => eraseFromJournal(journal, people, refs));
  let removesInput = false;
  for await (const file of walkFiles(folder)) {
    if ([plan, journal, manifest].includes(file) || !(await eraseFromFile(folder, file, people))) continue;
    removesInput ||= basename(file) === fileNames.input;
    files++;
  }
  // Last: it says what the run is.
  await rewrite(false, manifest, () => rewriteLines(manifest, (line) => people.mask(line) ?? line));
  return { files, removesInput };
}

/** @returns whether it held anybody of them, or may have */
async function eraseFromFile(folder: string, file: string, people: ErasedPeople): Promise<boolean> {
  const name = basename(file);
  const found = await people.search(file);
  // What cannot be searched is kept for nobody's sake.
  if (found === "absent" || (found === "unreadable" && name !== fileNames.input)) return false;
  if (name === fileNames.rejects) await makeRejectsAgain(folder, file);
  else if (name === fileNames.backup) await eraseFromBackup(file, people);
  else await rm(file, { force: true });
  return true;
}

function eraseFromPlan(file: string, people: ErasedPeople): Promise<boolean> {
  const seal = createPlanSealer();
  return rewriteLines(file, (text) => {
    const line = people.mask(text) === undefined ? undefined : (parseJson(text) as StoredLine | undefined);
    const isTheirs = line !== undefined && listKeys(line).some((key) => people.isKey(key));
    const erased = isTheirs ? JSON.stringify(toErasedLine(line)) : (people.mask(text) ?? text);
    return decodeLine(seal(encodeLine(erased)));
  });
}

/** The keys of a contact's line; none of any other line. */
function listKeys({ key, apply }: Partial<StoredLine>): string[] {
  if (key === undefined) return [];
  return isPlanned(apply) ? [key, apply.key.sent, apply.key.written] : [key];
}

/** The line keeps its number and its action, so that the counts of the run stay. */
function toErasedLine({ line, action, of, ref, apply }: StoredLine): StoredLine {
  return {
    line,
    key: createErasedKey(6),
    contactId: null,
    action: apply ? action : "skip",
    code: "suppressed",
    message: null,
    changes: [],
    ...(of !== undefined && { of }),
    ...(ref !== undefined && { ref }),
    ...(apply && { apply: { ref: apply.ref, isErased: true } }),
  };
}

/** Contacts of a plan that were erased, by the numbers under which the journal has them. */
async function readErasedRefs(plan: string): Promise<Set<number>> {
  const refs = new Set<number>();
  for await (const bytes of readLines(plan)) {
    const apply = bytes.includes('"isErased":true')
      ? (parseJson(bytes) as StoredLine | undefined)?.apply
      : undefined;
    if (apply && !isPlanned(apply)) refs.add(apply.ref);
  }
  return refs;
}

function eraseFromJournal(file: string, people: ErasedPeople, refs: Set<number>): Promise<boolean> {
  return rewriteLines(file, (text) => {
    const record = readCheckedLine<JournalRecord>(text);
    const masked = people.mask(text);
    if (!record) return masked === undefined ? text : createErasedKey(6);
    if (record.kind === "intent" && people.isKey(record.key)) refs.add(record.ref);
    const isTheirs = "ref" in record && refs.has(record.ref);
    if (!isTheirs && masked === undefined) return text;
    const erased = isTheirs ? toErasedRecord(record) : JSON.parse(people.mask(JSON.stringify(record))!);
    return formatCheckedLine(erased).trimEnd();
  });
}

/** What was done to them stays, without what it was done with. */
function toErasedRecord(record: JournalRecord): JournalRecord {
  if (record.kind === "intent")
    return { ...record, key: createErasedKey(6), operation: toErasedOperation(record.operation) };
  // What the service said may name them.
  return record.kind === "done" && record.message !== undefined ? { ...record, message: "" } : record;
}

function toErasedOperation(operation: Write): Write {
  switch (operation.kind) {
    case "create":
      return { kind: "create", key: createErasedKey(6), values: [] };
    case "change":
      return { kind: "change", id: operation.id, values: [] };
    case "unsubscribe":
      return { kind: "unsubscribe", id: operation.id };
    case "delete":
      return {
        kind: "delete",
        id: operation.id,
        contact: { key: createErasedKey(6), status: findStatus(operation.contact) },
      };
  }
}

async function makeRejectsAgain(folder: string, file: string): Promise<void> {
  const manifest = await readManifest(folder).catch(() => undefined);
  if (!manifest) return rm(file, { force: true });
  const { ledger } = await readRunRecord({ manifest, folder });
  await writeRejects(file, { plan: join(folder, fileNames.plan), ledger });
}

/** Rows of theirs go; what others' say of them is masked. */
async function eraseFromBackup(file: string, people: ErasedPeople): Promise<void> {
  await replace(file, async (append) => {
    for await (const records of readRecords(createReadStream(file), { delimiter: "," }, 1)) {
      for (const { cells } of records) {
        if (cells.some(people.isKey)) continue;
        append(`${formatCsvLine(cells.map((cell) => people.mask(cell) ?? cell))}\n`);
      }
    }
    return true;
  });
}

const chunkBytes = 1024 * 1024;

/**
 * What is behind the last line break is a line, too.
 * @param change what takes the place of a line, without its break
 * @returns whether anything was changed
 */
function rewriteLines(file: string, change: (line: string) => string): Promise<boolean> {
  return replace(file, async (append) => {
    const splitter = new LineSplitter();
    let isChanged = false;
    const changeOne = (bytes: string) => {
      const line = decodeLine(bytes);
      const changed = change(line);
      isChanged ||= changed !== line;
      // A line that is no text stays byte for byte.
      return changed === line ? bytes : encodeLine(changed);
    };
    for await (const piece of createReadStream(file, { encoding: "latin1", highWaterMark: chunkBytes })) {
      const lines = splitter.take(piece as string).map((bytes) => `${changeOne(bytes)}\n`);
      append(Buffer.from(lines.join(""), "latin1"));
    }
    if (splitter.rest !== "") append(Buffer.from(changeOne(splitter.rest), "latin1"));
    return isChanged;
  });
}

/** @param write says whether anything differs: otherwise the file stays */
async function replace(
  file: string,
  write: (append: (data: string | Uint8Array) => void) => Promise<boolean>,
): Promise<boolean> {
  const copy = new AtomicFile(file);
  try {
    const isChanged = await write((data) => copy.append(data));
    if (isChanged) copy.commit();
    return isChanged;
  } finally {
    copy.discard();
  }
}

function encodeLine(text: string): string {
  return Buffer.from(text).toString("latin1");
}
