import type { Command } from "@commander-js/extra-typings";
import { deleteContactRequest } from "../../api/contacts.ts";
import type { Context } from "../../context.ts";
import { notFoundError } from "../../errors.ts";
import { suggestSimilar } from "../../service/find-contact.ts";
import { addBulkFlags } from "../flags/bulk.ts";
import { writtenFileOption } from "../flags/flags.ts";
import { addBulkSelectionFlags, chooseContacts } from "../selection/conditions.ts";
import { addMarkedRowsFlags } from "../selection/keys.ts";
import { resolveContact } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { editMany } from "./edit-many.ts";

export function registerContactDelete(parent: Command, context: Context): void {
  const command = parent
    .command("delete")
    .description("permanently delete contacts; they are backed up to a file first")
    .argument("[id-or-key...]", "the contact's id or key; several make a bulk run");
  const choosing = addMarkedRowsFlags(addBulkSelectionFlags(command)).addOption(
    writtenFileOption("--backup <file>", "file for the backup (default: in the run's folder)"),
  );
  verb(context, addBulkFlags(choosing, { isMutate: true }), {
    examples: [
      "ecm contact delete ada@example.com",
      "ecm contact delete --keys requests.txt --backup deleted.csv --yes",
      "ecm contact delete --list Test --where 'key.endsWith(\"@example.com\")' --dry-run",
    ],
    output:
      "Nothing; with --json one summary object. `ecm runs undo` recreates the contacts that were active.",
    writes: true,
    asks: true,
    exitCodes: { 3: "a bulk run finished, and some contacts were rejected" },
    async run(contacts, flags) {
      const chosen = await chooseContacts(context, contacts, flags, "delete");
      const { one, single } = chosen;
      if (single !== undefined && flags.dryRun) return planDeletion(context, single);
      const { rows } = (await editMany(context, { kind: "delete", chosen, flags })).summary;
      if (one !== undefined && rows.skipped > 0) {
        throw notFoundError(`No contact has the key or id ${JSON.stringify(one)}`, suggestSimilar(one));
      }
      return undefined;
    },
  });
}

/** Looked up as the deletion would be, so that what is printed is what would be sent. */
async function planDeletion(context: Context, idOrKey: string) {
  const connection = await context.connect();
  const found = await connection.account.withRemembered("write", () => resolveContact(connection, idOrKey));
  const would = `permanently delete the contact ${found.key}`;
  return { request: deleteContactRequest(found._id), would };
}
