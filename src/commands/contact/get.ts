import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { getContactRequest, readContact } from "../../service/contacts.ts";
import { presentOne } from "../../terminal/present.ts";
import { viewOf } from "./view.ts";

interface ContactGetOptions {
  /** A contact's id, or its key. */
  idOrKey: string;
}

export function registerContactGet(parent: Command, context: Context): void {
  parent
    .command("get")
    .description("show one contact")
    .argument("<id-or-key>", "the contact's id, or its key (an e-mail address)")
    .action((idOrKey: string) => runContactGet(context, { idOrKey }));
}

async function runContactGet(context: Context, options: ContactGetOptions): Promise<void> {
  const { send, account } = await context.connect();
  // Key → id is the owner of this command's to add: see service/contacts.ts.
  const contact = readContact(await send(getContactRequest(options.idOrKey)));
  const output = context.output();
  await presentOne(context.terminal, output, contact, await viewOf(account, output, contact));
}
