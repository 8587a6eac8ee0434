import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { performOnContact } from "../../service/find-contact.ts";
import { fetchContact } from "../../service/mutate-contact.ts";
import { addOutputFileFlags } from "../shared/flags.ts";
import { describeCommand } from "../shared/help-text.ts";
import { requireTextOrAsk } from "../shared/questions.ts";
import { createMissingContact } from "./shared/questions.ts";
import { presentContact } from "./shared/view.ts";

interface ContactGetOptions {
  outputFile?: string;
  bom?: boolean;
  safeCells?: boolean;
}

export function registerContactGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one contact")
    .argument("[id-or-key]", "the contact's id, or its key (an email address)")
    .action((idOrKey: string | undefined, options: ContactGetOptions) =>
      runContactGet(context, idOrKey, options),
    );
  describeCommand(addOutputFileFlags(command), {
    takesProfiles: true,
    examples: [
      "ecm contact get ada@example.com",
      "ecm contact get 65f0c2a91b3d4e5f60718293 --json",
      "ecm contact get ada@example.com -o tsv --columns key,tags",
    ],
    output: "The contact; in JSON formats the service's own object.",
    exitCodes: { 5: "no contact has this id or key" },
  });
}

async function runContactGet(
  context: Context,
  typedContact: string | undefined,
  options: ContactGetOptions,
): Promise<void> {
  const output = context.output(options);
  const idOrKey = await requireTextOrAsk(
    context,
    typedContact,
    createMissingContact(ecm`contact get ID-OR-KEY`),
  );
  const { send, account } = await context.connect();
  const structure = () => account.structure();
  const contact = await account.withRemembered("read", () =>
    performOnContact({ send, structure }, idOrKey, (id) => fetchContact(send, id)),
  );
  await presentContact(context, account, output, contact);
}
