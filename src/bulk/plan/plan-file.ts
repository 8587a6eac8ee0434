/**
 * The plan of a run as a file: what will be written, known before the first write. JSON lines: the head, what is created
 * in the account first, a line for each contact that is written and for each row that is not, and the end with counts and
 * digest. Lines come in blocks of contacts that were looked up together; a plan that was cut off continues after its last
 * whole block.
 */
import { createHash, type Hash } from "node:crypto";
import { closeSync, createReadStream, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { EcmError, exitCodes } from "../../errors.ts";
import type { ContactKey, DesiredContact, Item, Operation } from "../items.ts";
import type { MappingEntry } from "../read/compute/entry.ts";
import type { InputFacts } from "../read/rows.ts";
import type { KeptNames } from "../runs/names-file.ts";
import type { SettledByInput } from "../runs/report.ts";
import { desiredOfCreate } from "./decide.ts";
import type { Creation } from "./names.ts";
import type { PlanLine } from "./plan-line.ts";
import { emptyTally, type PlanTally } from "./tally.ts";

export const planVersion = 1;

export interface PlanHead {
  version: typeof planVersion;
  /** Version of the program that made it. */
  program: string;
  /** What the command does: `import`, `mutate`, …, `undo`. */
  kind: string;
  /** Its words, without values. */
  command: string[];
  account: { baseUrl: string; structureId: string; keyType: string };
  /** Null where no file names the contacts. */
  input: { sha256: string; size: number } | null;
  /** How the values of rows were made, where it was said. */
  mapping?: PlanMapping;
  /** RFC 3339, UTC. */
  createdAt: string;
  /** What ids of the account are called. */
  names: KeptNames;
  /** What a second look asks for: parts of a contact, and lists that the writes speak of. */
  source: string[];
  listIds: string[];
  /** How the input is written, for the rejects file. */
  table?: Pick<InputFacts, "columns" | "delimiter" | "hasEscapes">;
}

export interface PlanMapping {
  /** `sha256:` and the hexadecimal digest of the rest. */
  digest: string;
  /** Column → target. */
  columns: Record<string, string>;
  entries: readonly MappingEntry[];
  defaults: readonly (readonly [field: string, value: string])[];
}

/** What `apply` needs of a contact besides what people read. */
export interface Planned {
  ref: number;
  key: Pick<ContactKey, "written" | "sent">;
  operation: Operation;
  /** What was wanted, where the operation alone does not tell. */
  desired?: StoredDesired;
  /** The person was erased: nothing of them is left but their place. */
  isErased?: boolean;
  /** Further members of the item, as its job has them. */
  [member: string]: unknown;
}

type StoredDesired = Omit<DesiredContact, "fields"> & { fields: [id: string, value: string][] };

/** A line of the run's own plan. */
export interface StoredLine extends PlanLine {
  cells?: readonly (string | undefined)[];
  /** Of a row that another row stands for: that contact's ref. */
  of?: number;
  /** Of a contact that no row names and that is not written. */
  ref?: number;
  apply?: Planned;
}

export interface PlanBlock {
  lines: StoredLine[];
  /** When its contacts were looked up, in milliseconds since the epoch. */
  at: number;
}

export interface PlanEnd {
  /** By action. */
  counts: Record<PlanLine["action"], number>;
  /** Requests that applying it takes. */
  requests: number;
  /** `sha256:` and the hexadecimal digest of all bytes before this line. */
  digest: string;
  tally: PlanTally;
  input: SettledByInput;
}

interface BlockMark {
  at: number;
  /** Entries of the job's source that were planned so far. */
  taken: number;
  tally: PlanTally;
  /** Of all bytes before this line: what a plan that was cut off continues after is as it was written. */
  digest: string;
}

type Written =
  | { plan: PlanHead }
  | { create: Creation }
  | { block: BlockMark }
  | { end: PlanEnd }
  | StoredLine;

/** A plan that was cut off or changed: it says nothing that can be relied on. */
export class PlanDamagedError extends EcmError {
  constructor(file: string, why: string, hint: string) {
    super(exitCodes.usage, `${file} ${why}`, { type: "PlanDamagedError", hint });
  }
}

/** A plan that is whole. */
export interface ClosedPlan {
  head: PlanHead;
  creations: readonly Creation[];
  end: PlanEnd;
  lines(): AsyncIterable<StoredLine>;
}

/** What of a plan is on the disk. */
export interface KeptPlan {
  head: PlanHead;
  creations: Creation[];
  /** Bytes up to the end of the block after which it continues. */
  bytes: number;
  taken: number;
  tally: PlanTally;
  /** Present once it is closed. */
  end?: PlanEnd;
  /** Of everything before the end. */
  digest: string;
}

/**
 * Reads what is there of a plan.
 * @param mostTaken blocks that reach beyond so many entries are not kept
 * @returns undefined where there is no head
 * @throws PlanDamagedError for a closed plan that has changed since
 */
export async function readKeptPlan(
  file: string,
  mostTaken = Number.POSITIVE_INFINITY,
): Promise<KeptPlan | undefined> {
  const hash = createHash("sha256");
  const creations: Creation[] = [];
  let kept: KeptPlan | undefined;
  let bytes = 0;
  for await (const { text, length } of rawLines(file)) {
    const isMark = /^\{"(?:plan|create|block|end)":/.test(text);
    const value = isMark ? markIn(file, text) : undefined;
    if (value?.end) {
      const end = decoded(value.end as PlanEnd);
      const digest = digestOf(hash);
      if (!kept || end.digest !== digest) throw damaged(file);
      return { ...kept, end, digest };
    }
    if (!kept && !value?.plan) throw damaged(file);
    const mark = value?.block as BlockMark | undefined;
    if (mark && mark.digest !== digestOf(hash)) throw damaged(file);
    hash.update(Buffer.from(`${text}\n`, "latin1"));
    bytes += length;
    if (value?.plan) {
      const head = decoded(value.plan as PlanHead);
      kept = { head, creations, bytes, taken: 0, tally: emptyTally(), digest: "" };
    } else if (value?.create) {
      creations.push(decoded(value.create as Creation));
      kept!.bytes = bytes;
    } else if (mark) {
      const { taken, tally } = mark;
      if (taken <= mostTaken) kept = { ...kept!, bytes, taken, tally: decoded(tally) };
    }
  }
  return kept;
}

function markIn(file: string, text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    throw damaged(file);
  }
}

/** A run's own plan is no longer what was planned: what the run has done, and what is left of it, is not known. */
function damaged(file: string): PlanDamagedError {
  return new PlanDamagedError(
    file,
    "is damaged: it is not as it was written",
    "Nothing was written. Restore the file from a backup, or start over with the same command and --fresh",
  );
}

/** @throws PlanDamagedError for a run that has begun to write by a plan that is not whole any more */
export function requireWholePlan(file: string, kept: KeptPlan | undefined, hasBegun: boolean): void {
  if (hasBegun && !kept?.end) throw damaged(file);
}

/** The head of a plan, and what is created first; undefined where there is none. */
export async function readPlanHead(
  file: string,
): Promise<{ head: PlanHead; creations: Creation[] } | undefined> {
  let head: PlanHead | undefined;
  const creations: Creation[] = [];
  for await (const { text } of rawLines(file)) {
    const value = JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as Record<string, unknown>;
    if (value.plan) head = value.plan as PlanHead;
    else if (value.create) creations.push(value.create as Creation);
    else break;
  }
  return head && { head, creations };
}

/** The blocks of a plan, in its order. */
export async function* readPlanBlocks(file: string): AsyncGenerator<PlanBlock> {
  let lines: StoredLine[] = [];
  for await (const { text } of rawLines(file)) {
    const value = JSON.parse(Buffer.from(text, "latin1").toString("utf8")) as Record<string, unknown>;
    if (value.plan || value.create) continue;
    if (value.end) return;
    if (value.block) {
      yield { lines, at: (value.block as BlockMark).at };
      lines = [];
    } else lines.push(value as unknown as StoredLine);
  }
}

export async function* readPlanLines(file: string): AsyncGenerator<StoredLine> {
  for await (const { lines } of readPlanBlocks(file)) yield* lines;
}

/** Writes a plan block by block. Without a file it only counts, for a dry run that nobody wants to read. */
export class PlanWriter {
  readonly tally: PlanTally;
  /** Entries of the source that are planned. */
  taken: number;
  private readonly descriptor: number | undefined;
  private readonly hash: Hash;

  private constructor(descriptor: number | undefined, hash: Hash, tally: PlanTally, taken: number) {
    this.descriptor = descriptor;
    this.hash = hash;
    this.tally = tally;
    this.taken = taken;
  }

  static create(file: string | undefined, head: PlanHead, creations: readonly Creation[]): PlanWriter {
    const descriptor = file === undefined ? undefined : openSync(file, "w", 0o600);
    const writer = new PlanWriter(descriptor, createHash("sha256"), emptyTally(), 0);
    writer.append([{ plan: head }, ...creations.map((create) => ({ create }))]);
    return writer;
  }

  /** Continues after the last whole block. */
  static async resume(file: string, kept: KeptPlan): Promise<PlanWriter> {
    const hash = createHash("sha256");
    if (kept.bytes > 0) {
      for await (const piece of createReadStream(file, { end: kept.bytes - 1 })) hash.update(piece as Buffer);
    }
    const descriptor = openSync(file, "r+", 0o600);
    ftruncateSync(descriptor, kept.bytes);
    closeSync(descriptor);
    return new PlanWriter(openSync(file, "a", 0o600), hash, kept.tally, kept.taken);
  }

  /** Whether lines are kept at all. */
  get isKept(): boolean {
    return this.descriptor !== undefined;
  }

  addBlock(lines: readonly StoredLine[], at: number, entries: number): void {
    this.taken += entries;
    this.append(lines);
    this.append([{ block: { at, taken: this.taken, tally: this.tally, digest: digestOf(this.hash) } }]);
  }

  /** Has all of it on the disk. @param requests that applying it takes */
  close(requests: number, input: SettledByInput): PlanEnd {
    const { tally } = this;
    const passed = input.passedOver;
    const end: PlanEnd = {
      counts: {
        create: tally.created,
        update: tally.updated + tally.removed,
        delete: tally.deleted,
        unchanged: tally.unchanged,
        skip: sumOf(tally.skipped) + (input.passedOverAre === "skipped" ? passed : 0),
        reject:
          sumOf(tally.rejected) +
          sumOf(input.rejectedCodes) +
          (input.passedOverAre === "rejected" ? passed : 0),
      },
      requests,
      digest: digestOf(this.hash),
      tally,
      input,
    };
    this.append([{ end }]);
    if (this.descriptor !== undefined) fsyncSync(this.descriptor);
    this.release();
    return end;
  }

  /** Closes the file, whatever it holds. */
  release(): void {
    if (this.descriptor === undefined || this.isClosed) return;
    this.isClosed = true;
    closeSync(this.descriptor);
  }

  private isClosed = false;

  private append(values: readonly Written[]): void {
    if (this.descriptor === undefined) return;
    const bytes = Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(""));
    this.hash.update(bytes);
    // A full disk takes a part of it first, without an error.
    for (let at = 0; at < bytes.length; ) at += writeSync(this.descriptor, bytes, at);
  }
}

/** The line of a contact, with what applying it needs. */
export function storedLine(line: PlanLine, item: Item, operation: Operation | undefined): StoredLine {
  if (!operation) return { ...line, cells: item.cells, ...(line.line === null && { ref: item.ref }) };
  const { kind: _kind, line: _line, found: _found, cells, desired, key, ...more } = item;
  const isTold =
    operation.kind === "create" &&
    desired &&
    !desired.onlyIfEmpty &&
    !desired.defaults &&
    [...desired.fields.values()].every((value) => value !== "");
  return {
    ...line,
    cells,
    apply: {
      ...more,
      key: { written: key.written, sent: key.sent },
      operation,
      ...(desired && !isTold && { desired: { ...desired, fields: [...desired.fields] } }),
    },
  };
}

/** The contact that a line plans. */
export function plannedItem(
  line: StoredLine & { apply: Planned },
  identityOf: (key: string) => string,
): Item {
  const { key, operation, desired, ...more } = line.apply;
  const { ref } = more;
  const wanted = desired
    ? { ...desired, fields: new Map(desired.fields) }
    : operation.kind === "create"
      ? desiredOfCreate(operation.body)
      : undefined;
  return {
    ...more,
    kind: "contact",
    ref,
    line: line.line,
    cells: line.cells ?? [],
    key: { ...key, identity: identityOf(key.sent) },
    ...(wanted && { desired: wanted }),
    // As the operation, with the ids of what was created since.
    ...("approved" in more && { approved: operation }),
  };
}

function digestOf(hash: Hash): string {
  return `sha256:${hash.copy().digest("hex")}`;
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, each) => sum + each, 0);
}

/** Texts of a line that was read as latin1, as they are. */
function decoded<T>(value: T): T {
  return JSON.parse(Buffer.from(JSON.stringify(value), "latin1").toString("utf8")) as T;
}

/** Lines with their break, byte for byte as latin1; what follows the last break is left out. */
async function* rawLines(file: string): AsyncGenerator<{ text: string; length: number }> {
  let rest = "";
  try {
    for await (const piece of createReadStream(file, { encoding: "latin1" })) {
      const lines = (rest + (piece as string)).split("\n");
      rest = lines.pop()!;
      for (const text of lines) yield { text, length: text.length + 1 };
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
