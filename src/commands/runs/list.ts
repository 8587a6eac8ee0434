import { type Command, Option } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { createRunsView, readRuns } from "./shared.ts";

export function registerRunsList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the bulk runs of this machine, newest first")
    .addOption(new Option("--own", "only those of the account in use").hideHelp());
  verb(context, addOutputFileFlags(command), {
    examples: ["ecm runs list", "ecm runs list --json"],
    output: "One row per run; with -o json an array.",
    isLocal: true,
    async run({ own, ...file }) {
      const { viewRun } = await import("../../bulk/index.ts");
      // An account is an address, reached through a profile.
      const { accountAddress, name } = own ? await context.profile() : {};
      const runs = (await readRuns(context)).filter(
        ({ manifest: { account } }) =>
          !own || (account.baseUrl === accountAddress && account.profile === name?.value),
      );
      const view = createRunsView(context.output(file).format === "table");
      return { many: await Promise.all(runs.map(viewRun)), view };
    },
  });
}
