import { type Command, Option } from "@commander-js/extra-typings";
import { createListRequest, readList, requireFreeListName } from "../../api/lists.ts";
import { findByName } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { EcmError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { ensureLists } from "../../service/create-names.ts";
import { explainDryRun } from "../../terminal/dry-run.ts";
import { checkColumns, hasColumns, presentOne } from "../../terminal/present.ts";
import type { ContactList } from "../../wire.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireTextOrAsk } from "../shared/questions.ts";
import { listView } from "./shared/view.ts";

interface ListsCreateOptions {
  ifMissing?: boolean;
  allowDuplicate?: boolean;
  dryRun?: boolean;
}

export function registerListsCreate(parent: Command, context: Context): void {
  const command = parent
    .command("create")
    .description("create a list")
    .argument("[name]", "the list's name")
    .option("--if-missing", "if a list with this name exists, print it instead of failing")
    .addOption(
      new Option("--allow-duplicate", "create another list with a name that exists").conflicts("ifMissing"),
    )
    .action((name: string | undefined, options: ListsCreateOptions) =>
      runListsCreate(context, name, options),
    );
  describeCommand(addDryRunFlag(command), {
    examples: ["ecm lists create Newsletter", "ecm lists create Newsletter --if-missing -o id"],
    output: "The list; in JSON formats the service's answer unchanged.",
    writes: true,
    exitCodes: { 6: "a list with this name exists (ignoring case); nothing was created" },
  });
}

const missingName = { question: "Name of the list", what: "the list's name", usage: ecm`lists create NAME` };

async function runListsCreate(
  context: Context,
  typedName: string | undefined,
  options: ListsCreateOptions,
): Promise<void> {
  const name = await requireTextOrAsk(context, typedName, missingName);
  const { terminal } = context;
  const output = context.output();
  checkColumns(output, listView);
  const { send, account } = await context.connect();
  const structure = await account.structure();
  const request = createListRequest(structure._id, name);
  if (options.dryRun) {
    const existing = options.allowDuplicate
      ? undefined
      : findExisting(await account.lists(structure), name, options);
    if (existing) return presentUnchanged(context, existing);
    return explainDryRun(terminal, output, `create the list ${JSON.stringify(name)}`, request);
  }
  if (options.allowDuplicate) return present(context, name, readList(await send(request)));
  const { lists, created } = await ensureLists(send, account, structure, [name]);
  const list = lists.get(name)!;
  if (created.has(name)) return present(context, name, list);
  await presentUnchanged(context, findExisting([list], name, options)!);
}

/** The specification shows only `_id` in this answer; a person wants to see the name as well. */
function present(context: Context, name: string, list: ContactList): Promise<void> {
  const output = context.output();
  const listWithName: ContactList = !hasColumns(output) ? list : { ...list, name: list.name ?? name };
  return presentOne(context.terminal, output, listWithName, listView);
}

function presentUnchanged(context: Context, list: ContactList): Promise<void> {
  context.terminal.note("unchanged: a list with this name exists");
  return presentOne(context.terminal, context.output(), list, listView);
}

/** @throws EcmError (exit 6) unless an existing list will do */
function findExisting(
  lists: readonly ContactList[],
  name: string,
  { ifMissing }: ListsCreateOptions,
): ContactList | undefined {
  const existing = ifMissing ? findByName(name, lists, (list) => list.name, "list") : undefined;
  if (!existing) requireFreeName(name, lists);
  return existing;
}

function requireFreeName(name: string, lists: readonly ContactList[]): void {
  try {
    requireFreeListName(name, lists);
  } catch (error) {
    if (error instanceof EcmError) {
      error.details.hint = "--if-missing prints the existing list; --allow-duplicate creates a second one";
    }
    throw error;
  }
}
