import type { Command } from "@commander-js/extra-typings";
import { deleteContactRequest } from "../../api/contacts.ts";
import type { Context } from "../../context.ts";
import { notFoundError } from "../../errors.ts";
import { suggestSimilar } from "../../service/find-contact.ts";
import { explainDryRun } from "../../terminal/present.ts";
import { addBulkFlags, type BulkFlags, endRun, toRunOptions } from "../bulk/flags.ts";
import { writtenFileOption } from "../flags/flags.ts";
import { describeCommand } from "../help/help-text.ts";
import { addMarkedRowsFlags, type MarkedRowsFlags, readMarkedRowsFlags } from "../selection/marked-rows.ts";
import { resolveContact } from "../selection/resolve-contact.ts";
import { addSelectionFlags, chooseContacts, type SelectionFlags } from "./shared/selection.ts";

interface ContactDeleteOptions extends SelectionFlags, BulkFlags, MarkedRowsFlags {
  backup?: string;
}

export function registerContactDelete(parent: Command, context: Context): void {
  const command = parent
    .command("delete")
    .description("permanently delete contacts; they are backed up to a file first")
    .argument("[id-or-key...]", "the contact's id or key; several make a bulk run");
  addMarkedRowsFlags(addSelectionFlags(command))
    .addOption(writtenFileOption("--backup <file>", "file for the backup (default: in the run's folder)"))
    .action((contacts: string[], options: ContactDeleteOptions) =>
      runContactDelete(context, contacts, options),
    );
  describeCommand(addBulkFlags(command, { isMutate: true }), {
    examples: [
      "ecm contact delete ada@example.com",
      "ecm contact delete --keys requests.txt --backup deleted.csv --yes",
      "ecm contact delete --list Test --where 'key.endsWith(\"@example.com\")' --dry-run",
    ],
    output:
      "Nothing; with --json one summary object. `ecm runs undo` recreates the contacts that were active.",
    writes: true,
    asks: true,
    exitCodes: {
      1: "the service refused or failed, or you declined",
      3: "a bulk run finished, and some contacts were rejected",
      5: "the contact does not exist, or no list, tag or field has that name",
    },
  });
}

async function runContactDelete(
  context: Context,
  contacts: string[],
  flags: ContactDeleteOptions,
): Promise<void> {
  const chosen = await chooseContacts(context, contacts, flags, "delete");
  const { one } = chosen;
  const reading = readMarkedRowsFlags(chosen.keys, flags);
  if (one !== undefined && !chosen.isRun && flags.dryRun) return dryRunOne(context, one);
  const { createBackUp, createBackupTarget } = await import("../bulk/backup.ts");
  const target = flags.backup === undefined ? undefined : createBackupTarget(context, flags.backup);
  const options = toRunOptions(flags, context.clock.now());
  const { editMany } = await import("./shared/edit-many.ts");
  const backUp = createBackUp(context, target);
  const result = await editMany(context, { kind: "delete", chosen, reading, options, flags, backUp });
  const { rows } = result.summary;
  await endRun(context, result);
  if (one !== undefined && rows.skipped > 0) {
    throw notFoundError(`No contact has the key or id ${JSON.stringify(one)}`, suggestSimilar(one));
  }
}

/** Looked up as the deletion would be, so that what is printed is what would be sent. */
async function dryRunOne(context: Context, idOrKey: string): Promise<void> {
  const connection = await context.connect();
  const found = await connection.account.withRemembered("write", () => resolveContact(connection, idOrKey));
  const would = `permanently delete the contact ${found.key}`;
  await explainDryRun(context.terminal, context.output(), would, deleteContactRequest(found._id));
}
