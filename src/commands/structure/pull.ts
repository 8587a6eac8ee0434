import type { Command } from "commander";
import type { Context, OutputFileFlags } from "../../context.ts";
import { presentValue } from "../../terminal/present.ts";
import { addFileFlag } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { wholeStructure } from "./show.ts";

export function registerStructurePull(parent: Command, context: Context): void {
  const command = parent
    .command("pull")
    .description("write a structure as a YAML file for version control")
    .argument("[structure]", "its label or id (default: the one in use)");
  addFileFlag(command).action((named: string | undefined, options: OutputFileFlags) =>
    runStructurePull(context, named, options),
  );
  describeCommand(command, {
    examples: ["ecm structure pull > structure.yaml", "ecm structure pull --output-file structure.yaml"],
    output: "YAML with the label, the key's name, fields and tags; in JSON formats the same as JSON.",
  });
}

async function runStructurePull(
  context: Context,
  named: string | undefined,
  options: OutputFileFlags,
): Promise<void> {
  const output = context.output(options, undefined, "yaml");
  const { formatStructureFile, wantedFrom } = await import("../../service/structure-file.ts");
  const { account } = await context.connect();
  const structure = await wholeStructure(account, named);
  if (!structure.tags)
    context.terminal.warn("The service did not say which tags there are; tags are left out");
  const wanted = wantedFrom(structure);
  await presentValue(context.terminal, output, wanted, formatStructureFile(wanted));
}
