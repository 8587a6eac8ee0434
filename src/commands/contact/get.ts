import type { Command } from "@commander-js/extra-typings";
import type { Context, OutputFileFlags } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { requireTextOrAsk } from "../flags/questions.ts";
import { describeCommand } from "../help/help-text.ts";
import { resolveContact } from "../selection/resolve-contact.ts";
import { createMissingContact } from "./shared/questions.ts";
import { presentContact } from "./shared/view.ts";

export function registerContactGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one contact")
    .argument("[id-or-key]", "the contact's id, or its key (an email address)");
  const getting = describeCommand(addOutputFileFlags(command), {
    examples: [
      "ecm contact get ada@example.com",
      "ecm contact get 65f0c2a91b3d4e5f60718293 --json",
      "ecm contact get ada@example.com -o tsv --columns key,tags",
    ],
    output: "The contact; in JSON formats the service's own object.",
    exitCodes: { 5: "no contact has this id or key" },
  });
  getting.action((idOrKey, options) => runContactGet(context, idOrKey, options));
}

async function runContactGet(
  context: Context,
  typedContact: string | undefined,
  options: OutputFileFlags,
): Promise<void> {
  const output = context.output(options);
  const idOrKey = await requireTextOrAsk(
    context,
    typedContact,
    createMissingContact(ecm`contact get ID-OR-KEY`),
  );
  const connection = await context.connect();
  const { account } = connection;
  const contact = await account.withRemembered("read", () => resolveContact(connection, idOrKey));
  await presentContact(context, account, output, contact);
}
