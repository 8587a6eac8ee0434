/**
 * The plan of a run as a file: what will be written, known before the first write. JSON lines: the head, what
 * is created in the account first, a line for each contact that is written and for each row that is not, and
 * the end with counts and digest. Lines come in blocks of contacts that were looked up together; a plan that
 * was cut off continues after its last whole block.
 */

import { createHash, type Hash } from "node:crypto";
import { decodeLine, readLines } from "../../disk/log.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import type { StoredSelection } from "../../select/selection.ts";
import type { Cells, ContactKey, InputFacts } from "../../tables/index.ts";
import type { Contact } from "../../wire.ts";
import { seal, toBefore, toOperation } from "../decide.ts";
import type { Before, Desired } from "../desired.ts";
import { type Item, isSettled, type PassedRow, type Write } from "../items.ts";
import type { SettledByInput } from "../runs/report.ts";
import type { Creation, StoredNames } from "./names.ts";
import { createTally, type PlanTally, type RemovalLimit } from "./numbers.ts";
import type { PlanLine } from "./plan-line.ts";

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
  /** Where the columns went, where it was said. */
  mapping?: PlanMapping;
  /** RFC 3339, UTC. */
  createdAt: string;
  /** What ids of the account are called. */
  names: StoredNames;
  /** What a second look asks for: parts of a contact, and lists that the writes speak of. */
  source: string[];
  listIds: string[];
  looks: Looks;
  /** Conditions that chose the contacts: a contact that no longer matches at a second look is skipped. */
  selection?: StoredSelection;
  removals?: RemovalLimit;
  /** How the input is written, for the rejects file. */
  table?: Pick<InputFacts, "columns" | "delimiter" | "hasEscapes"> & Partial<Pick<InputFacts, "form">>;
}

/** How contacts are looked up again and judged: what a closed plan is carried out by. */
export interface Looks {
  /**
   * `id`: each contact is read by its id right before its write, as it is then and with its version: a search
   * may lag behind, and tells no version.
   */
  by: "search" | "id";
  /** The status decides what becomes of contacts: where no search tells it, they are read by their ids. */
  readsStatus?: boolean;
  /** One contact may be named twice, by its key and by its id. */
  marksRepeats?: boolean;
  /**
   * Of whoever is suppressed: left alone, also where the contact exists; not created; or like any other, but
   * for those who were erased here.
   */
  suppressions: "pass-over" | "hold" | "include";
}

export interface PlanMapping {
  /** `sha256:` and the hexadecimal digest of the rest. */
  digest: string;
  /** Column → target. */
  columns: Record<string, string>;
  /** Column of tags or lists, and what is between the names in a cell. */
  splits: readonly (readonly [column: string, separator: string])[];
  /** `--set` */
  set: readonly (readonly [field: string, value: string])[];
}

/** What `apply` needs of a contact besides what people read. */
export interface Planned {
  ref: number;
  key: Pick<ContactKey, "written" | "sent">;
  /** What is sent follows from this and the next. */
  desired: Desired;
  /** Of a contact that exists, what is replaced. */
  before?: Before;
  /** A member that a sync takes out of its list. */
  isRemoval?: true;
}

/** The person was erased: nothing of them is left but their place. */
export interface Erased {
  ref: number;
  isErased: true;
}

/** What a line has for a contact that is to be written. */
export function isPlanned(apply: Planned | Erased | undefined): apply is Planned {
  return apply !== undefined && !("isErased" in apply);
}

/** A line of the run's own plan. */
export interface StoredLine extends PlanLine, Pick<PassedRow, "mark"> {
  cells?: Cells;
  /** Of a row that another row stands for: that contact's ref. */
  of?: number;
  /** Of a contact that no row names and that is not written. */
  ref?: number;
  apply?: Planned | Erased;
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

export interface BlockMark {
  at: number;
  /** Entries of the job's source that were planned so far. */
  taken: number;
  tally: PlanTally;
  /** Of all bytes before this line: what a plan that was cut off continues after is as it was written. */
  digest: string;
}

/** A line that is no contact's. */
interface Mark {
  plan?: PlanHead;
  create?: Creation;
  block?: BlockMark;
  end?: PlanEnd;
}

/** A plan that was cut off or changed: it says nothing that can be relied on. */
export class PlanDamagedError extends EcmError {
  constructor(file: string, why: string, hint: string) {
    super(exitCodes.usage, `${file} ${why}`, { type: "PlanDamagedError", hint });
  }
}

/** @param head of a plan that another version of the program has made */
export function otherVersionError(file: string, { version, program }: PlanHead): PlanDamagedError {
  return new PlanDamagedError(
    file,
    `has the format ${version}; this version of ecm reads format ${planVersion}`,
    `Nothing was sent. Apply it with ecm ${program}, or make it again`,
  );
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

/**
 * Reads what is there of a plan.
 * @param maxTaken blocks that reach beyond so many entries are not kept
 * @returns undefined where there is no head
 * @throws PlanDamagedError for a closed plan that has changed since
 */
export async function readStoredPlan(
  file: string,
  maxTaken = Number.POSITIVE_INFINITY,
): Promise<StoredPlan | undefined> {
  const hash = createHash("sha256");
  const creations: Creation[] = [];
  let kept: StoredPlan | undefined;
  let bytes = 0;
  for await (const text of readLines(file)) {
    const { plan, create, block, end } = parseMark(file, text, hash);
    if (!kept && !plan) throw planDamagedError(file);
    if (end) return { ...kept!, end: { ...decode(end), tally: decode(end.tally) } };
    hash.update(`${text}\n`, "latin1");
    bytes += text.length + 1;
    if (plan) kept = { head: decode(plan), creations, bytes, taken: 0, tally: createTally() };
    else if (create) {
      creations.push(decode(create));
      kept!.bytes = bytes;
    } else if (block && block.taken <= maxTaken)
      kept = { ...kept!, bytes, taken: block.taken, tally: decode(block.tally) };
  }
  return kept;
}

/**
 * Lines of contacts, which are most, are not parsed: they are told by how they begin.
 * @param hash of the lines before it @throws PlanDamagedError where it says that they were others
 */
function parseMark(file: string, text: string, hash: Hash): Mark {
  if (!/^\{"(?:plan|create|block|end)":/.test(text)) return {};
  let mark: Mark;
  try {
    mark = JSON.parse(text) as Mark;
  } catch {
    throw planDamagedError(file);
  }
  if (mark.plan && mark.plan.version !== planVersion) throw otherVersionError(file, mark.plan);
  const proof = mark.block ?? mark.end;
  if (proof && proof.digest !== computeDigest(hash)) throw planDamagedError(file);
  return mark;
}

/**
 * A run's own plan is no longer what was planned: what the run
 * has done, and what is left of it, is not known.
 */
function planDamagedError(file: string): PlanDamagedError {
  return new PlanDamagedError(
    file,
    "is damaged: it is not as it was written",
    "Nothing was written. Restore the file from a backup, or start over with the same command and --fresh",
  );
}

/** @throws PlanDamagedError for a run that has begun to write by a plan that is not whole any more */
export function requireWholePlan(file: string, storedPlan: StoredPlan | undefined, hasBegun: boolean): void {
  if (hasBegun && !storedPlan?.end) throw planDamagedError(file);
}

/** The head of a plan, and what is created first; undefined where there is none. */
export async function readPlanHead(
  file: string,
): Promise<{ head: PlanHead; creations: Creation[] } | undefined> {
  let head: PlanHead | undefined;
  const creations: Creation[] = [];
  for await (const text of readLines(file)) {
    const { plan, create } = parsed(text);
    if (plan) head = plan;
    else if (create) creations.push(create);
    else break;
  }
  return head && { head, creations };
}

/** The blocks of a plan, in its order. */
export async function* readPlanBlocks(file: string): AsyncGenerator<PlanBlock> {
  let lines: StoredLine[] = [];
  for await (const text of readLines(file)) {
    const value = parsed(text);
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

export function computeDigest(hash: Hash): string {
  return `sha256:${hash.copy().digest("hex")}`;
}

/** Texts of a line that was read as latin1, as they are. */
function decode<T>(value: T): T {
  return JSON.parse(decodeLine(JSON.stringify(value))) as T;
}

function parsed(text: string): Mark & StoredLine {
  return JSON.parse(decodeLine(text)) as Mark & StoredLine;
}

/** The line of a contact that is not written. */
export function toStoredLine(line: PlanLine, { ref, cells, mark }: Item): StoredLine {
  return {
    ...line,
    cells,
    ...(mark !== undefined && { mark }),
    ...(line.line === null && { ref }),
  };
}

/** The line of a contact that is written, with what applying it needs. */
export function toWriteLine(
  line: PlanLine,
  { ref, key: { written, sent }, cells, mark, desired, isRemoval }: Item,
  { operation, found }: { operation: Write; found: Partial<Contact> | undefined },
): StoredLine {
  if (isSettled(desired)) throw new Error("a settled contact is not written");
  const before = toBefore(operation, found);
  return {
    ...line,
    cells,
    ...(mark !== undefined && { mark }),
    apply: {
      ref,
      key: { written, sent },
      desired,
      ...(before && { before }),
      ...(isRemoval && { isRemoval }),
    },
  };
}

/** The contact that a line plans; one that the plan saw is not made anew. */
export function toPlannedItem(
  { line, cells = [], mark }: StoredLine,
  { ref, key, desired, before, isRemoval }: Planned,
  readIdentity: (key: string) => string,
): Item {
  return {
    kind: "contact",
    ref,
    line,
    cells,
    key: { ...key, identity: readIdentity(key.sent) },
    desired: seal(desired, before),
    ...(mark !== undefined && { mark }),
    ...(isRemoval && { isRemoval }),
    ...(before && { contactId: before.id }),
  };
}

/** What the line says is sent. */
export function toPlannedWrite(
  { code, message }: Pick<PlanLine, "code" | "message">,
  { key, desired, before }: Pick<Planned, "key" | "desired" | "before">,
  structureId: string,
): Write {
  const operation = toOperation(key.sent, desired, before, structureId);
  return code === null ? operation : { ...operation, remark: { code, message: message ?? "" } };
}
