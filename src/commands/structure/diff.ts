import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { exitCodes } from "../../errors.ts";
import { planStructure } from "../../structure/changes.ts";
import { formatChanges } from "../output/change-lines.ts";
import { verb } from "../verb.ts";
import { describeChange, readStructureFile, readWholeStructure, tagsLeftOut } from "./shared.ts";

export function registerStructureDiff(parent: Command, context: Context): void {
  const command = parent
    .command("diff")
    .description("show what `structure apply` would do")
    .argument("<file>", "a file as `structure pull` writes it; - for standard input")
    .option("--exit-code", "exit 9 when something differs")
    .option("--prune", "as apply --prune: also show what would be removed");
  verb(context, command, {
    examples: ["ecm structure diff structure.yaml", "ecm structure diff structure.yaml --exit-code --json"],
    output: "One line per difference; in JSON formats an array of changes.",
    exitCodes: { 9: "with --exit-code: something differs" },
    async run(file, { exitCode, prune = false }) {
      const structureSpec = await readStructureFile(context, file);
      const structure = await readWholeStructure(context);
      // A file without tags says nothing of them, so that nothing of them has to be known.
      const isWithoutTags = structure.tags === undefined && structureSpec.tags === undefined;
      if (isWithoutTags) context.terminal.warn(tagsLeftOut);
      const compared = isWithoutTags ? { ...structure, tags: [] } : structure;
      const { changes } = planStructure(compared, structureSpec, prune);
      const text = formatChanges(context.terminal, changes.map(describeChange));
      if (exitCode && changes.length > 0) context.endWith(exitCodes.differs);
      return { value: changes, text, note: changes.length === 0 ? "No differences" : undefined };
    },
  });
}
