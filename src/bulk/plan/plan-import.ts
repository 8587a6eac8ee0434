/** A plan file that somebody brings: believed only where it is whole and as it was made. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { Creation } from "../account/names.ts";
import type { ExportedLine } from "./plan-export.ts";
import { PlanDamagedError, type PlanEnd, type PlanHead, planVersion } from "./plan-file.ts";

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
  for await (const value of valuesIn(path)) {
    if ("plan" in value) {
      const head = value.plan as PlanHead;
      if (head.version !== planVersion) throw otherVersion(path, head);
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
    else if ("create" in value) opened.creations.push(value.create as Creation);
    else if ("end" in value) opened.end = value.end as PlanEnd;
    else {
      const { apply } = value as unknown as ExportedLine;
      if (!apply || apply.isErased) continue;
      opened.writes++;
      if (apply.operation.kind === "status") opened.unsubscribes = true;
      if (apply.operation.kind === "delete") opened.deletes++;
    }
  }
  if (!opened) throw noPlan(path);
  if (digest !== undefined && digest !== opened.end.digest) {
    throw new PlanDamagedError(
      path,
      `is another plan than the one that was approved: its digest is ${opened.end.digest}`,
      "Nothing was sent. Apply the file that was approved, or have this one approved",
    );
  }
  return opened;
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
  const stream = createReadStream(path, { encoding: "latin1" });
  let rest = "";
  let isFirst = true;
  for await (const piece of stream) {
    const lines = (rest + (piece as string)).split("\n");
    rest = lines.pop()!;
    for (const text of lines) {
      if (isEnded) throw changed(path);
      const value = parsedLine(text);
      if (!value) throw isFirst ? noPlan(path) : changed(path);
      isFirst = false;
      if ("end" in value) {
        const { digest } = value.end as Partial<PlanEnd>;
        if (digest !== `sha256:${hash.digest("hex")}`) throw changed(path);
        isEnded = true;
      } else hash.update(Buffer.from(`${text}\n`, "latin1"));
      yield value;
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
