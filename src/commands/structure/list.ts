import type { Command } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { advise, ecm } from "../../hint.ts";
import { checkColumns, presentList } from "../../terminal/present.ts";
import { formatForAccount } from "../shared/command-line.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { structureView } from "./shared/view.ts";

export function registerStructureList(parent: Command, context: Context): void {
  const command = parent
    .command("list")
    .description("list the account's contact structures")
    .action((options: OutputFileFlags) => runStructureList(context, options));
  describeCommand(addOutputFileFlags(command), {
    examples: ["ecm structure list", "ecm structure list --json"],
    output: "One row per structure; in JSON formats the service's own objects.",
  });
}

async function runStructureList(context: Context, options: OutputFileFlags): Promise<void> {
  const output = context.output(options);
  checkColumns(output, structureView);
  const { account } = await context.connect();
  const structures = await account.structures();
  await presentList(context.terminal, output, structures, structureView);
  if (structures.some(({ tags }) => tags === undefined))
    context.terminal.note(
      formatForAccount(
        advise`The list of structures does not tell the tags; see them with: ${ecm`structure get`}`,
        context.settings,
      ),
    );
}
