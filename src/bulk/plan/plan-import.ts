/** A plan file that somebody brings: believed only where it is whole and as it was made. */
import { createHash } from "node:crypto";
import type { Creation } from "../account/names.ts";
import { readBytes } from "../input/source.ts";
import type { ExportedLine } from "./plan-export.ts";
import { PlanDamagedError, type PlanEnd, type PlanHead, planVersion } from "./plan-file.ts";
import { isCreation, isEnd, isHead, isLine } from "./plan-shape.ts";

export interface PlanFile {
  path: string;
  head: PlanHead;
  creations: Creation[];
  end: Pick<PlanEnd, "counts" | "requests" | "digest">;
  /** Contacts that it writes. */
  writes: number;
  /** Whether it unsubscribes or deletes anybody. */
  unsubscribes: boolean;
  deletes: number;
  /** @throws PlanDamagedError when the file has changed since it was opened */
  lines(): AsyncGenerator<ExportedLine>;
}

/** @throws PlanDamagedError for a file that is no plan, was cut off or changed, or is of another version */
export async function openPlanFile(path: string, digest?: string): Promise<PlanFile> {
  let opened: PlanFile | undefined;
  // Said once it is known that nobody has changed the file.
  let isMisshapen = false;
  const counted: Partial<PlanEnd["counts"]> = {};
  for await (const value of valuesIn(path)) {
    if ("plan" in value) {
      const head = headFrom(path, value.plan);
      if (opened) throw noPlan(path);
      opened = {
        path,
        head,
        creations: [],
        end: { counts: {} as PlanEnd["counts"], requests: 0, digest: "" },
        writes: 0,
        unsubscribes: false,
        deletes: 0,
        lines: () => linesOf(path, opened!.end.digest),
      };
    } else if (!opened) throw noPlan(path);
    else if ("create" in value) {
      if (isCreation(value.create)) opened.creations.push(value.create);
      else isMisshapen = true;
    } else if ("end" in value) {
      if (isEnd(value.end) && isCountedIn(value.end.counts, counted)) opened.end = value.end;
      else isMisshapen = true;
    } else {
      if (!isLine(value, opened.head)) {
        isMisshapen = true;
        continue;
      }
      const { apply, action } = value as unknown as ExportedLine;
      counted[action] = (counted[action] ?? 0) + 1;
      if (!apply || apply.isErased) continue;
      opened.writes++;
      if (apply.operation.kind === "status") opened.unsubscribes = true;
      if (apply.operation.kind === "delete") opened.deletes++;
    }
  }
  if (!opened || isMisshapen) throw noPlan(path);
  if (digest !== undefined && digest !== opened.end.digest) {
    throw new PlanDamagedError(
      path,
      `is another plan than the one that was approved: its digest is ${opened.end.digest}`,
      "Nothing was sent. Apply the file that was approved, or have this one approved",
    );
  }
  return opened;
}

/** The end is not part of the digest: what it counts is held against the lines. Contacts that stay as they are may have none. */
function isCountedIn(counts: PlanEnd["counts"], counted: Partial<PlanEnd["counts"]>): boolean {
  const isWrite = (action: string) => ["create", "update", "delete"].includes(action);
  return Object.entries(counts).every(([action, count]) => {
    const lines = counted[action as keyof typeof counted] ?? 0;
    return isWrite(action) ? lines === count : lines <= count;
  });
}

/** @throws PlanDamagedError */
function headFrom(path: string, value: unknown): PlanHead {
  const { version } = (value ?? {}) as Partial<PlanHead>;
  if (typeof version === "number" && version !== planVersion) throw otherVersion(path, value as PlanHead);
  if (version !== planVersion || !isHead(value)) throw noPlan(path);
  return value;
}

async function* linesOf(path: string, digest: string): AsyncGenerator<ExportedLine> {
  for await (const value of valuesIn(path)) {
    if ("end" in value) {
      if ((value.end as PlanEnd).digest !== digest) throw changed(path);
    } else if (!("plan" in value) && !("create" in value)) yield value as unknown as ExportedLine;
  }
}

/** The values of its lines; the digest is checked at its end. */
async function* valuesIn(path: string): AsyncGenerator<Record<string, unknown>> {
  const hash = createHash("sha256");
  let isEnded = false;
  let rest = "";
  let isFirst = true;
  for await (const bytes of readBytes({ path, name: path })) {
    const lines = (rest + bytes.toString("latin1")).split("\n");
    rest = lines.pop()!;
    for (const text of lines) {
      if (isEnded) throw changed(path);
      const value = parsedLine(text);
      if (!value) throw isFirst ? noPlan(path) : changed(path);
      isFirst = false;
      if ("end" in value) {
        const { digest } = (value.end ?? {}) as Partial<PlanEnd>;
        if (digest !== `sha256:${hash.digest("hex")}`) throw changed(path);
        isEnded = true;
      } else hash.update(Buffer.from(`${text}\n`, "latin1"));
      // A run's own plan is written in blocks.
      if (!("block" in value)) yield value;
    }
  }
  if (isEnded && rest === "") return;
  if (isFirst) throw noPlan(path);
  throw new PlanDamagedError(
    path,
    "is cut off: its last line is missing",
    "Nothing was sent. Make the plan again with --dry-run --plan, or copy the whole file",
  );
}

function parsedLine(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function noPlan(path: string): PlanDamagedError {
  return new PlanDamagedError(path, "is not a plan", "Make one with --dry-run --plan plan.ndjson");
}

function changed(path: string): PlanDamagedError {
  return new PlanDamagedError(
    path,
    "was changed after it was made: its digest does not match",
    "Nothing was sent. Make the plan again with --dry-run --plan",
  );
}

function otherVersion(path: string, { version, program }: PlanHead): PlanDamagedError {
  return new PlanDamagedError(
    path,
    `has the format ${version}; this version of ecm reads format ${planVersion}`,
    `Nothing was sent. Apply it with ecm ${program}, or make it again`,
  );
}
