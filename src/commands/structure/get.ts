import type { Command } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { checkColumns } from "../../terminal/present.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { structureView } from "./shared/view.ts";
import { readWholeStructure, showStructure } from "./show.ts";

export function registerStructureGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one structure with its fields and tags")
    .argument("[structure]", "its label or id (default: the one in use)")
    .action((nameOrId: string | undefined, options: OutputFileFlags) =>
      runStructureGet(context, nameOrId, options),
    );
  describeCommand(addOutputFileFlags(command), {
    examples: ["ecm structure get", "ecm structure get Default --json"],
    output: "The structure; in JSON formats the service's own object.",
  });
}

async function runStructureGet(
  context: Context,
  nameOrId: string | undefined,
  options: OutputFileFlags,
): Promise<void> {
  checkColumns(context.output(options), structureView);
  const { account } = await context.connect();
  await showStructure(context, await readWholeStructure(account, nameOrId), options);
}
