import type { Command } from "@commander-js/extra-typings";
import type { RunView, StoredRun } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { isForPeople } from "../../terminal/format.ts";
import { fitMessage } from "../../terminal/message-lines.ts";
import { requireReportFlags } from "../flags/bulk.ts";
import { type OptionsOf, writtenFileOption } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents, type Result } from "../output/presents.ts";
import { findNamedRun, requireRun, runForPeople, storyLines, wholeRun } from "./shared.ts";

type RunsShowFlags = OptionsOf<typeof declareShow>;

function declareShow(parent: Command) {
  return parent
    .command("show")
    .description("show one run and its progress")
    .argument("[run]", "its id, the start of it, or last")
    .option("--changes", "show what it did to each contact, as the lines of a plan")
    .addOption(
      writtenFileOption(
        "--report <file>",
        "write a page (HTML) about the run to FILE, in place of showing it",
      ),
    )
    .option("--redact", "hide addresses and values in the report");
}

export function registerRunsShow(parent: Command, context: Context): void {
  const showing = describeCommand(declareShow(parent), {
    examples: [
      "ecm runs show last",
      "ecm runs show last --json",
      "ecm runs show last --changes",
      "ecm runs show last --report run.html",
    ],
    output:
      "The run; with -o json one object. With --changes one JSON line per contact; at a terminal a diff.",
    isLocal: true,
    exitCodes: { 5: "no such run" },
  });
  showing.action(presents(context, {}, (run, flags) => showRun(context, run, flags)));
}

async function showRun(
  context: Context,
  typedRun: string | undefined,
  flags: RunsShowFlags,
): Promise<Result<RunView> | undefined> {
  requireReportFlags(flags);
  const idOrLast = await requireRun(context, typedRun, "show");
  const { viewRun } = await import("../../bulk/index.ts");
  const run = await findNamedRun(context, idOrLast);
  if (flags.changes) {
    await showChanges(context, run);
    return undefined;
  }
  if (flags.report !== undefined) {
    const { writeRunReport } = await import("../bulk/report.ts");
    await writeRunReport(context, run, flags);
    return undefined;
  }
  const view = await viewRun(run);
  if (view.damage !== null)
    context.terminal.warn(`The journal of run ${view.run} is damaged: ${view.damage}`);
  const output = context.output();
  const isRead = isForPeople(output) && context.terminal.isStdoutTerminal;
  if (!isRead) return { one: view, view: wholeRun };
  const last = async () => {
    const lines = await storyLines(context, run, view);
    await context.terminal.write(`\n${fitMessage(lines.join("\n"), context.terminal.columns)}\n`);
  };
  return { one: view, view: runForPeople, last };
}

async function showChanges(context: Context, run: StoredRun): Promise<void> {
  const { terminal } = context;
  const [{ readingsOf }, { drawDifference }] = await Promise.all([
    import("../../bulk/index.ts"),
    import("../bulk/plan.ts"),
  ]);
  const lines = await readingsOf(run).changes();
  if (lines.length === 0) return terminal.note(`Run ${run.manifest.id} changed nothing.`);
  if (context.output().format === "table")
    return terminal.write(`${drawDifference(terminal, lines, "out").join("\n")}\n`);
  for (const line of lines) await terminal.write(`${JSON.stringify(line)}\n`);
}
