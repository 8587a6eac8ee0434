import type { Command } from "@commander-js/extra-typings";
import {
  changeStatusRequest,
  findStatus,
  formatStatus,
  isInactive,
  unsubscribed,
} from "../../api/contacts.ts";
import type { Context } from "../../context.ts";
import { readChanged } from "../../service/mutate-contact.ts";
import type { Contact } from "../../wire.ts";
import { addBulkFlags } from "../flags/bulk.ts";
import { formatChanges } from "../output/change-lines.ts";
import { addBulkSelectionFlags, chooseContacts } from "../selection/conditions.ts";
import { addMarkedRowsFlags } from "../selection/keys.ts";
import { resolveContact } from "../selection/lookups.ts";
import { type Result, verb } from "../verb.ts";
import { editMany } from "./edit-many.ts";
import { checkContactColumns, toContactResult } from "./view.ts";

export function registerContactUnsubscribe(parent: Command, context: Context): void {
  const command = parent
    .command("unsubscribe")
    .description("unsubscribe contacts (Inactive, Unsubscribe); this cannot be undone")
    .argument("[id-or-key...]", "the contact's id or key; several make a bulk run");
  const choosing = addMarkedRowsFlags(addBulkSelectionFlags(command));
  verb(context, addBulkFlags(choosing, { isMutate: true }), {
    examples: [
      "ecm contact unsubscribe ada@example.com",
      "ecm contact unsubscribe --keys left.csv --dry-run",
      "ecm contact unsubscribe --keys webinar.csv --marked-rows --yes",
      "ecm contact unsubscribe --list Trial --where 'createdAt < timestamp(\"2025-01-01T00:00:00Z\")'",
    ],
    output:
      "One contact: the updated contact, or at a terminal its old and new status; `unchanged` on stderr when it was already inactive. Several: nothing; with --json one summary object.",
    writes: true,
    asks: true,
    exitCodes: { 3: "a bulk run finished, and some contacts do not exist or were rejected" },
    async run(contacts, flags) {
      const chosen = await chooseContacts(context, contacts, flags, "unsubscribe");
      if (chosen.single !== undefined) return unsubscribeOne(context, chosen.single, flags.dryRun);
      await editMany(context, { kind: "unsubscribe", chosen, flags });
      return undefined;
    },
  });
}

async function unsubscribeOne(
  context: Context,
  idOrKey: string,
  dryRun = false,
): Promise<Result<Partial<Contact>>> {
  const { requireAnswer } = await import("../bulk/question.ts");
  requireAnswer(context, "unsubscribe", dryRun);
  const { terminal } = context;
  const connection = await context.connect();
  const { send, account } = connection;
  const found = await account.withRemembered("write", () => resolveContact(connection, idOrKey));
  // A bounce or a complaint is more specific than an unsubscription: an inactive contact is not changed.
  if (isInactive(found)) {
    terminal.note("unchanged");
    return toContactResult(context, account, found);
  }
  const request = changeStatusRequest(found._id, unsubscribed);
  const final = "This cannot be undone: only they can subscribe again";
  if (dryRun) return { request, would: `unsubscribe ${found.key}. ${final}` };
  await account.withRemembered("write", () => checkContactColumns(account, context.output()));
  await context.confirm(`Unsubscribe ${found.key}? ${final}.`);
  const { body } = await send<Partial<Contact> | null>(request);
  const contact = await readChanged(send, found._id, body, isInactive);
  const [before, after] = [found, contact].map((each) => formatStatus(findStatus(each)) ?? "unknown");
  const screen = () => formatChanges(terminal, [`~ Status  ${before} → ${after}`], found.key);
  return { ...toContactResult(context, account, contact), screen };
}
