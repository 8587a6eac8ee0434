/** `rename` and `remove` of `ecm structure field` and `ecm structure tag`: the same for both. */
import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../../context.ts";
import { ecm, type Hint } from "../../../hint.ts";
import type { Account } from "../../../service/account.ts";
import type { Part } from "../../../structure/changes.ts";
import { removePart, renamePart, type StructureEdit } from "../../../structure/edit.ts";
import type { ContactStructure, TagDefinition } from "../../../wire.ts";
import { addDryRunFlag } from "../../flags/flags.ts";
import { requireChoice, requireTextOrAsk, toChoices } from "../../flags/questions.ts";
import { describeCommand } from "../../help/help-text.ts";
import { presents, type Result } from "../../output/presents.ts";
import { editStructure, readWholeStructure } from "../show.ts";
import { formatRemovalQuestion } from "./losses.ts";
import { structureView } from "./view.ts";

/** What every command on a field or a tag prints. */
export const editOutput = "The updated structure, or at a terminal what changed (old → new).";

export interface PartCommands {
  part: Part;
  /** What becomes of contacts. */
  onRename: string;
  onRemove: string;
  /** A label and a new one, for the examples; a label that is removed. */
  exampleRename: string;
  exampleRemove: string;
  /** Those that a person can choose from. */
  list(account: Account): Promise<readonly TagDefinition[]>;
  resolve(structure: ContactStructure, nameOrId: string): TagDefinition;
}

export function registerRenameAndRemove(group: Command, context: Context, commands: PartCommands): void {
  const { part } = commands;
  const rename = group
    .command("rename")
    .description(`rename a ${part}; ${commands.onRename}`)
    .argument(`[${part}]`, "its label or id")
    .argument("[label]", "the new label");
  const renaming = describeCommand(addDryRunFlag(rename), {
    examples: [`ecm structure ${part} rename ${commands.exampleRename}`],
    output: editOutput,
    writes: true,
    exitCodes: { 6: `another ${part} has this label, or others keep changing the structure` },
  });
  renaming.action(
    presents(context, { view: structureView }, (name, label, { dryRun }) =>
      renameNamed(context, commands, { name, label }, dryRun),
    ),
  );

  const remove = group
    .command("remove")
    .description(`remove a ${part}; ${commands.onRemove} (asks first)`)
    .argument(`[${part}]`, "its label or id");
  const example = `ecm structure ${part} remove ${commands.exampleRemove}`;
  const removing = describeCommand(addDryRunFlag(remove), {
    examples: [example, `${example} --yes`],
    output: editOutput,
    writes: true,
    asks: true,
  });
  removing.action(
    presents(context, { view: structureView }, (name, { dryRun }) =>
      removeNamed(context, commands, name, dryRun),
    ),
  );
}

async function renameNamed(
  context: Context,
  commands: PartCommands,
  typed: { name?: string; label?: string },
  dryRun?: boolean,
): Promise<Result<ContactStructure>> {
  const { part, resolve } = commands;
  const usage = ecm`structure ${part} rename ${part.toUpperCase()} LABEL`;
  const nameOrId = await requirePart(context, commands, typed.name, { verb: "rename", usage });
  const missing = { question: "New label", what: "the new label", usage };
  const label = await requireTextOrAsk(context, typed.label, missing);
  // Planned again after somebody else's change, it is the one that was meant at first, whatever it is called
  // by then.
  let id: string | undefined;
  const edit: StructureEdit = (structure) => {
    id ??= resolve(structure, nameOrId)._id;
    return renamePart(structure, part, id, label);
  };
  return editStructure(context, edit, { dryRun });
}

async function removeNamed(
  context: Context,
  commands: PartCommands,
  typedName: string | undefined,
  dryRun?: boolean,
): Promise<Result<ContactStructure>> {
  const { part, resolve } = commands;
  const usage = ecm`structure ${part} remove ${part.toUpperCase()}`;
  const nameOrId = await requirePart(context, commands, typedName, { verb: "remove", usage });
  if (!dryRun) context.requireConfirmable();
  const connection = await context.connect();
  const structure = await readWholeStructure(connection.account);
  const { _id, label } = resolve(structure, nameOrId);
  if (!dryRun) {
    await context.confirm(() => formatRemovalQuestion(connection, structure, [{ part, label }]));
  }
  return editStructure(context, (current) => removePart(current, part, _id), { dryRun, structure });
}

function requirePart(
  context: Context,
  { part, list }: PartCommands,
  typedName: string | undefined,
  { verb, usage }: { verb: string; usage: Hint },
): Promise<string> {
  const question = `${part === "field" ? "Field" : "Tag"} to ${verb}`;
  return requireChoice(context, typedName, { question, what: `the ${part}`, usage }, async () => {
    const { account } = await context.connect();
    return toChoices(await list(account), ({ label }) => label);
  });
}
