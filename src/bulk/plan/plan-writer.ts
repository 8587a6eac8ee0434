/** Writing a plan: a run's own, block by block, and one for others. */
import { createReadStream, truncateSync } from "node:fs";
import { sumCounts } from "../../counts.ts";
import { type LogFile, openLog } from "../../disk/log.ts";
import { countCodes, type SettledByInput } from "../runs/report.ts";
import type { Creation } from "./names.ts";
import { createTally, type PlanTally } from "./numbers.ts";
import {
  type ClosedPlan,
  type Marks,
  PlanDigest,
  type PlanEnd,
  type PlanHead,
  type StoredPlan,
} from "./plan-file.ts";
import { type PlanLine, type StoredLine, toShownLine } from "./plan-line.ts";

/** Without a file it only counts, for a dry run that nobody wants to read. */
export class PlanWriter {
  readonly tally: PlanTally;
  /** Entries of the source that are planned. */
  taken: number;
  private readonly file: LogFile | undefined;
  private readonly digest: PlanDigest;
  private isClosed = false;

  private constructor(file: LogFile | undefined, digest: PlanDigest, tally: PlanTally, taken: number) {
    this.file = file;
    this.digest = digest;
    this.tally = tally;
    this.taken = taken;
  }

  static create(file: string | undefined, head: PlanHead, creations: readonly Creation[]): PlanWriter {
    const opened = file === undefined ? undefined : openLog(file, "w");
    const writer = new PlanWriter(opened, new PlanDigest(), createTally(), 0);
    writer.append([{ plan: head }, ...creations.map((create) => ({ create }))]);
    return writer;
  }

  /** Continues after the last whole block. */
  static async resume(file: string, storedPlan: StoredPlan): Promise<PlanWriter> {
    const digest = new PlanDigest();
    if (storedPlan.bytes > 0) {
      for await (const piece of createReadStream(file, { end: storedPlan.bytes - 1 }))
        digest.add(piece as Buffer);
    }
    truncateSync(file, storedPlan.bytes);
    return new PlanWriter(openLog(file), digest, storedPlan.tally, storedPlan.taken);
  }

  /** Whether lines are kept at all. */
  get isOnDisk(): boolean {
    return this.file !== undefined;
  }

  addBlock(lines: readonly StoredLine[], at: number, entries: number): void {
    this.taken += entries;
    this.append(lines);
    this.append([{ block: { at, taken: this.taken, tally: this.tally, digest: this.digest.toString() } }]);
  }

  /** Has all of it on the disk. */
  close(input: SettledByInput): PlanEnd {
    const { tally } = this;
    const { skipped, rejected } = countCodes({ input, tally });
    const end: PlanEnd = {
      counts: {
        create: tally.created,
        update: tally.updated + tally.removed,
        delete: tally.deleted,
        unchanged: tally.unchanged,
        skip: sumCounts(skipped),
        reject: sumCounts(rejected),
      },
      requests: tally.requests,
      digest: this.digest.toString(),
      tally,
      input,
    };
    this.append([{ end }]);
    this.file?.sync();
    this.release();
    return end;
  }

  /** Closes the file, whatever it holds. */
  release(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.file?.close();
  }

  private append(values: readonly (Marks | StoredLine)[]): void {
    if (!this.file) return;
    const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
    this.digest.add(bytes);
    this.file.append(bytes);
  }
}

/**
 * Writes a plan for others: what people read, and what `ecm apply` needs.
 * @param write takes the lines of the file, each with its break; absent where no file is wanted
 * @param onLine called with what people read of each contact
 * @returns the digest in its last line
 */
export async function exportPlan(
  { head, creations, end: { counts, requests }, lines }: ClosedPlan,
  write: ((line: string) => Promise<void>) | undefined,
  onLine: (line: PlanLine) => void,
): Promise<string> {
  const sum = new PlanDigest();
  const writeLine = async (value: object) => {
    if (!write) return;
    const line = `${JSON.stringify(value)}\n`;
    sum.add(Buffer.from(line));
    await write(line);
  };
  const { table: _table, ...about } = head;
  await writeLine({ plan: about });
  for (const create of creations) await writeLine({ create });
  for await (const { cells: _cells, mark: _mark, of: _of, ref: _ref, ...line } of lines()) {
    onLine(toShownLine(line));
    await writeLine(line);
  }
  const digest = sum.toString();
  await write?.(`${JSON.stringify({ end: { counts, requests, digest } })}\n`);
  return digest;
}
