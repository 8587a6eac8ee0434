import type { Command } from "@commander-js/extra-typings";
import type { Context } from "../../context.ts";
import { advise, ecm } from "../../hint.ts";
import { addOutputFileFlags } from "../flags/flags.ts";
import { verb } from "../verb.ts";
import { structureView } from "./shared.ts";

export function registerStructureList(parent: Command, context: Context): void {
  const command = parent.command("list").description("list the account's contact structures");
  verb(context, addOutputFileFlags(command), {
    examples: ["ecm structure list", "ecm structure list --json"],
    output: "One row per structure; in JSON formats the service's own objects.",
    view: structureView,
    async run() {
      const { account } = await context.connect();
      const structures = await account.structures();
      const isUntold = structures.some(({ tags }) => tags === undefined);
      const note = advise`The list of structures does not tell the tags; see them with: ${ecm`structure get`}`;
      return { many: structures, note: isUntold ? note : undefined };
    },
  });
}
