/**
 * The plan of a run as a file: what will be written, known before the first write. JSON lines: the head, what
 * is created in the account first, a line for each contact that is written and for each row that is not, and
 * the end with counts and digest. Lines come in blocks of contacts that were looked up together; a plan that
 * was cut off continues after its last whole block.
 *
 * A plan that somebody brings is the same file, without what only its own run needs. It is believed only
 * where it is whole and as it was made. A digest only tells that a file is as it was written, not who wrote
 * it: what people read of a contact must also be what would be sent.
 */
import { createHash, type Hash } from "node:crypto";
import { truncateSync } from "node:fs";
import type { InferOutput } from "valibot";
import { sumCounts } from "../../counts.ts";
import { decodeLine, LineSplitter, type LogFile, openLog, readLines } from "../../disk/log.ts";
import { EcmError, usageError } from "../../errors.ts";
import { parseJson } from "../../json.ts";
import { readBytes } from "../../tables/index.ts";
import { TextIndex } from "../../text-index.ts";
import { countCodes, type SettledByInput } from "../runs/report.ts";
import type { Creation } from "./name-book.ts";
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

interface PlanEnd extends ExportedEnd {
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
  /** The digest of all bytes before this line: a plan that was cut off continues after what it proves. */
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
  /** Bytes up to the end of the block after which it continues, and what their digest is made of. */
  bytes: number;
  hash: Hash;
  /** Present once it is closed. */
  end?: PlanEnd;
}

/** The digest of what was read or written so far. */
function toDigest(hash: Hash): string {
  return `sha256:${hash.copy().digest("hex")}`;
}

function toLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

// Writing.

/** Writes a run's own plan, block by block. Without a file, for a dry run that nobody reads, it counts. */
export class PlanWriter {
  readonly tally: PlanTally = createTally();
  /** Entries of the source that are planned. */
  taken = 0;
  private readonly file: LogFile | undefined;
  private readonly hash: Hash;

  private constructor(file: LogFile | undefined, hash = createHash("sha256")) {
    this.file = file;
    this.hash = hash;
  }

  static create(file: string | undefined, head: PlanHead, creations: readonly Creation[]): PlanWriter {
    const writer = new PlanWriter(file === undefined ? undefined : openLog(file, "w"));
    writer.append([{ plan: head }, ...creations.map((create) => ({ create }))]);
    return writer;
  }

  /** Continues after the last whole block. */
  static resume(file: string, { bytes, hash, taken, tally }: StoredPlan): PlanWriter {
    truncateSync(file, bytes);
    return Object.assign(new PlanWriter(openLog(file), hash.copy()), { taken, tally });
  }

  /** Whether lines are kept at all. */
  get isOnDisk(): boolean {
    return this.file !== undefined;
  }

  addBlock(lines: readonly StoredLine[], at: number, entries: number): void {
    this.taken += entries;
    this.append(lines);
    const { taken, tally, hash } = this;
    this.append([{ block: { at, taken, tally, digest: toDigest(hash) } }]);
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
      digest: toDigest(this.hash),
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
    const bytes = Buffer.from(toLines(values));
    this.hash.update(bytes);
    this.file.append(bytes);
  }
}

/**
 * Writes a plan for others: what people read, and what `ecm apply` needs.
 * @param write takes the lines of the file, each with its break
 * @returns the digest in its last line
 */
export async function exportPlan(
  { head: { table: _table, ...head }, creations, end: { counts, requests, refused }, lines }: ClosedPlan,
  write: (line: string) => Promise<void>,
): Promise<string> {
  const hash = createHash("sha256");
  const add = (value: object) => {
    const line = toLines([value]);
    hash.update(line);
    return write(line);
  };
  await add({ plan: head });
  for (const create of creations) await add({ create });
  for await (const { cells: _cells, mark: _mark, of: _of, ref: _ref, ...line } of lines()) await add(line);
  const digest = toDigest(hash);
  await write(toLines([{ end: { counts, requests, digest, refused } }]));
  return digest;
}

/**
 * The digests of a plan whose lines were changed on purpose: each is that of what is left before it.
 * @returns takes each line of the file in turn, as latin1 and without its break, and gives it back with its
 * digest
 */
export function createPlanSealer(): (line: string) => string {
  const hash = createHash("sha256");
  return (line) => {
    const isProof = /^\{"(?:block|end)":/.test(line);
    // No text of a line holds this: its quotes would be escaped.
    const own = /"digest":"sha256:[0-9a-f]{64}"/;
    const sealed = isProof ? line.replace(own, `"digest":"${toDigest(hash)}"`) : line;
    hash.update(`${sealed}\n`, "latin1");
    return sealed;
  };
}

// Reading.

interface ReadLine {
  /** Byte for byte as latin1, without its break. */
  text: string;
  /** Empty for a contact's line, which is not parsed; undefined for what is no JSON. */
  marks: Marks | undefined;
  /** Where the line ends, in bytes; and what the digest up to there is made of. */
  end: number;
  hash: Hash;
}

/** @param fault what is wrong with the plan where the lines are not those that a digest in it is of */
async function* readProven(
  file: string,
  texts: AsyncIterable<string>,
  fault: keyof typeof faults,
): AsyncGenerator<ReadLine> {
  const hash = createHash("sha256");
  let end = 0;
  for await (const text of texts) {
    const isContact = !/^\{"(?:plan|create|block|end)":/.test(text);
    const marks = isContact ? {} : (parseJson(decodeLine(text)) as Marks | undefined);
    const proof = marks?.block ?? marks?.end;
    if (proof && proof.digest !== toDigest(hash)) throw createError(file, fault);
    hash.update(`${text}\n`, "latin1");
    end += text.length + 1;
    yield { text, marks, end, hash };
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
  let stored: StoredPlan | undefined;
  for await (const { marks, end: bytes, hash } of readProven(file, readLines(file), "damaged")) {
    const { plan, create, block, end } = marks ?? {};
    requireVersion(file, plan);
    if (plan)
      stored = { head: plan, creations: [], bytes, hash: hash.copy(), taken: 0, tally: createTally() };
    if (!marks || !stored) throw createError(file, "damaged");
    if (end) return { ...stored, end };
    const isKept = create ?? (block && block.taken <= maxTaken);
    if (isKept) stored = { ...stored, ...block, bytes, hash: hash.copy() };
    if (create) stored.creations = [...stored.creations, create];
  }
  return stored;
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
    } else if (!value.plan && !value.create && !value.end) lines.push(value);
  }
}

export async function* readPlanLines(file: string): AsyncGenerator<StoredLine> {
  for await (const { lines } of readPlanBlocks(file)) yield* lines;
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
  /** What people read of each line. @throws as `lines` */
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
  const plan = await readBrought(path);
  const { end } = plan;
  if (digest !== undefined && digest !== end.digest) {
    throw damagedPlanError(
      path,
      `is another plan than the one that was approved: its digest is ${end.digest}`,
      "Nothing was sent. Apply the file that was approved, or have this one approved",
    );
  }
  async function* lines(): AsyncGenerator<ExportedLine> {
    for await (const { marks, text } of readSealed(path)) {
      if (marks.end && marks.end.digest !== end.digest) throw createError(path, "changed");
      if (Object.keys(marks).length === 0) yield JSON.parse(decodeLine(text)) as ExportedLine;
    }
  }
  async function* shownLines(): AsyncGenerator<PlanLine> {
    for await (const line of lines()) yield toShownLine(line);
  }
  return { ...plan, path, lines, shownLines };
}

/**
 * Holds all of a plan against its schema. What people read of a contact must also be what would be sent. The
 * end is not part of the digest: what it counts is held against the lines; contacts that stay as they are may
 * have none.
 */
async function readBrought(path: string): Promise<Omit<PlanFile, "path" | "lines" | "shownLines">> {
  const schema = await import("./plan-schema.ts");
  const found = { creations: [] as Creation[], writes: 0, unsubscribes: false, deletes: 0 };
  const actions: Record<string, number> = {};
  const refs = new TextIndex();
  let head: PlanHead | undefined;
  let end: ExportedEnd | undefined;
  const takeLine = (value: unknown) => {
    if (!schema.isA(schema.line, value)) return false;
    const { action, apply } = value;
    actions[action] = (actions[action] ?? 0) + 1;
    if (apply) refs.add(String(apply.ref));
    if (!isPlanned(apply)) return true;
    found.writes++;
    found.unsubscribes ||= apply.desired.end === "unsubscribe";
    if (apply.desired.end === "delete") found.deletes++;
    return isAsShown(value, apply, head!.names);
  };
  const take = ({ marks, text }: SealedLine) => {
    if (marks.create) return schema.isA(schema.creation, marks.create) && found.creations.push(marks.create);
    if (!marks.end) return takeLine(parseJson(decodeLine(text)));
    end = marks.end;
    return schema.isA(schema.end, end) && areCounts(end.counts, actions);
  };
  // Said once it is known that nobody has changed the file.
  let isMisshapen = false;
  for await (const line of readSealed(path)) {
    if (head) isMisshapen = !take(line) || isMisshapen;
    else {
      requireVersion(path, line.marks.plan);
      if (!schema.isA(schema.head, line.marks.plan)) throw createError(path, "noPlan");
      head = line.marks.plan;
    }
  }
  if (!head || !end || isMisshapen || refs.hasRepeated) throw createError(path, "noPlan");
  return { ...found, head, end };
}

/** @param actions lines, by action */
function areCounts(counts: ExportedEnd["counts"], actions: Readonly<Record<string, number>>): boolean {
  return Object.entries(counts).every(([action, count]) => {
    const lines = actions[action] ?? 0;
    return ["create", "update", "delete"].includes(action) ? lines === count : lines <= count;
  });
}

type SealedLine = ReadLine & { marks: Marks };

/**
 * The lines of a plan that somebody brings, held against the digest at its end; a run's own has blocks, which
 * say nothing here.
 * @throws PlanDamagedError
 */
async function* readSealed(path: string): AsyncGenerator<SealedLine> {
  const splitter = new LineSplitter();
  async function* readTexts(): AsyncGenerator<string> {
    for await (const bytes of readBytes({ path, name: path })) yield* splitter.take(bytes.toString("latin1"));
  }
  let last: "none" | "line" | "end" = "none";
  for await (const { marks, ...line } of readProven(path, readTexts(), "changed")) {
    if (last === "none" && !marks?.plan) throw createError(path, "noPlan");
    if (last === "end" || !marks) throw createError(path, "changed");
    last = marks.end ? "end" : "line";
    if (!marks.block) yield { marks, ...line };
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
