import type { Command } from "@commander-js/extra-typings";
import { renameListRequest, requireFreeListName } from "../../api/lists.ts";
import type { Context } from "../../context.ts";
import { UnreadableAnswerError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { explainDryRun } from "../../terminal/dry-run.ts";
import { checkColumns, hasColumns, presentOne } from "../../terminal/present.ts";
import type { ContactList, ContactStructure } from "../../wire.ts";
import { presentChanges, showsChanges } from "../shared/change-lines.ts";
import { addDryRunFlag } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireTextOrAsk } from "../shared/questions.ts";
import { requireList } from "./shared/choose.ts";
import { listView } from "./shared/view.ts";

export function registerListsRename(parent: Command, context: Context): void {
  const command = parent
    .command("rename")
    .description("rename a list")
    .argument("[list]", "its name or id")
    .argument("[name]", "its new name")
    .action((list: string | undefined, name: string | undefined, options: { dryRun?: boolean }) =>
      runListsRename(context, list, name, options),
    );
  describeCommand(addDryRunFlag(command), {
    examples: ['ecm lists rename Leads "Old leads"', "ecm lists rename Leads leads-2026 --dry-run"],
    output:
      "The renamed list, or at a terminal its old and new name; in JSON formats the service's own object.",
    writes: true,
    exitCodes: { 6: "another list has this name (ignoring case); nothing was changed" },
  });
}

async function runListsRename(
  context: Context,
  typedList: string | undefined,
  typedName: string | undefined,
  options: { dryRun?: boolean },
): Promise<void> {
  checkColumns(context.output(), listView);
  const nameOrId = await requireList(context, typedList, "rename");
  const usage = ecm`lists rename LIST NAME`;
  const name = await requireTextOrAsk(context, typedName, {
    question: "New name",
    what: "the list's new name",
    usage,
  });
  const { account } = await context.connect();
  const structure = await account.structure();
  // Nobody gives a list this name between the look and the renaming.
  await account.creatingNames(structure._id, () => rename(context, structure, { nameOrId, name, options }));
}

async function rename(
  context: Context,
  structure: ContactStructure,
  { nameOrId, name, options }: { nameOrId: string; name: string; options: { dryRun?: boolean } },
): Promise<void> {
  const { terminal } = context;
  const output = context.output();
  const { send, account } = await context.connect();
  const list = await account.list(structure, nameOrId);
  requireFreeListName(name, await account.lists(structure), list._id);
  const request = renameListRequest(structure._id, list._id, name);
  if (list.name === name) {
    terminal.note("unchanged");
    return presentOne(terminal, output, list, listView);
  }
  if (options.dryRun) {
    const would = `rename the list ${JSON.stringify(list.name)} to ${JSON.stringify(name)}`;
    return explainDryRun(terminal, output, would, request);
  }
  const { body } = await send<Partial<ContactList> | undefined>(request).catch(findAppliedBody);
  account.forget();
  // The body of the answer is not shown; what it leaves out is known.
  if (showsChanges(terminal, output)) {
    const [before, after] = [list.name, body?.name ?? name].map((each) => JSON.stringify(each));
    return presentChanges(terminal, [{ mark: "~", text: `list ${before} → ${after}` }]);
  }
  const isList = typeof body?._id === "string";
  const renamedList = { ...list, name, ...(isList ? body : {}) };
  await presentOne(
    terminal,
    output,
    isList && !hasColumns(output) ? (body as ContactList) : renamedList,
    listView,
  );
}

/** A 2xx whose body is no JSON: the list was renamed. */
function findAppliedBody(error: unknown): { body: undefined } {
  if (error instanceof UnreadableAnswerError && error.details.applied === "yes") return { body: undefined };
  throw error;
}
