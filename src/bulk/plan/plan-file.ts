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
import type { InferOutput } from "valibot";
import { decodeLine, LineSplitter, readLines } from "../../disk/log.ts";
import { EcmError, usageError } from "../../errors.ts";
import { isObject } from "../../json.ts";
import { readBytes } from "../../tables/index.ts";
import type { SettledByInput } from "../runs/report.ts";
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
export type PlanMapping = InferOutput<typeof schema.mapping>;
export type Looks = InferOutput<typeof schema.looks>;

/** What the end of a plan says to everybody. */
type ExportedEnd = InferOutput<typeof schema.end>;

export interface PlanEnd extends ExportedEnd {
  tally: PlanTally;
  input: SettledByInput;
}

export interface PlanBlock {
  lines: StoredLine[];
  /** When its contacts were looked up, in milliseconds since the epoch. */
  at: number;
}

interface BlockMark {
  at: number;
  /** Entries of the job's source that were planned so far. */
  taken: number;
  tally: PlanTally;
  /** Of all bytes before this line: what a plan that was cut off continues after is as it was written. */
  digest: string;
}

/** A line that is no contact's has one of these. */
export interface Marks {
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
export interface StoredPlan {
  head: PlanHead;
  creations: readonly Creation[];
  /** Bytes up to the end of the block after which it continues. */
  bytes: number;
  taken: number;
  tally: PlanTally;
  /** Present once it is closed. */
  end?: PlanEnd;
}

/** A plan that somebody brings. */
export interface PlanFile {
  path: string;
  head: PlanHead;
  creations: readonly Creation[];
  end: ExportedEnd;
  /** Contacts that it writes. */
  writes: number;
  /** Whether it unsubscribes anybody. */
  unsubscribes: boolean;
  deletes: number;
  /** Members that it takes out of a list. */
  removes: number;
  /** @throws PlanDamagedError when the file has changed since it was opened */
  lines(): AsyncGenerator<ExportedLine>;
  /** As `lines`, what people read of each. */
  shownLines(): AsyncGenerator<PlanLine>;
}

function damagedPlanError(file: string, why: string, hint: string): EcmError {
  return new EcmError("damaged plan", `${file} ${why}`, hint);
}

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

/** What is wrong with a plan, and what to do about it. */
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

/** The digest of a plan so far: the SHA-256 of its bytes. */
export class PlanDigest {
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

interface ReadLine {
  /** Undefined for a line that is no JSON object. */
  value: (Marks & Partial<StoredLine>) | undefined;
  /** Where the line ends, in bytes. */
  end: number;
  /** What the line says of the digest so far, if anything, is so. */
  isProven: boolean;
}

/**
 * @param texts byte for byte as latin1, without their breaks
 * @param which `marks`: lines of contacts, which are most, are not parsed; they are told by how they begin
 */
async function* readChecked(texts: AsyncIterable<string>, which: "all" | "marks"): AsyncGenerator<ReadLine> {
  const digest = new PlanDigest();
  let end = 0;
  for await (const text of texts) {
    const isRead = which === "all" || /^\{"(?:plan|create|block|end)":/.test(text);
    const value = isRead ? parse(text) : {};
    const proof: { digest?: unknown } | null | undefined = value?.block ?? value?.end;
    const hasProof = value !== undefined && ("block" in value || "end" in value);
    end += text.length + 1;
    yield { value, end, isProven: !hasProof || proof?.digest === digest.toString() };
    digest.addLine(text);
  }
}

function parse(text: string): ReadLine["value"] {
  try {
    const value: unknown = JSON.parse(decodeLine(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
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
  for await (const { value, end: bytes, isProven } of readChecked(readLines(file), "marks")) {
    const { plan, create, block, end } = value ?? {};
    requireVersion(file, plan);
    if (plan) kept = { head: plan, creations: [], bytes, taken: 0, tally: createTally() };
    if (!value || !isProven || !kept) throw createError(file, "damaged");
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
  for await (const text of readLines(file)) {
    const { plan, create } = readOwn(text);
    if (plan) head = plan;
    else if (create) creations.push(create);
    else break;
  }
  return head && { head, creations };
}

/** The blocks of a run's own plan, in its order. */
export async function* readPlanBlocks(file: string): AsyncGenerator<PlanBlock> {
  let lines: StoredLine[] = [];
  for await (const text of readLines(file)) {
    const value = readOwn(text);
    if (value.plan || value.create) continue;
    if (value.end) return;
    if (value.block) {
      yield { lines, at: value.block.at };
      lines = [];
    } else lines.push(value);
  }
}

export async function* readPlanLines(file: string): AsyncGenerator<StoredLine> {
  for await (const { lines } of readPlanBlocks(file)) yield* lines;
}

/** Its digest was checked when the plan was opened. */
function readOwn(text: string): Marks & StoredLine {
  return JSON.parse(decodeLine(text)) as Marks & StoredLine;
}

/** @throws PlanDamagedError for a file that is no plan, was cut off or changed, or is of another version */
export async function openPlanFile(path: string, digest?: string): Promise<PlanFile> {
  // A plan is read twice: once to check all of it, once to carry it out.
  if (path === "-") throw pipedPlanError();
  const schema = await import("./plan-schema.ts");
  let plan: PlanFile | undefined;
  const content: ReadContent = { creations: [], counted: {} };
  // Said once it is known that nobody has changed the file.
  let isMisshapen = false;
  for await (const value of readSealed(path)) {
    if (!plan) {
      requireVersion(path, value.plan);
      if (!schema.isA(schema.head, value.plan)) throw createError(path, "noPlan");
      plan = toPlanFile(path, value.plan, content);
    } else if (!addValue(plan, content, value, schema)) isMisshapen = true;
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

/** What the lines of a plan that somebody brings hold so far. */
interface ReadContent {
  creations: Creation[];
  /** Lines, by action. */
  counted: Partial<ExportedEnd["counts"]>;
}

function toPlanFile(path: string, head: PlanHead, { creations }: ReadContent): PlanFile {
  const plan: PlanFile = {
    path,
    head,
    creations,
    end: { counts: {} as ExportedEnd["counts"], requests: 0, digest: "" },
    writes: 0,
    unsubscribes: false,
    deletes: 0,
    removes: 0,
    lines: () => readSealedLines(path, plan.end.digest),
    async *shownLines() {
      for await (const line of plan.lines()) yield toShownLine(line);
    },
  };
  return plan;
}

/** @returns whether it is what a plan holds */
function addValue(
  plan: PlanFile,
  { creations, counted }: ReadContent,
  value: object,
  { isA, creation, end, line }: typeof schema,
): boolean {
  if ("create" in value) return isA(creation, value.create) && creations.push(value.create) > 0;
  if ("end" in value) {
    if (!isA(end, value.end) || !isCountedIn(value.end.counts, counted)) return false;
    plan.end = value.end;
    return true;
  }
  if (!isA(line, value) || !isTrue(value, plan.head)) return false;
  counted[value.action] = (counted[value.action] ?? 0) + 1;
  countWrite(plan, value);
  return true;
}

/** Whether what people read of a contact is what would be sent. */
function isTrue(line: ExportedLine, { names }: PlanHead): boolean {
  const { apply } = line;
  return !isPlanned(apply) || isAsShown(line, apply, names);
}

function countWrite(plan: PlanFile, { apply }: ExportedLine): void {
  if (!isPlanned(apply)) return;
  const { desired, isRemoval } = apply;
  plan.writes++;
  if (desired.end === "unsubscribe") plan.unsubscribes = true;
  if (desired.end === "delete") plan.deletes++;
  if (isRemoval) plan.removes++;
}

/**
 * The end is not part of the digest: what it counts is held against the lines.
 * Contacts that stay as they are may have none.
 */
function isCountedIn(counts: ExportedEnd["counts"], counted: Partial<ExportedEnd["counts"]>): boolean {
  const isWrite = (action: string) => ["create", "update", "delete"].includes(action);
  return Object.entries(counts).every(([action, count]) => {
    const lines = counted[action as keyof typeof counted] ?? 0;
    return isWrite(action) ? lines === count : lines <= count;
  });
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
  for await (const { value, isProven } of readChecked(readTexts(), "all")) {
    if (last === "none" && !value?.plan) throw createError(path, "noPlan");
    if (last === "end" || !value || !isProven) throw createError(path, "changed");
    last = "end" in value ? "end" : "line";
    if (!("block" in value)) yield value;
  }
  if (last === "none") throw createError(path, "noPlan");
  if (last !== "end" || splitter.rest !== "") throw createError(path, "cutOff");
}

async function* readSealedLines(path: string, digest: string): AsyncGenerator<ExportedLine> {
  for await (const value of readSealed(path)) {
    if (value.end) {
      if (value.end.digest !== digest) throw createError(path, "changed");
    } else if (!value.plan && !value.create) yield value as ExportedLine;
  }
}

function pipedPlanError(): EcmError {
  return usageError(
    "A plan is read from a file, not from standard input",
    "Write it to a file: --dry-run --plan plan.ndjson",
  );
}
