import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { conflictError, usageError } from "../../errors.ts";
import { advise, ecm, quoteShellWord, toOperands } from "../../hint.ts";
import { isSamePlan, listRemovals, planStructure } from "../../structure/changes.ts";
import type { StructureEdit } from "../../structure/edit.ts";
import type { StructureSpec } from "../../structure/file.ts";
import type { ContactStructure } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { type Result, verb } from "../verb.ts";
import {
  describeChange,
  editStructure,
  formatRemovalQuestion,
  readStructureFile,
  readWholeStructure,
  structureView,
} from "./shared.ts";

export function registerStructureApply(parent: Command, context: Context): void {
  const command = parent
    .command("apply")
    .description("change a structure to match a file, in one update")
    .argument("<file>", "a file as `structure pull` writes it; - for standard input")
    .option(
      "--prune",
      "remove what is only in the account; contacts lose those values and tags (asks first)",
    );
  verb(context, addDryRunFlag(command), {
    examples: ["ecm structure apply structure.yaml", "ecm structure apply structure.yaml --prune --yes"],
    output: "The updated structure; the changes on stderr, or `unchanged`.",
    writes: true,
    exitCodes: { 6: "others changed the structure so that the plan is another now; nothing was written" },
    asks: "With --prune, where fields or tags go",
    view: structureView,
    run: (file, options) => applyStructure(context, file, options),
  });
}

async function applyStructure(
  context: Context,
  file: string,
  { prune: isPruning = false, dryRun = false }: { prune?: boolean; dryRun?: boolean },
): Promise<Result<ContactStructure>> {
  const structureSpec = await readStructureFile(context, file);
  const structure = await readWholeStructure(context);
  const plan = planStructure(structure, structureSpec, isPruning);
  // A dry run says itself what it would change.
  for (const change of plan.changes)
    if (!dryRun || change.action === "keep") context.terminal.note(describeChange(change));
  const other = describeOther(structure, structureSpec);
  const removals = listRemovals(plan);
  if (!dryRun && (other !== undefined || removals.length > 0)) {
    const { id, label } = structureSpec;
    if (other !== undefined && !context.settings.yes && !context.prompter())
      throw usageError(
        other,
        `Choose its structure with --structure ${quoteShellWord(id ?? label!)}, or confirm with --yes`,
      );
    await context.confirm(async () => {
      const losses = removals.length > 0 ? await formatRemovalQuestion(context, structure, removals) : "";
      return [other && `${other}. Apply it all the same?`, losses].filter(Boolean).join(" ");
    });
  }
  // What others changed meanwhile is taken along, but only what was said is done.
  const edit: StructureEdit = (now) => {
    if (now === structure) return plan.body;
    const next = planStructure(now, structureSpec, isPruning);
    if (isSamePlan(plan, next)) return next.body;
    throw conflictError(
      "The structure was changed in the meantime, so that the plan is another now; nothing was written",
      advise`See it with: ${ecm`structure diff ${isPruning ? ["--prune"] : []} ${toOperands(file)}`}; then apply again`,
      { type: "ConcurrencyError", applied: "no" },
    );
  };
  return editStructure(context, structure, edit, { dryRun, isAsked: true, isAnnounced: true });
}

/** A file of one structure applied to another would give that one its label. */
function describeOther(structure: ContactStructure, { id, label }: StructureSpec): string | undefined {
  const isOther = id === undefined ? (label ?? structure.label) !== structure.label : id !== structure._id;
  if (!isOther) return undefined;
  return `This is the file of the structure ${JSON.stringify(label ?? id)}, not of ${JSON.stringify(structure.label)}`;
}
