import { type Command, Option } from "@commander-js/extra-typings";
import { createListRequest, readList } from "../../api/lists.ts";
import { findByName } from "../../api/names.ts";
import type { Context } from "../../context.ts";
import { conflictError, type EcmError } from "../../errors.ts";
import { ecm } from "../../hint.ts";
import { ensureLists } from "../../service/create-lists.ts";
import type { ContactList } from "../../wire.ts";
import { addDryRunFlag } from "../flags/flags.ts";
import { requireText } from "../flags/questions.ts";
import { verb } from "../verb.ts";
import { listView } from "./shared.ts";

const missingName = { what: "Name of the list", usage: ecm`lists create NAME` };

export function registerListsCreate(parent: Command, context: Context): void {
  const command = parent
    .command("create")
    .description("create a list")
    .argument("[name]", "the list's name")
    .option("--if-missing", "if a list with this name exists, print it instead of failing")
    .addOption(
      new Option("--allow-duplicate", "create another list with a name that exists").conflicts("ifMissing"),
    );
  verb(context, addDryRunFlag(command), {
    examples: ["ecm lists create Newsletter", "ecm lists create Newsletter --if-missing -o id"],
    output: "The list; in JSON formats the service's answer unchanged.",
    writes: true,
    exitCodes: { 6: "a list with this name exists (ignoring case); nothing was created" },
    view: listView,
    async run(typedName, { ifMissing, allowDuplicate, dryRun }) {
      const name = await requireText(context, typedName, missingName);
      const { send, account } = await context.connect();
      const structure = await account.structure();
      const request = createListRequest(structure._id, name);
      const would = `create the list ${JSON.stringify(name)}`;
      // The specification shows only `_id` in this answer; a person wants to see the name as well.
      const toResult = (list: ContactList) => ({ one: list, known: { ...list, name: list.name ?? name } });
      if (allowDuplicate) return dryRun ? { request, would } : toResult(readList(await send(request)));
      let existing: ContactList | undefined;
      if (dryRun) {
        existing = findByName(name, await account.lists(structure), (list) => list.name, "list");
        if (!existing) return { request, would };
      } else {
        const { lists, created } = await ensureLists(send, account, structure, [name]);
        existing = lists.get(name)!;
        if (created.has(name)) return toResult(existing);
      }
      if (!ifMissing) throw existsError(existing);
      context.terminal.note("unchanged: a list with this name exists");
      return { one: existing };
    },
  });
}

function existsError({ name }: ContactList): EcmError {
  return conflictError(
    `A list named ${JSON.stringify(name)} already exists`,
    "--if-missing prints the existing list; --allow-duplicate creates a second one",
    { type: "DuplicateFieldError", field: "name", applied: "no" },
  );
}
