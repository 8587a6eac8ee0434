/** Rejected rows of the imports of this machine that were never imported again. */
import { join } from "node:path";
import { toPersonIdentity } from "../../api/key-spelling.ts";
import { readPlanLines, type StoredLine } from "../plan/plan-file.ts";
import { rejectColumns } from "../read/missing-cells.ts";
import type { InputFacts } from "../read/rows.ts";
import { readRunRecord } from "../runs/damage.ts";
import { fileNames } from "../runs/file-names.ts";
import { listRuns, type ManifestError, type StoredRun } from "../runs/folder.ts";
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
  rejects: (PendingReject & { identity: string })[];
}

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
  const later = new LaterRows(wanted);
  const pending: PendingReject[] = [];
  // From the newest on: what is known then is of later runs.
  for (const each of imports) {
    const open = each.rejects.filter((reject) => !later.has(reject));
    pending.unshift(...open.map(({ identity: _identity, ...reject }) => reject));
    await later.add(each);
  }
  return pending;
}

/** What one run has rejected, as its plan and its journal say. */
export async function* readRejectedRows(run: RunFolder): AsyncGenerator<PendingReject> {
  for await (const { identity: _identity, ...reject } of readIdentified(run, await openRecord(run))) {
    yield reject;
  }
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
      identity: toIdentity(manifest.account.baseUrl, row.cells[keyAt] ?? ""),
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

function toIdentity(baseUrl: string, key: string): string {
  return key.trim() === "" ? "" : `${baseUrl} ${toPersonIdentity(key)}`;
}

/** What later imports have read and written. */
class LaterRows {
  private readonly wanted: ReadonlySet<string>;
  private readonly written = new Set<string>();
  /** Rows of rejects files, as those say what was wrong with them. */
  private readonly retried = new Set<string>();
  private readonly rejected = new Set<string>();

  constructor(wanted: ReadonlySet<string>) {
    this.wanted = wanted;
  }

  has(reject: ReadRun["rejects"][number]): boolean {
    const { identity, line, code, message, baseUrl, row } = reject;
    // A row that was rejected twice stands in two rejects files; either may be the one that is mended.
    const places = [[String(line), code, message]];
    if (row.ecm_line) places.push(rejectColumns.map((name) => row[name] ?? ""));
    return (
      (identity !== "" && this.written.has(identity)) ||
      places.some((place) => this.retried.has(JSON.stringify([baseUrl, ...place]))) ||
      this.rejected.has(toRowIdentity(baseUrl, row))
    );
  }

  async add({ run: { manifest }, ledger, columns, plan, rejects }: ReadRun): Promise<void> {
    const { baseUrl } = manifest.account;
    const own = rejectColumns.map((name) => columns.findIndex((column) => column.name === name));
    for (const reject of rejects) this.rejected.add(toRowIdentity(baseUrl, reject.row));
    for await (const line of readPlanLines(plan)) {
      if (own.every((index) => index >= 0))
        this.retried.add(JSON.stringify([baseUrl, ...own.map((index) => line.cells?.[index] ?? "")]));
      const identity = toIdentity(baseUrl, line.key);
      if (this.wanted.has(identity) && wasWritten(line, ledger)) this.written.add(identity);
    }
  }
}

function toRowIdentity(baseUrl: string, row: Record<string, string>): string {
  return JSON.stringify([baseUrl, Object.entries(row).filter(([name]) => !name.startsWith("ecm_"))]);
}

function wasWritten({ action, apply }: StoredLine, ledger: Ledger): boolean {
  if (!apply || apply.isErased) return action === "unchanged";
  return ledger.isDone(apply.ref) && !ledger.rejections.has(apply.ref);
}
