import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { EcmError, exitCodes } from "../../errors.ts";
import type { StructureEdit } from "../../service/structure-edit.ts";
import type { StructurePlan } from "../../service/structure-plan.ts";
import { shellArguments } from "../../shell-word.ts";
import { addDryRunFlag } from "../flags.ts";
import { describeCommand } from "../help-text.ts";
import { describeChange, readStructureFile } from "./changes.ts";
import { lossOf } from "./losses.ts";
import { runEdit, wholeStructure } from "./show.ts";

interface StructureApplyOptions {
  prune?: boolean;
  dryRun?: boolean;
}

export function registerStructureApply(parent: Command, context: Context): void {
  const command = parent
    .command("apply")
    .description("change a structure to match a file, in one update")
    .argument("<file>", "a file as `structure pull` writes it; - for standard input")
    .option("--prune", "remove what is only in the account; contacts lose those values and tags (asks first)")
    .action((file: string, options: StructureApplyOptions) => runStructureApply(context, file, options));
  describeCommand(addDryRunFlag(command), {
    examples: ["ecm structure apply structure.yaml", "ecm structure apply structure.yaml --prune --yes"],
    output: "The updated structure; the changes on stderr, or `unchanged`.",
    writes: true,
    asks: "With --prune, where fields or tags go",
  });
}

async function runStructureApply(
  context: Context,
  file: string,
  options: StructureApplyOptions,
): Promise<void> {
  const wanted = await readStructureFile(context, file);
  const { planStructure, removalsOf } = await import("../../service/structure-plan.ts");
  const connection = await context.connect();
  const structure = await wholeStructure(connection.account);
  const isPruning = options.prune ?? false;
  const plan = planStructure(structure, wanted, isPruning);
  for (const change of plan.changes) context.terminal.note(describeChange(change));
  const removals = removalsOf(plan);
  if (removals.length > 0 && !options.dryRun) {
    await context.confirm(async () => {
      const parts: string[] = [];
      for (const each of removals) {
        const loss = await lossOf(connection, structure, each.part);
        parts.push(`Remove the ${each.part} ${JSON.stringify(each.label)}? ${loss}`);
      }
      return parts.join(" ");
    });
  }
  // Planned again on fresh state after a concurrent change; what was not confirmed is not removed then.
  const agreed = new Set(removals.map(({ _id }) => _id));
  const edit: StructureEdit = (current) => {
    const next: StructurePlan = current === structure ? plan : planStructure(current, wanted, isPruning);
    const surprise = removalsOf(next).find(({ _id }) => !agreed.has(_id));
    if (!surprise) return next.body;
    throw new EcmError(
      exitCodes.conflict,
      `The ${surprise.part} ${JSON.stringify(surprise.label)} was added in the meantime`,
      {
        type: "ConcurrencyError",
        hint: `See it with: ecm structure diff --prune ${shellArguments(file)}; then apply again`,
        applied: "no",
      },
    );
  };
  await runEdit(context, edit, { dryRun: options.dryRun, structure, isSaid: true });
}
