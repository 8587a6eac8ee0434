import { type Command, Option } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { presentList } from "../../terminal/present.ts";
import { describeCommand } from "../shared/help-text.ts";
import { type RunRow, rowsForPeople, rowsForScripts } from "./shared/views.ts";

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
  const { listRuns, viewRun, undoneRuns } = await import("../../bulk/index.ts");
  const views: RunRow[] = [];
  const runs = await listRuns(context.folders.state, ({ message }) => context.terminal.warn(message));
  const { baseUrl, name } = isOwn ? await context.profile() : {};
  const undone = undoneRuns(runs.map(({ manifest }) => manifest));
  for (const run of runs) {
    const { account } = run.manifest;
    const isListed = !isOwn || (account.baseUrl === baseUrl?.value && account.profile === name?.value);
    if (isListed) views.push({ ...(await viewRun(run)), undone: undone.get(run.manifest.id) ?? null });
  }
  const output = context.output();
  await presentList(
    context.terminal,
    output,
    views,
    output.format === "table" ? rowsForPeople : rowsForScripts,
  );
}
