import type { Command } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { presentValue } from "../../terminal/present.ts";
import { addFileFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { tagsLeftOut } from "./shared/changes.ts";
import { readWholeStructure } from "./show.ts";

export function registerStructurePull(parent: Command, context: Context): void {
  const command = parent
    .command("pull")
    .description("write a structure as a YAML file for version control")
    .argument("[structure]", "its label or id (default: the one in use)");
  addFileFlag(command).action((nameOrId: string | undefined, options: OutputFileFlags) =>
    runStructurePull(context, nameOrId, options),
  );
  describeCommand(command, {
    examples: ["ecm structure pull > structure.yaml", "ecm structure pull --output-file structure.yaml"],
    output: "YAML with the label, the key's name, fields and tags; in JSON formats the same as JSON.",
  });
}

async function runStructurePull(
  context: Context,
  nameOrId: string | undefined,
  options: OutputFileFlags,
): Promise<void> {
  const output = context.output(options, undefined, "yaml");
  const { formatStructureFile, toStructureSpec } = await import("../../structure/file.ts");
  const { account } = await context.connect();
  const structure = await readWholeStructure(account, nameOrId);
  if (!structure.tags) context.terminal.warn(tagsLeftOut);
  const structureSpec = toStructureSpec(structure);
  await presentValue(context.terminal, output, structureSpec, formatStructureFile(structureSpec));
}
