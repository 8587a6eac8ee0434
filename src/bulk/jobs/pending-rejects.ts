/** Rejected rows of the imports of this machine that were never imported again. */
import { join, resolve } from "node:path";
import { toPersonIdentity } from "../../api/key-spelling.ts";
import { readPlanLines, type StoredLine } from "../plan/plan-file.ts";
import { rejectColumns } from "../read/missing-cells.ts";
import type { InputFacts } from "../read/rows.ts";
import { readRunRecord } from "../runs/damage.ts";
import { fileNames } from "../runs/file-names.ts";
import { listRuns, type StoredRun } from "../runs/find-runs.ts";
import type { Manifest, ManifestError } from "../runs/folder.ts";
import type { Ledger } from "../runs/ledger.ts";
import { readRejectedLines, readTable } from "./rejected.ts";

export interface PendingReject {
  run: string;
  /** The input, as the command named it. */
  file: string;
  /** When the run began: RFC 3339, UTC. */
  startedAt: string;
  baseUrl: string;
  line: number;
  code: string;
  message: string;
  /** The cells of the row, by their columns. */
  row: Record<string, string>;
}

type RunFolder = Pick<StoredRun, "manifest" | "folder">;
type Columns = InputFacts["columns"];

interface ReadRun {
  run: StoredRun;
  ledger: Ledger;
  columns: Columns;
  plan: string;
  rejects: (PendingReject & { account: string; identity: string })[];
}

/** Where a rejects file has a row: its file, and the columns of ours. */
type Place = readonly [file: string, line: string, code: string, message: string];

/**
 * Oldest run first. A row counts as imported again where a later import into the same account has written its
 * key, or has read it from a rejects file; where that rejected it again, or another run the same row, it is
 * pending once, as the later run has it.
 */
export async function pendingRejects(
  stateFolder: string,
  onUnreadable: (error: ManifestError) => void,
): Promise<PendingReject[]> {
  const runs = await listRuns(stateFolder, onUnreadable);
  const imports: ReadRun[] = [];
  for (const run of runs.filter(({ manifest }) => manifest.kind === "import"))
    imports.push(await readRun(run));
  const wanted = new Set(imports.flatMap(({ rejects }) => rejects.map(({ identity }) => identity)));
  const later = new LaterRows(wanted, new Set(imports.flatMap(({ run }) => listRejectsFiles(run))));
  const pending: PendingReject[] = [];
  // From the newest on: what is known then is of later runs.
  for (const each of imports) {
    const open = each.rejects.filter((reject) => !later.has(each.run, reject));
    pending.unshift(...open.map(({ account: _account, identity: _identity, ...reject }) => reject));
    await later.add(each);
  }
  return pending;
}

/** What one run has rejected, as its plan and its journal say. */
export async function* readRejectedRows(run: RunFolder): AsyncGenerator<PendingReject> {
  const rejects = readIdentified(run, await openRecord(run));
  for await (const { account: _account, identity: _identity, ...reject } of rejects) yield reject;
}

async function openRecord(run: RunFolder): Promise<Pick<ReadRun, "plan" | "columns" | "ledger">> {
  const plan = join(run.folder, fileNames.plan);
  const { columns } = await readTable(plan);
  return { plan, columns, ledger: (await readRunRecord(run)).ledger };
}

async function readRun(run: StoredRun): Promise<ReadRun> {
  const record = await openRecord(run);
  const rejects: ReadRun["rejects"] = [];
  for await (const reject of readIdentified(run, record)) rejects.push(reject);
  return { run, ...record, rejects };
}

async function* readIdentified(
  { manifest }: RunFolder,
  { plan, columns, ledger }: Pick<ReadRun, "plan" | "columns" | "ledger">,
): AsyncGenerator<ReadRun["rejects"][number]> {
  const keyAt = columns.findIndex(({ target }) => target.kind === "key");
  for await (const { row, code, message } of readRejectedLines(plan, ledger)) {
    yield {
      run: manifest.id,
      file: manifest.input.name,
      startedAt: manifest.startedAt,
      baseUrl: manifest.account.baseUrl,
      line: row.line,
      code,
      message,
      row: toRecord(row.cells, columns),
      account: toAccount(manifest),
      identity: toIdentity(toAccount(manifest), row.cells[keyAt] ?? ""),
    };
  }
}

/** A row by its columns; a cell without one by its place. A plan has null for a cell that is missing. */
export function toRecord(
  cells: readonly (string | null | undefined)[],
  columns: readonly { name: string }[],
): Record<string, string> {
  const named = cells.flatMap((cell, index) =>
    cell === undefined || cell === null ? [] : [[columns[index]?.name || String(index + 1), cell]],
  );
  return Object.fromEntries(named);
}

/** Several structures of an account may hold the same key. */
function toAccount({ account: { baseUrl, structureId } }: Manifest): string {
  return `${baseUrl} ${structureId}`;
}

function toIdentity(account: string, key: string): string {
  return key.trim() === "" ? "" : `${account} ${toPersonIdentity(key)}`;
}

/** Where the rejected rows of a run were written. */
function listRejectsFiles({ manifest, folder }: RunFolder): string[] {
  const files = [manifest.summary?.rejects, manifest.rejects, join(folder, fileNames.rejects)];
  return [...new Set(files.flatMap((file) => (file ? [resolve(file)] : [])))];
}

/** What later imports have read and written. */
class LaterRows {
  private readonly wanted: ReadonlySet<string>;
  private readonly written = new Set<string>();
  /** How many rows of rejects files were read from a place, each of which is one run's. */
  private readonly retried = new Map<string, number>();
  private readonly rejected = new Set<string>();
  private readonly rejectsFiles: ReadonlySet<string>;

  /** @param rejectsFiles of all runs; one that was copied has a name that says nothing */
  constructor(wanted: ReadonlySet<string>, rejectsFiles: ReadonlySet<string>) {
    this.wanted = wanted;
    this.rejectsFiles = rejectsFiles;
  }

  has(run: RunFolder, { account, identity, row, line, code, message }: ReadRun["rejects"][number]): boolean {
    if (identity !== "" && this.written.has(identity)) return true;
    const places = listRejectsFiles(run).map((file): Place => [file, String(line), code, message]);
    places.push(["", String(line), code, message]);
    // A row that was rejected twice stands in two rejects files; either may be the one that is mended.
    if (row.ecm_line) {
      const [before = "", why = "", text = ""] = rejectColumns.map((name) => row[name]);
      for (const file of [this.toKnownFile(run), ""]) places.push([file, before, why, text]);
    }
    const isRetried = places.some((place) => this.takeRetried(account, place));
    return isRetried || this.rejected.has(toRowIdentity(account, row));
  }

  async add({ run, ledger, columns, plan, rejects }: ReadRun): Promise<void> {
    const account = toAccount(run.manifest);
    const own = rejectColumns.map((name) => columns.findIndex((column) => column.name === name));
    for (const reject of rejects) this.rejected.add(toRowIdentity(account, reject.row));
    for await (const line of readPlanLines(plan)) {
      if (own.every((index) => index >= 0)) {
        const [before = "", why = "", text = ""] = own.map((index) => line.cells?.[index] ?? "");
        this.addRetried(account, [this.toKnownFile(run), before, why, text]);
      }
      const identity = toIdentity(account, line.key);
      if (this.wanted.has(identity) && wasWritten(line, ledger)) this.written.add(identity);
    }
  }

  private toKnownFile({ manifest }: RunFolder): string {
    const file = resolve(manifest.input.file);
    return this.rejectsFiles.has(file) ? file : "";
  }

  private addRetried(account: string, place: Place): void {
    const key = JSON.stringify([account, ...place]);
    this.retried.set(key, (this.retried.get(key) ?? 0) + 1);
  }

  private takeRetried(account: string, place: Place): boolean {
    const key = JSON.stringify([account, ...place]);
    const count = this.retried.get(key) ?? 0;
    if (count > 0) this.retried.set(key, count - 1);
    return count > 0;
  }
}

function toRowIdentity(account: string, row: Record<string, string>): string {
  return JSON.stringify([account, Object.entries(row).filter(([name]) => !name.startsWith("ecm_"))]);
}

function wasWritten({ action, apply }: StoredLine, ledger: Ledger): boolean {
  if (!apply || apply.isErased) return action === "unchanged";
  return ledger.isDone(apply.ref) && !ledger.rejections.has(apply.ref);
}
