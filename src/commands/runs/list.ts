import { type Command, Option } from "@commander-js/extra-typings";
import type { RunView } from "../../bulk/index.ts";
import type { Context } from "../../context.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents } from "../output/presents.ts";
import { rowsForPeople, rowsForScripts } from "./shared.ts";

export function registerRunsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the bulk runs of this machine, newest first")
    .addOption(new Option("--own", "only those of the account in use").hideHelp());
  describeCommand(command, {
    examples: ["ecm runs list", "ecm runs list --json"],
    output: "One row per run; with -o json an array.",
    isLocal: true,
  });
  command.action(
    presents(context, {}, async ({ own }) => {
      const { listRuns, viewRun } = await import("../../bulk/index.ts");
      const runs = await listRuns(context.folders.state, ({ message }) => context.terminal.warn(message));
      // Of this account only: of its address, through the same profile.
      const { baseUrl, name } = own ? await context.profile() : {};
      const views: RunView[] = [];
      for (const run of runs) {
        const { account } = run.manifest;
        const isListed = !own || (account.baseUrl === baseUrl?.value && account.profile === name?.value);
        if (isListed) views.push(await viewRun(run));
      }
      return { many: views, view: context.output().format === "table" ? rowsForPeople : rowsForScripts };
    }),
  );
}
