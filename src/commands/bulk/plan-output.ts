/** Where the plan of a bulk run goes: `--plan FILE` or `-`, and the first changes at a terminal. */
import type { PlanLine, PlanSink } from "../../bulk/engine/plan.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { openOutput } from "../../terminal/output-file.ts";
import { drawDifference, isChange } from "./difference.ts";
import { count } from "./words.ts";

export interface PlanFlags {
  plan?: string;
  show?: number;
}

export interface PlanOutput {
  /** Undefined where nobody wants the plan. */
  sink?: PlanSink;
  /** The first changes, and how to see the others; for stderr. */
  lines(): string[];
  /** Makes the file appear. */
  commit(): Promise<void>;
  /** Leaves what stood under its name as it was. */
  discard(): Promise<void>;
}

const usuallyShown = 10;

/** @throws UsageError when the file cannot be written, or when both the plan and the summary want stdout */
export async function openPlanOutput(
  context: Context,
  { plan, show }: PlanFlags,
  isDryRun: boolean,
): Promise<PlanOutput> {
  const { terminal } = context;
  const { format } = context.output();
  if (plan === "-" && (format === "json" || format === "ndjson")) {
    throw new UsageError(
      "--plan - and --json both write to stdout",
      "Write the plan to a file: --plan plan.ndjson",
    );
  }
  const mostShown = show ?? (isDryRun && terminal.isStderrTerminal ? usuallyShown : 0);
  const output =
    plan === undefined
      ? undefined
      : await openOutput(
          terminal,
          { format: "ndjson", outputFile: plan === "-" ? undefined : plan },
          "--plan",
        );
  const shown: PlanLine[] = [];
  let changes = 0;
  let text = "";
  const flush = async () => {
    const ready = text;
    text = "";
    await output!.write(ready);
  };
  const isWanted = output !== undefined || mostShown > 0;
  return {
    sink: isWanted
      ? async (line) => {
          if (isChange(line) && changes++ < mostShown) shown.push(line);
          if (!output) return;
          text += `${JSON.stringify(line)}\n`;
          if (text.length > pieceLength) await flush();
        }
      : undefined,
    lines() {
      if (shown.length === 0) return [];
      const more = changes - shown.length;
      const further = `  … ${count(more)} more: --show ${Math.min(changes, 50)}, or --plan plan.ndjson`;
      return [...drawDifference(terminal, shown), ...(more > 0 ? [further] : [])];
    },
    async commit() {
      if (!output) return;
      await flush();
      await output.commit();
    },
    discard: async () => output?.discard(),
  };
}

/** Lines are gathered to pieces of this many characters. */
const pieceLength = 65_536;
