/**
 * The plan of a run as a file: what will be written, known before the first write. JSON lines: the head, what
 * is created in the account first, a line for each contact that is written and for each row that is not, and
 * the end with counts and digest. Lines come in blocks of contacts that were looked up together; a plan that
 * was cut off continues after its last whole block.
 *
 * A plan that somebody brings is the same file, without what only its own run needs. It is believed only where
 * it is whole and as it was made. A digest only tells that a file is as it was written, not who wrote it: what
 * people read of a contact must also be what would be sent.
 */
import { createHash } from "node:crypto";
import { createReadStream, truncateSync } from "node:fs";
import type { InferOutput } from "valibot";
import { sumCounts } from "../../counts.ts";
import { decodeLine, LineSplitter, type LogFile, openLog, readLines } from "../../disk/log.ts";
import { EcmError, usageError } from "../../errors.ts";
import { isObject, parseJson } from "../../json.ts";
import { readBytes } from "../../tables/index.ts";
import { countCodes, type SettledByInput } from "../runs/report.ts";
import type { Creation } from "./names.ts";
import { createTally, type PlanTally } from "./numbers.ts";
import {
  type ExportedLine,
  isAsShown,
  isPlanned,
  type PlanLine,
  type StoredLine,
  toShownLine,
} from "./plan-line.ts";
import type * as schema from "./plan-schema.ts";

export const planVersion: PlanHead["version"] = 1;

export type PlanHead = InferOutput<typeof schema.head>;
export type Looks = InferOutput<typeof schema.looks>;

/** What the end of a plan says to everybody. */
type ExportedEnd = InferOutput<typeof schema.end>;

export interface PlanEnd extends ExportedEnd {
  tally: PlanTally;
  input: SettledByInput;
}

/** How far a plan has come. */
interface BlockMark {
  /** When the contacts of the block were looked up, in milliseconds since the epoch. */
  at: number;
  /** Entries of the job's source that were planned so far. */
  taken: number;
  tally: PlanTally;
  /** The digest of all bytes before this line: a plan that was cut off continues after what is as it was written. */
  digest: string;
}

/** A line that is no contact's has one of these. */
interface Marks {
  plan?: PlanHead;
  create?: Creation;
  block?: BlockMark;
  end?: PlanEnd;
}

/** A plan that is whole. */
export interface ClosedPlan {
  head: PlanHead;
  creations: readonly Creation[];
  end: PlanEnd;
  lines(): AsyncIterable<StoredLine>;
}

/** What of a plan is on the disk. */
export interface StoredPlan extends Pick<BlockMark, "taken" | "tally"> {
  head: PlanHead;
  creations: readonly Creation[];
  /** Bytes up to the end of the block after which it continues. */
  bytes: number;
  /** Present once it is closed. */
  end?: PlanEnd;
}

/** The digest of a plan so far: the SHA-256 of its bytes. */
class PlanDigest {
  private readonly hash = createHash("sha256");

  add(bytes: Uint8Array): void {
    this.hash.update(bytes);
  }

  /** @param line byte for byte as latin1, without its break */
  addLine(line: string): void {
    this.hash.update(`${line}\n`, "latin1");
  }

  toString(): string {
    return `sha256:${this.hash.copy().digest("hex")}`;
  }
}

// Writing.

/** Writes a run's own plan, block by block; without a file it only counts, for a dry run that nobody reads. */
export class PlanWriter {
  readonly tally: PlanTally;
  /** Entries of the source that are planned. */
  taken: number;
  private readonly file: LogFile | undefined;
  private readonly digest = new PlanDigest();

  private constructor(file: LogFile | undefined, { tally, taken }: Pick<BlockMark, "tally" | "taken">) {
    this.file = file;
    this.tally = tally;
    this.taken = taken;
  }

  static create(file: string | undefined, head: PlanHead, creations: readonly Creation[]): PlanWriter {
    const log = file === undefined ? undefined : openLog(file, "w");
    const writer = new PlanWriter(log, { tally: createTally(), taken: 0 });
    writer.append([{ plan: head }, ...creations.map((create) => ({ create }))]);
    return writer;
  }

  /** Continues after the last whole block. */
  static async resume(file: string, stored: StoredPlan): Promise<PlanWriter> {
    truncateSync(file, stored.bytes);
    const writer = new PlanWriter(openLog(file), stored);
    for await (const piece of createReadStream(file)) writer.digest.add(piece as Buffer);
    return writer;
  }

  /** Whether lines are kept at all. */
  get isOnDisk(): boolean {
    return this.file !== undefined;
  }

  addBlock(lines: readonly StoredLine[], at: number, entries: number): void {
    this.taken += entries;
    this.append(lines);
    const { taken, tally, digest } = this;
    this.append([{ block: { at, taken, tally, digest: digest.toString() } }]);
  }

  /** Has all of it on the disk. @param refused why its guards refuse it */
  close(input: SettledByInput, refused?: string): PlanEnd {
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
      refused,
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
 * @param write takes the lines of the file, each with its break
 * @returns the digest in its last line
 */
export async function exportPlan(
  { head, creations, end: { counts, requests, refused }, lines }: ClosedPlan,
  write: (line: string) => Promise<void>,
): Promise<string> {
  const sum = new PlanDigest();
  const writeLine = async (value: object) => {
    const line = `${JSON.stringify(value)}\n`;
    sum.add(Buffer.from(line));
    await write(line);
  };
  const { table: _table, ...about } = head;
  await writeLine({ plan: about });
  for (const create of creations) await writeLine({ create });
  for await (const { cells: _cells, mark: _mark, of: _of, ref: _ref, ...line } of lines()) {
    await writeLine(line);
  }
  const digest = sum.toString();
  await write(`${JSON.stringify({ end: { counts, requests, digest, refused } })}\n`);
  return digest;
}

/**
 * The digests of a plan whose lines were changed on purpose: each is that of what is left before it.
 * @returns takes each line of the file in turn, as latin1 and without its break, and gives it back with its
 * digest
 */
export function createPlanSealer(): (line: string) => string {
  const digest = new PlanDigest();
  return (line) => {
    const isProof = /^\{"(?:block|end)":/.test(line);
    // No text of a line holds this: its quotes would be escaped.
    const sealed = isProof ? line.replace(/"digest":"sha256:[0-9a-f]{64}"/, `"digest":"${digest}"`) : line;
    digest.addLine(sealed);
    return sealed;
  };
}

// Reading.

interface ReadLine {
  /** Undefined for a line that is no JSON object. */
  value: (Marks & Partial<StoredLine>) | undefined;
  /** Where the line ends, in bytes. */
  end: number;
}

/**
 * @param texts byte for byte as latin1, without their breaks
 * @param which `marks`: lines of contacts, which are most, are not parsed; they are told by how they begin
 * @param fault what is wrong with the plan where the lines are not those that a digest in it is of
 */
async function* readProven(
  file: string,
  texts: AsyncIterable<string>,
  which: "all" | "marks",
  fault: keyof typeof faults,
): AsyncGenerator<ReadLine> {
  const digest = new PlanDigest();
  let end = 0;
  for await (const text of texts) {
    const isRead = which === "all" || /^\{"(?:plan|create|block|end)":/.test(text);
    const parsed = isRead ? parseJson(decodeLine(text)) : {};
    const value = isObject(parsed) ? (parsed as ReadLine["value"]) : undefined;
    const isProof = value !== undefined && ("block" in value || "end" in value);
    const proven = value?.block?.digest ?? value?.end?.digest;
    if (isProof && proven !== digest.toString()) throw createError(file, fault);
    end += text.length + 1;
    yield { value, end };
    digest.addLine(text);
  }
}

/**
 * Reads what is there of a run's own plan.
 * @param maxTaken blocks that reach beyond so many entries are not kept
 * @returns undefined where there is no head
 * @throws PlanDamagedError for a plan that has changed since
 */
export async function readStoredPlan(
  file: string,
  maxTaken = Number.POSITIVE_INFINITY,
): Promise<StoredPlan | undefined> {
  let kept: StoredPlan | undefined;
  for await (const { value, end: bytes } of readProven(file, readLines(file), "marks", "damaged")) {
    const { plan, create, block, end } = value ?? {};
    requireVersion(file, plan);
    if (plan) kept = { head: plan, creations: [], bytes, taken: 0, tally: createTally() };
    if (!value || !kept) throw createError(file, "damaged");
    if (end) return { ...kept, end };
    if (create) kept = { ...kept, creations: [...kept.creations, create], bytes };
    if (block && block.taken <= maxTaken) kept = { ...kept, bytes, taken: block.taken, tally: block.tally };
  }
  return kept;
}

/** @throws PlanDamagedError for a run that has begun to write by a plan that is not whole any more */
export function requireWholePlan(file: string, storedPlan: StoredPlan | undefined, hasBegun: boolean): void {
  if (hasBegun && !storedPlan?.end) throw createError(file, "damaged");
}

/** The head of a run's own plan, and what is created first; undefined where there is none. */
export async function readPlanHead(
  file: string,
): Promise<{ head: PlanHead; creations: Creation[] } | undefined> {
  let head: PlanHead | undefined;
  const creations: Creation[] = [];
  for await (const { plan, create } of readOwn(file)) {
    if (!plan && !create) break;
    head ??= plan;
    if (create) creations.push(create);
  }
  return head && { head, creations };
}

/** The blocks of a run's own plan, in its order. `at`: when its contacts were looked up. */
export async function* readPlanBlocks(file: string): AsyncGenerator<{ lines: StoredLine[]; at: number }> {
  let lines: StoredLine[] = [];
  for await (const value of readOwn(file)) {
    if (value.block) {
      yield { lines, at: value.block.at };
      lines = [];
    } else if (isContact(value)) lines.push(value);
  }
}

export async function* readPlanLines(file: string): AsyncGenerator<StoredLine> {
  for await (const { lines } of readPlanBlocks(file)) yield* lines;
}

function isContact({ plan, create, block, end }: Marks): boolean {
  return !(plan ?? create ?? block ?? end);
}

/** The digest was checked when the plan was opened. */
async function* readOwn(file: string): AsyncGenerator<Marks & StoredLine> {
  for await (const text of readLines(file)) yield JSON.parse(decodeLine(text)) as Marks & StoredLine;
}

// A plan that somebody brings.

/** What it holds, counted as it was read. */
export interface PlanFile {
  path: string;
  head: PlanHead;
  creations: Creation[];
  end: ExportedEnd;
  /** Contacts that it writes. */
  writes: number;
  /** Whether it unsubscribes anybody. */
  unsubscribes: boolean;
  deletes: number;
  /** @throws PlanDamagedError when the file has changed since it was opened */
  lines(): AsyncGenerator<ExportedLine>;
  /** As `lines`, what people read of each. */
  shownLines(): AsyncGenerator<PlanLine>;
}

/** @throws PlanDamagedError for a file that is no plan, was cut off or changed, or is of another version */
export async function openPlanFile(path: string, digest?: string): Promise<PlanFile> {
  // A plan is read twice: once to check all of it, once to carry it out.
  if (path === "-") {
    throw usageError(
      "A plan is read from a file, not from standard input",
      "Write it to a file: --dry-run --plan plan.ndjson",
    );
  }
  const schema = await import("./plan-schema.ts");
  const actions: Record<string, number> = {};
  let plan: PlanFile | undefined;
  // Said once it is known that nobody has changed the file.
  let isMisshapen = false;
  for await (const value of readSealed(path)) {
    if (plan) {
      isMisshapen = !take(plan, value, actions, schema) || isMisshapen;
      continue;
    }
    requireVersion(path, value.plan);
    if (!schema.isA(schema.head, value.plan)) throw createError(path, "noPlan");
    plan = beginPlan(path, value.plan);
  }
  if (!plan || isMisshapen) throw createError(path, "noPlan");
  if (digest !== undefined && digest !== plan.end.digest) {
    throw damagedPlanError(
      path,
      `is another plan than the one that was approved: its digest is ${plan.end.digest}`,
      "Nothing was sent. Apply the file that was approved, or have this one approved",
    );
  }
  return plan;
}

function beginPlan(path: string, head: PlanHead): PlanFile {
  const end: ExportedEnd = { counts: {} as ExportedEnd["counts"], requests: 0, digest: "" };
  const plan = { path, head, creations: [], end, writes: 0, unsubscribes: false, deletes: 0 };
  async function* lines(): AsyncGenerator<ExportedLine> {
    for await (const value of readSealed(path)) {
      if (value.end && value.end.digest !== opened.end.digest) throw createError(path, "changed");
      if (isContact(value)) yield value as ExportedLine;
    }
  }
  async function* shownLines(): AsyncGenerator<PlanLine> {
    for await (const line of lines()) yield toShownLine(line);
  }
  const opened: PlanFile = { ...plan, lines, shownLines };
  return opened;
}

/**
 * Takes what is below the head. What people read of a contact must also be what would be sent. The end is not part
 * of the digest: what it counts is held against the lines; contacts that stay as they are may have none.
 * @param actions lines so far, by action
 * @returns whether it is what a plan holds
 */
function take(
  plan: PlanFile,
  value: object,
  actions: Record<string, number>,
  { isA, creation, end, line }: typeof schema,
): boolean {
  if ("create" in value) return isA(creation, value.create) && plan.creations.push(value.create) > 0;
  if ("end" in value) {
    if (!isA(end, value.end)) return false;
    plan.end = value.end;
    return Object.entries(value.end.counts).every(([action, count]) => {
      const lines = actions[action] ?? 0;
      return ["create", "update", "delete"].includes(action) ? lines === count : lines <= count;
    });
  }
  if (!isA(line, value)) return false;
  actions[value.action] = (actions[value.action] ?? 0) + 1;
  const { apply } = value;
  if (!isPlanned(apply)) return true;
  plan.writes++;
  plan.unsubscribes ||= apply.desired.end === "unsubscribe";
  if (apply.desired.end === "delete") plan.deletes++;
  return isAsShown(value, apply, plan.head.names);
}

/**
 * The lines of a plan that somebody brings, held against the digest at its end; a run's own has blocks, which
 * say nothing here.
 * @throws PlanDamagedError
 */
async function* readSealed(path: string): AsyncGenerator<NonNullable<ReadLine["value"]>> {
  const splitter = new LineSplitter();
  async function* readTexts(): AsyncGenerator<string> {
    for await (const bytes of readBytes({ path, name: path })) yield* splitter.take(bytes.toString("latin1"));
  }
  let last: "none" | "line" | "end" = "none";
  for await (const { value } of readProven(path, readTexts(), "all", "changed")) {
    if (last === "none" && !value?.plan) throw createError(path, "noPlan");
    if (last === "end" || !value) throw createError(path, "changed");
    last = "end" in value ? "end" : "line";
    if (!("block" in value)) yield value;
  }
  if (last === "none") throw createError(path, "noPlan");
  if (last !== "end" || splitter.rest !== "") throw createError(path, "cutOff");
}

// What is wrong with a plan, and what to do about it.

/** @param head of a plan, perhaps @throws PlanDamagedError for that of another version of the program */
function requireVersion(file: string, head: unknown): void {
  const { version, program } = (head ?? {}) as Partial<Record<keyof PlanHead, unknown>>;
  if (typeof version !== "number" || version === planVersion) return;
  throw damagedPlanError(
    file,
    `has the format ${version}; this version of ecm reads format ${planVersion}`,
    `Nothing was sent. Apply it with ecm ${program}, or make it again`,
  );
}

const faults = {
  // A run's own: what the run has done, and what is left of it, is not known.
  damaged: [
    "is damaged: it is not as it was written",
    "Nothing was written. Restore the file from a backup, or start over with the same command and --fresh",
  ],
  noPlan: ["is not a plan", "Make one with --dry-run --plan plan.ndjson"],
  changed: [
    "was changed after it was made: its digest does not match",
    "Nothing was sent. Make the plan again with --dry-run --plan",
  ],
  cutOff: [
    "is cut off: its last line is missing",
    "Nothing was sent. Make the plan again with --dry-run --plan, or copy the whole file",
  ],
} as const;

function createError(file: string, fault: keyof typeof faults): EcmError {
  const [why, hint] = faults[fault];
  return damagedPlanError(file, why, hint);
}

function damagedPlanError(file: string, why: string, hint: string): EcmError {
  return new EcmError("damaged plan", `${file} ${why}`, hint);
}
