import { type Command, Option } from "@commander-js/extra-typings";
import { createListRequest, readList, requireFreeListName } from "../../api/lists.ts";
import { findByName } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { EcmError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { ensureLists } from "../../service/create-lists.ts";
import type { ContactList } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { requireTextOrAsk } from "../flags/questions.ts";
import { describeCommand } from "../help/help-text.ts";
import { presents } from "../output/presents.ts";
import { listView } from "./shared.ts";

const missingName = { question: "Name of the list", what: "the list's name", usage: ecm`lists create NAME` };

export function registerListsCreate(parent: Command, context: Context): void {
  const command = parent
    .command("create")
    .description("create a list")
    .argument("[name]", "the list's name")
    .option("--if-missing", "if a list with this name exists, print it instead of failing")
    .addOption(
      new Option("--allow-duplicate", "create another list with a name that exists").conflicts("ifMissing"),
    );
  const creating = describeCommand(addDryRunFlag(command), {
    examples: ["ecm lists create Newsletter", "ecm lists create Newsletter --if-missing -o id"],
    output: "The list; in JSON formats the service's answer unchanged.",
    writes: true,
    exitCodes: { 6: "a list with this name exists (ignoring case); nothing was created" },
  });
  creating.action(
    presents(context, { view: listView }, async (typedName, { ifMissing, allowDuplicate, dryRun }) => {
      const name = await requireTextOrAsk(context, typedName, missingName);
      const { send, account } = await context.connect();
      const structure = await account.structure();
      const request = createListRequest(structure._id, name);
      if (dryRun) {
        const lists = allowDuplicate ? [] : await account.lists(structure);
        const existing = findExisting(lists, name, ifMissing);
        if (existing) return unchanged(existing);
        return { request, would: `create the list ${JSON.stringify(name)}` };
      }
      if (allowDuplicate) return toResult(name, readList(await send(request)));
      const { lists, created } = await ensureLists(send, account, structure, [name]);
      const list = lists.get(name)!;
      return created.has(name) ? toResult(name, list) : unchanged(findExisting([list], name, ifMissing)!);
    }),
  );

  function unchanged(list: ContactList) {
    context.terminal.note("unchanged: a list with this name exists");
    return { one: list };
  }
}

/** The specification shows only `_id` in this answer; a person wants to see the name as well. */
function toResult(name: string, list: ContactList) {
  return { one: list, known: { ...list, name: list.name ?? name } };
}

/** @throws EcmError (exit 6) unless an existing list will do */
function findExisting(
  lists: readonly ContactList[],
  name: string,
  isEnough = false,
): ContactList | undefined {
  const existing = isEnough ? findByName(name, lists, (list) => list.name, "list") : undefined;
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
