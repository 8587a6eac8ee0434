import { type Command, Option } from "commander";
import type { RunView } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { presentList, type View } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";

/** How runs look to people. */
export const runView: View<RunView> = {
  columns: [
    { name: "run", value: (run) => run.run, isWhole: true },
    { name: "kind", value: (run) => run.kind },
    { name: "status", value: (run) => run.status },
    { name: "file", value: (run) => run.file },
    { name: "started", value: (run) => run.startedAt, isTime: true },
    { name: "done", value: (run) => run.done },
    { name: "rejected", value: (run) => run.rows?.rejected },
    { name: "pending", value: (run) => run.rows?.pending, isAside: true },
    { name: "stopped by", value: (run) => run.stoppedBy, optional: true },
    { name: "resumable", value: (run) => run.resumableAt, isTime: true, optional: true },
    { name: "base address", value: (run) => run.baseUrl, optional: true },
    { name: "folder", value: (run) => run.folder, optional: true },
  ],
  id: (run) => run.run,
  empty: "No runs yet. Start one with: ecm import FILE",
};

export function registerRunsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the bulk runs of this machine, newest first")
    .addOption(new Option("--own", "only those of the account in use").hideHelp())
    .action(({ own }: { own?: boolean }) => runRunsList(context, own));
  describeCommand(command, {
    examples: ["ecm runs list", "ecm runs list --json"],
    output: "One row per run; with -o json an array.",
    isLocal: true,
  });
}

/** @param isOwn of this account only: of its address, through the same profile */
async function runRunsList(context: Context, isOwn = false): Promise<void> {
  const { listRuns, viewRun } = await import("../../bulk/index.ts");
  const views: RunView[] = [];
  const runs = await listRuns(context.folders.state, ({ message }) => context.terminal.warn(message));
  const { baseUrl, name } = isOwn ? await context.profile() : {};
  for (const run of runs) {
    const { account } = run.manifest;
    const isListed = !isOwn || (account.baseUrl === baseUrl?.value && account.profile === name?.value);
    if (isListed) views.push(await viewRun(run));
  }
  await presentList(context.terminal, context.output(), views, runView);
}
