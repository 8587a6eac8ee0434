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
import { openAtomicFile } from "../../disk/atomic-file.ts";
import { decodeLine, formatCheckedLine, LineSplitter, readCheckedLine, readLines } from "../../disk/log.ts";
import { walkFiles } from "../../disk/walk.ts";
import { parseJson } from "../../json.ts";
import { readRecords } from "../../tables/index.ts";
import type { Write } from "../items.ts";
import { createPlanSealer } from "../plan/plan-file.ts";
import { isPlanned, type StoredLine } from "../plan/plan-line.ts";
import { fileNames, readManifest, writeManifest } from "../runs/folder.ts";
import type { JournalRecord } from "../runs/journal.ts";
import { readRunRecord } from "../runs/ledger.ts";
import { rewriteRejects } from "./rejects.ts";

/** Those who are erased. */
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
  const [plan, journal] = [join(folder, fileNames.plan), join(folder, fileNames.journal)];
  let files = 0;
  if ((await people.search(plan)) === "found") files += Number(await eraseFromPlan(plan, people));
  const refs = await readErasedRefs(plan);
  if (refs.size > 0 || (await people.search(journal)) === "found")
    files += Number(await eraseFromJournal(journal, people, refs));
  let removesInput = false;
  for await (const file of walkFiles(folder)) {
    const name = basename(file);
    if (file === plan || file === journal || name === fileNames.manifest) continue;
    const found = await people.search(file);
    // What cannot be searched is kept for nobody's sake.
    if (found === "absent" || (found === "unreadable" && name !== fileNames.input)) continue;
    await eraseFromFile(folder, file, people);
    removesInput ||= name === fileNames.input;
    files++;
  }
  // Last: it says what the run is.
  return { files: files + Number(await eraseFromManifest(folder, people)), removesInput };
}

function eraseFromFile(folder: string, file: string, people: ErasedPeople): Promise<void> {
  if (file === join(folder, fileNames.rejects)) return makeRejectsAgain(folder, file);
  if (file === join(folder, fileNames.backup)) return eraseFromBackup(file, people);
  return rm(file, { force: true });
}

async function eraseFromPlan(file: string, people: ErasedPeople): Promise<boolean> {
  const seal = createPlanSealer();
  return rewriteLines(file, (bytes) => {
    const text = decodeLine(bytes);
    const masked = people.mask(text);
    if (masked === undefined) return seal(bytes);
    const line = parseJson(text) as StoredLine | undefined;
    if (!line) return seal(encodeLine(masked));
    const isTheirs = listKeys(line).some((key) => people.isKey(key));
    return seal(encodeLine(JSON.stringify(isTheirs ? toErasedLine(line) : maskValue(line, people))));
  });
}

/** None of a line that is no contact's. */
function listKeys({ key, apply }: Partial<StoredLine>): string[] {
  if (key === undefined) return [];
  return isPlanned(apply) ? [key, apply.key.sent, apply.key.written] : [key];
}

/** Its number and its action stay: the counts of the run do. */
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

async function eraseFromJournal(file: string, people: ErasedPeople, refs: Set<number>): Promise<boolean> {
  return rewriteLines(file, (bytes) => {
    const text = decodeLine(bytes);
    const masked = people.mask(text);
    const record = readCheckedLine<JournalRecord>(text);
    if (!record) return masked === undefined ? bytes : createErasedKey(6);
    if (record.kind === "intent" && people.isKey(record.key)) refs.add(record.ref);
    const isTheirs = "ref" in record && refs.has(record.ref);
    if (!isTheirs && masked === undefined) return bytes;
    const erased = isTheirs ? toErasedRecord(record) : maskValue(record, people);
    return encodeLine(formatCheckedLine(erased)).trimEnd();
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
    case "create": {
      const { kind, body } = operation;
      return { kind, body: { key: createErasedKey(6), contactStructureId: body.contactStructureId } };
    }
    case "change":
      return { kind: "change", id: operation.id, body: {}, was: [] };
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
  await rewriteRejects(file, join(folder, fileNames.plan), ledger);
}

/** Rows of theirs go; the others are as they were written. */
async function eraseFromBackup(file: string, people: ErasedPeople): Promise<void> {
  await replace(file, async (append) => {
    const text = createReadStream(file);
    for await (const records of readRecords(text, { delimiter: "," }, 1)) {
      for (const { cells } of records) {
        if (!cells.some(people.isKey)) await append(`${formatCsvLine(maskValue(cells, people))}\n`);
      }
    }
    return true;
  });
}

async function eraseFromManifest(folder: string, people: ErasedPeople): Promise<boolean> {
  const file = join(folder, fileNames.manifest);
  if ((await people.search(file)) !== "found") return false;
  const manifest = await readManifest(folder).catch(() => undefined);
  if (manifest) await writeManifest(folder, maskValue(manifest, people));
  else await rewriteLines(file, (bytes) => encodeLine(people.mask(decodeLine(bytes)) ?? decodeLine(bytes)));
  return true;
}

/** Members that say what a line is: a key that is a word may be one of these. */
const ownMembers = [
  "version",
  "kind",
  "action",
  "outcome",
  "code",
  "what",
  "status",
  "digest",
  "fingerprint",
];

/** All texts of a value, also the names of its members. */
function maskValue<T>(value: T, people: ErasedPeople): T {
  if (typeof value === "string") return (people.mask(value) ?? value) as T;
  if (Array.isArray(value)) return value.map((each) => maskValue(each, people)) as T;
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, member]) =>
    ownMembers.includes(name) ? [name, member] : [people.mask(name) ?? name, maskValue(member, people)],
  );
  return Object.fromEntries(members) as T;
}

const chunkBytes = 1024 * 1024;

/** @param change what takes the place of a line; lines are latin1, without their breaks */
function rewriteLines(file: string, change: (bytes: string) => string): Promise<boolean> {
  return replace(file, async (append) => {
    let isChanged = false;
    let written = "";
    const flush = () => append(Buffer.from(written, "latin1"));
    for await (const { bytes, end } of readAllLines(file)) {
      const changed = change(bytes);
      isChanged ||= changed !== bytes;
      written += changed + end;
      if (written.length < chunkBytes) continue;
      await flush();
      written = "";
    }
    await flush();
    return isChanged;
  });
}

/** Byte for byte as latin1. What is behind the last line break is a line, too. */
async function* readAllLines(file: string): AsyncGenerator<{ bytes: string; end: "\n" | "" }> {
  const splitter = new LineSplitter();
  try {
    for await (const piece of createReadStream(file, { encoding: "latin1", highWaterMark: chunkBytes }))
      for (const bytes of splitter.take(piece as string)) yield { bytes, end: "\n" };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  if (splitter.rest !== "") yield { bytes: splitter.rest, end: "" };
}

/** @param write says whether anything differs: otherwise the file stays */
async function replace(
  file: string,
  write: (append: (data: string | Uint8Array) => Promise<void>) => Promise<boolean>,
): Promise<boolean> {
  const copy = await openAtomicFile(file);
  let isChanged: boolean;
  try {
    isChanged = await write((data) => copy.append(data));
  } catch (error) {
    await copy.discard();
    throw error;
  }
  await (isChanged ? copy.commit() : copy.discard());
  return isChanged;
}

function encodeLine(text: string): string {
  return Buffer.from(text).toString("latin1");
}
