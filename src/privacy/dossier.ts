/**
 * What this machine keeps of a person, for a request of access: the places that an erasure walks through, reading.
 * What is of others is counted, never shown. Nothing is written.
 */
import { basename, join } from "node:path";
import { readRunChanges } from "../bulk/jobs/changes.ts";
import { toRecord } from "../bulk/jobs/rejected.ts";
import { readPlanHead, readPlanLines, type StoredLine } from "../bulk/plan/plan-file.ts";
import type { PlanLine } from "../bulk/plan/plan-line.ts";
import { fileNames } from "../bulk/runs/file-names.ts";
import { type Manifest, readManifest, toRunsFolder } from "../bulk/runs/folder.ts";
import { isPacked, listFolders, walkFiles } from "../disk/walk.ts";
import { findKeyNames } from "./erase.ts";
import { holdsKey } from "./erase-file.ts";
import { type FileOfOthers, findFilesOfOthers, type OwnFolders } from "./files-of-others.ts";
import { type Visits, walkPlaces } from "./places.ts";
import { readOwnRecords } from "./read-file.ts";
import type { OwnRecords } from "./read-table.ts";
import type { Redactor } from "./redaction.ts";

/** A file in which the person is found. */
export interface FileRecords extends OwnRecords {
  file: string;
  /** False for a compressed one: it may hold the key. */
  isSearched: boolean;
}

/** What a run planned for the person, and did. */
export interface RunRecords {
  /** Null for a folder that is no run yet. */
  run: string | null;
  kind: string | null;
  startedAt: string | null;
  account: string | null;
  /** As the command named it. */
  input: string | null;
  /** Lines of its plan, with the row of the input; also of what was skipped or rejected. */
  planned: (PlanLine & { row?: Record<string, string> })[];
  /** What was written, with the values before and after; null where the journal is damaged. */
  changes: PlanLine[] | null;
  files: FileRecords[];
}

type Read = Record<"runs", RunRecords[]> & Record<"exports" | "files" | "elsewhere", FileRecords[]>;

/** The contacts of an account that runs of this machine name with their ids. */
export function listKnownContacts(runs: RunRecords[], baseUrl: string): { _id: string; key: string }[] {
  return runs
    .filter(({ account }) => account === baseUrl)
    .flatMap(({ planned, changes }) => [...planned, ...(changes ?? [])])
    .flatMap(({ contactId, key }) => (contactId === null ? [] : [{ _id: contactId, key }]));
}

/** What is read at each of these places. */
export function createFileReaders(
  folders: OwnFolders,
  redactor: Redactor,
): { [Place in keyof Read & keyof Visits]: () => Promise<Read[Place]> } {
  const readAll = async (files: AsyncIterable<string>) => {
    const found: FileRecords[] = [];
    for await (const file of files) found.push(...(await readFileRecords(file, redactor, [])));
    return found;
  };
  return {
    runs: () => readRuns(folders, redactor),
    exports: () => readAll(walkPlaces(folders, ["exports"])),
    files: () => readAll(walkPlaces(folders, ["files"])),
    elsewhere: async () => {
      const found: FileRecords[] = [];
      for (const each of await findFilesOfOthers(folders, redactor))
        found.push(await readFileOfOthers(each, redactor));
      return found;
    },
  };
}

async function readFileOfOthers(
  { file, isSearched }: FileOfOthers,
  redactor: Redactor,
): Promise<FileRecords> {
  const own = isSearched ? await readFileRecords(file, redactor, []) : [];
  return own[0] ?? { file, isSearched, records: [], mentions: 0 };
}

/** None or one. */
async function readFileRecords(
  file: string,
  redactor: Redactor,
  keyNames: readonly string[],
): Promise<FileRecords[]> {
  const own = await readOwnRecords(file, { redactor, keyNames, keepsRows: true });
  return own.records.length + own.mentions === 0 ? [] : [{ file, isSearched: true, ...own }];
}

async function readRuns(folders: OwnFolders, redactor: Redactor): Promise<RunRecords[]> {
  const found: RunRecords[] = [];
  const walked = new Set<string>();
  for await (const file of walkPlaces(folders, ["runs"])) walked.add(file);
  for (const folder of await listFolders(toRunsFolder(folders.state))) {
    const records = await readRun(folder, redactor, walked);
    const isFound = records.files.length + records.planned.length + (records.changes?.length ?? 0) > 0;
    if (isFound) found.push(records);
  }
  return found;
}

async function readRun(folder: string, redactor: Redactor, walked: ReadonlySet<string>): Promise<RunRecords> {
  const manifest = await readManifest(folder).catch(() => undefined);
  const planned = await readPlan(join(folder, fileNames.plan), redactor);
  const files: FileRecords[] = [];
  for await (const file of walkFiles(folder)) {
    if (walked.has(file)) files.push(...(await readRunFile(file, manifest, redactor)));
  }
  return {
    run: manifest?.id ?? null,
    kind: manifest?.kind ?? null,
    startedAt: manifest?.startedAt ?? null,
    account: manifest?.account.baseUrl ?? null,
    input: manifest?.input.name ?? null,
    planned,
    changes: manifest ? await readChanges(folder, manifest, redactor) : [],
    files,
  };
}

/** What these say is told as what was planned and written. */
const recordFiles: readonly string[] = [fileNames.plan, fileNames.journal, fileNames.manifest];

async function readRunFile(
  file: string,
  manifest: Manifest | undefined,
  redactor: Redactor,
): Promise<FileRecords[]> {
  const none = { file, records: [], mentions: 0 };
  if (recordFiles.includes(basename(file)))
    return (await holdsKey(file, redactor)) ? [{ ...none, isSearched: true }] : [];
  if (await isPacked(file)) return [{ ...none, isSearched: false }];
  return readFileRecords(file, redactor, findKeyNames(manifest));
}

async function readPlan(file: string, redactor: Redactor): Promise<RunRecords["planned"]> {
  const planned: RunRecords["planned"] = [];
  const columns = (await readPlanHead(file).catch(() => undefined))?.head.table?.columns ?? [];
  for await (const stored of readPlanLines(file)) {
    if (redactor.isKey(stored.key)) planned.push(toLine(stored, columns));
  }
  return planned;
}

function toLine(stored: StoredLine, columns: readonly { name: string }[]): RunRecords["planned"][number] {
  const { cells = [], apply: _apply, of: _of, ref: _ref, ...line } = stored;
  if (stored.line === null || cells.length === 0) return line;
  return { ...line, row: toRecord(cells, columns) };
}

async function readChanges(
  folder: string,
  manifest: Manifest,
  redactor: Redactor,
): Promise<PlanLine[] | null> {
  try {
    const changes = await readRunChanges({ folder, manifest });
    return changes.filter(({ key }) => redactor.isKey(key));
  } catch {
    return null;
  }
}
