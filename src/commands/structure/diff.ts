import type { Command } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { exitCodes } from "../../errors.ts";
import { presentValue } from "../../terminal/present.ts";
import { showsChanges } from "../shared/change-lines.ts";
import { describeCommand } from "../shared/help-text.ts";
import { describeChange, presentStructureChanges, readStructureFile, tagsLeftOut } from "./shared/changes.ts";
import { readWholeStructure } from "./show.ts";

interface StructureDiffOptions extends OutputFileFlags {
  exitCode?: boolean;
  prune?: boolean;
}

export function registerStructureDiff(parent: Command, context: Context): void {
  const command = parent
    .command("diff")
    .description("show what `structure apply` would do")
    .argument("<file>", "a file as `structure pull` writes it; - for standard input")
    .option("--exit-code", "exit 9 when something differs")
    .option("--prune", "as apply --prune: also show what would be removed")
    .action((file: string, options: StructureDiffOptions) => runStructureDiff(context, file, options));
  describeCommand(command, {
    examples: ["ecm structure diff structure.yaml", "ecm structure diff structure.yaml --exit-code --json"],
    output: "One line per difference; in JSON formats an array of changes.",
    exitCodes: { 9: "with --exit-code: something differs" },
  });
}

async function runStructureDiff(
  context: Context,
  file: string,
  options: StructureDiffOptions,
): Promise<void> {
  const structureSpec = await readStructureFile(context, file);
  const { planStructure } = await import("../../structure/changes.ts");
  const { account } = await context.connect();
  const structure = await readWholeStructure(account);
  // A file without tags says nothing of them, so that nothing of them has to be known.
  const isWithoutTags = structure.tags === undefined && structureSpec.tags === undefined;
  if (isWithoutTags) context.terminal.warn(tagsLeftOut);
  const compared = isWithoutTags ? { ...structure, tags: [] } : structure;
  const { changes } = planStructure(compared, structureSpec, options.prune ?? false);
  const output = context.output();
  const isShown = changes.length > 0 && showsChanges(context.terminal, output);
  if (isShown) await presentStructureChanges(context, changes);
  else await presentValue(context.terminal, output, changes, changes.map(describeChange).join("\n"));
  if (changes.length === 0) context.terminal.note("No differences");
  else if (options.exitCode) context.endWith(exitCodes.differs);
}
