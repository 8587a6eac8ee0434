/** The plan of a bulk run: into a file (`--plan`), as a difference at a terminal, and what a report shows of it. */

import type { ClosedPlan, PlanChange, PlanLine } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { formatCount } from "../../counts.ts";
import { usageError } from "../../errors.ts";
import { escapeControls } from "../../terminal/escape.ts";
import { requireFileFormat } from "../../terminal/file-names.ts";
import { isJson } from "../../terminal/format.ts";
import { openFileOutput, openOutput, type Sink } from "../../terminal/output-file.ts";
import { createStyle } from "../../terminal/style.ts";
import type { Terminal } from "../../terminal/terminal.ts";
import { cut, measureWidth } from "../../terminal/text-width.ts";
import type { ReportFlags } from "../flags/bulk.ts";
import { isChange } from "./words.ts";

export interface PlanFlags extends ReportFlags {
  plan?: string;
  show?: number;
}

/** What is shown of a plan: more is slow to open, and nobody reads it. */
export const maxChangesShown = 1000;
export const maxRejectsShown = 100;

/** A plan as far as it is shown. */
export interface SeenPlan extends Pick<ClosedPlan, "head" | "creations"> {
  /** The first ones. */
  changes: PlanLine[];
  rejects: PlanLine[];
  /** Contacts that it writes. */
  writes: number;
}

export interface PlanOutput {
  /** Takes the plan once it is closed. Undefined where it is neither written nor shown. */
  take?(plan: ClosedPlan): Promise<void>;
  /** The plan that was taken. */
  seen(): SeenPlan | undefined;
  /** The first changes, and how to see the others; for stderr. */
  lines(): string[];
  /** Says what the file holds, so that it can be applied. */
  note(): string | undefined;
  /** Leaves an earlier file of that name unchanged. */
  discard(): Promise<void>;
}

/** More of them are better read in a file. */
const maxLinesOnRequest = 200;
const defaultLinesShown = 10;

/** @throws UsageError when the file cannot be written, or when both the plan and the summary want stdout */
export async function openPlanOutput(
  context: Context,
  { plan: file, show, report }: PlanFlags,
  isDryRun: boolean,
): Promise<PlanOutput> {
  const { terminal } = context;
  if (file === "-" && isJson(context.output().format)) {
    throw usageError(
      "--plan - and --json both write to stdout",
      "Write the plan to a file: --plan plan.ndjson",
    );
  }
  const maxShown = show ?? (isDryRun && terminal.isStderrTerminal ? defaultLinesShown : 0);
  const output = file === undefined ? undefined : await openPlanFile(context, file);
  let seen: SeenPlan | undefined;
  let digest: string | undefined;
  const isNeeded = output !== undefined || maxShown > 0 || (report !== undefined && isDryRun);
  return {
    take: isNeeded
      ? async (plan) => {
          const { exportPlan } = await import("../../bulk/index.ts");
          const taking: SeenPlan = { ...plan, changes: [], rejects: [], writes: 0 };
          digest = await exportPlan(plan, output?.write, (line) => {
            if (isChange(line) && taking.writes++ < maxChangesShown) taking.changes.push(line);
            if (line.action === "reject" && taking.rejects.length < maxRejectsShown)
              taking.rejects.push(line);
          });
          await output?.commit();
          seen = taking;
        }
      : undefined,
    seen: () => seen,
    note: () =>
      seen && file !== undefined && file !== "-"
        ? `Plan: ${formatCount(seen.writes)} to write, ${digest}`
        : undefined,
    lines() {
      const shown = seen?.changes.slice(0, maxShown) ?? [];
      if (!seen || shown.length === 0) return [];
      const howToSee =
        seen.writes <= maxLinesOnRequest
          ? `--show ${seen.writes}, or --plan plan.ndjson`
          : "--plan plan.ndjson";
      const more = seen.writes - shown.length;
      return [
        ...drawDifference(terminal, shown),
        ...(more > 0 ? [`  … ${formatCount(more)} more: ${howToSee}`] : []),
        ...(goesIntoNoList(seen) ? ["  In no list: --list NAME adds them to one"] : []),
      ];
    },
    discard: async () => (seen ? undefined : output?.discard()),
  };
}

async function openPlanFile({ files, terminal }: Context, plan: string): Promise<Sink> {
  if (plan === "-") return openOutput(terminal, { format: "ndjson" });
  requireFileFormat(plan, "ndjson", "--plan");
  files.writes(plan, "--plan");
  return openFileOutput(plan, { flag: "--plan" });
}

// A plan for people.

/** Keys are aligned up to this width. */
const maxKeyWidth = 40;
const minRoom = 20;

/**
 * One line for each contact: `~ ada@example.com  City  London → Paris   + tag VIP`. The key is never cut.
 * @param stream that it is for
 */
export function drawDifference(
  terminal: Terminal,
  plan: readonly PlanLine[],
  stream: "out" | "err" = "err",
): string[] {
  const { green, red, yellow } = createStyle(terminal.isColored[stream]);
  const marks: Record<string, string> = { create: green("+"), delete: red("-") };
  const columns = stream === "out" ? terminal.columns : terminal.stderrColumns;
  const widths = plan.map(({ key }) => measureWidth(escapeControls(key)));
  const keyWidth = Math.min(Math.max(...widths), maxKeyWidth);
  return plan.map((line, at) => {
    const key = escapeControls(line.key) + " ".repeat(Math.max(0, keyWidth - widths[at]!));
    const room = Math.max(minRoom, columns - 6 - Math.max(keyWidth, widths[at]!));
    const separator = line.action === "create" ? ", " : "   ";
    const what = cut(escapeControls(formatChanges(line).join(separator)), room);
    return `  ${marks[line.action] ?? yellow("~")} ${key}  ${what}`.trimEnd();
  });
}

/** `City  London → Paris`, `+ tag VIP`; of a contact that is created `City Paris`, `tag VIP`. */
export function formatChanges({ action, changes }: PlanLine): string[] {
  return changes.map(action === "create" ? formatValue : formatChange);
}

function formatValue({ what, name, after }: PlanChange): string {
  return what === "field" ? `${name} ${after}` : `${what} ${name}`;
}

function formatChange({ what, name, before, after }: PlanChange): string {
  if (typeof after === "boolean") return `${after ? "+" : "-"} ${what} ${name}`;
  const was = before === null ? "" : `${before || "(empty)"} → `;
  return `${what === "status" ? "Status" : name}  ${was}${after || "(empty)"}`;
}

/** Neither the command nor the file names a list for the contacts of an import: it is easily forgotten. */
export function goesIntoNoList({ head, creations }: Pick<ClosedPlan, "head" | "creations">): boolean {
  const hasNewList = creations.some(({ what }) => what === "list");
  return head.kind === "import" && Object.keys(head.names.lists).length === 0 && !hasNewList;
}
