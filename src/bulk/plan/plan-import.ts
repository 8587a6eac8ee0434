/**
 * A plan file that somebody brings: believed only where it is whole and as it was made. A digest only tells that
 * a file is as it was written, not who wrote it: what people read of a contact must also be what would be sent.
 */

import { createHash } from "node:crypto";
import * as v from "valibot";
import { decodeLine, LineSplitter } from "../../disk/log.ts";
import { UsageError } from "../../errors.ts";
import { isObject } from "../../is-object.ts";
import { readBytes } from "../../tables/index.ts";
import { toOperation } from "../decide.ts";
import type { Creation } from "./names.ts";
import {
  isPlanned,
  otherVersionError,
  PlanDamagedError,
  type PlanEnd,
  type PlanHead,
  type Planned,
  planVersion,
  type StoredLine,
} from "./plan-file.ts";
import { type PlanLine, type PlanNames, toPlanLine, toPlanNames } from "./plan-line.ts";
import type { ExportedLine } from "./plan-writer.ts";

export interface PlanFile {
  path: string;
  head: PlanHead;
  creations: readonly Creation[];
  end: Pick<PlanEnd, "counts" | "requests" | "digest">;
  /** Contacts that it writes. */
  writes: number;
  /** Whether it unsubscribes or deletes anybody. */
  unsubscribes: boolean;
  deletes: number;
  /** Members that it takes out of a list. */
  removes: number;
  /** @throws PlanDamagedError when the file has changed since it was opened */
  lines(): AsyncGenerator<ExportedLine>;
}

/** @throws PlanDamagedError for a file that is no plan, was cut off or changed, or is of another version */
export async function openPlanFile(path: string, digest?: string): Promise<PlanFile> {
  // A plan is read twice: once to check all of it, once to carry it out.
  if (path === "-") throw pipedPlanError();
  const reader = new PlanFileReader(path);
  for await (const value of readValues(path)) reader.take(value);
  const plan = reader.finish();
  if (digest !== undefined && digest !== plan.end.digest) {
    throw new PlanDamagedError(
      path,
      `is another plan than the one that was approved: its digest is ${plan.end.digest}`,
      "Nothing was sent. Apply the file that was approved, or have this one approved",
    );
  }
  return plan;
}

/** One line of the file. */
type Value = Readonly<Record<string, unknown>>;

/** Sums up what the lines of a plan say, and whether they say what a plan says. */
class PlanFileReader {
  private readonly path: string;
  private plan: PlanFile | undefined;
  private readonly creations: Creation[] = [];
  /** Reported once it is known that nobody has changed the file. */
  private isMisshapen = false;
  private readonly counted: Partial<PlanEnd["counts"]> = {};

  constructor(path: string) {
    this.path = path;
  }

  /** @throws PlanDamagedError for a file that does not begin as a plan does */
  take(value: Value): void {
    if ("plan" in value) this.begin(parseHead(this.path, value.plan));
    else if (!this.plan) throw notPlanError(this.path);
    else if (!this.add(this.plan, value)) this.isMisshapen = true;
  }

  /** @throws PlanDamagedError */
  finish(): PlanFile {
    if (!this.plan || this.isMisshapen) throw notPlanError(this.path);
    return this.plan;
  }

  private begin(head: PlanHead): void {
    const { path } = this;
    if (this.plan) throw notPlanError(path);
    const plan: PlanFile = {
      path,
      head,
      creations: this.creations,
      end: { counts: {} as PlanEnd["counts"], requests: 0, digest: "" },
      writes: 0,
      unsubscribes: false,
      deletes: 0,
      removes: 0,
      lines: () => readLines(path, plan.end.digest),
    };
    this.plan = plan;
  }

  /** @returns whether it is what a plan holds */
  private add(plan: PlanFile, value: Value): boolean {
    if ("create" in value) {
      if (!isCreation(value.create)) return false;
      this.creations.push(value.create);
      return true;
    }
    if ("end" in value) {
      if (!isEnd(value.end) || !isCountedIn(value.end.counts, this.counted)) return false;
      plan.end = value.end;
      return true;
    }
    if (!isLine(value, plan.head)) return false;
    this.count(plan, value);
    return true;
  }

  private count(plan: PlanFile, { apply, action }: ExportedLine): void {
    this.counted[action] = (this.counted[action] ?? 0) + 1;
    if (!isPlanned(apply)) return;
    const { desired, isRemoval } = apply;
    plan.writes++;
    if (desired.end === "unsubscribe") plan.unsubscribes = true;
    if (desired.end === "delete") plan.deletes++;
    if (isRemoval) plan.removes++;
  }
}

/**
 * The end is not part of the digest: what it counts is held against the lines.
 * Contacts that stay as they are may have none.
 */
function isCountedIn(counts: PlanEnd["counts"], counted: Partial<PlanEnd["counts"]>): boolean {
  const isWrite = (action: string) => ["create", "update", "delete"].includes(action);
  return Object.entries(counts).every(([action, count]) => {
    const lines = counted[action as keyof typeof counted] ?? 0;
    return isWrite(action) ? lines === count : lines <= count;
  });
}

/** @throws PlanDamagedError */
function parseHead(path: string, value: unknown): PlanHead {
  const { version } = (value ?? {}) as Partial<PlanHead>;
  if (typeof version === "number" && version !== planVersion)
    throw otherVersionError(path, value as PlanHead);
  if (version !== planVersion || !isHead(value)) throw notPlanError(path);
  return value;
}

async function* readLines(path: string, digest: string): AsyncGenerator<ExportedLine> {
  for await (const value of readValues(path)) {
    if ("end" in value) {
      if ((value.end as PlanEnd).digest !== digest) throw planChangedError(path);
    } else if (!("plan" in value) && !("create" in value)) yield value as Value & ExportedLine;
  }
}

/** The values of its lines; the digest is checked at its end. */
async function* readValues(path: string): AsyncGenerator<Value> {
  const seal = new SealCheck(path);
  const splitter = new LineSplitter();
  for await (const bytes of readBytes({ path, name: path })) {
    for (const text of splitter.take(bytes.toString("latin1"))) {
      const value = seal.take(text);
      // A run's own plan is written in blocks.
      if (!("block" in value)) yield value;
    }
  }
  seal.requireEnd(splitter.rest);
}

/** Holds the lines of a plan against the digest at its end. */
class SealCheck {
  private readonly path: string;
  private readonly hash = createHash("sha256");
  private isFirst = true;
  private isEnded = false;

  constructor(path: string) {
    this.path = path;
  }

  /** @param text as latin1 @throws PlanDamagedError */
  take(text: string): Value {
    const { path, hash } = this;
    if (this.isEnded) throw planChangedError(path);
    const value = parseLine(text);
    if (!value) throw this.isFirst ? notPlanError(path) : planChangedError(path);
    this.isFirst = false;
    if ("end" in value) {
      const { digest } = (value.end ?? {}) as Partial<PlanEnd>;
      if (digest !== `sha256:${hash.digest("hex")}`) throw planChangedError(path);
      this.isEnded = true;
    } else hash.update(`${text}\n`, "latin1");
    return value;
  }

  /** @param rest what follows the last line break @throws PlanDamagedError where the end is missing */
  requireEnd(rest: string): void {
    if (this.isEnded && rest === "") return;
    if (this.isFirst) throw notPlanError(this.path);
    throw new PlanDamagedError(
      this.path,
      "is cut off: its last line is missing",
      "Nothing was sent. Make the plan again with --dry-run --plan, or copy the whole file",
    );
  }
}

function parseLine(text: string): Value | undefined {
  try {
    const value: unknown = JSON.parse(decodeLine(text));
    return typeof value === "object" && value !== null ? (value as Value) : undefined;
  } catch {
    return undefined;
  }
}

function notPlanError(path: string): PlanDamagedError {
  return new PlanDamagedError(path, "is not a plan", "Make one with --dry-run --plan plan.ndjson");
}

function pipedPlanError(): UsageError {
  return new UsageError(
    "A plan is read from a file, not from standard input",
    "Write it to a file: --dry-run --plan plan.ndjson",
  );
}

function planChangedError(path: string): PlanDamagedError {
  return new PlanDamagedError(
    path,
    "was changed after it was made: its digest does not match",
    "Nothing was sent. Make the plan again with --dry-run --plan",
  );
}

type Fields = Readonly<Record<string, unknown>>;

const text = v.string();
const texts = v.array(text);
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0));
const object = v.custom<Fields>(isObject);
const namesById = v.record(text, text);
const limit = v.union([v.object({ rows: v.number() }), v.object({ percent: v.number() })]);

const head = v.object({
  program: text,
  kind: text,
  createdAt: text,
  account: v.object({ baseUrl: text, structureId: text, keyType: text }),
  names: v.object({ fields: namesById, lists: namesById, tags: namesById }),
  command: texts,
  source: texts,
  listIds: texts,
  looks: v.object({
    by: v.picklist(["search", "id"]),
    readsStatus: v.optional(v.boolean()),
    marksRepeats: v.optional(v.boolean()),
    suppressions: v.picklist(["pass-over", "hold", "include"]),
  }),
  selection: v.optional(
    v.object({ lists: texts, tags: texts, status: v.optional(text), where: v.optional(text) }),
  ),
  removals: v.optional(v.object({ members: count, allowed: v.optional(limit) })),
});

const creation = v.object({
  what: v.picklist(["list", "tag", "field"]),
  name: text,
  dataType: v.optional(text),
});

const writeActions = ["create", "update", "delete"] as const;
const actions = [...writeActions, "unchanged", "skip", "reject"] as const;

const end = v.object({
  digest: text,
  requests: count,
  counts: v.object(v.entriesFromList(actions, count)),
});

/** What people read of what becomes of the contact. */
const readable = v.object({
  line: v.nullable(count),
  key: text,
  contactId: v.nullable(text),
  action: v.picklist(actions),
  changes: v.array(object),
});

const fieldValues = v.array(v.object({ _id: text, value: text }));
const references = v.array(v.union([text, v.object({ _id: text })]));
const contact = v.looseObject({
  _id: text,
  fields: v.optional(fieldValues),
  lists: v.optional(references),
  tags: v.optional(references),
});
const status = v.object({ primary: text, secondary: v.optional(text) });

const skip = v.object({ skip: text });
const reject = v.object({ reject: v.object({ code: text, message: v.optional(text) }) });
const membership = { id: text, to: v.boolean(), onlyIf: v.optional(v.boolean()), lost: v.optional(text) };
const desiredValue = v.variant("what", [
  v.object({
    what: v.literal("field"),
    id: text,
    to: text,
    onlyIf: v.optional(text),
    lost: v.optional(text),
  }),
  v.object({ what: v.literal("list"), ...membership }),
  v.object({ what: v.literal("tag"), ...membership }),
]);
const isEachOnce = (values: { what: string; id: string }[]) =>
  new Set(values.map(({ what, id }) => `${what} ${id}`)).size === values.length;

const desired = v.pipe(
  v.object({
    values: v.pipe(
      v.array(desiredValue),
      v.check((each) => isEachOnce(each)),
    ),
    end: v.optional(v.picklist(["unsubscribe", "delete"])),
    who: v.optional(v.union([v.object({ is: text }), v.object({ not: text })])),
    absent: v.union([v.picklist(["create", "leave"]), skip, reject]),
    present: v.union([v.literal("change"), skip, v.object({ unlessSo: text })]),
    mayJoinLists: v.boolean(),
    strict: v.optional(v.union([skip, reject])),
  }),
  v.check(({ values, end }) => end === undefined || values.length === 0),
);

const before = v.object({
  id: text,
  version: v.optional(v.number()),
  isInactive: v.optional(v.literal(true)),
  status: v.optional(status),
  values: v.pipe(
    v.array(
      v.object({
        what: v.picklist(["field", "list", "tag"]),
        id: text,
        to: v.nullable(v.union([text, v.boolean()])),
      }),
    ),
    v.check((each) => isEachOnce(each)),
  ),
  contact: v.optional(contact),
});

const planned = v.pipe(
  v.object({
    ref: count,
    key: v.object({ written: text, sent: text }),
    desired,
    before: v.optional(before),
    isRemoval: v.optional(v.literal(true)),
  }),
  // Whoever is unsubscribed or deleted is known, and whoever is deleted is known whole.
  v.check((each) => each.desired.end === undefined || each.before !== undefined),
  v.check((each) => each.desired.end !== "delete" || each.before?.contact?._id === each.before?.id),
);

function isHead(value: unknown): value is PlanHead {
  return v.is(head, value);
}

function isCreation(value: unknown): value is Creation {
  return v.is(creation, value);
}

function isEnd(value: unknown): value is Pick<PlanEnd, "counts" | "requests" | "digest"> {
  return v.is(end, value);
}

/** Also holds what is read against what would be sent. */
function isLine(value: Fields, { names, account }: PlanHead): value is Fields & StoredLine {
  if (!isReadable(value)) return false;
  const { action, apply } = value;
  if (isObject(apply) && apply.isErased === true) return true;
  if (apply === undefined) return !writeActions.some((each) => each === action);
  return isWellFormed(apply) && isAsShown(value, apply, toPlanNames(names), account.structureId);
}

function isReadable(value: Fields): value is Fields & PlanLine {
  return v.is(readable, value);
}

function isWellFormed(value: unknown): value is Planned {
  return v.is(planned, value);
}

/** Whether what people read is what would be sent. */
function isAsShown(line: PlanLine, planned: Planned, names: PlanNames, structureId: string): boolean {
  const { key, desired, before } = planned;
  const operation = toOperation(key.sent, desired, before, structureId);
  const expectedLine = toPlanLine({ line: line.line, key: line.key }, operation, names);
  // The status that a contact had may have been told by its look-up alone.
  const formatChanges = (changes: PlanLine["changes"]) =>
    changes.map(({ what, name, before, after }) => [what, name, what === "status" ? null : before, after]);
  return (
    (before !== undefined || key.sent === line.key) &&
    line.action === expectedLine.action &&
    (expectedLine.contactId === null || line.contactId === expectedLine.contactId) &&
    JSON.stringify(formatChanges(line.changes)) === JSON.stringify(formatChanges(expectedLine.changes))
  );
}
