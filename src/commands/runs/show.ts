import type { Command } from "commander";
import type { RunView } from "../../bulk/runs/view.ts";
import type { Context } from "../../context.ts";
import { presentOne, type View } from "../../terminal/present.ts";
import { describeCommand } from "../help-text.ts";
import { runOr } from "./choose.ts";
import { runView } from "./list.ts";

const wholeView: View<RunView> = {
  id: runView.id,
  columns: [
    ...runView.columns.map((column) => ({ ...column, optional: false })),
    { name: "open writes", value: (run) => run.open },
    { name: "rejects file", value: (run) => run.rejects },
  ],
};

export function registerRunsShow(parent: Command, context: Context): void {
  const command = parent
    .command("show")
    .description("one run: what it is, how far it came")
    .argument("[run]", "its id, the beginning of it, or last")
    .action((run?: string) => runRunsShow(context, run));
  describeCommand(command, {
    examples: ["ecm runs show last", "ecm runs show last --json"],
    output: "the run; with -o json as one object",
    isLocal: true,
    exitCodes: { 5: "there is no such run" },
  });
}

async function runRunsShow(context: Context, given?: string): Promise<void> {
  const wanted = await runOr(context, given, "show");
  const [{ findRun }, { viewRun }] = await Promise.all([
    import("../../bulk/runs/folder.ts"),
    import("../../bulk/runs/view.ts"),
  ]);
  const view = await viewRun(await findRun(context.folders.state, wanted));
  if (view.damage !== null)
    context.terminal.warn(`the journal of run ${view.run} is damaged: ${view.damage}`);
  await presentOne(context.terminal, context.output(), view, wholeView);
}
