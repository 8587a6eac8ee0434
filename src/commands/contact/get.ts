import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { ecm } from "../../hint.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { requireText } from "../flags/questions.ts";
import { resolveContact } from "../selection/lookups.ts";
import { verb } from "../verb.ts";
import { toContactResult } from "./view.ts";

export function registerContactGet(parent: Command, context: Context): void {
  const command = parent
    .command("get")
    .description("show one contact")
    .argument("[id-or-key]", "the contact's id, or its key (an email address)");
  verb(context, addOutputFileFlags(command), {
    examples: [
      "ecm contact get ada@example.com",
      "ecm contact get 65f0c2a91b3d4e5f60718293 --json",
      "ecm contact get ada@example.com -o tsv --columns key,tags",
    ],
    output: "The contact; in JSON formats the service's own object.",
    async run(typedContact) {
      const missing = { what: "The contact's id or key", usage: ecm`contact get ID-OR-KEY` };
      const idOrKey = await requireText(context, typedContact, missing);
      const connection = await context.connect();
      const { account } = connection;
      const contact = await account.withRemembered("read", () => resolveContact(connection, idOrKey));
      return toContactResult(context, account, contact);
    },
  });
}
