/** Where the plan of a bulk run goes: `--plan FILE` or `-`, and the first changes at a terminal. */

import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Closed, ClosedPlan, PlanChange, PlanFile, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { requireFileFormat } from "../../terminal/file-names.ts";
import { isJson } from "../../terminal/format.ts";
import {
  type FileOptions,
  openFileOutput,
  openGrowingFile,
  openOutput,
  type Sink,
} from "../../terminal/output-file.ts";
import { createStyle, type Style } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cut, measureWidth } from "../../terminal/text-width.ts";
import type { ReportFlags } from "../flags/bulk.ts";
import { isChange } from "./words.ts";

export interface PlanFlags extends ReportFlags {
  plan?: string;
  show?: number;
}

export interface PlanOutput {
  /** Takes the plan once it is closed. Undefined where it is neither written nor shown. */
  take?(plan: ClosedPlan): Promise<void>;
  /** The first changes, and how to see the others; for stderr. */
  lines(): string[];
  /** Says what the file holds, so that it can be applied. */
  note(): string | undefined;
  /** Writes the report of a run that has ended. */
  report(closed: Closed): Promise<void>;
  /** Leaves an earlier file of that name unchanged. */
  discard(): Promise<void>;
}

/** More of them are better read in a file. */
const maxLinesOnRequest = 200;
const defaultLinesShown = 10;

/** @throws UsageError when the file cannot be written, or when both the plan and the summary want stdout */
export async function openPlanOutput(
  context: Context,
  { plan, show, ...reportFlags }: PlanFlags,
  isDryRun: boolean,
): Promise<PlanOutput> {
  const { terminal } = context;
  const { format } = context.output();
  if (plan === "-" && isJson(format)) {
    throw usageError(
      "--plan - and --json both write to stdout",
      "Write the plan to a file: --plan plan.ndjson",
    );
  }
  const report = await openRequestedReport(context, reportFlags);
  const maxShown = show ?? (isDryRun && terminal.isStderrTerminal ? defaultLinesShown : 0);
  const output =
    plan === undefined
      ? undefined
      : plan === "-"
        ? await openOutput(terminal, { format: "ndjson" })
        : await openPlanFile(context, plan);
  const shownLines: PlanLine[] = [];
  let changes = 0;
  let isOfNoList = false;
  let written: { digest: string; writes: number } | undefined;
  const isReported = report !== undefined && isDryRun;
  const isNeeded = output !== undefined || maxShown > 0 || isReported;
  return {
    take: isNeeded
      ? async (plan) => {
          let text = "";
          const write = async (line: string) => {
            text += line;
            if (text.length > chunkLength) await flush();
          };
          const flush = async () => {
            const ready = text;
            text = "";
            await output?.write(ready);
          };
          report?.begin(plan);
          isOfNoList = goesIntoNoList(plan);
          const { exportPlan } = await import("../../bulk/index.ts");
          const digest = await exportPlan(plan, output ? write : undefined, (line) => {
            report?.add(line);
            if (isChange(line) && changes++ < maxShown) shownLines.push(line);
          });
          if (!output) return;
          await flush();
          await output.commit();
          written = { digest, writes: changes };
        }
      : undefined,
    note: () =>
      written && plan !== "-"
        ? `Plan: ${formatCount(written.writes)} to write, ${written.digest}`
        : undefined,
    lines() {
      if (shownLines.length === 0) return [];
      const more = changes - shownLines.length;
      const howToSee =
        changes <= maxLinesOnRequest ? `--show ${changes}, or --plan plan.ndjson` : "--plan plan.ndjson";
      const further = `  … ${formatCount(more)} more: ${howToSee}`;
      return [
        ...drawDifference(terminal, shownLines),
        ...(more > 0 ? [further] : []),
        ...(isOfNoList ? ["  In no list: --list NAME adds them to one"] : []),
      ];
    },
    report: async (closed) => report?.write(closed),
    discard: async () => (written ? undefined : output?.discard()),
  };
}

async function openRequestedReport(context: Context, flags: ReportFlags) {
  if (flags.report === undefined && !flags.redact) return undefined;
  const { openReport } = await import("./report.ts");
  return openReport(context, flags);
}

/**
 * People's data: until it is whole it grows among the runs, where an erasure finds it, and where it is swept
 * if the process is killed. Where nothing can be written there, it grows beside its place.
 */
async function openPlanFile({ folders, files }: Context, plan: string): Promise<Sink> {
  requireFileFormat(plan, "ndjson", "--plan");
  files.writes(plan, "--plan");
  const options: FileOptions = { flag: "--plan" };
  const { makePlanFolder } = await import("../../bulk/index.ts");
  const folder = await makePlanFolder(folders.state).catch(() => undefined);
  if (folder === undefined) return openFileOutput(plan, options);
  const remove = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
  try {
    const sink = await openGrowingFile(join(folder, "plan.ndjson"), plan, options);
    return {
      write: sink.write,
      isClosed: false,
      commit: () => sink.commit().finally(remove),
      discard: () => sink.discard().finally(remove),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Lines are gathered to pieces of this many characters. */
const chunkLength = 65_536;

// A plan file as JSON shows it.

/** What the plan is and comes to; its lines are apart. */
export function toPlanObject({ head, creations, end }: Pick<PlanFile, "head" | "creations" | "end">): object {
  const { version, program, kind, command, account, input, createdAt } = head;
  const { counts, requests, digest } = end;
  const plan = { version, program, kind, command, account, input, createdAt };
  return { plan, creations, counts, requests, digest };
}

// The first lines of a plan as a difference, for people.

/**
 * One line for each contact: `~ ada@example.com  City  London → Paris   + tag VIP`. The key is never cut.
 * @param stream that it is for
 */
export function drawDifference(
  terminal: Terminal,
  plan: readonly PlanLine[],
  stream: "out" | "err" = "err",
): string[] {
  const style = createStyle(terminal.isColored[stream]);
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const keyWidth = Math.min(
    Math.max(...plan.map(({ key }) => measureWidth(escapeControls(key)))),
    maxKeyWidth,
  );
  return plan.map((line) => {
    const key = escapeControls(line.key);
    const gap = " ".repeat(Math.max(0, keyWidth - measureWidth(key)) + 2);
    const room = Math.max(minRoom, columns - 4 - Math.max(keyWidth, measureWidth(key)) - 2);
    const what = cut(escapeControls(formatChanges(line)), room);
    return `  ${toMark(line, style)} ${key}${what === "" ? "" : gap + what}`;
  });
}

/** Keys are aligned up to this width. */
const maxKeyWidth = 40;
const minRoom = 20;

function toMark({ action }: PlanLine, { green, yellow, red }: Style): string {
  if (action === "create") return green("+");
  return action === "delete" ? red("-") : yellow("~");
}

function formatChanges({ action, changes }: PlanLine): string {
  if (action === "create") {
    const parts = changes.map(({ what, name, after }) =>
      what === "field" ? `${name} ${after}` : `${what} ${name}`,
    );
    return parts.join(", ");
  }
  return changes.map(formatChange).join("   ");
}

/** `City  London → Paris`, `+ tag VIP`. */
function formatChange({ what, name, before, after }: PlanChange): string {
  if (typeof after === "boolean") return `${after ? "+" : "-"} ${what} ${name}`;
  const was = before === null ? "" : `${before === "" ? "(empty)" : before} → `;
  return `${what === "status" ? "Status" : name}  ${was}${after === "" ? "(empty)" : after}`;
}

/** Neither the command nor the file names a list for the contacts of an import: it is easily forgotten. */
export function goesIntoNoList({ head, creations }: Pick<ClosedPlan, "head" | "creations">): boolean {
  const hasNewList = creations.some(({ what }) => what === "list");
  return head.kind === "import" && Object.keys(head.names.lists).length === 0 && !hasNewList;
}
